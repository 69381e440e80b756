/* What the parts of the view share. */
#ifndef VIEW_PARTS_H
#define VIEW_PARTS_H

#include "view.h"

/* What is drawn many times at once: a shape's triangles, and a list of where it is. */
typedef struct view_crowd {
  unsigned vertex_array, shape, indices, instances; /* buffers but for the first */
  int index_count, count;
} view_crowd;

typedef enum view_pass { PASS_SHADOW, PASS_GEOMETRY, PASS_PICTURE, PASSES } view_pass;

/* What the eye sees before it is lit: a framebuffer for each texture. */
typedef struct view_layer {
  unsigned framebuffer, texture;
} view_layer;

struct contact_view {
  view_crowd blocks, balls, arrows;
  /* Programs; those with a 2 for fine and for coarse shading. */
  unsigned body[2][PASSES], ground[2][PASSES], backdrop, occlusion[2], smoother, arrow;
  unsigned empty_array;
  view_layer shadow, geometry, openness, between; /* the last for half of smoothing */
  unsigned geometry_depth;
  int width, height, shadow_size; /* of the layers; 0: none yet */
  int is_software;                /* a rasterizer that has to be spared */
  float typical;                  /* half the size of most bodies, m */
  float to_clip[16], to_eye[16], to_shadow[16];
  float shadow_texel;    /* m */
  float shadow_width[2]; /* of what the shadow's map shows, m */
};

/* ---- view_bodies.c ---- */
const char *view_build_bodies(contact_view *view);
/* Where the bodies of a world are now. */
const char *view_update_bodies(contact_view *view, const world *w);
void view_draw_crowd(const view_crowd *crowd);
void view_draw_bodies(const contact_view *view);
void view_destroy_crowd(view_crowd *crowd);
/* Makes the buffers of a crowd, with `floats` an instance in attributes of 4 from number 1 on. */
void view_build_crowd(view_crowd *crowd, const float *vertices, int vertex_floats, int vertex_count,
                      const unsigned short *indices, int index_count, int floats);
const char *view_fill_crowd(view_crowd *crowd, const float *instances, int count, int floats);

/* ---- view_forces.c ---- */
const char *view_build_arrows(contact_view *view);
const char *view_update_forces(contact_view *view, const world *w, const contact_look *look);

/* ---- view_layers.c: the shadow's map, and how much of the sky is seen ---- */
const char *view_size_layers(contact_view *view, const contact_look *look, int width, int height);
void view_destroy_layers(contact_view *view);
/* The sun's own camera, around the bodies within reach. */
void view_aim_sun(contact_view *view, const world *w, const contact_look *look);
const char *view_draw_shadow(contact_view *view, const contact_look *look);
const char *view_draw_openness(contact_view *view, const camera *c, const contact_look *look, int width,
                               int height);

/* ---- view.c ---- */
/* The program for the bodies or the ground in a pass, which is used from then on. */
const char *view_use_body(contact_view *view, view_pass pass, const contact_look *look, unsigned *program);
const char *view_use_ground(contact_view *view, view_pass pass, const camera *c, const contact_look *look,
                            unsigned *program);
int view_is_ground(const body *b);
int view_layer_scale(const contact_look *look); /* pixels of the picture to one of the layers */

#endif
