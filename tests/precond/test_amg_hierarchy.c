/* Hierarchies of algebraic multigrid have the same bits on every backend. The backend under test is compared
 * with the CPU, after creation and after new values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/precond/amg/amg.h"
#include "helpers.h"

static ts_context *context, *reference;

static int same_bits(const tsi_amg_csr *a, const tsi_amg_csr *b) {
  if (!CHECK_INT(a->rows, b->rows) || !CHECK_INT(a->columns, b->columns)) return 0;
  const size_t rows = (size_t)a->rows + 1;
  if (!CHECK(!memcmp(a->offsets, b->offsets, rows * sizeof *a->offsets))) return 0;
  const size_t entries = (size_t)a->offsets[a->rows];
  return CHECK(!memcmp(a->indices, b->indices, entries * sizeof *a->indices)) &&
         CHECK(!memcmp(a->values, b->values, entries * sizeof *a->values));
}

/* A level's matrix, read from the device or taken from the host. */
static int read_level(const tsi_amg *amg, const ts_matrix *matrix, const tsi_amg_csr *on_host,
                      tsi_amg_csr *csr) {
  if (amg->device) return CHECK_OK(context, amg->context->ops->amg->read(matrix, csr));
  *csr = *on_host;
  return 1;
}

static int check_matrix(const tsi_amg *amg, const ts_matrix *matrix, const tsi_amg_csr *on_host,
                        const tsi_amg_csr *expected) {
  tsi_amg_csr csr;
  if (!read_level(amg, matrix, on_host, &csr)) return 0;
  const int same = same_bits(&csr, expected);
  if (amg->device) tsi_amg_csr_free(amg->context, &csr);
  return same;
}

static void check_inverse(const tsi_amg *amg, const tsi_amg *expected) {
  const tsi_amg_host *host = &expected->host;
  const size_t rows = (size_t)host->level[host->levels - 1].A.rows;
  tsi_amg_csr dense = {.values = amg->host.inverse};
  if (amg->device && !CHECK_OK(context, amg->context->ops->amg->read(amg->inverse, &dense))) return;
  CHECK(!memcmp(dense.values, host->inverse, rows * rows * sizeof(float)));
  for (size_t e = 0; amg->device && e < rows * rows; e++)
    if (!CHECK(dense.indices[e] == (int32_t)(e % rows) && dense.offsets[e / rows] == (int32_t)(e - e % rows)))
      break;
  if (amg->device) tsi_amg_csr_free(amg->context, &dense);
}

static void check_same(const tsi_amg *amg, const tsi_amg *expected) {
  if (!CHECK_INT(amg->levels, expected->levels)) return;
  const int last = amg->levels - 1;
  for (int l = 0; l < last; l++) {
    const tsi_amg_host_level *fine = &amg->host.level[l], *of = &expected->host.level[l];
    CHECK(amg->level[l].eigenvalue == expected->level[l].eigenvalue);
    if (!check_matrix(amg, amg->level[l].P, &fine->P, &of->P)) return;
    if (!check_matrix(amg, amg->level[l].R, &fine->R, &of->R)) return;
    if (!check_matrix(amg, amg->level[l + 1].A, &fine[1].A, &of[1].A)) return;
  }
  if (CHECK(!amg->inverse == !expected->inverse) && amg->inverse) check_inverse(amg, expected);
}

static ts_preconditioner *make(ts_context *where, const ref_matrix *m, const ts_amg_desc *amg,
                               const unsigned char *constrained, ts_format format, ts_matrix **A) {
  const ts_matrix_desc desc = {
      .csr = ref_csr(m), .format = format, .constrained = constrained, .keep_host_copy = 1};
  const ts_preconditioner_desc of = {.kind = TS_PRECONDITIONER_AMG, .amg = amg};
  ts_preconditioner *M = NULL;
  if (CHECK_OK(where, ts_matrix_create(where, &desc, A)))
    CHECK_OK(where, ts_preconditioner_create(*A, &of, &M));
  return M;
}

/* Scales rows and columns by factors up to 9. */
static void scale_rows(ref_matrix *m, unsigned seed) {
  float *scale = ref_values((size_t)m->rows, seed, 1, 3);
  for (int32_t i = 0; i < m->rows; i++)
    for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++) m->values[e] *= scale[i] * scale[m->indices[e]];
  free(scale);
}

static void check_format(ref_matrix m, const ts_amg_desc *amg, const unsigned char *constrained,
                         ts_format format) {
  ts_matrix *A = NULL, *B = NULL;
  ts_preconditioner *M = make(context, &m, amg, constrained, format, &A);
  ts_preconditioner *N = make(reference, &m, amg, constrained, TS_FORMAT_AUTO, &B);
  if (M && N) {
    CHECK(((const tsi_amg *)N->state)->levels > 1);
    check_same(M->state, N->state);
    for (unsigned update = 0; update < 3; update++) { /* later ones use what the first one notes */
      scale_rows(&m, 11 + update);
      const ts_csr csr = ref_csr(&m);
      CHECK_OK(context, ts_matrix_set_values(A, &csr));
      CHECK_OK(reference, ts_matrix_set_values(B, &csr));
      if (CHECK_OK(context, ts_preconditioner_update(M)) && CHECK_OK(reference, ts_preconditioner_update(N)))
        check_same(M->state, N->state);
    }
  }
  ts_preconditioner_destroy(&M), ts_preconditioner_destroy(&N);
  ts_matrix_destroy(&A), ts_matrix_destroy(&B);
}

/* Takes ownership of m. */
static void check(const char *name, ref_matrix m, const ts_amg_desc *amg, const unsigned char *constrained) {
  test_context_label("%s", name);
  ref_matrix again = m;
  again.values = malloc((size_t)m.offsets[m.rows] * sizeof *m.values);
  memcpy(again.values, m.values, (size_t)m.offsets[m.rows] * sizeof *m.values);
  check_format(m, amg, constrained, TS_FORMAT_AUTO);
  if (context->caps.formats & 1u << TS_FORMAT_CSR) check_format(again, amg, constrained, TS_FORMAT_CSR);
  free(again.values);
  ref_free(&m);
}

static const ts_amg_desc small = {.coarsest = 30};

static void grids(void) {
  check("grid", ref_grid(60, 50), &small, NULL);
  check("cube", ref_laplacian_3d(14), &small, NULL);
  check("graph", ref_graph(41, 33), &small, NULL);
  check("all are strong", ref_grid(31, 30), &(ts_amg_desc){.coarsest = 10, .strength = -1}, NULL);
  check("few are strong", ref_grid(31, 30), &(ts_amg_desc){.coarsest = 10, .strength = 0.3}, NULL);
  check("no inverse", ref_grid(60, 50), &(ts_amg_desc){.coarsest = 30, .max_levels = 2}, NULL);
}

static void uneven(void) {
  check("random", ref_random_spd(700, 9, 3), &small, NULL);
  check("hubs", ref_hubs(6000, 5000, 5), &small, NULL);
  check("torus", ref_torus_mesh(50, 40, 300, 9), &small, NULL);
}

/* Strength limits below the default, which depend on sums and maxima of a row. */
static void many_neighbours(void) {
  check("27 points", ref_cube_27(14, 1, 26, -1, -1, -1), &small, NULL);
  check("trilinear elements", ref_cube_27(13, 1, 32, 0, -2, -1), &small, NULL);
  check("positive couplings", ref_cube_27(12, 1, 30, -1.3f, -0.7f, 0.1f), &small, NULL);
  check("two unknowns", ref_cube_27(11, 2, 26, -1, -1, -1), &(ts_amg_desc){.coarsest = 30, .unknowns = 2},
        NULL);
  check("three unknowns", ref_cube_27(10, 3, 32, 0, -2, -1), &(ts_amg_desc){.coarsest = 60, .unknowns = 3},
        NULL);
  check("many by chance", ref_random_spd(3000, 40, 9), &small, NULL);
  check("nodes with many by chance", ref_random_spd(3000, 40, 10),
        &(ts_amg_desc){.coarsest = 30, .unknowns = 2}, NULL);
}

/* The prolongators are smoothed twice, from the first level on. */
static void rotated(void) {
  check("rotated", ref_rotated(61, 59), &small, NULL);
  check("rotated, all are strong", ref_rotated(61, 59), &(ts_amg_desc){.coarsest = 30, .strength = -1}, NULL);
}

/* Rows in different units, which the set-up detects. */
static void other_units(void) {
  for (int unknowns = 1; unknowns <= 2; unknowns++) {
    ref_matrix m = ref_cube_27(11, unknowns, 30, -1.3f, -0.7f, 0.1f);
    float *d = ref_values(m.rows, 9, -8, 8);
    for (int32_t i = 0; i < m.rows; i++)
      for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++)
        m.values[e] *= exp2f(d[i]) * exp2f(d[m.indices[e]]);
    free(d);
    check("other units", m, &(ts_amg_desc){.coarsest = 60, .unknowns = unknowns}, NULL);
  }
}

static void constrained_rows(void) {
  unsigned char flags[3000] = {0};
  for (int i = 0; i < 3000; i += 7) flags[i] = 1;
  check("constrained", ref_grid(60, 50), &small, flags);
}

static void nodes(void) {
  double *vectors = ref_doubles(3000 * 6, 4, -1, 1), *points = ref_doubles(1500 * 2, 5, 0, 1);
  for (int i = 0; i < 3000; i += 11) vectors[i * 6 + 3] = vectors[i * 6 + 1];
  const ts_amg_desc two = {.coarsest = 30, .unknowns = 2}, five = {.coarsest = 100, .unknowns = 5},
                    given = {.coarsest = 100,
                             .unknowns = 3,
                             .near_null = ts_host(vectors, 3000 * 6),
                             .near_null_vectors = 6},
                    one = {.coarsest = 100, .near_null = ts_host(vectors, 3000 * 2), .near_null_vectors = 2},
                    modes = {.coarsest = 60, .dimensions = 2, .coordinates = ts_host(points, 3000)};
  check("two unknowns", ref_grid(60, 50), &two, NULL);
  check("five unknowns", ref_grid(60, 50), &five, NULL);
  check("given vectors", ref_grid(60, 50), &given, NULL);
  check("two vectors of one unknown", ref_grid(60, 50), &one, NULL);
  check("rigid-body modes", ref_grid(60, 50), &modes, NULL);
  check("hubs of two unknowns", ref_hubs(6000, 5000, 6), &two, NULL);
  free(vectors), free(points);
}

static int32_t longest_row(const tsi_amg *amg) {
  tsi_amg_csr R;
  int32_t longest = 0;
  if (!read_level(amg, amg->level[0].R, &amg->host.level[0].R, &R)) return 0;
  for (int32_t i = 0; i < R.rows; i++)
    if (R.offsets[i + 1] - R.offsets[i] > longest) longest = R.offsets[i + 1] - R.offsets[i];
  if (amg->device) tsi_amg_csr_free(amg->context, &R);
  return longest;
}

/* Rows of R of over 1024 entries, which updates with kept places accept, and of too many for these. */
static void long_rows(void) {
  const int32_t sizes[] = {5000, 20000};
  for (int k = 0; k < 2; k++) {
    const ts_amg_desc desc = {.coarsest = 30, .strength = -1};
    ref_matrix m = ref_arrow(sizes[k]);
    ts_matrix *A = NULL;
    ts_preconditioner *M = make(context, &m, &desc, NULL, TS_FORMAT_AUTO, &A);
    if (M) CHECK(longest_row(M->state) > (k ? 8192 : 1024));
    if (M) CHECK(longest_row(M->state) <= (k ? 1 << 20 : 8192));
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&A);
    check("arrow", m, &desc, NULL);
  }
}

static int open_reference(int round) {
  (void)round;
  const ts_context_desc desc = {.backend = "cpu", .threads = 3};
  return CHECK_OK(NULL, ts_context_create(&desc, &reference));
}

static void close_reference(void) {
  ts_context_destroy(&reference);
}

static const test_fixture fixture = {.context = &context, .setup = open_reference, .teardown = close_reference};

TEST_MAIN(CASES_WITH(&fixture, grids, many_neighbours, rotated, other_units, uneven, constrained_rows, nodes,
                     long_rows))
