/* Triangular systems of incomplete factors, compared with a separate reference in this file. They are solved on
 * the host and on a device that solves them exactly, with 1 to 4 components and vectors of 1 to 3 parts. */
#include <string.h>

#include "common/precond/ilu/ilu.h"
#include "helpers.h"

static ts_context *context;

/* These numbers decide whether triangular systems are solved on the device or the host, if the backend supports
 * both. */
static const double on_device = 1e-9, on_host = 1e15; /* nanoseconds per level */

typedef struct reference {
  ts_context *host;
  ts_matrix *matrix;
  ts_preconditioner *M;
} reference;

static ts_preconditioner *make(ts_context *in, const ref_matrix *m, const ts_preconditioner_desc *desc,
                               ts_matrix **matrix) {
  const ts_matrix_desc matrix_desc = {.csr = ref_csr(m), .keep_host_copy = 1};
  return CHECK_OK(in, ts_matrix_create(in, &matrix_desc, matrix)) ? make_preconditioner(*matrix, desc) : NULL;
}

/* All backends compute factors with the same bits. */
static const tsi_ilu *make_reference(const ref_matrix *m, const ts_preconditioner_desc *desc, reference *out) {
  *out = (reference){0};
  if (!CHECK_OK(NULL, ts_context_create(&(ts_context_desc){.backend = "cpu", .threads = 1}, &out->host)))
    return NULL;
  out->M = make(out->host, m, desc, &out->matrix);
  return out->M ? out->M->state : NULL;
}

static void destroy_reference(reference *r) {
  ts_preconditioner_destroy(&r->M);
  ts_matrix_destroy(&r->matrix);
  ts_context_destroy(&r->host);
}

/* Subtracts the products of row k with numbers that are already known. */
static double subtract(const tsi_ilu_rows *rows, int32_t k, const double *found, double own) {
  for (int64_t e = rows->offsets[k]; e < rows->offsets[k + 1]; e++)
    own -= rows->values[e] * found[rows->columns[e]];
  return own;
}

/* Computes one component of z. */
static void solve(const tsi_ilu *ilu, int components, int component, const float *r, double *z) {
  const tsi_ilu_order *order = &ilu->order;
  const size_t width = (size_t)components, at = (size_t)component;
  double *w = malloc((size_t)order->n * sizeof *w);
  for (int32_t k = 0; k < order->n; k++)
    w[k] = subtract(&ilu->factors.lower, k, w,
                    order->row_scales[k] * (double)r[(size_t)order->rows[k] * width + at]);
  for (int32_t k = order->n - 1; k >= 0; k--) {
    w[k] = subtract(&ilu->factors.upper, k, w, ilu->factors.inverse[k] * w[k]);
    z[(size_t)order->columns[k] * width + at] = order->column_scales[k] * w[k];
  }
  free(w);
}

static double largest(const double *v, size_t count) {
  double found = 0;
  for (size_t k = 0; k < count; k++) found = fmax(found, fabs(v[k]));
  return found;
}

/* The tolerance is that of z's `parts` parts of 24 bits, limited to that of doubles. */
static void check_application(const tsi_ilu *ilu, ts_preconditioner *M, ts_space *space, int components,
                              int parts) {
  const size_t count = (size_t)ilu->order.n * (size_t)components;
  float *rs = ref_values(count, 5, -1, 1);
  double *expected = malloc(count * sizeof *expected);
  ts_vector *r = make_vector(space, components, rs), *z = make_parts(space, components, parts, NULL);
  for (int c = 0; c < components; c++) solve(ilu, components, c, rs, expected);
  CHECK_OK(context, ts_preconditioner_apply(M, z, r));
  CHECK_PADDING(z);
  double *zs = read_doubles(z);
  const double bound = (parts == 1 ? 6e-8 : 1e-12) * largest(expected, count);
  for (size_t k = 0; k < count; k++)
    if (!CHECK(fabs(zs[k] - expected[k]) <= bound)) break;
  free(rs), free(zs), free(expected);
  ts_vector_destroy(&r);
  ts_vector_destroy(&z);
}

static int waits(ts_preconditioner *M, ts_space *space) {
  ts_vector *r = make_vector(space, 1, NULL), *z = make_vector(space, 1, NULL);
  const uint64_t before = context->host_synchronisations;
  CHECK_OK(context, ts_preconditioner_apply(M, z, r));
  const int found = context->host_synchronisations != before;
  ts_vector_destroy(&r);
  ts_vector_destroy(&z);
  return found;
}

static void check_matrix(const char *name, const ref_matrix *m, const ts_preconditioner_desc *desc) {
  reference host;
  const tsi_ilu *ilu = make_reference(m, desc, &host);
  const double places[] = {on_device, on_host};
  for (int place = 0; ilu && place < 2; place++) {
    ts_matrix *matrix = NULL;
    context->tuning.ilu_level_nanoseconds = places[place];
    ts_preconditioner *M = make(context, m, desc, &matrix);
    if (!M) break;
    ts_space *space = ts_matrix_get_row_space(matrix);
    const int most = most_components(matrix_info(matrix).format), most_parts = context->caps.pairs ? 3 : 1;
    for (int components = 1; components <= most; components++)
      for (int parts = 1; parts <= most_parts; parts++) {
        test_context_label("%s, %s, %d components of %d parts", name, place ? "host" : "device", components,
                           parts);
        check_application(ilu, M, space, components, parts);
      }
    CHECK_INT(waits(M, space), place || !context->ops->ilu);
    CHECK_OK(context, ts_preconditioner_update(M));
    check_application(ilu, M, space, 1, 1);
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&matrix);
  }
  if (ilu) destroy_reference(&host);
}

/* A chain of rows, wide levels, rows with hundreds of entries next to short ones, a different order of
 * pivots. */
static void against_a_reference(void) {
  ref_matrix wind = ref_convection(17, 13, 2), skew = ref_shifted_skew(300, 0.5f), cube = ref_laplacian_3d(7),
             hubs = ref_hubs(500, 300, 3), uneven = ref_uneven_rows(400, 400, 30, 3);
  check_matrix("convection", &wind, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_ILU});
  check_matrix("chain", &skew, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_ILU});
  check_matrix("convection, no fill", &wind,
               &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_ILU, .levels = -1});
  check_matrix("uneven rows", &uneven,
               &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_ILU, .fill = 3, .drop_tolerance = 0.01});
  check_matrix("cube", &cube, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_IC});
  check_matrix("hubs", &hubs, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_IC, .levels = 1});
  ref_free(&wind), ref_free(&skew), ref_free(&cube), ref_free(&hubs), ref_free(&uneven);
}

/* Infinities and NaNs propagate to z, and must not block rows that wait for them. */
static void not_finite(void) {
  ref_matrix m = ref_convection(17, 13, 2);
  ts_matrix *matrix = NULL;
  context->tuning.ilu_level_nanoseconds = on_device;
  ts_preconditioner *M = make(context, &m, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_ILU}, &matrix);
  ts_space *space = ts_matrix_get_row_space(matrix);
  const uint32_t patterns[] = {0xffffffff, 0x7fffffff, 0x7f800000, 0xff800000}; /* NaNs, infinities */
  for (int k = 0; k < 4; k++) {
    float *rs = ref_values((size_t)m.rows, 5, -1, 1);
    memcpy(&rs[m.rows / 2], &patterns[k], sizeof *rs);
    ts_vector *r = make_vector(space, 1, rs), *z = make_vector(space, 1, NULL);
    CHECK_OK(context, ts_preconditioner_apply(M, z, r));
    float *zs = read_vector(z);
    CHECK(!isfinite(zs[m.rows / 2]));
    free(rs), free(zs);
    ts_vector_destroy(&r);
    ts_vector_destroy(&z);
  }
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(against_a_reference, not_finite))
