/* How far a UV map is from the mesh: of every triangle the singular values s1 >= s2 of its map to the
 * plane. */
#ifndef DISTORTION_H
#define DISTORTION_H

#include "charts.h"

typedef struct distortion {
  float *angle; /* of a triangle: s1 / s2, 1 where angles are kept; INFINITY where the UV map has no area */
  float *area;  /* the UV map's area over the triangle's, in units of the same for its whole chart; negative
                   where  it is flipped, 0 where the UV map or the triangle has no area */
  double angle_mean, angle_max; /* the mean by area on the mesh; both without triangles that have no area */
  double area_mean, area_least,
      area_most;         /* the mean by area of max(a, 1 / a); of triangles that are not flipped */
  int32_t flipped;       /* turned over in the UV map */
  int32_t first_flipped; /* or -1 */
  int32_t collapsed;     /* with an area on the mesh and none in the UV map */
} distortion;

/* `uv`: of every flat vertex. Returns 0, or 1 with one line in `message`. */
int distortion_find(const mesh *m, const charts *c, const double *uv, distortion *d,
                    char message[MESH_MESSAGE]);
void distortion_free(distortion *d);

#endif
