#include "drawing.h"

#include "png_image.h"

static const char cannot[] = "cannot draw a picture";

#ifdef TEXSOLVE_HAVE_GL

#include "flat_view.h"
#include "view_gl.h"

#include <texsolve/gl.h>

static int draw(const flattening *f, const flat_source *source, const flat_look *look, image *picture,
                const char **way, char message[MESH_MESSAGE]) {
  flat_look own = *look;
  flat_view *view = NULL;
  camera c;
  flat_window window;
  const char *why = view_gl_load();
  if (!why) why = flat_view_create(f, &view);
  if (!why) why = flat_view_update(view, f, source);
  if (!why) {
    *way = view_way_name(flat_view_way(view));
    flat_view_fit_mesh(f, &c);
    flat_view_fit_image(f, &window);
    why = flat_view_picture(view, &c, &window, &own, picture->width, picture->height, picture->rgb);
  }
  flat_view_destroy(&view);
  return why ? mesh_fail(message, "%s: %s", cannot, why) : 0;
}

int drawing_save(const flattening *f, ts_context *context, flattening_places *places, ts_gl_platform platform,
                 const flat_look *look, int width, int height, const char *path, const char **way,
                 char message[MESH_MESSAGE]) {
  char why[200];
  ts_context *own = NULL;
  image picture = {0};
  flat_source source = {0};
  int failed = image_create(&picture, width, height) ? mesh_fail(message, "%s: out of memory", cannot) : 0;
  const char *no_source = failed ? NULL : flat_source_open(&source, f, context, 1, places);
  if (no_source) failed = mesh_fail(message, "%s: %s", cannot, no_source);
  ts_status status = ts_gl_make_current(context);
  if (!failed && status == TS_ERROR_UNSUPPORTED) {
    const ts_context_desc desc = {.backend = "gl", .gl_platform = platform};
    status = ts_context_create(&desc, &own);
    if (status == TS_OK) status = ts_gl_make_current(own);
  }
  if (!failed && status != TS_OK) failed = mesh_fail(message, "%s: %s", cannot, ts_last_error(own));
  if (!failed) failed = draw(f, &source, look, &picture, way, message);
  if (!failed && png_image_save(path, &picture, why, sizeof why))
    failed = mesh_fail(message, "%s: %s", path, why);
  flat_source_close(&source);
  ts_context_destroy(&own);
  image_destroy(&picture);
  return failed;
}

#else

int drawing_save(const flattening *f, ts_context *context, flattening_places *places, ts_gl_platform platform,
                 const flat_look *look, int width, int height, const char *path, const char **way,
                 char message[MESH_MESSAGE]) {
  (void)f, (void)context, (void)places, (void)platform, (void)look, (void)width, (void)height, (void)path;
  (void)way;
  return mesh_fail(message, "%s: this build has no OpenGL", cannot);
}

#endif
