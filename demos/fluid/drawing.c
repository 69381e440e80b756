#include "drawing.h"

#include <stdlib.h>

#include "simulation.h"

#ifdef TEXSOLVE_HAVE_GL

struct drawing {
  const simulation *s;
  ts_context *own; /* NULL if the simulation's context is OpenGL's */
  fluid_view *view;
  fluid_look look;
  image picture;
};

static int fail(char message[SIMULATION_MESSAGE], const char *why) {
  return simulation_fail(message, "cannot draw a picture: %s", why);
}

int drawing_open(const simulation *s, const fluid_look *look, int width, int height, drawing **made,
                 char message[SIMULATION_MESSAGE]) {
  drawing *d = *made = calloc(1, sizeof *d);
  if (!d) return fail(message, "out of memory");
  d->s = s;
  d->look = *look;
  d->look.legend = 1;
  const char *why = image_create(&d->picture, width, height) ? "out of memory" : NULL;
  if (!why) why = view_context_open(s->context, s->options.platform, &d->own);
  if (!why) why = fluid_view_create(&d->view);
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
    if (d->own) view_shared_release(d->s->context);
    fluid_view_destroy(&d->view);
  }
  ts_context_destroy(&d->own);
  image_destroy(&d->picture);
  free(d);
  *made = NULL;
}

int drawing_make(drawing *d, const image **picture, char message[SIMULATION_MESSAGE]) {
  *picture = &d->picture;
  const char *why = view_context_use(d->s->context, d->own);
  if (!why)
    why = fluid_view_picture(d->view, d->s, &d->look, d->picture.width, d->picture.height, d->picture.rgb);
  return why ? fail(message, why) : 0;
}

const char *drawing_way(const drawing *d) {
  return view_way_name(fluid_view_way(d->view));
}

#else

int drawing_open(const simulation *s, const fluid_look *look, int width, int height, drawing **made,
                 char message[SIMULATION_MESSAGE]) {
  (void)s, (void)look, (void)width, (void)height;
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
const char *drawing_way(const drawing *d) {
  (void)d;
  return NULL;
}

#endif
