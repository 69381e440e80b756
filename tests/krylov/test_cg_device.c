/* Conjugate gradients on devices that run many iterations without the host. The solution has the same bits for
 * any number of iterations per launch. The iterations end when they should, and their results match those of
 * separate operations. */
#include "krylov_solve.h"
#include "common/core/core.h"
#include "common/krylov/cg_operations.h"

static ts_context *context;

typedef struct solved {
  float *x;
  ts_result result;
} solved;

static solved solve_with(ts_matrix *matrix, const ref_matrix *m, int components, ts_solver_desc desc) {
  const size_t count = (size_t)m->rows * (size_t)components;
  float *bs = ref_values(count, 3, -1, 1);
  solved s = {.x = ref_values(count, 4, -1, 1)};
  krylov_solve(TS_METHOD_CG, matrix, &desc, components, bs, s.x, &s.result);
  free(bs);
  return s;
}

static void check_same(const solved *a, const solved *b, size_t count) {
  CHECK_INT(a->result.iterations, b->result.iterations);
  CHECK(memcmp(a->x, b->x, count * sizeof *a->x) == 0);
}

/* Sizes for one thread per row and for passes over the vectors. On a device with 132 multiprocessors the limit
 * between the two is 135168 rows. The last two matrices are uneven. One has rows as long as all others
 * together, so that blocks share them, and in the other one slices have their own order of rows. */
static ref_matrix sample(int index) {
  static const int32_t sides[][2] = {{1, 1}, {5, 6}, {11, 3}, {64, 64}, {181, 181}, {352, 384}, {401, 399}};
  if (index < 7) return ref_grid(sides[index][0], sides[index][1]);
  if (index == 7) return ref_torus_mesh(30, 40, 2000, 5);
  return index == 8 ? ref_hubs(9001, 9000, 4) : ref_random_spd(150000, 9, 6);
}
enum { samples = 10 };

static const ts_format formats[] = {TS_FORMAT_CSR, TS_FORMAT_JAGGED, TS_FORMAT_BCRS2, TS_FORMAT_BCRS4};
enum { format_count = 4 };

static int has_format(ts_format format) {
  return (context_info(context).formats & 1u << format) != 0;
}

/* Left out: jagged diagonals with long rows, because their operations run separately. A brief run has two
 * systems above the limit, one of them uneven, with few iterations. */
static int is_left_out(int index, const ref_matrix *m, int f, int components) {
  const int large = m->rows > 5000;
  if (index == 8 && formats[f] == TS_FORMAT_JAGGED) return 1;
  if (!test_is_brief()) return large && components != 1 && components != 3;
  if (large) return index < 6 || components != 1 + 2 * ((index / 2 + f) % 2);
  return (index + f + components) % 4;
}

static void same_bits(void) {
  for (int index = 0; index < samples; index++) {
    ref_matrix m = sample(index);
    for (int f = 0; f < format_count; f++) {
      if (!has_format(formats[f])) continue;
      ts_matrix *matrix = make_matrix(context, &m, formats[f]);
      for (int components = 1; components <= 4; components++) {
        if (is_left_out(index, &m, f, components)) continue;
        /* Parts choose their own formats, and may have jagged diagonals with long rows although csr was
         * requested. */
        if (test_is_multi() && matrix && !context->ops->cg->fits(matrix)) continue;
        const size_t count = (size_t)m.rows * (size_t)components;
        test_context_label("%d rows, %s, %d components", m.rows, ts_format_name(formats[f]), components);
        ts_solver_desc desc = {.rtol = test_is_brief() && m.rows > 5000 ? 0.1 : 1e-5, .check_interval = 250};
        desc.stop = components % 2 ? TS_STOP_RESIDUAL : TS_STOP_DELTA;
        solved once = solve_with(matrix, &m, components, desc),
               again = solve_with(matrix, &m, components, desc);
        check_same(&once, &again, count);
        CHECK_INT(once.result.reason, TS_REASON_CONVERGED);
        float *bs = ref_values(count, 3, -1, 1);
        CHECK(ref_worst_residual(&m, NULL, components, once.x, bs) <= 20 * desc.rtol);
        free(bs), free(again.x);
        desc.check_interval = 7;
        again = solve_with(matrix, &m, components, desc);
        check_same(&once, &again, count);
        free(once.x), free(again.x);
      }
      ts_matrix_destroy(&matrix);
    }
    ref_free(&m);
  }
}

/* An interval takes no unnecessary iterations: it ends at the iteration after which a check would stop. */
static void ends_in_time_in(const ref_matrix *m, int f) {
  const ts_format format = formats[f];
  ts_matrix *matrix = make_matrix(context, m, format);
  for (int stop = TS_STOP_DELTA; stop <= TS_STOP_RESIDUAL; stop++)
    for (int jacobi = 0; jacobi < 2; jacobi++) {
      if (test_is_brief() && (stop + jacobi + f / 2) % 2) continue;
      test_context_label("%s, rule %d, preconditioner %d", ts_format_name(format), stop, jacobi);
      ts_solver_desc desc = {.rtol = 1e-4, .stop = (ts_stop)stop, .check_interval = 1000};
      desc.preconditioner_kind = jacobi ? TS_PRECONDITIONER_JACOBI : TS_PRECONDITIONER_NONE;
      solved a = solve_with(matrix, m, 2, desc);
      desc.check_interval = 1;
      solved b = solve_with(matrix, m, 2, desc);
      check_same(&a, &b, (size_t)m->rows * 2);
      CHECK_INT(a.result.reason, TS_REASON_CONVERGED);
      CHECK(a.result.iterations > 5 && a.result.iterations < 200);
      CHECK(a.result.host_synchronisations < 6 && b.result.host_synchronisations >= b.result.iterations);
      free(a.x), free(b.x);
    }
  ts_matrix_destroy(&matrix);
}

static void ends_in_time(void) {
  ref_matrix m = ref_grid(41, 31);
  for (int f = 0; f < format_count; f++)
    if (has_format(formats[f])) ends_in_time_in(&m, f);
  ref_free(&m);
}

/* A direction of negative curvature and a number outside the range of single precision also end an interval. */
static void ends_in_trouble(void) {
  ref_matrix m = ref_indefinite(20, 20);
  for (int f = 0; f < format_count; f++) {
    if (!has_format(formats[f])) continue;
    test_context_label("%s", ts_format_name(formats[f]));
    ts_matrix *matrix = make_matrix(context, &m, formats[f]);
    solved s = solve_with(matrix, &m, 1, (ts_solver_desc){.rtol = 1e-6, .check_interval = 1000});
    CHECK_INT(s.result.reason, TS_REASON_INDEFINITE);
    CHECK(s.result.iterations < 100);
    free(s.x);
    ts_matrix_destroy(&matrix);
  }
  ref_free(&m);
}

static ts_matrix *make_constrained(ts_context *owner, const ref_matrix *m, const unsigned char *constrained,
                                   ts_format format) {
  const ts_matrix_desc desc = {.csr = ref_csr(m), .format = format, .constrained = constrained};
  ts_matrix *matrix = NULL;
  CHECK_OK(owner, ts_matrix_create(owner, &desc, &matrix));
  return matrix;
}

/* Results are within a few rounding errors of those of separate operations. */
static void compare(ts_context *plain, const ref_matrix *m, const unsigned char *constrained, int f) {
  const ts_format format = formats[f];
  ts_matrix *a = make_constrained(context, m, constrained, format),
            *b = make_constrained(plain, m, constrained, format);
  for (int components = 1; a && b && components <= 4; components++) {
    if (test_is_brief() && (components + f + (constrained ? 1 : 0)) % 4) continue;
    test_context_label("%d rows, %s, %d components", m->rows, ts_format_name(format), components);
    const ts_solver_desc rule = {.rtol = 1e-6, .stop = TS_STOP_RESIDUAL, .check_interval = 1};
    solved fused = solve_with(a, m, components, rule), single = solve_with(b, m, components, rule);
    CHECK(fused.result.iterations > 3);
    CHECK(abs(fused.result.iterations - single.result.iterations) <= 1);
    for (size_t i = 0; i < (size_t)m->rows * (size_t)components; i++)
      if (!CHECK_CLOSE(fused.x[i], single.x[i], 1e-5)) break;
    free(fused.x), free(single.x);
  }
  ts_matrix_destroy(&a);
  ts_matrix_destroy(&b);
}

/* One thread per row; passes with constrained rows and a last block that is not full; and rows so long that
 * blocks share them. */
static void as_one_by_one(void) {
  ts_context_desc desc = test_desc();
  desc.flags |= TS_CONTEXT_NO_FUSED_OPERATIONS;
  ts_context *plain = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &plain));
  for (int kind = 0; kind < 3; kind++) {
    ref_matrix m = kind == 0   ? ref_torus_mesh(40, 50, 1000, 9)
                   : kind == 1 ? ref_random_spd(150001, 9, 6)
                               : ref_hubs(9003, 9000, 5);
    unsigned char *constrained = kind ? calloc((size_t)m.rows, 1) : NULL;
    for (int32_t i = 0; constrained && i < m.rows; i += 5) constrained[i] = 1;
    for (int f = 0; f < format_count; f++)
      if (has_format(formats[f])) compare(plain, &m, constrained, f);
    free(constrained);
    ref_free(&m);
  }
  test_close(&plain);
}

TEST_MAIN(CASES_IN_CONTEXT(same_bits, ends_in_time, ends_in_trouble, as_one_by_one))
