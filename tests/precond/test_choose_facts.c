/* The facts that auto stores about a matrix's entries if it is created without a host copy. They equal those of
 * a host copy for floats and doubles of any scale and sign, and lead to the same choices. */
#include <math.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "common/precond/amg/amg.h"
#include "helpers.h"

static ts_context *context;

/* ---- Facts from a copy, and stored facts ---- */

enum { TOLERANCES = 4 };
static const double tolerances[TOLERANCES] = {0, 1e-8, 1e-5, 1e-2};

typedef struct findings {
  tsi_couplings couplings;
  int is_dominant, is_transport, has_nodes;
  char choices[TOLERANCES][200];
} findings;

/* Chooses as if the device could build hierarchies. */
static void choose(const ts_matrix *A, double rtol, char choice[200]) {
  static const tsi_amg_ops amg;
  const tsi_ops *ops = context->ops;
  tsi_ops with_amg = *ops;
  ts_preconditioner_kind kind = TS_PRECONDITIONER_AUTO;
  with_amg.amg = &amg;
  context->ops = &with_amg;
  CHECK_OK(context, tsi_preconditioner_choose(A, rtol, &kind, choice, 200));
  context->ops = ops;
  CHECK(strncmp(choice, ts_preconditioner_kind_name(kind), strlen(ts_preconditioner_kind_name(kind))) == 0);
}

static findings read_findings(const ts_matrix *A) {
  findings f = {.is_transport = tsi_preconditioner_is_transport(A),
                .has_nodes = tsi_preconditioner_has_nodes(A)};
  CHECK(tsi_preconditioner_knows_entries(A));
  if (A->info.symmetric && A->info.rows >= TSI_AUTO_ROWS)
    CHECK_OK(context, tsi_preconditioner_couplings(A, &f.couplings));
  if (!A->info.symmetric) f.is_dominant = tsi_preconditioner_is_dominant(A);
  for (int k = 0; k < TOLERANCES; k++) choose(A, tolerances[k], f.choices[k]);
  return f;
}

/* The same matrix, as if it had been created on the device. */
static ts_matrix without_copy(const ts_matrix *A) {
  ts_matrix other = *A;
  other.host_copy = NULL;
  other.has_nodes = other.on_diagonals = 0;
  other.made_on_device = 1;
  return other;
}

static void check_same(const findings *a, const findings *b) {
  CHECK_INT(a->couplings.bad, b->couplings.bad);
  CHECK_INT(a->couplings.samples, b->couplings.samples);
  CHECK_INT(a->couplings.jumps, b->couplings.jumps);
  CHECK_INT(a->couplings.small, b->couplings.small);
  CHECK_CLOSE(a->couplings.across, b->couplings.across, 0);
  CHECK_CLOSE(a->couplings.growth, b->couplings.growth, 0);
  CHECK_CLOSE(a->couplings.entries, b->couplings.entries, 0);
  CHECK_INT(a->is_dominant, b->is_dominant);
  CHECK_INT(a->is_transport, b->is_transport);
  CHECK_INT(a->has_nodes, b->has_nodes);
  for (int k = 0; k < TOLERANCES; k++)
    if (!CHECK(strcmp(a->choices[k], b->choices[k]) == 0)) printf("  %s\n  %s\n", a->choices[k], b->choices[k]);
}

static void check_kept(const ts_matrix *A, const findings *expected, const tsi_csr *entries, int exponent,
                       int negated) {
  ts_matrix other = without_copy(A);
  CHECK_OK(context, tsi_preconditioner_find_facts(&other, entries, exponent, negated));
  const findings found = read_findings(&other);
  check_same(&found, expected);
}

/* ---- Entries ---- */

static tsi_csr entries_of(const ref_matrix *m) {
  return (tsi_csr){
      .rows = m->rows, .columns = m->columns, .row_offsets = m->offsets, .column_indices = m->indices};
}

static ts_matrix *make_with_copy(const ts_csr *csr) {
  const ts_matrix_desc desc = {.csr = *csr, .keep_host_copy = 1};
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &A));
  return A;
}

static void scale_values(const ref_matrix *m, double factor, double *values) {
  for (int64_t e = 0; e < ref_nonzeros(m); e++) values[e] = factor * (double)m->values[e];
}

/* The exponent that moves the largest value next to the end of the range of doubles, so that a sum of
 * magnitudes would overflow. */
static int largest_exponent(const ref_matrix *m) {
  float largest = 0;
  for (int64_t e = 0; e < ref_nonzeros(m); e++) largest = fmaxf(largest, fabsf(m->values[e]));
  return 1023 - ilogbf(largest);
}

/* Floats, and doubles that are unchanged, negated, and near both ends of the range. */
static findings check_scales(const ref_matrix *m, const ts_matrix *A) {
  const findings expected = read_findings(A);
  double *doubles = malloc((size_t)ref_nonzeros(m) * sizeof *doubles);
  tsi_csr entries = entries_of(m);
  entries.values = m->values;
  check_kept(A, &expected, &entries, 0, 0);
  entries.values = NULL;
  entries.double_values = doubles;
  const int exponents[] = {0, 900, largest_exponent(m), -1040};
  for (int k = 0; k < 4; k++)
    for (int negated = 0; negated < 2; negated++) {
      scale_values(m, ldexp(negated ? -1 : 1, exponents[k]), doubles);
      check_kept(A, &expected, &entries, exponents[k], negated);
    }
  free(doubles);
  return expected;
}

/* Doubles that are not floats. */
static void check_rounded(const ref_matrix *m) {
  const size_t count = (size_t)ref_nonzeros(m);
  double *doubles = malloc(count * sizeof *doubles);
  tsi_csr entries = entries_of(m);
  scale_values(m, 0.1, doubles);
  entries.double_values = doubles;
  ts_csr csr = ref_csr(m);
  csr.values = ts_host(doubles, count);
  ts_matrix *A = make_with_copy(&csr);
  REQUIRE(A != NULL);
  const findings expected = read_findings(A);
  check_kept(A, &expected, &entries, A->exponent, A->negated);
  ts_matrix_destroy(&A);
  free(doubles);
}

static int find_diagonals(const ref_matrix *m) {
  int32_t offsets[TSI_MOST_DIAGONALS];
  return tsi_csr_diagonals(m->rows, m->offsets, m->indices, offsets);
}

static findings check_matrix(const char *name, const ref_matrix *m) {
  findings found = {0};
  test_context_label("%s", name);
  const ts_csr csr = ref_csr(m);
  ts_matrix *A = make_with_copy(&csr);
  if (A) {
    found = check_scales(m, A);
    check_rounded(m);
  }
  ts_matrix_destroy(&A);
  return found;
}

/* ---- Matrices ---- */

static void scale_diagonal(const ref_matrix *m, int32_t first, int32_t end, float factor) {
  for (int32_t i = first; i < end; i++)
    for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++)
      if (m->indices[k] == i) m->values[k] *= factor;
}

static void symmetric(void) {
  ref_matrix grid = ref_graph(130, 130), small = ref_graph(30, 30), network = ref_random_spd(9000, 9, 3);
  CHECK_OK(context, ts_context_set_tuning(context, "amg_couplings", 256)); /* depends on the backend */
  CHECK_OK(context, ts_context_set_tuning(context, "diagonals_part", 1));  /* likewise */
  findings f = check_matrix("grid", &grid);
  CHECK(f.couplings.bad < 0 && f.couplings.small > f.couplings.samples / 2 && f.couplings.jumps == 0);
  CHECK(f.couplings.across > 150 && f.couplings.across < 256 && !f.has_nodes);
  CHECK_CONTAINS(f.choices[1], "jacobi: 16900 rows");
  CHECK_CONTAINS(f.choices[1], "less than 256");

  CHECK_CLOSE(f.couplings.growth, 2, 0.2);
  CHECK_CLOSE(f.couplings.entries, (double)ref_nonzeros(&grid), 0);

  ref_add_jumps(&grid);
  f = check_matrix("jumps", &grid);
  CHECK(f.couplings.jumps > f.couplings.samples / 8);
  CHECK_CONTAINS(f.choices[1], "amg: 16900 rows");
  CHECK_CONTAINS(f.choices[1], "jumping coefficients, at least 64");

  scale_diagonal(&grid, 0, 1, -1);
  f = check_matrix("a negative number on the diagonal", &grid);
  CHECK_INT(f.couplings.bad, 0);
  CHECK_CONTAINS(f.choices[1], "jacobi: row 0 is not positive on the diagonal");

  f = check_matrix("a network", &network);
  CHECK(f.couplings.bad < 0 && f.couplings.small < f.couplings.samples / 2);
  CHECK_CONTAINS(f.choices[1], "jacobi: constants are far from the null space");

  static const float block[4] = {1, 0.25f, 0.25f, 1};
  ref_matrix nodes = ref_in_blocks(&network, block), few = ref_in_blocks(&small, block);
  CHECK(check_matrix("nodes", &nodes).has_nodes);
  f = check_matrix("few nodes", &few);
  CHECK(f.has_nodes);
  CHECK_CONTAINS(f.choices[1], "jacobi: 1800 rows, less than 8192");
  ref_free(&grid), ref_free(&small), ref_free(&network), ref_free(&nodes), ref_free(&few);
}

/* In space the price of AMG, in iterations, is another limit. Here it is 260. */
static void in_space(void) {
  static const struct {
    const char *name;
    double value;
  } prices[] = {{"amg_couplings", 50},         {"amg_nanoseconds", 260e6},     {"amg_entry_nanoseconds", 1e-6},
                {"amg_row_nanoseconds", 1e-6}, {"iteration_nanoseconds", 1e6}, {"entry_nanoseconds", 1e-6},
                {"row_nanoseconds", 1e-6},     {"diagonals_part", 1}};
  for (size_t k = 0; k < sizeof prices / sizeof *prices; k++)
    CHECK_OK(context, ts_context_set_tuning(context, prices[k].name, prices[k].value));
  ref_matrix cube = ref_laplacian_3d(32), plane = ref_graph(130, 130);
  findings f = check_matrix("cube", &cube);
  CHECK(f.couplings.growth > 2.7 && f.couplings.growth < 3.3 && f.couplings.across > 50);
  CHECK_CONTAINS(f.choices[1], "jacobi: 32768 rows");
  CHECK_CONTAINS(f.choices[1], "less than 226");
  CHECK_CONTAINS(check_matrix("plane", &plane).choices[1], "at least 50");
  CHECK_OK(context, ts_context_set_tuning(context, "amg_nanoseconds", 13e6));
  CHECK_CONTAINS(check_matrix("cube", &cube).choices[1], "amg: 32768 rows");
  ref_free(&cube), ref_free(&plane);
}

/* Quick products make Jacobi and Chebyshev cheaper. Here AMG costs 260 usual iterations, 520 with the products
 * of a grid, and 200 of Chebyshev, which replace 700. */
static void on_diagonals(void) {
  static const struct {
    const char *name;
    double value;
  } prices[] = {{"amg_couplings", 100},        {"amg_nanoseconds", 1},       {"amg_entry_nanoseconds", 260},
                {"amg_row_nanoseconds", 1e-6}, {"iteration_nanoseconds", 1}, {"entry_nanoseconds", 1},
                {"row_nanoseconds", 1e-6},     {"diagonals_part", 0.5}};
  if (!strstr(context_info(context).backend, "cpu")) return;
  for (size_t k = 0; k < sizeof prices / sizeof *prices; k++)
    CHECK_OK(context, ts_context_set_tuning(context, prices[k].name, prices[k].value));
  ref_matrix plane = ref_graph(130, 130), cube = ref_laplacian_3d(32), mesh = ref_torus_mesh(130, 130, 2000, 1);
  CHECK(find_diagonals(&plane) == 7 && find_diagonals(&cube) == 7 && find_diagonals(&mesh) == 0);
  CHECK_CONTAINS(check_matrix("plane", &plane).choices[1], "less than 467");
  CHECK_CONTAINS(check_matrix("cube", &cube).choices[1], "less than 609");
  CHECK_CONTAINS(check_matrix("mesh", &mesh).choices[1], "constants are far from the null space");
  for (int components = 1; components <= 2; components++) { /* sweeps are for one component */
    ts_matrix *A = NULL;
    char choice[200];
    ts_preconditioner_kind kind;
    const ts_matrix_desc desc = {.csr = ref_csr(&plane), .components = components};
    CHECK_OK(context, ts_matrix_create(context, &desc, &A));
    CHECK_OK(context, tsi_preconditioner_choose(A, 1e-8, &kind, choice, sizeof choice));
    CHECK((kind == TS_PRECONDITIONER_CHEBYSHEV) == (components == 1));
    ts_matrix_destroy(&A);
  }
  ref_add_jumps(&plane);
  CHECK_CONTAINS(check_matrix("jumps", &plane).choices[1], "at least 25");
  ref_free(&plane), ref_free(&cube), ref_free(&mesh);
}

static void unsymmetric(void) {
  ref_matrix wind = ref_convection(100, 100, 2), skewed = ref_skewed_grid(100, 100);
  findings f = check_matrix("convection", &wind);
  CHECK(f.is_transport && !f.is_dominant);
  CHECK_CONTAINS(f.choices[1], "ilu: the matrix is not symmetric");
  scale_diagonal(&skewed, 0, skewed.rows, 3);
  f = check_matrix("a dominant diagonal", &skewed);
  CHECK(f.is_dominant && !f.is_transport);
  CHECK_CONTAINS(f.choices[1], "jacobi: the matrix is not symmetric, and its diagonal is dominant");
  ref_free(&wind), ref_free(&skewed);
}

/* Hierarchies of unsymmetric matrices are built on the host, from a copy or from entries that are read back. */
static void large_unsymmetric(void) {
  ref_matrix wind = ref_convection(100, 100, 2);
  const ts_csr csr = ref_csr(&wind);
  char choice[200];
  ts_matrix *A = make_with_copy(&csr);
  REQUIRE(A != NULL);
  const int64_t entries = A->info.nonzeros;
  A->info.nonzeros = ((int64_t)1 << 23) + 1; /* more than auto factorises */
  choose(A, 0, choice);
  CHECK_CONTAINS(choice, "amg: the matrix is not symmetric, its row sums are about 0");
  ts_matrix other = without_copy(A);
  tsi_csr given = entries_of(&wind);
  given.values = wind.values;
  CHECK_OK(context, tsi_preconditioner_find_facts(&other, &given, 0, 0));
  CHECK(tsi_preconditioner_is_transport(&other));
  choose(&other, 0, choice);
  CHECK_CONTAINS(choice, "amg: the matrix is not symmetric, its row sums are about 0");
  A->info.nonzeros = entries;
  ts_matrix_destroy(&A);
  ref_free(&wind);
}

/* ---- Unknown facts ---- */

static void check_unknown(const ts_matrix *A, const char *why) {
  char choice[200];
  CHECK(!tsi_preconditioner_knows_entries(A));
  CHECK(!tsi_preconditioner_is_transport(A));
  choose(A, 0, choice);
  CHECK_CONTAINS(choice, "jacobi");
  CHECK_CONTAINS(choice, why);
}

/* New values invalidate the facts until the values are examined. */
static void forgotten(void) {
  ref_matrix wind = ref_convection(100, 100, 2);
  const ts_csr csr = ref_csr(&wind);
  ts_matrix *A = make_with_copy(&csr);
  REQUIRE(A != NULL);
  ts_matrix other = without_copy(A);
  tsi_csr entries = entries_of(&wind);
  other.made_on_device = 0; /* otherwise the entries are read back */
  check_unknown(&other, "the matrix is not symmetric, and has no host copy");
  CHECK_OK(context, tsi_preconditioner_find_facts(&other, &entries, 0, 0)); /* without values */
  check_unknown(&other, "the matrix is not symmetric, and has no host copy");
  entries.values = wind.values;
  CHECK_OK(context, tsi_preconditioner_find_facts(&other, &entries, 0, 0));
  CHECK(tsi_preconditioner_is_transport(&other));
  other.changes++;
  check_unknown(&other, "the matrix is not symmetric, and has no host copy");
  CHECK_OK(context, tsi_preconditioner_find_facts(&other, &entries, 0, 0));
  CHECK(tsi_preconditioner_is_transport(&other));
  entries.values = NULL;
  CHECK_OK(context, tsi_preconditioner_find_facts(&other, &entries, 0, 0));
  check_unknown(&other, "the matrix is not symmetric, and has no host copy");
  if (context->caps.linear_spaces) { /* entries can be read back in order */
    char choice[200];
    other.made_on_device = 1;
    choose(&other, 0, choice);
    CHECK_CONTAINS(choice, "ilu: the matrix is not symmetric");
    CHECK(tsi_preconditioner_knows_entries(&other) && tsi_preconditioner_is_transport(&other));
  }
  ts_matrix_destroy(&A);
  ref_free(&wind);
}

static void not_found(void) {
  ref_matrix grid = ref_graph(130, 130), wide = ref_uneven_rows(9000, 10000, 20, 7);
  unsigned char *constrained = calloc((size_t)grid.rows, 1);
  constrained[7] = 1;
  ts_matrix *A = NULL;
  CHECK_OK(context,
           ts_matrix_create(context, &(ts_matrix_desc){.csr = ref_csr(&grid), .constrained = constrained}, &A));
  tsi_csr entries = entries_of(&grid);
  entries.values = grid.values;
  if (A) CHECK_OK(context, tsi_preconditioner_find_facts(A, &entries, 0, 0));
  CHECK(A && !A->facts.is_known);
  ts_matrix_destroy(&A);
  A = make_matrix(context, &wide, TS_FORMAT_AUTO);
  entries = entries_of(&wide);
  entries.values = wide.values;
  if (A) CHECK_OK(context, tsi_preconditioner_find_facts(A, &entries, 0, 0));
  CHECK(A && !A->facts.is_known);
  ts_matrix_destroy(&A);
  free(constrained);
  ref_free(&grid), ref_free(&wide);
}

/* ---- The preconditioner that is created ---- */

/* Auto computes factors from entries that it reads back, and levels on the device or from a copy. */
static void check_made(const ref_matrix *m, ts_preconditioner_kind kind, const char *why, int has_copy) {
  const ts_matrix_desc desc = {.csr = ref_csr(m), .keep_host_copy = -1};
  ts_matrix *A = NULL;
  test_context_label("%s", why);
  CHECK_OK(context, ts_matrix_create(context, &desc, &A));
  REQUIRE(A != NULL);
  tsi_csr entries = entries_of(m);
  entries.values = m->values;
  A->made_on_device = 1;
  CHECK_OK(context, tsi_preconditioner_find_facts(A, &entries, 0, 0));
  ts_preconditioner *M = make_preconditioner(A, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_AUTO});
  CHECK_INT(preconditioner_info(M).kind, kind);
  CHECK_CONTAINS(preconditioner_info(M).choice, why);
  CHECK(!A->host_copy == !has_copy);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
}

static void made(void) {
  ref_matrix wind = ref_convection(60, 50, 2), grid = ref_graph(50, 400), strong = ref_central(128, 128, 400);
  CHECK_OK(context, ts_context_set_tuning(context, "amg_couplings", 256));
  CHECK_OK(context, ts_context_set_tuning(context, "diagonals_part", 1));
  check_made(&wind, TS_PRECONDITIONER_ILU, "the matrix is not symmetric", 0);
  check_made(&strong, TS_PRECONDITIONER_AMG, "amg: the matrix is nearly singular: ilu replaced", 1);
  check_made(&grid, TS_PRECONDITIONER_AMG, ", at least 256", !context->ops->amg);
  ref_free(&wind), ref_free(&grid), ref_free(&strong);
}

TEST_MAIN(CASES_IN_CONTEXT(symmetric, in_space, on_diagonals, unsymmetric, large_unsymmetric, forgotten,
                           not_found, made))
