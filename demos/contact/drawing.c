#include "drawing.h"

#include <stdlib.h>

#ifdef TEXSOLVE_HAVE_GL

#include "view_shared.h"

struct drawing {
  const simulation *s;
  ts_context *own; /* NULL if the simulation's context is OpenGL's */
  contact_view *view;
  contact_look look;
  camera camera;
  image picture;
};

static int fail(char message[SIMULATION_MESSAGE], const char *why) {
  return simulation_fail(message, "cannot draw a picture: %s", why);
}

int drawing_open(const simulation *s, int forces, contact_shading shading, int width, int height,
                 drawing **made, char message[SIMULATION_MESSAGE]) {
  drawing *d = *made = calloc(1, sizeof *d);
  if (!d) return fail(message, "out of memory");
  d->s = s;
  d->look = (contact_look){.forces = forces};
  const char *why = contact_view_fit(s->scene, &s->world, &d->camera, &d->look);
  if (!why && image_create(&d->picture, width, height)) why = "out of memory";
  if (!why) why = view_context_open(s->context, s->options.platform, &d->own);
  if (!why) why = contact_view_create(&d->view);
  if (!why) d->look.coarse = contact_view_is_coarse(d->view, shading);
  d->look.fine = !d->look.coarse;
  if (!why) return 0;
  fail(message, why);
  drawing_close(made);
  return 1;
}

void drawing_close(drawing **made) {
  drawing *d = *made;
  if (!d) return;
  if (d->view) {
    view_context_use(d->s->context, d->own);
    contact_view_destroy(&d->view);
  }
  ts_context_destroy(&d->own);
  image_destroy(&d->picture);
  free(d);
  *made = NULL;
}

int drawing_make(drawing *d, const image **picture, char message[SIMULATION_MESSAGE]) {
  image *p = &d->picture;
  *picture = p;
  const char *why = view_context_use(d->s->context, d->own);
  if (!why)
    why = contact_view_picture(d->view, &d->s->world, &d->camera, &d->look, p->width, p->height, p->rgb);
  return why ? fail(message, why) : 0;
}

#else

int drawing_open(const simulation *s, int forces, contact_shading shading, int width, int height,
                 drawing **made, char message[SIMULATION_MESSAGE]) {
  (void)s, (void)forces, (void)shading, (void)width, (void)height;
  *made = NULL;
  return simulation_fail(message, "cannot draw a picture: this build has no OpenGL");
}
void drawing_close(drawing **made) {
  *made = NULL;
}
int drawing_make(drawing *d, const image **picture, char message[SIMULATION_MESSAGE]) {
  (void)d;
  *picture = NULL;
  return simulation_fail(message, "cannot draw a picture: this build has no OpenGL");
}

#endif
