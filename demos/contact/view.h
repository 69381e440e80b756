/* Draws bodies in the light of a sun and a sky, and the forces between them. OpenGL 3.3; needs a current
 * context with functions loaded (view_gl_load). Functions return NULL, or why they failed. */
#ifndef VIEW_H
#define VIEW_H

#include "camera.h"
#include "scene.h"

typedef struct contact_look {
  int forces;   /* of the contacts, as arrows over pale bodies */
  int fine;     /* ambient occlusion at every pixel, else at every second one */
  int coarse;   /* at every fourth one, harder shadows, no anti-aliasing: for software */
  float sun[3]; /* a unit vector towards it */
  float reach;  /* about how much there is to see, m */
} contact_look;

typedef enum contact_shading {
  CONTACT_SHADING_AUTO,
  CONTACT_SHADING_COARSE,
  CONTACT_SHADING_FULL
} contact_shading;

typedef struct contact_view contact_view;

const char *contact_view_create(contact_view **made);
/* Whether a picture is shaded coarsely: where it is wanted so, or drawn by software and not wanted otherwise.
 */
int contact_view_is_coarse(const contact_view *view, contact_shading wanted);
void contact_view_destroy(contact_view **made);

/* The camera, from the scene's side, so that it sees the bodies, and the light. Who lies far off is left out,
 * and what is more than twice as high as the middle of the scene. Returns NULL, or "out of memory". */
const char *contact_view_fit(const scene *s, const world *w, camera *c, contact_look *look);

/* Into the framebuffer that is bound, over the whole of width x height pixels. */
const char *contact_view_draw(contact_view *view, const world *w, const camera *c, const contact_look *look,
                              int width, int height);

/* Into a picture: RGB, 3 x width x height bytes, top row first, with anti-aliasing unless it is coarse. */
const char *contact_view_picture(contact_view *view, const world *w, const camera *c, const contact_look *look,
                                 int width, int height, unsigned char *rgb);

#endif
