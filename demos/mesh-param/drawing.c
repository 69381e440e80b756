#include "drawing.h"

#include "png_image.h"

static const char cannot[] = "cannot draw a picture";

#ifdef TEXSOLVE_HAVE_GL

#include "flat_view.h"
#include "mesh_view.h"

static const char *draw(const flattening *f, const flat_source *source, const flat_look *look, image *picture,
                        const char **way) {
  flat_look own = *look;
  flat_view *view = NULL;
  camera c;
  flat_window window;
  const char *why = flat_view_create(f, &view);
  if (!why) why = flat_view_update(view, f, source);
  if (!why) {
    *way = view_way_name(flat_view_way(view));
    mesh_view_fit(&c, &f->measures);
    flat_view_fit_image(f, &window);
    why = flat_view_picture(view, &c, &window, &own, picture->width, picture->height, picture->rgb);
  }
  flat_view_destroy(&view);
  return why;
}

int drawing_save(const flattening *f, ts_context *context, flattening_places *places, ts_gl_platform platform,
                 const flat_look *look, int width, int height, const char *path, const char **way,
                 char message[MESH_MESSAGE]) {
  char reason[200];
  ts_context *own = NULL;
  image picture = {0};
  flat_source source = {0};
  const char *why = image_create(&picture, width, height) ? "out of memory" : NULL;
  if (!why) why = flat_source_open(&source, f, context, 1, places);
  if (!why) why = view_context_open(context, platform, &own);
  if (!why) why = draw(f, &source, look, &picture, way);
  int failed = why ? mesh_fail(message, "%s: %s", cannot, why) : 0;
  if (!failed && png_image_save(path, &picture, reason, sizeof reason))
    failed = mesh_fail(message, "%s: %s", path, reason);
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
