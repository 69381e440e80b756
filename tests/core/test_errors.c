/* Every refusal: its status, and a message that names the field and its value. A refused call leaves nothing
 * behind, and existing objects still work. */
#include "helpers.h"

static ts_context *context;

/* Operands for most cases: two spaces, vectors of both, and a matrix. */
static ts_space *space, *other_space;
static ts_vector *x, *y, *wide, *elsewhere;
static ts_scalars *slots;
static ts_matrix *matrix;
static ref_matrix grid;

static int setup(int round) {
  (void)round;
  grid = ref_grid(10, 8);
  matrix = make_matrix(context, &grid, TS_FORMAT_AUTO);
  space = ts_matrix_get_row_space(matrix);
  other_space = make_space(context, 81);
  x = make_vector(space, 1, NULL);
  y = make_vector(space, 1, NULL);
  wide = make_vector(space, 3, NULL);
  elsewhere = make_vector(other_space, 1, NULL);
  slots = make_scalars(context, 4);
  return x && y && wide && elsewhere && slots && matrix;
}

static void teardown(void) {
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_vector_destroy(&wide);
  ts_vector_destroy(&elsewhere);
  ts_scalars_destroy(&slots);
  ts_matrix_destroy(&matrix);
  ts_space_destroy(&other_space);
  ref_free(&grid);
}

#define INVALID(call, ...) CHECK_FAILS(context, call, TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__)
#define INCOMPATIBLE(call, ...) CHECK_FAILS(context, call, TS_ERROR_INCOMPATIBLE, __VA_ARGS__)

/* ---- Matrices ---- */

static void refuse_matrix(const ts_matrix_desc *desc, ts_status status, const char *a, const char *b,
                          const char *c) {
  ts_matrix *refused = (ts_matrix *)(uintptr_t)1;
  const size_t before = context_info(context).bytes_device;
  CHECK_FAILS(context, ts_matrix_create(context, desc, &refused), status, a, b, c);
  CHECK(refused == NULL);
  CHECK_INT(context_info(context).bytes_device, before);
}

static void bad_csr(void) {
  const int32_t offsets[] = {0, 2, 3, 5}, indices[] = {0, 1, 1, 0, 2};
  const float values[] = {1, 2, 3, 4, 5};
  const ts_matrix_desc good = {.csr = ts_host_csr(3, 3, offsets, indices, values)};
  ts_matrix_desc desc;

  desc = good, desc.csr.rows = 0;
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "0", "row", "");
  desc = good, desc.csr.columns = -4;
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "-4", "column", "");
  desc = good, desc.csr.row_offsets.data = NULL;
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "row_offsets", "NULL", "");
  desc = good, desc.csr.column_indices.data = NULL;
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "column_indices", "NULL", "");

  const int32_t from_one[] = {1, 2, 3, 5}, falling[] = {0, 3, 2, 5}, negative[] = {0, -1, 3, 5};
  desc = good, desc.csr.row_offsets = HOST(from_one);
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "row_offsets[0]", "1", "0");
  desc = good, desc.csr.row_offsets = HOST(falling);
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "row_offsets[2]", "2", "3");
  desc = good, desc.csr.row_offsets = HOST(negative);
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "row_offsets[1]", "-1", "");

  const int32_t too_large[] = {0, 1, 1, 3, 2}, below[] = {0, 1, 1, 0, -7};
  desc = good, desc.csr.column_indices = HOST(too_large);
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "column_indices[3]", "row 2", "3");
  desc = good, desc.csr.column_indices = HOST(below);
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "column_indices[4]", "row 2", "-7");

  float bad[5] = {1, 2, NAN, 4, 5};
  desc = good, desc.csr.values = HOST(bad);
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "values[2]", "row 1", "nan");
  bad[2] = 3, bad[4] = -INFINITY;
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "values[4]", "row 2", "-inf");

  double doubles[5] = {1, 2, 3, 4, INFINITY};
  desc = good, desc.csr.values = HOST(doubles);
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "values[4]", "row 2, column 2", "inf");
  doubles[4] = 5, doubles[2] = NAN;
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "values[2]", "row 1", "nan");

  /* Two finite duplicates with a sum above the range of floats. The matrix is stored scaled, so it cannot
   * return a copy in single precision. */
  const int32_t twice[] = {0, 1, 1, 2, 2};
  const float huge[] = {1, 2, 3, 3e38f, 3e38f};
  desc = good, desc.csr.column_indices = HOST(twice), desc.csr.values = HOST(huge), desc.keep_host_copy = 1;
  ts_matrix *matrix = NULL;
  ts_csr copy;
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  CHECK_FAILS(context, ts_matrix_get_host_copy(matrix, &copy), TS_ERROR_UNSUPPORTED, "single precision", "2^");
  ts_matrix_destroy(&matrix);
}

static void bad_matrix_fields(void) {
  ts_matrix_desc good = {0}, desc;
  good.csr = ref_csr(&grid);
  ts_matrix *refused = NULL;
  INVALID(ts_matrix_create(context, NULL, &refused), "desc");
  INVALID(ts_matrix_create(context, &good, NULL), "matrix");
  desc = good, desc.format = (ts_format)42;
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "format", "42", "");
  const ts_format missing = missing_format(context);
  CHECK(test_is_gl() || test_is_cpu() || test_is_multi() ? missing != TS_FORMAT_AUTO
                                                         : missing == TS_FORMAT_AUTO);
  desc = good, desc.format = missing;
  if (missing) refuse_matrix(&desc, TS_ERROR_UNSUPPORTED, ts_format_name(missing), "backend", "");
  desc = good, desc.precision = (ts_precision)9;
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "precision", "9", "");
  desc = good, desc.components = 5;
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "components", "5", "");
  desc = good, desc.components = -1;
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "components", "-1", "");
  desc = good, desc.row_space = other_space;
  refuse_matrix(&desc, TS_ERROR_INCOMPATIBLE, "row_space", "81", "80");
  desc = good, desc.column_space = other_space;
  refuse_matrix(&desc, TS_ERROR_INCOMPATIBLE, "column_space", "81", "80");
  /* The count plus one would overflow, so it is refused before any array is read. */
  desc = good, desc.csr.rows = INT32_MAX;
  refuse_matrix(&desc, TS_ERROR_LIMIT, "2147483647 x 80", "2147482624", "");
  desc = good, desc.csr.columns = INT32_MAX;
  refuse_matrix(&desc, TS_ERROR_LIMIT, "80 x 2147483647", "2147482624", "");
  unsigned char constrained[80] = {1};
  ref_matrix tall = ref_uneven_rows(80, 20, 5, 1);
  desc = good, desc.constrained = constrained, desc.csr = ref_csr(&tall);
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "constrained", "80", "20");
  desc = good, desc.constrained = constrained, desc.row_space = space;
  refuse_matrix(&desc, TS_ERROR_INVALID_ARGUMENT, "constrained", "row_space", "");
  ref_free(&tall);
}

static void values_of_another_matrix(void) {
  ts_csr csr = ref_csr(&grid);
  ref_matrix other = ref_grid(8, 10), same_size = ref_random_spd(80, 6, 3);
  const ts_csr narrow = ref_csr(&other), pattern = ref_csr(&same_size);
  INVALID(ts_matrix_set_values(matrix, NULL), "csr");
  INCOMPATIBLE(ts_matrix_set_values(matrix, &pattern), "differ");
  INCOMPATIBLE(ts_matrix_set_values(matrix, &narrow), "differ");
  csr.rows = 79, csr.row_offsets.count = 80, csr.column_indices.count = (size_t)grid.offsets[79];
  csr.values.count = csr.column_indices.count;
  INCOMPATIBLE(ts_matrix_set_values(matrix, &csr), "79", "80");
  csr = ref_csr(&grid);
  float *bad = malloc(sizeof *bad * (size_t)ref_nonzeros(&grid));
  memcpy(bad, grid.values, sizeof *bad * (size_t)ref_nonzeros(&grid));
  bad[9] = NAN;
  csr.values = ts_host(bad, csr.column_indices.count);
  INVALID(ts_matrix_set_values(matrix, &csr), "values[9]");
  /* The matrix is unchanged. */
  float *ones = ref_values(80, 3, 1, 1);
  CHECK_OK(context, ts_vector_write(x, ts_host(ones, 80)));
  CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
  float *sums = read_vector(y);
  CHECK_CLOSE(sums[0], 0.05, 1e-6); /* each row of the grid's matrix sums to its shift */
  ts_csr copy;
  INVALID(ts_matrix_get_host_copy(matrix, &copy), "keep_host_copy");
  INVALID(ts_matrix_get_info(matrix, NULL), "info");
  free(sums), free(ones), free(bad);
  ref_free(&other);
  ref_free(&same_size);
}

static void bad_products(void) {
  ref_matrix m = ref_uneven_rows(81, 80, 9, 1);
  ts_matrix *tall = make_matrix(context, &m, TS_FORMAT_AUTO);
  ts_vector *column = make_vector(ts_matrix_get_column_space(tall), 1, NULL);
  INVALID(ts_matrix_multiply(x, matrix, x), "same vector");
  INVALID(ts_matrix_multiply(NULL, matrix, x), "y");
  INVALID(ts_matrix_multiply(y, matrix, NULL), "x");
  INCOMPATIBLE(ts_matrix_multiply(elsewhere, matrix, x), "y", "81", "80");
  INCOMPATIBLE(ts_matrix_multiply(y, matrix, elsewhere), "x", "81", "80");
  INCOMPATIBLE(ts_matrix_multiply(wide, matrix, x), "3", "1");
  INCOMPATIBLE(ts_matrix_multiply(y, matrix, column), "x"); /* of the right size, but in another space */
  INVALID(ts_matrix_residual(x, y, matrix, x), "same vector");
  INCOMPATIBLE(ts_matrix_residual(elsewhere, y, matrix, x), "r", "81");
  INCOMPATIBLE(ts_matrix_residual(y, elsewhere, matrix, x), "b", "81");
  INCOMPATIBLE(ts_matrix_residual(y, wide, matrix, x), "3", "1");
  INVALID(ts_matrix_diagonal(elsewhere, tall), "81", "80");
  INCOMPATIBLE(ts_matrix_diagonal(elsewhere, matrix), "d", "81");
  ts_vector_destroy(&column);
  ts_matrix_destroy(&tall);
  ref_free(&m);
}

/* ---- Spaces, scalars, vectors ---- */

static void bad_spaces_and_scalars(void) {
  ts_space_desc size = {.size = 0};
  ts_space *none = (ts_space *)(uintptr_t)1;
  INVALID(ts_space_create(context, &size, &none), "size", "0");
  CHECK(none == NULL);
  size.size = INT32_MAX;
  CHECK_FAILS(context, ts_space_create(context, &size, &none), TS_ERROR_LIMIT, "2147483647", "2147482624");
  INVALID(ts_space_create(context, NULL, &none), "desc");
  INVALID(ts_space_create(context, &size, NULL), "space");
  static const int counts[] = {0, -1, 4097};
  for (int k = 0; k < 3; k++) {
    ts_scalars_desc count = {.count = counts[k]};
    ts_scalars *refused = (ts_scalars *)(uintptr_t)1;
    char text[16];
    snprintf(text, sizeof text, "%d", counts[k]);
    INVALID(ts_scalars_create(context, &count, &refused), "count", text);
    CHECK(refused == NULL);
  }
  float values[64];
  INVALID(ts_scalars_read(slots, 0, ts_host(values, 20)), "4");
  INVALID(ts_scalars_read(slots, -1, ts_host(values, 4)), "-1");
  INVALID(ts_scalars_read(slots, 4, ts_host(values, 4)), "4");
  INVALID(ts_scalars_read(slots, 0, ts_host(values, 0)), "values.count is 0", "slot");
  INVALID(ts_scalars_read(slots, 2147483647, ts_host(values, 8)), "2147483647");
  INVALID(ts_scalars_write(slots, 3, ts_host(values, 8)), "4");
  INVALID(ts_scalars_write(slots, 0, (ts_array){0}), "values");
  INVALID(ts_scalars_read(slots, 0, (ts_array){0}), "values");
}

static void bad_vectors(void) {
  static const int components[] = {-1, 5, 100};
  for (int k = 0; k < 3; k++) {
    const ts_vector_desc desc = {.components = components[k]};
    ts_vector *refused = (ts_vector *)(uintptr_t)1;
    char text[16];
    snprintf(text, sizeof text, "%d", components[k]);
    INVALID(ts_vector_create(space, &desc, &refused), "components", text);
    CHECK(refused == NULL);
  }
  float values[256] = {0};
  INVALID(ts_vector_write(x, ts_host(values, 79)), "values has 79 numbers", "80");
  INVALID(ts_vector_write(wide, ts_host(values, 80)), "values has 80 numbers", "240");
  INVALID(ts_vector_write(x, (ts_array){0}), "values");
  INVALID(ts_vector_read(x, ts_host(values, 81)), "values has 81 numbers", "80");
  INVALID(ts_vector_read(x, (ts_array){0}), "values");
  double doubles[80] = {0};
  INVALID(ts_vector_write(x, ts_host(doubles, 79)), "values has 79 numbers", "80");
  INVALID(ts_vector_write(x, (ts_array){0}), "values");
  INVALID(ts_vector_read(x, ts_host(doubles, 81)), "values has 81 numbers", "80");
  INVALID(ts_vector_read(x, (ts_array){0}), "values");
  ts_vector *refused = NULL;
  ts_vector_desc desc = {.precision = (ts_precision)9};
  CHECK_FAILS(context, ts_vector_create(space, &desc, &refused), TS_ERROR_INVALID_ARGUMENT, "precision is 9");
  desc = (ts_vector_desc){.reserved = {0, 7}};
  INVALID(ts_vector_create(space, &desc, &refused), "reserved[1]", "7");
}

static void bad_operations(void) {
  const ts_coefficient one = ts_constant(1);
  INCOMPATIBLE(ts_vector_copy(x, elsewhere), "80", "81");
  INCOMPATIBLE(ts_vector_copy(x, wide), "1", "3");
  INCOMPATIBLE(ts_vector_axpby(x, one, elsewhere, one), "80", "81");
  INCOMPATIBLE(ts_vector_multiply(x, y, elsewhere), "81");
  INCOMPATIBLE(ts_vector_multiply(x, elsewhere, y), "81");
  INCOMPATIBLE(ts_vector_multiply(wide, x, y), "3");
  INCOMPATIBLE(ts_vector_reciprocal(x, elsewhere), "81");
  INCOMPATIBLE(ts_vector_dot(slots, 0, x, elsewhere), "81");
  INCOMPATIBLE(ts_vector_dot(slots, 0, x, wide), "3");
  INVALID(ts_vector_copy(x, NULL), "x");
  INVALID(ts_vector_axpby(x, one, NULL, one), "x");
  INVALID(ts_vector_multiply(x, y, NULL), "y");
  INVALID(ts_vector_dot(NULL, 0, x, y), "result");
  INVALID(ts_vector_dot(slots, 4, x, y), "4");
  INVALID(ts_vector_dot(slots, -1, x, y), "-1");
  INVALID(ts_vector_sum(slots, 9, x), "9");
  INVALID(ts_vector_max(slots, 9, x), "9");
  INVALID(ts_vector_norm(slots, 9, x, TS_NORM_2), "9");
  INVALID(ts_vector_norm(slots, 0, x, (ts_norm)5), "norm", "5");
  INVALID(ts_vector_scale(x, ts_scaled(1, slots, 4)), "4", "a");
  INVALID(ts_vector_axpby(x, one, y, ts_scaled(1, slots, -2)), "-2", "b");
  const ts_slot good = {slots, 0}, bad = {slots, 1000};
  INVALID(ts_vector_axpby(x, ts_quotient(1, good, bad), y, one), "1000", "a");
}

static void bad_solvers(void) {
  ts_solver_desc desc = {0};
  ts_solver *cg = (ts_solver *)(uintptr_t)1;
  ref_matrix m = ref_uneven_rows(30, 20, 9, 1);
  ts_matrix *tall = make_matrix(context, &m, TS_FORMAT_AUTO);
  INVALID(ts_solver_create(tall, &(const ts_solver_desc){.method = TS_METHOD_CG}, &cg), "30", "20");
  CHECK(cg == NULL);
  INVALID(ts_solver_create(matrix, NULL, NULL), "NULL");
  static const double rtols[] = {2, 1, NAN, INFINITY};
  for (int k = 0; k < 4; k++) {
    desc.rtol = rtols[k];
    INVALID(ts_solver_create(matrix, &desc, &cg), "rtol");
  }
  memset(&desc, 0, sizeof desc), desc.max_iterations = -5;
  INVALID(ts_solver_create(matrix, &desc, &cg), "max_iterations", "-5");
  memset(&desc, 0, sizeof desc), desc.check_interval = 1025;
  INVALID(ts_solver_create(matrix, &desc, &cg), "check_interval", "1025");
  memset(&desc, 0, sizeof desc), desc.reductions = 3;
  INVALID(ts_solver_create(matrix, &desc, &cg), "reductions", "3");
  memset(&desc, 0, sizeof desc), desc.preconditioner_kind = (ts_preconditioner_kind)99;
  INVALID(ts_solver_create(matrix, &desc, &cg), "preconditioner", "99");
  memset(&desc, 0, sizeof desc), desc.stop = (ts_stop)8;
  INVALID(ts_solver_create(matrix, &desc, &cg), "stop", "8");
  cg = make_cg(matrix, NULL);
  INVALID(ts_solver_solve(cg, x, x, NULL), "same vector");
  INVALID(ts_solver_solve(cg, NULL, x, NULL), "b");
  INVALID(ts_solver_solve(cg, x, NULL, NULL), "x");
  INCOMPATIBLE(ts_solver_solve(cg, elsewhere, x, NULL), "b", "81");
  INCOMPATIBLE(ts_solver_solve(cg, x, elsewhere, NULL), "x", "81");
  INCOMPATIBLE(ts_solver_solve(cg, x, wide, NULL), "3", "1");
  ts_solver_destroy(&cg);
  ts_matrix_destroy(&tall);
  ref_free(&m);
}

/* Objects of one context in calls on another one. */
static void another_context(void) {
  ts_context *second = test_open();
  REQUIRE(second);
  ts_matrix *foreign = make_matrix(second, &grid, TS_FORMAT_AUTO);
  ts_vector *a = make_vector(ts_matrix_get_row_space(foreign), 1, NULL);
  ts_scalars *foreign_slots = make_scalars(second, 4);
  ts_solver *cg = make_cg(matrix, NULL);
  INCOMPATIBLE(ts_vector_copy(x, a), "context");
  INCOMPATIBLE(ts_vector_dot(slots, 0, x, a), "context");
  INCOMPATIBLE(ts_vector_sum(foreign_slots, 0, x), "context");
  INCOMPATIBLE(ts_vector_scale(x, ts_scaled(1, foreign_slots, 0)), "context");
  INCOMPATIBLE(ts_matrix_multiply(y, matrix, a), "context");
  INCOMPATIBLE(ts_matrix_multiply(a, matrix, x), "context");
  INCOMPATIBLE(ts_solver_solve(cg, a, x, NULL), "context");
  INCOMPATIBLE(ts_solver_solve(cg, x, a, NULL), "context");
  ts_matrix_desc desc = {0};
  desc.csr = ref_csr(&grid);
  desc.row_space = ts_matrix_get_row_space(foreign);
  refuse_matrix(&desc, TS_ERROR_INCOMPATIBLE, "row_space", "context", "");
  ts_solver_destroy(&cg);
  ts_vector_destroy(&a);
  ts_scalars_destroy(&foreign_slots);
  ts_matrix_destroy(&foreign);
  test_close(&second);
}

/* ---- Limits of the device ---- */

static void texture_limit(void) {
  if (!test_is_gl()) return;
  ts_context_desc desc = test_desc();
  test_gl()->max_texture_size = 64;
  test_gl()->rectangle_width = test_gl()->rectangle_height = 16;
  ts_context *small = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &small));
  const ts_space_desc most = {.size = 4095}, more = {.size = 4096};
  ts_space *fits = NULL, *refused = NULL;
  CHECK_OK(small, ts_space_create(small, &most, &fits));
  CHECK_FAILS(small, ts_space_create(small, &more, &refused), TS_ERROR_LIMIT, "4096", "64 x 64");
  CHECK(refused == NULL);
  ts_space_destroy(&fits);
  ref_matrix m = ref_uneven_rows(2000, 2000, 60, 4), large = ref_grid(70, 70);
  for (ts_format f = texture_format_after(TS_FORMAT_AUTO); f; f = texture_format_after(f)) {
    ts_matrix_desc matrix_desc = {0};
    matrix_desc.csr = ref_csr(&m);
    matrix_desc.format = f;
    ts_matrix *none = NULL;
    CHECK_FAILS(small, ts_matrix_create(small, &matrix_desc, &none), TS_ERROR_LIMIT, "64 x 64", "need");
    CHECK(none == NULL);
    matrix_desc.csr = ref_csr(&large);
    CHECK_FAILS(small, ts_matrix_create(small, &matrix_desc, &none), TS_ERROR_LIMIT, "64 x 64", "4900");
    CHECK_INT(context_info(small).bytes_device, 0);
  }
  ref_free(&m);
  ref_free(&large);
  test_close(&small);
}

/* Device memory runs out at every point of a program in turn. The refused call frees its memory, and the other
 * objects still work. */
static void device_memory(void) {
  ref_matrix m = ref_grid(60, 60);
  float *bs = ref_values(3600, 5, -1, 1);
  int finished = 0, refused_at[4] = {0};
  for (size_t limit = 1000; !finished && limit < 100000000; limit += limit / 3) {
    ts_context_desc desc = test_desc();
    desc.max_device_bytes = limit;
    ts_context *tight = NULL;
    test_context_label("%zu bytes", limit);
    const ts_status opened = ts_context_create(&desc, &tight);
    if (opened == TS_ERROR_OUT_OF_DEVICE_MEMORY && test_is_multi()) continue; /* for mailboxes of parts */
    REQUIRE_OK(NULL, opened);
    ts_matrix_desc matrix_desc = {0};
    matrix_desc.csr = ref_csr(&m);
    ts_matrix *A = NULL;
    ts_vector *b = NULL, *solution = NULL;
    ts_solver *cg = NULL;
    int stage = 0;
    size_t before = 0;
    ts_status status = ts_matrix_create(tight, &matrix_desc, &A);
    if (status == TS_OK) {
      stage = 1, before = context_info(tight).bytes_device;
      status = ts_vector_create(ts_matrix_get_row_space(A), NULL, &b);
    }
    if (status == TS_OK) {
      stage = 2, before = context_info(tight).bytes_device;
      status = ts_vector_create(ts_matrix_get_row_space(A), NULL, &solution);
    }
    if (status == TS_OK) {
      stage = 3, before = context_info(tight).bytes_device;
      CHECK_OK(tight, ts_vector_write(b, ts_host(bs, 3600)));
      before = context_info(tight).bytes_device;
      /* A solver of another precision: it allocates in the middle of a solve, after the first passes have
       * obtained helper textures. */
      status = ts_solver_create(A, &(ts_solver_desc){.precision = TS_PRECISION_SINGLE}, &cg);
      if (status == TS_OK) status = ts_solver_solve(cg, b, solution, NULL);
    }
    if (status == TS_OK) {
      finished = 1;
    } else {
      char text[32], message[600];
      snprintf(message, sizeof message, "%s", ts_last_error(tight));
      snprintf(text, sizeof text, "%zu", limit);
      CHECK_INT(status, TS_ERROR_OUT_OF_DEVICE_MEMORY);
      CHECK_CONTAINS(message, text);
      CHECK_CONTAINS(message, "bytes");
      CHECK_INT(context_info(tight).bytes_device, before);
      refused_at[stage]++;
      /* The objects that were created still work. */
      if (b) {
        CHECK_OK(tight, ts_vector_fill(b, 3));
        float *values = read_vector(b);
        CHECK_CLOSE(values[3599], 3, 0);
        free(values);
      }
    }
    ts_solver_destroy(&cg);
    ts_vector_destroy(&b);
    ts_vector_destroy(&solution);
    ts_matrix_destroy(&A);
    test_close(&tight);
  }
  test_context_label("%s", "");
  CHECK(finished);
  CHECK(refused_at[0] > 0 && refused_at[3] > 0);
  free(bs);
  ref_free(&m);
}

static const test_fixture fixture = {.context = &context, .setup = setup, .teardown = teardown};

TEST_MAIN(CASES_WITH(&fixture, bad_csr, bad_matrix_fields, values_of_another_matrix, bad_products,
                     bad_spaces_and_scalars, bad_vectors, bad_operations, bad_solvers, another_context),
          CASES(texture_limit, device_memory))
