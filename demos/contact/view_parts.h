/* Declarations that the parts of the view share. */
#ifndef VIEW_PARTS_H
#define VIEW_PARTS_H

#include "view.h"

/* An instanced shape: its triangles and a list of its instances. */
typedef struct view_crowd {
  unsigned vertex_array, shape, indices, instances; /* a vertex array; buffers */
  int index_count, count;
} view_crowd;

typedef enum view_pass { PASS_SHADOW, PASS_GEOMETRY, PASS_PICTURE, PASSES } view_pass;

/* A framebuffer with one texture, for a layer of the unlit picture. */
typedef struct view_layer {
  unsigned framebuffer, texture;
} view_layer;

struct contact_view {
  view_crowd blocks, balls, arrows;
  /* Programs. The first index is 1 for coarse shading. */
  unsigned body[2][PASSES], ground[2][PASSES], backdrop, occlusion[2], smoother, arrow;
  unsigned empty_array;
  view_layer shadow, geometry, openness, between; /* `between`: the result of the first smoothing pass */
  unsigned geometry_depth;
  int width, height, shadow_size; /* sizes of the layers; 0: not created yet */
  int is_software;                /* the renderer is a software rasterizer */
  float typical;                  /* half the size of typical bodies, in metres */
  float to_clip[16], to_eye[16], to_shadow[16];
  float shadow_texel;    /* size of a texel, in metres */
  float shadow_width[2]; /* extent of the shadow map, in metres */
};

/* ---- view_bodies.c ---- */
const char *view_build_bodies(contact_view *view);
/* Uploads the current positions of the bodies. */
const char *view_update_bodies(contact_view *view, const world *w);
void view_draw_crowd(const view_crowd *crowd);
void view_draw_bodies(const contact_view *view);
void view_destroy_crowd(view_crowd *crowd);
/* Creates the buffers. An instance has `floats` numbers, in attributes of 4 components from number 1 on. */
void view_build_crowd(view_crowd *crowd, const float *vertices, int vertex_floats, int vertex_count,
                      const unsigned short *indices, int index_count, int floats);
const char *view_fill_crowd(view_crowd *crowd, const float *instances, int count, int floats);

/* ---- view_forces.c ---- */
const char *view_build_arrows(contact_view *view);
const char *view_update_forces(contact_view *view, const world *w, const contact_look *look);

/* ---- view_layers.c: shadow map and ambient openness ---- */
const char *view_size_layers(contact_view *view, const contact_look *look, int width, int height);
void view_destroy_layers(contact_view *view);
/* Sets the sun's camera to cover the bodies within reach. */
void view_aim_sun(contact_view *view, const world *w, const contact_look *look);
const char *view_draw_shadow(contact_view *view, const contact_look *look);
const char *view_draw_openness(contact_view *view, const camera *c, const contact_look *look, int width,
                               int height);

/* ---- view.c ---- */
/* Use the program for the bodies or the ground in a pass. */
const char *view_use_body(contact_view *view, view_pass pass, const contact_look *look, unsigned *program);
const char *view_use_ground(contact_view *view, view_pass pass, const camera *c, const contact_look *look,
                            unsigned *program);
int view_is_ground(const body *b);
int view_layer_scale(const contact_look *look); /* pixels of the picture per pixel of a layer */

#endif
