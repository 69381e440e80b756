/* The legend in a picture: a bar of colours with numbers. */
#ifndef MESH_LEGEND_H
#define MESH_LEGEND_H

typedef struct mesh_legend mesh_legend;

/* Return NULL, or why they failed. `colours` is the texture of both scales, from 0 to 1; the legend borrows it.
 */
const char *mesh_legend_create(unsigned colours, mesh_legend **made);
void mesh_legend_destroy(mesh_legend **made);

/* Into the lower right corner of a framebuffer of this size. `coloured_by` is 1 for curvature, 2 for distance.
 */
const char *mesh_legend_draw(mesh_legend *legend, int coloured_by, double range, int width, int height);

#endif
