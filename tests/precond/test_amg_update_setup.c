/* Updates of algebraic multigrid on the host. Products and prolongators have the bits of a computation without
 * stored places, with the same aggregates, over a sequence of updates. */
#include <math.h>

#include "heap.h"

#include "common/precond/amg/amg.h"
#include "common/precond/amg/amg_places.h"

static tsi_amg_csr view(const ref_matrix *m) {
  return (tsi_amg_csr){m->rows, m->columns, m->offsets, m->indices, m->values};
}

static ts_context *open_threads(int threads) {
  const ts_context_desc desc = {.backend = "cpu", .threads = threads};
  ts_context *context = NULL;
  CHECK_OK(NULL, ts_context_create(&desc, &context));
  return context;
}

static int same(const tsi_amg_csr *a, const tsi_amg_csr *b) {
  const size_t rows = (size_t)a->rows + 1, entries = (size_t)a->offsets[a->rows];
  return a->rows == b->rows && a->columns == b->columns &&
         !memcmp(a->offsets, b->offsets, rows * sizeof *a->offsets) &&
         !memcmp(a->indices, b->indices, entries * sizeof *a->indices) &&
         !memcmp(a->values, b->values, entries * sizeof *a->values);
}

/* ---- A level ---- */

/* The level without data stored by the update, but with the decision of the set-up. */
static tsi_amg_host_level fresh_level(const tsi_amg_host_level *level) {
  tsi_amg_host_level fresh = *level;
  fresh.P = fresh.R = (tsi_amg_csr){0};
  fresh.plan = NULL;
  fresh.smoothing = NULL;
  fresh.transposed = NULL;
  if (fresh.energies == 0) fresh.energies = 1;
  return fresh;
}

/* R of an unsymmetric matrix is computed from the transpose. */
static void check_transposed(ts_context *context, const tsi_amg_host_level *level) {
  const tsi_amg_host_level *t = level->transposed;
  tsi_amg_host_level fresh = fresh_level(t);
  tsi_amg_csr T = {0};
  REQUIRE_OK(context, tsi_amg_transpose(context, &level->A, &T));
  for (int32_t e = 0; e < T.offsets[T.rows]; e++) T.values[e] = -T.values[e];
  CHECK(same(&T, &t->A));
  tsi_amg_csr_free(context, &T);
  REQUIRE_OK(context, tsi_amg_smooth(context, &fresh));
  CHECK(same(&fresh.P, &t->P));
  REQUIRE_OK(context, tsi_amg_transpose(context, &fresh.P, &fresh.R));
  CHECK(same(&fresh.R, &level->R));
  tsi_amg_csr_free(context, &fresh.P);
  tsi_amg_csr_free(context, &fresh.R);
}

static void check_level(ts_context *context, const tsi_amg_host_level *level, const tsi_amg_csr *coarse) {
  tsi_amg_host_level fresh = fresh_level(level);
  tsi_amg_csr C = {0};
  REQUIRE_OK(context, tsi_amg_smooth(context, &fresh));
  CHECK_INT(fresh.smooths_twice, level->smooths_twice);
  CHECK(same(&fresh.P, &level->P));
  CHECK(fresh.bound == level->bound && fresh.eigenvalue == level->eigenvalue);
  if (level->transposed)
    check_transposed(context, level);
  else {
    REQUIRE_OK(context, tsi_amg_transpose(context, &fresh.P, &fresh.R));
    CHECK(same(&fresh.R, &level->R));
  }
  REQUIRE_OK(context, tsi_amg_galerkin(context, &level->R, &level->A, &level->P, level->vectors, &C));
  CHECK(same(&C, coarse));
  tsi_amg_csr_free(context, &fresh.P);
  tsi_amg_csr_free(context, &fresh.R);
  tsi_amg_csr_free(context, &C);
}

static void check_inverse(ts_context *context, const tsi_amg_host *host) {
  const tsi_amg_csr *A = &host->level[host->levels - 1].A;
  const size_t n = (size_t)A->rows;
  float *inverse = NULL;
  if (!CHECK(host->inverse)) return;
  CHECK_OK(context, host->is_unsymmetric ? tsi_amg_invert_unsymmetric(context, A, &inverse)
                                         : tsi_amg_invert(context, A, &inverse));
  CHECK(inverse && !memcmp(inverse, host->inverse, n * n * sizeof *inverse));
  tsi_free(context, inverse);
}

/* ---- Values ---- */

enum { AGAIN, UNITS, ZEROS, SMALL, LARGE, JUMPS, CHANGES };
static const char *const changes[CHANGES] = {"the same values",     "other units",       "entries of 0",
                                             "times 2 to the -100", "times 2 to the 97", "jumps"};

/* Preserves symmetry. */
static float change(int kind, float value, int32_t i, int32_t j) {
  const int32_t low = i < j ? i : j, high = i < j ? j : i;
  switch (kind) {
  case UNITS:
    return value * (float)(1 + i % 7) * (float)(1 + j % 7);
  case ZEROS:
    return i != j && (low + 3 * high) % 5 == 0 ? 0 : value;
  case SMALL:
    return ldexpf(value, -100);
  case LARGE:
    return ldexpf(value, 97);
  case JUMPS:
    return i / 50 % 2 && j / 50 % 2 ? value * 1e6f : value;
  default:
    return value;
  }
}

static void change_all(const ref_matrix *from, int kind, const tsi_amg_csr *to) {
  for (int32_t i = 0; i < from->rows; i++)
    for (int32_t e = from->offsets[i]; e < from->offsets[i + 1]; e++)
      to->values[e] = change(kind, from->values[e], i, from->indices[e]);
}

static void check_changes(ts_context *context, const ref_matrix *m, const ts_amg_desc *desc, tsi_amg_csr A,
                          int is_unsymmetric, const char *name) {
  ts_status (*const set_up)(ts_context *, const ts_amg_desc *, const tsi_amg_csr *, int, tsi_amg_host *) =
      is_unsymmetric ? tsi_amg_setup_unsymmetric : tsi_amg_setup;
  tsi_amg_host host;
  REQUIRE_OK(context, set_up(context, desc, &A, 0, &host));
  CHECK(host.levels > 1);
  for (int l = 0; l < host.levels; l++) CHECK(!host.level[l].plan && !host.level[l].smoothing);
  for (int k = 0; k < CHANGES + 1; k++) {
    test_context_label("%s, %s", name, changes[k % CHANGES]);
    change_all(m, k % CHANGES, &A);
    if (!CHECK_OK(context, set_up(context, desc, &A, 1, &host))) break;
    for (int l = 0; l + 1 < host.levels; l++) check_level(context, &host.level[l], &host.level[l + 1].A);
    check_inverse(context, &host);
  }
  tsi_amg_host_free(context, &host);
}

/* Takes ownership of m. */
static void check(const char *name, ref_matrix m, ts_amg_desc desc, int is_unsymmetric) {
  desc.strength = desc.strength == 0 ? 0.08 : desc.strength < 0 ? 0 : desc.strength;
  desc.max_levels = 30;
  if (!desc.coarsest) desc.coarsest = 20;
  if (!desc.unknowns) desc.unknowns = 1;
  for (int threads = 1; threads <= 3; threads += 2) {
    ts_context *context = open_threads(threads);
    tsi_amg_csr A = view(&m);
    A.values = malloc((size_t)m.offsets[m.rows] * sizeof *A.values);
    change_all(&m, AGAIN, &A);
    check_changes(context, &m, &desc, A, is_unsymmetric, name);
    free(A.values);
    test_close(&context);
  }
  ref_free(&m);
}

static void one_unknown(void) {
  check("grid", ref_grid(40, 30), (ts_amg_desc){0}, 0);
  check("cube", ref_laplacian_3d(12), (ts_amg_desc){0}, 0);
  check("singular", ref_graph(30, 30), (ts_amg_desc){0}, 0);
  check("27 points", ref_cube_27(12, 1, 26, -1, -1, -1), (ts_amg_desc){0}, 0);
  check("positive couplings", ref_cube_27(11, 1, 30, -1.3f, -0.7f, 0.1f), (ts_amg_desc){0}, 0);
  check("random", ref_random_spd(700, 9, 3), (ts_amg_desc){0}, 0);
  check("rotated", ref_rotated(41, 40), (ts_amg_desc){0}, 0);
  check("rotated, all are strong", ref_rotated(41, 40), (ts_amg_desc){.strength = -1}, 0);
}

/* Rows that keep the tentative prolongator, and coarse rows with more than 256 nodes. */
static void hubs(void) {
  check("hubs", ref_hubs(6000, 5000, 5), (ts_amg_desc){0}, 0);
  check("arrow", ref_arrow(3000), (ts_amg_desc){.strength = -1}, 0);
}

/* With blocks, and with different columns in the rows of one node. */
static void nodes(void) {
  check("two unknowns", ref_cube_27(9, 2, 26, -1, -1, -1), (ts_amg_desc){.unknowns = 2}, 0);
  check("three unknowns", ref_cube_27(8, 3, 32, 0, -2, -1), (ts_amg_desc){.unknowns = 3}, 0);
  check("four unknowns", ref_cube_27(7, 4, 32, 0, -2, -1), (ts_amg_desc){.unknowns = 4}, 0);
  check("two rows of a grid", ref_grid(40, 30), (ts_amg_desc){.unknowns = 2}, 0);
  check("five rows of a grid", ref_grid(40, 30), (ts_amg_desc){.unknowns = 5}, 0);
  check("hubs of two rows", ref_hubs(3000, 2500, 6), (ts_amg_desc){.unknowns = 2}, 0);
}

/* Replaces node k by `unknowns` full rows, with an entry for each row of each neighbour of k. */
static ref_matrix in_blocks(ref_matrix m, int unknowns) {
  const int32_t entries = m.offsets[m.rows], square = unknowns * unknowns;
  ref_matrix b = {.rows = m.rows * unknowns, .columns = m.columns * unknowns};
  b.offsets = calloc((size_t)b.rows + 1, sizeof *b.offsets);
  b.indices = malloc((size_t)(entries * square) * sizeof *b.indices);
  b.values = malloc((size_t)(entries * square) * sizeof *b.values);
  int32_t to = 0;
  for (int32_t i = 0; i < b.rows; i++) {
    const int32_t node = i / unknowns, u = i % unknowns;
    const int held = node % 23 == 0; /* rows of the identity */
    for (int32_t e = m.offsets[node]; e < m.offsets[node + 1]; e++)
      for (int v = 0; v < unknowns; v++) {
        const int32_t other = m.indices[e];
        if ((held || other % 23 == 0) && (other != node || u != v)) continue;
        b.indices[to] = other * unknowns + v;
        b.values[to++] = m.values[e] * (u == v ? 1 : other == node ? 0.1f : 0.05f);
      }
    b.offsets[i + 1] = to;
  }
  ref_free(&m);
  return b;
}

/* Full blocks, some of them replaced by rows of the identity, with more vectors than unknowns. */
static void vectors(void) {
  enum { ROWS = 30 * 20 * 3 };
  double *numbers = ref_doubles((size_t)ROWS * 8, 4, -1, 1), *points = ref_doubles(ROWS, 5, 0, 1);
  const ts_array given = ts_host(numbers, (size_t)ROWS * 8), places = ts_host(points, ROWS);
  check("modes in the plane", in_blocks(ref_grid(30, 20), 2),
        (ts_amg_desc){.unknowns = 2, .dimensions = 2, .coordinates = places}, 0);
  check("modes in space", in_blocks(ref_grid(30, 20), 3),
        (ts_amg_desc){.unknowns = 3, .dimensions = 3, .coordinates = places, .coarsest = 60}, 0);
  check("eight vectors", in_blocks(ref_grid(30, 20), 3),
        (ts_amg_desc){.unknowns = 3, .near_null = given, .near_null_vectors = 8, .coarsest = 60}, 0);
  check("four vectors", in_blocks(ref_grid(30, 20), 2),
        (ts_amg_desc){.unknowns = 2, .near_null = given, .near_null_vectors = 4}, 0);
  check("two vectors of one unknown", ref_grid(40, 30),
        (ts_amg_desc){.near_null = given, .near_null_vectors = 2}, 0);
  free(numbers), free(points);
}

static void unsymmetric(void) {
  check("convection", ref_convection(41, 37, 10), (ts_amg_desc){.strength = 0.15}, 1);
  check("skewed", ref_skewed_grid(40, 30), (ts_amg_desc){.strength = 0.15}, 1);
  check("skewed, two unknowns", ref_skewed_grid(40, 30), (ts_amg_desc){.strength = 0.15, .unknowns = 2}, 1);
}

/* ---- Rows of any size ---- */

/* The product of a row of n entries and n rows of one entry: its row has n nodes. */
static void check_row(ts_context *context, int32_t n) {
  ref_matrix row = ref_dense(1, n, 3), diagonal = ref_diagonal(n, 1, 9);
  const tsi_amg_csr L = view(&row);
  tsi_amg_csr M, C = {0};
  REQUIRE_OK(context, tsi_amg_csr_create(context, n, n, n, &M));
  for (int32_t i = 0; i < n; i++) {
    M.offsets[i + 1] = i + 1;
    M.indices[i] = n - 1 - i;
    M.values[i] = diagonal.values[i];
  }
  tsi_amg_places places = {.height = 1, .width = 1, .wide = 1};
  CHECK_OK(context, tsi_amg_places_find(context, &L, &M, &C, &places));
  CHECK_INT(places.bytes, n > 65536 ? 4 : n > 256 ? 2 : 1);
  tsi_amg_multiply(context, &places, -1, &L, &M, &C);
  for (int32_t c = 0; c < n; c++)
    if (!CHECK(C.indices[c] == n - 1 - c && C.values[c] == (float)(-(double)L.values[c] * (double)M.values[c])))
      break;
  tsi_amg_places_free(context, &places);
  tsi_amg_csr_free(context, &M);
  tsi_amg_csr_free(context, &C);
  ref_free(&row), ref_free(&diagonal);
}

static void long_rows(void) {
  ts_context *context = open_threads(2);
  static const int32_t lengths[] = {1, 255, 256, 257, 65536, 65537};
  for (int k = 0; k < 6; k++) {
    test_context_label("%d nodes", lengths[k]);
    check_row(context, lengths[k]);
  }
  test_close(&context);
}

/* ---- Memory ---- */

/* An update that fails can be repeated. After the first update only the inverse allocates. */
static void memory_runs_out(void) {
  const ts_context_desc desc = {.backend = "cpu", .threads = 2, .allocator = heap_allocator()};
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  const long live = memory.live;
  ref_matrix samples[] = {ref_rotated(40, 41), in_blocks(ref_grid(20, 20), 3), ref_convection(30, 30, 10)};
  for (int k = 0; k < 3; k++) {
    const ts_amg_desc amg = {
        .strength = 0.08, .max_levels = 30, .coarsest = 30, .unknowns = k == 1 ? 3 : 1, .sweeps = 2};
    ts_status (*const set_up)(ts_context *, const ts_amg_desc *, const tsi_amg_csr *, int, tsi_amg_host *) =
        k == 2 ? tsi_amg_setup_unsymmetric : tsi_amg_setup;
    const tsi_amg_csr A = view(&samples[k]);
    tsi_amg_host host;
    CHECK_OK(context, set_up(context, &amg, &A, 0, &host));
    FAIL_EACH_USE(context, set_up(context, &amg, &A, 1, &host));
    for (int l = 0; l + 1 < host.levels; l++) check_level(context, &host.level[l], &host.level[l + 1].A);
    const long kept = memory.live;
    CHECK_OK(context, set_up(context, &amg, &A, 1, &host));
    CHECK_INT(memory.live, kept);
    tsi_amg_host_free(context, &host);
    CHECK_INT(memory.live, live);
    ref_free(&samples[k]);
  }
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

TEST_MAIN_ON_HOST(CASES(one_unknown, hubs, nodes, vectors, unsymmetric, long_rows, memory_runs_out))
