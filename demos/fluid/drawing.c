#include "drawing.h"

#include <stdlib.h>

#include "simulation_state.h"

#ifdef TEXSOLVE_HAVE_GL

#include <texsolve/gl.h>

#include "view.h"

struct drawing {
  const simulation *s;
  ts_context *own; /* where the simulation's context is not OpenGL's */
  fluid_view *view;
  fluid_look look;
  image picture;
};

static int fail(char message[SIMULATION_MESSAGE], const char *why) {
  return simulation_fail(message, "cannot draw a picture: %s", why);
}

static int fail_status(const ts_context *context, ts_status status, char message[SIMULATION_MESSAGE]) {
  const char *text = ts_last_error(context);
  return fail(message, *text ? text : ts_status_text(status));
}

/* The simulation's context where that is OpenGL's, else one of its own. */
static int open_context(drawing *d, char message[SIMULATION_MESSAGE]) {
  ts_context *const context = simulation_context(d->s);
  ts_status status = ts_gl_make_current(context);
  if (status != TS_ERROR_UNSUPPORTED) return status == TS_OK ? 0 : fail_status(context, status, message);
  const ts_context_desc desc = {.backend = "gl", .gl_platform = simulation_get_options(d->s)->platform};
  status = ts_context_create(&desc, &d->own);
  if (status != TS_OK) return fail_status(NULL, status, message);
  status = ts_gl_make_current(d->own);
  return status == TS_OK ? 0 : fail_status(d->own, status, message);
}

int drawing_open(const simulation *s, const drawing_look *look, int width, int height, drawing **made,
                 char message[SIMULATION_MESSAGE]) {
  *made = NULL;
  drawing *d = calloc(1, sizeof *d);
  if (!d) return fail(message, "out of memory");
  d->s = s;
  d->look = (fluid_look){look->field, look->range, look->particles, look->arrows, 1};
  int failed = image_create(&d->picture, width, height) ? fail(message, "out of memory") : 0;
  if (!failed) failed = open_context(d, message);
  if (!failed) {
    const char *why = fluid_view_load();
    if (!why) why = fluid_view_create(&d->view);
    if (why) failed = fail(message, why);
  }
  if (failed)
    drawing_close(&d);
  else
    *made = d;
  return failed;
}

void drawing_close(drawing **made) {
  if (!made || !*made) return;
  drawing *d = *made;
  if (d->view) {
    ts_gl_make_current(d->own ? d->own : simulation_context(d->s));
    if (d->own) view_shared_release(simulation_context(d->s));
    fluid_view_destroy(&d->view);
  }
  ts_context_destroy(&d->own);
  image_destroy(&d->picture);
  free(d);
  *made = NULL;
}

int drawing_make(drawing *d, const image **picture, char message[SIMULATION_MESSAGE]) {
  ts_context *const context = d->own ? d->own : simulation_context(d->s);
  const ts_status status = ts_gl_make_current(context);
  if (status != TS_OK) return fail_status(context, status, message);
  const char *why =
      fluid_view_picture(d->view, d->s, &d->look, d->picture.width, d->picture.height, d->picture.rgb);
  *picture = &d->picture;
  return why ? fail(message, why) : 0;
}

const char *drawing_way(const drawing *d) {
  return view_way_name(fluid_view_way(d->view));
}

#else

int drawing_open(const simulation *s, const drawing_look *look, int width, int height, drawing **made,
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
