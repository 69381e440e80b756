/* Draws bodies lit by a sun and a sky, and the contact forces. Needs a current OpenGL 3.3 context with its
 * functions loaded (view_gl_load). Functions that return text return NULL on success, or the reason of a
 * failure. */
#ifndef VIEW_H
#define VIEW_H

#include "camera.h"
#include "scene.h"

typedef struct contact_look {
  int forces; /* draw contact forces as arrows, and pale bodies */
  int fine;   /* ambient occlusion at every pixel instead of every second one */
  /* ambient occlusion at every fourth pixel, harder shadows, no antialiasing; for software rasterizers */
  int coarse;
  float sun[3]; /* unit vector towards the sun */
  float reach;  /* approximate extent of the scene, in metres */
} contact_look;

typedef enum contact_shading {
  CONTACT_SHADING_AUTO,
  CONTACT_SHADING_COARSE,
  CONTACT_SHADING_FULL
} contact_shading;

typedef struct contact_view contact_view;

const char *contact_view_create(contact_view **made);
/* Returns 1 if pictures are shaded coarsely: if that is requested, or if the choice is automatic and the
 * renderer is software. */
int contact_view_is_coarse(const contact_view *view, contact_shading wanted);
void contact_view_destroy(contact_view **made);

/* Sets the camera and the light to show the bodies from the scene's viewing direction. Ignores outlying bodies,
 * and anything more than twice as high as the middle of the scene. Returns NULL, or "out of memory". */
const char *contact_view_fit(const scene *s, const world *w, camera *c, contact_look *look);

/* Draws width x height pixels into the bound framebuffer. */
const char *contact_view_draw(contact_view *view, const world *w, const camera *c, const contact_look *look,
                              int width, int height);

/* Draws a picture: RGB, 3 x width x height bytes, top row first, with antialiasing unless it is coarse. */
const char *contact_view_picture(contact_view *view, const world *w, const camera *c, const contact_look *look,
                                 int width, int height, unsigned char *rgb);

#endif
