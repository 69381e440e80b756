#include "drawing.h"

#include <stdlib.h>

#include "png_image.h"

#ifdef TEXSOLVE_HAVE_GL

#include "positions.h"

struct drawing {
  const smoother *s;
  ts_context *own; /* NULL if the smoother's context is OpenGL's */
  mesh_view *view;
  camera camera;
  mesh_look look;
  image picture;
  positions positions;
};

static int fail(char message[MESH_MESSAGE], const char *why) {
  return mesh_fail(message, "cannot draw a picture: %s", why);
}

int drawing_open(const smoother *s, const mesh_look *look, int width, int height, drawing **out,
                 char message[MESH_MESSAGE]) {
  drawing *d = *out = calloc(1, sizeof *d);
  if (!d) return fail(message, "out of memory");
  *d = (drawing){.s = s, .look = *look};
  const char *why = image_create(&d->picture, width, height) ? "out of memory" : NULL;
  if (!why) why = view_context_open(s->device.context, s->options.platform, &d->own);
  if (!why) why = mesh_view_create(&s->start->m, s->start->unit, &d->view);
  if (!why) why = positions_mark_controls(d->view, s, -1);
  if (!why) mesh_view_fit(&d->camera, &s->measures);
  if (!why) return 0;
  fail(message, why);
  drawing_close(out);
  return 1;
}

void drawing_close(drawing **out) {
  drawing *d = *out;
  if (!d) return;
  if (d->view) {
    view_context_use(d->s->device.context, d->own);
    if (d->own) view_shared_release(d->s->device.context);
    mesh_view_destroy(&d->view);
  }
  ts_context_destroy(&d->own);
  image_destroy(&d->picture);
  positions_free(&d->positions);
  free(d);
  *out = NULL;
}

int drawing_make(drawing *d, const char *path, char message[MESH_MESSAGE]) {
  char why_not[200];
  const char *why = view_context_use(d->s->device.context, d->own);
  if (!why) why = positions_update(&d->positions, d->view, d->s);
  if (!why)
    why = mesh_view_picture(d->view, &d->camera, &d->look, d->picture.width, d->picture.height, d->picture.rgb);
  if (why) return fail(message, why);
  /* A video keeps the colour range of its first picture. Displacements are 0 there, so their range cannot be
   * kept. */
  if (d->look.colour == MESH_COLOUR_DISPLACEMENT) d->look.range = 0;
  if (path && png_image_save(path, &d->picture, why_not, sizeof why_not))
    return mesh_fail(message, "%s: %s", path, why_not);
  return 0;
}

const char *drawing_way(const drawing *d) {
  return view_way_name(d->positions.way);
}

#else

int drawing_open(const smoother *s, const mesh_look *look, int width, int height, drawing **out,
                 char message[MESH_MESSAGE]) {
  (void)s, (void)look, (void)width, (void)height;
  *out = NULL;
  return mesh_fail(message, "cannot draw a picture: this build has no OpenGL");
}
void drawing_close(drawing **out) {
  *out = NULL;
}
int drawing_make(drawing *d, const char *path, char message[MESH_MESSAGE]) {
  (void)d;
  return mesh_fail(message, "%s: this build has no OpenGL", path);
}
const char *drawing_way(const drawing *d) {
  (void)d;
  return NULL;
}

#endif
