#include "helpers.h"

#include <texsolve/gl.h>

#include "application.h"
#include "common/core/core.h"
#include "common/layout/layout.h"
#include "common/precond/multigrid/multigrid.h"

ts_space *make_space(ts_context *context, int32_t size) {
  const ts_space_desc desc = {.size = size};
  ts_space *space = NULL;
  CHECK_OK(context, ts_space_create(context, &desc, &space));
  return space;
}

ts_vector *make_vector(ts_space *space, int components, const float *values) {
  const ts_vector_desc desc = {.components = components, .precision = TS_PRECISION_SINGLE};
  ts_vector *vector = NULL;
  if (!CHECK(space != NULL)) return NULL;
  CHECK_OK(space->context, ts_vector_create(space, &desc, &vector));
  if (vector && values)
    CHECK_OK(space->context, ts_vector_write(vector, ts_host(values, vector_count(vector))));
  return vector;
}

ts_vector *make_parts(ts_space *space, int components, int parts, const double *values) {
  ts_context *context = space->context;
  ts_vector *vector = NULL;
  if (parts == 2) { /* public vectors have one part or three parts */
    CHECK_OK(context, tsi_enter(context));
    CHECK_OK(context, tsi_leave(context, tsi_arena_create(space, components, 2, &vector, 1, 0, NULL)));
  } else {
    const ts_vector_desc desc = {.components = components,
                                 .precision = parts == 1 ? TS_PRECISION_SINGLE : TS_PRECISION_DOUBLE};
    CHECK_OK(context, ts_vector_create(space, &desc, &vector));
  }
  if (vector && values) CHECK_OK(context, ts_vector_write(vector, ts_host(values, vector_count(vector))));
  return vector;
}

static ts_scalars *scalars_of(ts_context *context, int count, ts_precision precision) {
  const ts_scalars_desc desc = {.count = count, .precision = precision};
  ts_scalars *scalars = NULL;
  CHECK_OK(context, ts_scalars_create(context, &desc, &scalars));
  return scalars;
}

ts_scalars *make_scalars(ts_context *context, int count) {
  return scalars_of(context, count, TS_PRECISION_SINGLE);
}

ts_scalars *make_pair_scalars(ts_context *context, int count) {
  return scalars_of(context, count, TS_PRECISION_DOUBLE);
}

ts_matrix *make_matrix(ts_context *context, const ref_matrix *m, ts_format format) {
  ts_matrix_desc desc = {0};
  desc.csr = ref_csr(m);
  desc.format = format;
  ts_matrix *matrix = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  return matrix;
}

ts_solver *make_cg(ts_matrix *matrix, const ts_solver_desc *desc) {
  ts_solver *cg = NULL;
  CHECK_OK(matrix->context, create_solver(matrix, TS_METHOD_CG, desc, &cg));
  return cg;
}

ts_status create_solver(ts_matrix *matrix, ts_method method, const ts_solver_desc *desc, ts_solver **solver) {
  ts_solver_desc own = {0};
  if (desc) own = *desc;
  if (own.method == TS_METHOD_AUTO) own.method = method;
  return ts_solver_create(matrix, &own, solver);
}

ts_status solve_vectors(ts_matrix *matrix, const ts_vector *b, ts_vector *x, const ts_solver_desc *desc,
                        ts_result *result) {
  ts_solver *solver = NULL;
  ts_status status = ts_solver_create(matrix, desc, &solver);
  if (status == TS_OK) status = ts_solver_solve(solver, b, x, result);
  ts_solver_destroy(&solver);
  return status;
}

ts_status create_cgls(ts_matrix *matrix, ts_matrix *transposed, const ts_solver_desc *desc,
                      ts_solver **solver) {
  ts_solver_desc own = {0};
  if (desc) own = *desc;
  own.transposed = transposed;
  return create_solver(matrix, TS_METHOD_CGLS, &own, solver);
}

ts_preconditioner *make_cycle(ts_multigrid *multigrid) {
  ts_preconditioner *M = NULL;
  const ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_MULTIGRID, .multigrid = multigrid};
  if (multigrid) CHECK_OK(multigrid->context, ts_preconditioner_create(NULL, &desc, &M));
  return M;
}

ts_preconditioner *make_preconditioner(ts_matrix *matrix, const ts_preconditioner_desc *desc) {
  ts_preconditioner *M = NULL;
  CHECK_OK(matrix->context, ts_preconditioner_create(matrix, desc, &M));
  return M;
}

ts_preconditioner_info preconditioner_info(const ts_preconditioner *M) {
  ts_preconditioner_info info = {.choice = ""};
  if (M) ts_preconditioner_get_info(M, &info);
  return info;
}

size_t vector_count(const ts_vector *vector) {
  return (size_t)ts_space_get_size(ts_vector_get_space(vector)) * (size_t)ts_vector_get_components(vector);
}

float *read_vector(const ts_vector *vector) {
  const size_t count = vector_count(vector);
  float *values = malloc(count * sizeof *values);
  for (size_t i = 0; i < count; i++) values[i] = NAN;
  CHECK_OK(vector->context, ts_vector_read(vector, ts_host(values, count)));
  return values;
}

double *read_doubles(const ts_vector *vector) {
  const size_t count = vector_count(vector);
  double *values = malloc(count * sizeof *values);
  for (size_t i = 0; i < count; i++) values[i] = (double)NAN;
  CHECK_OK(vector->context, ts_vector_read(vector, ts_host(values, count)));
  return values;
}

void read_slot(ts_scalars *scalars, int index, float values[4]) {
  for (int c = 0; c < 4; c++) values[c] = NAN;
  CHECK_OK(scalars->context, ts_scalars_read(scalars, index, ts_host(values, 4)));
}

int has_precise_residuals(ts_context *context) {
  if (!test_is_gl()) return 1;
  if (context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS) return 0;
  static int listed = -1;
#ifdef TEXSOLVE_HAVE_GL
  if (listed < 0) {
    CHECK_OK(context, ts_gl_make_current(context));
    listed = application_lists("GL_ARB_gpu_shader5");
    CHECK_OK(context, ts_gl_release_current(context));
  }
#endif
  return listed > 0;
}

ts_format missing_format(const ts_context *context) {
  const unsigned formats = context_info(context).formats;
  for (int f = TS_FORMAT_JAGGED; ts_format_name((ts_format)f); f++)
    if (f != TS_FORMAT_STENCIL && f != TS_FORMAT_OPERATOR && !(formats & 1u << f)) return (ts_format)f;
  return TS_FORMAT_AUTO;
}

ts_context_info context_info(const ts_context *context) {
  ts_context_info info = {0};
  CHECK_OK(context, ts_context_get_info(context, &info));
  return info;
}

ts_gl_info gl_info(const ts_context *context) {
  ts_gl_info info = {0};
#ifdef TEXSOLVE_HAVE_GL
  CHECK_OK(context, ts_gl_get_info(context, &info));
#else
  (void)context;
#endif
  return info;
}

ts_matrix_info matrix_info(const ts_matrix *matrix) {
  ts_matrix_info info = {0};
  CHECK_OK(matrix->context, ts_matrix_get_info(matrix, &info));
  return info;
}

int check_padding(const char *file, int line, const ts_vector *vector) {
  const tsi_tiling *t = &vector->space->tiling;
  ts_context *context = vector->context;
  if (t->linear) return 1;
  const size_t texels = (size_t)t->width * (size_t)t->height, stride = (size_t)tsi_texel_floats(vector);
  float *values = malloc(texels * stride * sizeof *values);
  CHECK_OK(context, tsi_enter(context));
  CHECK_OK(context, context->ops->vector_read(vector, values));
  CHECK_OK(context, tsi_leave(context, TS_OK));
  for (int32_t i = 0; i < t->size; i++)
    for (size_t c = 0; c < (size_t)vector->components; c++)
      values[(size_t)tsi_texel_number(t, tsi_position(t, i)) * stride + (size_t)tsi_channel(t, i) + c] = 0;
  size_t k = 0;
  while (k < texels * stride && values[k] == 0) k++;
  const int clean = k == texels * stride;
  if (!clean)
    test_fail(file, line, "padding at texel %zu, %zu, component %zu of %d x %d holds %g",
              k / stride % (size_t)t->width, k / stride / (size_t)t->width, k % stride, t->width, t->height,
              (double)values[k]);
  free(values);
  return clean;
}

int list_formats(ts_context *context, ts_format formats[8]) {
  const ref_matrix m = ref_diagonal(3, 1, 2);
  int count = 0;
  for (ts_format format = TS_FORMAT_AUTO; ts_format_name(format); format++) {
    ts_matrix_desc desc = {0};
    desc.csr = ref_csr(&m);
    desc.format = format;
    ts_matrix *matrix = NULL;
    const ts_status status = ts_matrix_create(context, &desc, &matrix);
    if (status == TS_OK)
      formats[count++] = format;
    else
      CHECK_INT(status, TS_ERROR_UNSUPPORTED);
    CHECK(!format || (status == TS_OK) == (context_info(context).formats >> format & 1));
    ts_matrix_destroy(&matrix);
  }
  ref_matrix copy = m;
  ref_free(&copy);
  CHECK(count >= 2);
  return count;
}

ts_format texture_format_after(ts_format format) {
  const unsigned in_textures = 0 TSI_GL_FORMATS(TSI_FORMAT_BIT);
  while (ts_format_name(++format))
    if (in_textures & 1u << format && !tsi_format_log2_block(format)) return format;
  return TS_FORMAT_AUTO;
}

int most_components(ts_format format) {
  return test_is_gl() && tsi_format_log2_block(format) ? 1 : 4;
}

int list_mesh_formats(ts_context *context, ts_format formats[8]) {
  const int count = list_formats(context, formats);
  int kept = 0;
  for (int i = 0; i < count; i++)
    if (!formats[i] || !tsi_format_of(formats[i])->no_meshes) formats[kept++] = formats[i];
  return kept;
}

int check_values(const char *file, int line, const float *actual, const double *expected, const double *scale,
                 size_t count, double tolerance) {
  size_t wrong = 0, first = 0;
  for (size_t i = 0; i < count; i++) {
    /* Subnormal numbers may be flushed to 0. */
    const double allowed = tolerance * EPSILON * (scale ? scale[i] : fabs(expected[i])) + 1.2e-38;
    if (fabs(actual[i] - expected[i]) <= allowed || (double)actual[i] == expected[i]) continue;
    if (wrong++ == 0) first = i;
  }
  if (!wrong) return 1;
  test_fail(file, line, "%zu of %zu values are wrong, the first at %zu: %.9g, expected %.9g (scale %.3g)",
            wrong, count, first, (double)actual[first], expected[first],
            scale ? scale[first] : fabs(expected[first]));
  return 0;
}
