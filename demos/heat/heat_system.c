#include "heat.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef TEXSOLVE_HAVE_GL
#include "view_gl.h"
#endif

const double heat_tolerance = 1e-5;

int heat_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("heat: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return 1;
}

int heat_open(heat_system *s, const ts_context_desc *device, const ts_solver_desc *method, int size) {
  *s = (heat_system){0};
  if (plate_create(&s->plate, size)) return heat_fail("out of memory for a plate %d cells high", size);
  s->norm_start = plate_residual(&s->plate, s->plate.start);
  const ts_status opened = ts_context_create(device, &s->context);
  if (opened != TS_OK) {
    heat_fail(opened == TS_ERROR_UNAVAILABLE ? "the backend is unavailable: %s" : "%s", ts_last_error(NULL));
    plate_destroy(&s->plate);
    return 1;
  }
  const ts_matrix_desc matrix = {.csr = ts_host_csr(s->plate.unknowns, s->plate.unknowns, s->plate.row_offsets,
                                                    s->plate.columns, s->plate.values),
                                 .constrained = s->plate.constrained};
  ts_status status = ts_matrix_create(s->context, &matrix, &s->matrix);
  if (status == TS_OK) status = ts_vector_create(ts_matrix_get_row_space(s->matrix), NULL, &s->b);
  if (status == TS_OK) status = ts_vector_create(ts_matrix_get_row_space(s->matrix), NULL, &s->x);
  if (status == TS_OK) status = ts_vector_write(s->x, ts_host(s->plate.start, (size_t)s->plate.unknowns));
  if (status == TS_OK) status = ts_solver_create(s->matrix, method, &s->cg);
  if (status == TS_OK) return 0;
  heat_fail("%s", ts_last_error(s->context));
  heat_close(s);
  return 1;
}

void heat_close(heat_system *s) {
  ts_solver_destroy(&s->cg);
  ts_vector_destroy(&s->x);
  ts_vector_destroy(&s->b);
  ts_matrix_destroy(&s->matrix);
  ts_context_destroy(&s->context);
  plate_destroy(&s->plate);
}

/* For backends without textures: copies the solution to the host and draws there. */
static int draw_on_host(heat_system *s, image *picture) {
  float *x = malloc((size_t)s->plate.unknowns * sizeof *x);
  if (!x) return heat_fail("out of memory for %d temperatures", s->plate.unknowns);
  const ts_status status = ts_vector_read(s->x, ts_host(x, (size_t)s->plate.unknowns));
  if (status == TS_OK) {
    draw_paper(picture);
    draw_plate(picture, &s->plate, x);
  }
  free(x);
  return status == TS_OK ? 0 : heat_fail("%s", ts_last_error(s->context));
}

int heat_draw(heat_system *s, image *picture) {
#ifdef TEXSOLVE_HAVE_GL
  const ts_status status = ts_gl_make_current(s->context);
  if (status == TS_OK) {
    heat_gl gl;
    const char *why = view_gl_load();
    if (!why) why = heat_gl_create(&gl, &s->plate, s->x);
    if (!why) {
      why = heat_gl_draw_picture(&gl, picture);
      heat_gl_destroy(&gl);
    }
    return why ? heat_fail("drawing: %s", why) : 0;
  }
  if (status != TS_ERROR_UNSUPPORTED) return heat_fail("%s", ts_last_error(s->context));
#endif
  return draw_on_host(s, picture);
}
