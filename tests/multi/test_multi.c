/* Several parts as one backend: matrices over few and uneven parts, several matrices over one space,
 * unsupported features, and agreement with a single part. */
#include <texsolve/fluid.h>
#include <texsolve/mesh.h>
#include <texsolve/ranks.h>

#include "helpers.h"
#include "multi/multi.h"

static ts_context *context;

/* ---- Products ---- */

static void multiply(const ref_matrix *m, int components, const double *x, double *y) {
  for (int32_t i = 0; i < m->rows; i++)
    for (int c = 0; c < components; c++) {
      ref_sum sum = {0, 0};
      for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++)
        ref_add_product(&sum, (double)m->values[k], x[(size_t)m->indices[k] * (size_t)components + (size_t)c]);
      y[(size_t)i * (size_t)components + (size_t)c] = sum.value + sum.low;
    }
}

static int32_t longest(const ref_matrix *m) {
  return ref_longest_row(m) + 4;
}

/* A x and b - A x in `parts` parts, over the spaces of a matrix made from m. */
static void check_products(const ref_matrix *m, ts_matrix *matrix, int components, int parts) {
  const size_t rows = (size_t)m->rows * (size_t)components, columns = (size_t)m->columns * (size_t)components;
  double *xs = ref_doubles(columns, 7, -1, 1), *expected = malloc(rows * sizeof *expected);
  for (size_t i = 0; i < columns && parts == 1; i++) xs[i] = (double)(float)xs[i];
  multiply(m, components, xs, expected);
  ts_vector *x = make_parts(ts_matrix_get_column_space(matrix), components, parts, xs);
  ts_vector *y = make_parts(ts_matrix_get_row_space(matrix), components, parts, NULL);
  const double tolerance = longest(m) * (parts == 1 ? EPSILON : 0x1p-44) * 16;
  if (x && y) {
    CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
    double *found = read_doubles(y);
    for (size_t i = 0; i < rows; i++) CHECK_CLOSE(found[i], expected[i], tolerance);
    free(found);
    CHECK_OK(context, ts_vector_write(y, ts_host(expected, rows)));
    CHECK_OK(context, ts_matrix_residual(y, y, matrix, x));
    found = read_doubles(y);
    for (size_t i = 0; i < rows; i++) CHECK_CLOSE(found[i], 0, tolerance);
    free(found);
  }
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  free(xs), free(expected);
}

static void check_matrix(ref_matrix m) {
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  for (int components = 1; matrix && components <= 4; components++)
    for (int parts = 1; parts <= 2; parts++) check_products(&m, matrix, components, parts);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* Parts without rows, with one row, with empty rows; each row refers to other parts, or one row refers to all
 * of them. */
static void shapes(void) {
  for (int32_t n = 1; n <= 9; n++) {
    test_context_label("dense, %d", n);
    check_matrix(ref_dense(n, n, 3));
    test_context_label("shift, %d", n);
    check_matrix(ref_cyclic_shift(n));
  }
  static const int32_t sizes[][2] = {{1, 50}, {50, 1}, {2, 300}, {300, 2}, {100, 37}};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    test_context_label("%d x %d", sizes[k][0], sizes[k][1]);
    check_matrix(ref_dense(sizes[k][0], sizes[k][1], 4));
    check_matrix(ref_gaps(sizes[k][0], sizes[k][1], 5));
  }
  test_context_label("dense row");
  check_matrix(ref_dense_row(500, 250, 3));
  test_context_label("arrow");
  check_matrix(ref_arrow(300));
  test_context_label("uneven");
  check_matrix(ref_uneven_rows(400, 700, 90, 6));
}

static int parts_of_backend(void) {
  int parts = 1;
  for (const char *c = test_desc().backend; *c; c++) parts += *c == '+';
  return parts * ts_ranks_get_count(context);
}

/* With a cyclic shift each part needs one index of the next part. */
static void parts_in_info(void) {
  const int parts = parts_of_backend();
  static const int32_t sizes[] = {1, 2, 9, 100};
  ts_context_info info;
  CHECK_OK(context, ts_context_get_info(context, &info));
  CHECK_INT(info.parts, parts);
  for (int k = 0; k < 4; k++) {
    ref_matrix m = ref_cyclic_shift(sizes[k]);
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    const int used = parts < sizes[k] ? parts : sizes[k];
    if (matrix) {
      CHECK_INT(matrix_info(matrix).parts, used);
      CHECK_INT(matrix_info(matrix).halo, used > 1 ? used : 0);
    }
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
}

/* Rows too few for all parts are in the first parts. An explicit request is obeyed. */
static void few_parts(void) {
  const int parts = parts_of_backend();
  if (parts == 1) return;
  CHECK_OK(context, ts_context_set_tuning(context, "part_rows", 150));
  check_matrix(ref_grid(20, 20));
  check_matrix(ref_dense(130, 700, 3));
  check_matrix(ref_gaps(700, 130, 3));
  check_matrix(ref_random_spd(310, 5, 9));
  static const int32_t sizes[] = {10, 299, 300};
  for (int k = 0; k < 3; k++) {
    ref_matrix m = ref_cyclic_shift(sizes[k]);
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    const int worth = k < 2 ? 1 : 2;
    char text[80];
    snprintf(text, sizeof text, "%d rows are too few to share", sizes[k]);
    if (matrix) {
      CHECK_INT(matrix_info(matrix).parts, worth);
      CHECK_INT(matrix_info(matrix).halo, k < 2 ? 0 : 2);
      CHECK((worth == 1) == !!strstr(matrix_info(matrix).choice, text));
      snprintf(text, sizeof text, " in %d of %d parts: ", worth, parts);
      if (worth < parts) CHECK_CONTAINS(matrix_info(matrix).choice, text);
    }
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
  ts_space *space = make_space(context, 200); /* without a matrix */
  ts_vector *x = make_vector(space, 1, NULL);
  ref_matrix m = ref_cyclic_shift(200);
  const ts_matrix_desc desc = {.csr = ref_csr(&m), .row_space = space, .column_space = space};
  ts_matrix *matrix = NULL;
  if (CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) {
    CHECK_INT(matrix_info(matrix).parts, 1);
    CHECK_CONTAINS(matrix_info(matrix).choice, "200 rows are too few to share");
    check_products(&m, matrix, 1, 1);
  }
  ts_matrix_destroy(&matrix);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
  ref_free(&m);
}

/* The second matrix over a space refers to more ghosts than its vectors have room for. */
static void second_matrix(void) {
  ref_matrix first = ref_diagonal(200, 1, 2), second = ref_random_dominant(200, 12, 8);
  ts_matrix *a = make_matrix(context, &first, TS_FORMAT_AUTO), *b = NULL;
  REQUIRE(a != NULL);
  const ts_matrix_desc desc = {.csr = ref_csr(&second), .row_space = ts_matrix_get_row_space(a)};
  ts_matrix_desc square = desc;
  square.column_space = desc.row_space;
  CHECK_OK(context, ts_matrix_create(context, &square, &b));
  for (int components = 1; b && components <= 2; components++)
    for (int parts = 1; parts <= 2; parts++) check_products(&second, b, components, parts);
  ts_matrix_destroy(&b);
  ts_matrix_destroy(&a);
  ref_free(&first), ref_free(&second);
}

static void reductions(void) {
  for (int32_t n = 1; n <= 5; n++) {
    ts_space *space = make_space(context, n);
    float values[5] = {-5, -4, -3, -2, -1}, slot[4];
    ts_vector *x = make_vector(space, 1, values);
    ts_scalars *s = make_scalars(context, 4);
    CHECK_OK(context, ts_vector_sum(s, 0, x));
    CHECK_OK(context, ts_vector_max(s, 1, x));
    CHECK_OK(context, ts_vector_norm(s, 2, x, TS_NORM_INFINITY));
    CHECK_OK(context, ts_vector_norm(s, 3, x, TS_NORM_2));
    double sum = 0, squares = 0;
    for (int32_t i = 0; i < n; i++) sum += (double)values[i], squares += (double)values[i] * (double)values[i];
    const double expected[4] = {sum, (double)values[n - 1], 5, sqrt(squares)};
    for (int k = 0; k < 4; k++) {
      read_slot(s, k, slot);
      CHECK_CLOSE((double)slot[0], expected[k], 1e-6);
    }
    ts_scalars_destroy(&s);
    ts_vector_destroy(&x);
    ts_space_destroy(&space);
  }
}

/* ---- Solves ---- */

static float *solve(ts_context *on, const ref_matrix *m, ts_precision precision, double rtol, int *iterations) {
  float *bs = ref_values((size_t)m->rows, 11, -1, 1), *xs = NULL;
  ts_matrix *matrix = make_matrix(on, m, TS_FORMAT_AUTO);
  if (matrix) {
    ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, bs),
              *x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
    ts_solver *solver =
        make_cg(matrix, &(ts_solver_desc){.rtol = rtol, .precision = precision, .check_interval = 1});
    ts_result result;
    CHECK_OK(on, ts_solver_solve(solver, b, x, &result));
    *iterations = result.iterations;
    xs = read_vector(x);
    ts_solver_destroy(&solver);
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
  }
  ts_matrix_destroy(&matrix);
  free(bs);
  return xs;
}

/* The iterations of one part, up to rounding, the same solution, and the same bits every time. */
static void one_and_several(void) {
  ts_context_desc desc = test_desc();
  desc.backend = test_is_cpu() ? "cpu" : "cuda";
  ts_context *single = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &single));
  ref_matrix m = ref_laplacian_3d(14);
  static const ts_precision precisions[] = {TS_PRECISION_SINGLE, TS_PRECISION_MIXED, TS_PRECISION_DOUBLE};
  for (int k = 0; k < 3; k++) {
    const double rtol = k ? 1e-10 : 1e-5;
    int few = 0, many = 0, again = 0;
    test_context_label("%s", ts_precision_name(precisions[k]));
    float *one = solve(single, &m, precisions[k], rtol, &few),
          *several = solve(context, &m, precisions[k], rtol, &many),
          *same = solve(context, &m, precisions[k], rtol, &again);
    CHECK(abs(few - many) <= 1 + few / 20);
    CHECK_INT(again, many);
    for (int32_t i = 0; one && several && i < m.rows; i++)
      CHECK_CLOSE((double)several[i], (double)one[i], 1e-4);
    CHECK(several && same && !memcmp(several, same, (size_t)m.rows * sizeof *same));
    free(one), free(several), free(same);
  }
  ref_free(&m);
  ts_context_destroy(&single);
}

/* ---- Iterations without the host, if the parts are CUDA devices ---- */

/* Solves from zero. Returns NULL and sets the status after a failure. */
static float *iterate(ts_matrix *matrix, int components, const ts_solver_desc *desc, ts_status *status,
                      ts_result *result) {
  ts_space *space = ts_matrix_get_row_space(matrix);
  const size_t count = (size_t)ts_space_get_size(space) * (size_t)components;
  float *bs = ref_values(count, 5, -1, 1), *xs = NULL;
  ts_vector *b = make_vector(space, components, bs), *x = make_vector(space, components, NULL);
  ts_solver *solver = make_cg(matrix, desc);
  *status = ts_solver_solve(solver, b, x, result);
  if (*status >= 0) xs = read_vector(x);
  ts_solver_destroy(&solver);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  free(bs);
  return xs;
}

static float *iterate_well(ts_matrix *matrix, int components, const ts_solver_desc *desc, ts_result *result) {
  ts_status status;
  float *xs = iterate(matrix, components, desc, &status, result);
  CHECK_INT(status, TS_OK);
  return xs;
}

static int parts_iterate(const ts_matrix *matrix) {
  const tsi_cg_ops *cg = context->ops->cg;
  return cg && cg->fits && cg->fits(matrix);
}

/* The bits are the same every time and, on devices, for any number of iterations per launch. The result agrees
 * with that of one part. */
static void check_iterations(ts_matrix *matrix, ts_matrix *alone, int components, ts_solver_desc desc) {
  ts_result first, other;
  const int32_t rows = ts_space_get_size(ts_matrix_get_row_space(matrix));
  const size_t count = (size_t)rows * (size_t)components;
  float *xs = iterate_well(matrix, components, &desc, &first),
        *again = iterate_well(matrix, components, &desc, &other);
  CHECK_INT(other.iterations, first.iterations);
  CHECK(xs && again && !memcmp(xs, again, count * sizeof *xs));
  CHECK_INT(first.reason, TS_REASON_CONVERGED);
  free(again);
  if (parts_iterate(matrix)) {
    desc.check_interval = 7;
    again = iterate_well(matrix, components, &desc, &other);
    CHECK_INT(other.iterations, first.iterations);
    CHECK(xs && again && !memcmp(xs, again, count * sizeof *xs));
    free(again);
  }
  again = iterate_well(alone, components, &desc, &other);
  if (parts_iterate(matrix)) CHECK(first.host_synchronisations <= 2 * other.host_synchronisations + 4);
  /* Ranks on devices end only at a check. */
  if (parts_iterate(matrix) || test_is_cpu())
    CHECK(abs(other.iterations - first.iterations) <= 2 + other.iterations / 20);
  for (size_t i = 0; xs && again && i < count; i++)
    if (!CHECK_CLOSE((double)xs[i], (double)again[i], 1e-3)) break;
  free(xs), free(again);
}

/* One row, fewer rows than threads, long rows, and more rows than threads. */
static ref_matrix iterated(int k) {
  switch (k) {
  case 0:
    return ref_grid(1, 1);
  case 1:
    return ref_grid(2, 1);
  case 2:
    return ref_grid(70, 31);
  case 3:
    return ref_arrow(900);
  case 4:
    return ref_hubs(3001, 2000, 4);
  default:
    return k == 5 ? ref_random_spd(5000, 9, 6) : ref_laplacian_3d(test_is_brief() || test_is_cpu() ? 20 : 70);
  }
}
enum { ITERATED = 7 };

static void iterations(void) {
  ts_context_desc desc = test_desc();
  desc.backend = test_is_cpu() ? "cpu" : "cuda";
  ts_context *single = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &single));
  for (int k = 0; k < ITERATED; k++) {
    ref_matrix m = iterated(k);
    const ts_format format = k == 4 ? TS_FORMAT_CSR : TS_FORMAT_AUTO;
    ts_matrix *matrix = make_matrix(context, &m, format), *alone = make_matrix(single, &m, format);
    /* In some formats operations on long rows run separately. */
    if (matrix && !test_is_cpu() && !test_is_ranks() && k != 3) CHECK(parts_iterate(matrix));
    for (int kind = 0; matrix && alone && kind < 16; kind++) {
      const int components = 1 + kind / 4, stop = kind % 2 ? TS_STOP_DELTA : TS_STOP_RESIDUAL;
      if ((test_is_brief() || m.rows > 10000) && (kind + k) % 5) continue;
      test_context_label("%d rows, kind %d", m.rows, kind);
      ts_solver_desc rule = {.rtol = 1e-5, .stop = (ts_stop)stop};
      rule.preconditioner_kind = kind / 2 % 2 ? TS_PRECONDITIONER_JACOBI : TS_PRECONDITIONER_NONE;
      check_iterations(matrix, alone, components, rule);
    }
    ts_matrix_destroy(&matrix);
    ts_matrix_destroy(&alone);
    ref_free(&m);
  }
  ts_context_destroy(&single);
}

/* Many short runs with frequent exchanges between the parts. A part must not read a number before it is
 * written, nor one of an earlier round after the count of rounds restarts. */
static void check_runs(ts_matrix *matrix) {
  multi_state *state = context->backend;
  const size_t rows = (size_t)ts_space_get_size(ts_matrix_get_row_space(matrix));
  const ts_solver_desc desc = {.fixed_iterations = 60};
  ts_result result;
  float *first = iterate_well(matrix, 1, &desc, &result);
  for (int k = 0; k < (test_is_brief() ? 5 : 60); k++) {
    if (k % 4 == 1) state->rounds = UINT32_MAX - 100 - (uint32_t)k;
    float *xs = iterate_well(matrix, 1, &desc, &result);
    CHECK(first && xs && !memcmp(first, xs, rows * sizeof *xs));
    free(xs);
  }
  CHECK(state->rounds < 1000);
  free(first);
}

/* With few ghosts, which are sent together, and with many, which are sent as soon as each is known. */
static void many_runs(void) {
  const multi_state *state = context->backend;
  const int is_short = test_is_brief() || test_is_cpu();
  ref_matrix samples[] = {ref_laplacian_3d(is_short ? 12 : 45),
                          ref_hubs(is_short ? 1001 : 30001, is_short ? 200 : 2000, 8)};
  for (int k = 0; k < 2; k++) {
    ts_matrix *matrix = make_matrix(context, &samples[k], k ? TS_FORMAT_CSR : TS_FORMAT_AUTO);
    test_context_label("%d rows", samples[k].rows);
    if (matrix && state->count > 1 && parts_iterate(matrix)) check_runs(matrix);
    ts_matrix_destroy(&matrix);
    ref_free(&samples[k]);
  }
}

static ts_status not_started(void *peers) {
  (void)peers;
  return TS_OK;
}

/* The message names both parts. */
static void check_silence(ts_status status) {
  CHECK_INT(status, TS_ERROR_DEVICE);
  CHECK_CONTAINS(ts_last_error(context), "part 0 (");
  CHECK_CONTAINS(ts_last_error(context), "no answer from part 1 within 0.125 s");
}

/* Iterations without a test do not wait, so the next call that waits fails. */
static void check_silence_later(ts_matrix *matrix, int reads) {
  ts_space *space = ts_matrix_get_row_space(matrix);
  const size_t count = (size_t)ts_space_get_size(space);
  float *bs = ref_values(count, 5, -1, 1);
  ts_vector *b = make_vector(space, 1, bs), *x = make_vector(space, 1, NULL);
  ts_solver *solver = make_cg(matrix, &(ts_solver_desc){.fixed_iterations = 5});
  CHECK_OK(context, ts_solver_solve(solver, b, x, NULL));
  check_silence(reads ? ts_vector_read(x, ts_host(bs, count)) : ts_context_finish(context));
  ts_solver_destroy(&solver);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  free(bs);
}

/* A part with a kernel that never runs: the others give up, and the next solve works. */
static void silent_part(void) {
  multi_state *state = context->backend;
  ref_matrix m = ref_grid(50, 40);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  if (matrix && state->count > 1 && parts_iterate(matrix)) {
    const tsi_ops *before = state->parts[1]->ops;
    tsi_part_ops part = *before->part;
    tsi_ops ops = *before;
    ts_status status;
    ts_result result;
    part.cg_start = not_started;
    ops.part = &part;
    float *xs = iterate_well(matrix, 1, NULL, &result);
    CHECK_OK(context, ts_context_set_tuning(context, "peer_seconds", 0.125));
    for (int kind = 0; kind < 3; kind++) {
      test_context_label("kind %d", kind);
      state->parts[1]->ops = &ops;
      if (kind == 0) {
        CHECK(!iterate(matrix, 1, NULL, &status, &result));
        check_silence(status);
      } else {
        check_silence_later(matrix, kind == 1);
      }
      state->parts[1]->ops = before;
      float *again = iterate_well(matrix, 1, NULL, &result);
      CHECK(xs && again && !memcmp(xs, again, (size_t)m.rows * sizeof *xs));
      free(again);
    }
    free(xs);
  }
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* All parts run, but one answers too late. Most of these solves fail, and the message reports the part. */
static void late_part(void) {
  ref_matrix m = ref_grid(50, 40);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  if (matrix && multi_count(context) > 1 && parts_iterate(matrix)) {
    CHECK_OK(context, ts_context_set_tuning(context, "peer_seconds", 1e-9));
    for (int k = 0; k < 10; k++) {
      ts_status status;
      ts_result result;
      free(iterate(matrix, 1, NULL, &status, &result));
      if (status == TS_OK) continue;
      CHECK_INT(status, TS_ERROR_DEVICE);
      CHECK_CONTAINS(ts_last_error(context), "no answer from part");
    }
    CHECK_OK(context, ts_context_set_tuning(context, "peer_seconds", 2));
    ts_result result;
    free(iterate_well(matrix, 1, NULL, &result));
    CHECK_INT(result.reason, TS_REASON_CONVERGED);
  }
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* Rows in any order, divided by METIS into parts that communicate little. Solutions are in the user's order. */
static void partitions(void) {
  static const ts_partition each[] = {TS_PARTITION_AUTO, TS_PARTITION_BLOCKS, TS_PARTITION_METIS};
  ref_matrix samples[] = {ref_random_spd(300, 5, 9), ref_grid(25, 18), ref_random_dominant(200, 6, 4)};
  for (int k = 0; k < 3; k++) {
    ts_context_desc desc = test_desc();
    desc.partition = each[k];
    test_context_label("%s", ts_partition_name(each[k]));
    if (!CHECK_OK(NULL, ts_context_create(&desc, &context))) continue;
    for (int i = 0; i < 3; i++) {
      ts_matrix *matrix = NULL;
      const ts_matrix_desc of = {.csr = ref_csr(&samples[i])};
      const ts_status status = ts_matrix_create(context, &of, &matrix);
      if (status == TS_ERROR_UNAVAILABLE && each[k] == TS_PARTITION_METIS) continue; /* not built in */
      CHECK_OK(context, status);
      for (int components = 1; matrix && components <= 3; components += 2)
        for (int parts = 1; parts <= 2; parts++) check_products(&samples[i], matrix, components, parts);
      if (matrix)
        CHECK_CONTAINS(matrix_info(matrix).choice, k == 1 ? "blocks of rows" : "columns from other parts");
      ts_matrix_destroy(&matrix);
    }
    test_close(&context);
  }
  for (int i = 0; i < 3; i++) ref_free(&samples[i]);
}

/* ---- Unsupported features ---- */

static void refusals(void) {
  const char *named = test_is_ranks() ? " on " : "multi:";
  ts_space *grid = NULL;
  ts_matrix *matrix = NULL;
  float stencil[9 * 16] = {0};
  CHECK_OK(context, ts_grid_create(context, &(ts_grid_desc){.width = 4, .height = 4}, &grid));
  CHECK_FAILS(context, ts_stencil_create(grid, stencil_over(grid, stencil), &matrix), TS_ERROR_UNSUPPORTED,
              named, "grids");
  ts_space_destroy(&grid);
  ts_fluid *fluid = NULL;
  CHECK_FAILS(context, ts_fluid_create(context, &(ts_fluid_desc){.width = 8, .height = 8}, &fluid),
              TS_ERROR_UNSUPPORTED, named, "fluids");
  ts_mesh_flow *flow = NULL;
  CHECK_FAILS(context, ts_mesh_flow_create(context, &(ts_mesh_flow_desc){.vertices = 3}, &flow),
              TS_ERROR_UNSUPPORTED, named, "meshes");
  ref_matrix m = ref_grid(4, 4);
  const ts_matrix_desc desc = {.csr = ref_csr(&m), .format = TS_FORMAT_SEGMENTS};
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &matrix), TS_ERROR_UNSUPPORTED, named, "segments");
  ref_free(&m);
}

static void refuse(const char *backend, ts_status status, const char *part, const char *other) {
  ts_context *none = NULL;
  ts_context_desc desc = test_desc();
  desc.backend = backend;
  CHECK_FAILS(NULL, ts_context_create(&desc, &none), status, part, other);
  CHECK(none == NULL);
}

static void names(void) {
  refuse("multi:", TS_ERROR_INVALID_ARGUMENT, "unknown backend", "multi:NAME+NAME");
  refuse("multi:cpu+", TS_ERROR_INVALID_ARGUMENT, "multi:cpu+", "not \"\"");
  refuse("multi:gl+gl", TS_ERROR_INVALID_ARGUMENT, "multi:gl+gl", "not \"gl\"");
  refuse("multi:check:cpu", TS_ERROR_INVALID_ARGUMENT, "part", "check:cpu");
  refuse("multi:cpu+cuda", TS_ERROR_UNSUPPORTED, "one kind", "cpu and cuda");
  refuse("multi:cpu+cpu:7", TS_ERROR_UNAVAILABLE, "part 1", "device 7");
  refuse("multi:cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+"
         "cpu+cpu",
         TS_ERROR_INVALID_ARGUMENT, "longer than", "multi:cpu");
}

/* A part runs out of memory: the message names it, and nothing is left behind. */
static void memory_of_a_part(void) {
  ts_context_desc desc = test_desc();
  desc.max_device_bytes = 60000;
  ts_context *small = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &small));
  ts_space *space = make_space(small, 100000);
  ts_vector *x = NULL;
  CHECK_FAILS(small, ts_vector_create(space, NULL, &x), TS_ERROR_OUT_OF_DEVICE_MEMORY, "part 0", "60000");
  ts_space_destroy(&space);
  test_close(&small);
}

TEST_MAIN(CASES_IN_CONTEXT(shapes, parts_in_info, few_parts, second_matrix, reductions, one_and_several,
                           iterations, many_runs, silent_part, late_part, refusals),
          CASES(partitions, names, memory_of_a_part))
