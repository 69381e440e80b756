/* One examination finds all facts about a matrix, and another function makes its canonical form. Both are
 * compared with separate loops. */
#include "helpers.h"

#include <math.h>

#include "common/core/core.h"
#include "common/core/pool.h"
#include "common/matrix/csr.h"

typedef struct matrix {
  int32_t rows, columns, *offsets, *indices;
  double *doubles;
  float *floats;
} matrix;

static ts_context context; /* it has no backend */

static void begin(void) {
  int threads;
  context = (ts_context){0};
  context.desc.threads = 3; /* used only if there are many rows */
  CHECK_OK(NULL, tsi_threads(&context, &threads));
}

static void end(void) {
#ifdef TEXSOLVE_HAVE_THREADS
  tsi_pool_destroy(&context, &context.pool);
#endif
}

static tsi_csr view_of(const matrix *m, int as_doubles) {
  return (tsi_csr){m->rows,
                   m->columns,
                   m->offsets,
                   m->indices,
                   as_doubles ? NULL : m->floats,
                   as_doubles ? m->doubles : NULL};
}

static void release(matrix *m) {
  free(m->offsets);
  free(m->indices);
  free(m->doubles);
  free(m->floats);
}

/* Rows of up to `longest` entries, and one row of `dense` entries. If `ordered`, columns ascend. Otherwise they
 * are random and may repeat. */
static matrix make(int32_t rows, int32_t columns, int32_t longest, int32_t dense, int ordered, uint64_t seed) {
  ref_random random = {seed};
  matrix m = {.rows = rows, .columns = columns};
  const size_t room = (size_t)rows * (size_t)longest + (size_t)dense;
  m.offsets = calloc((size_t)rows + 1, sizeof *m.offsets);
  m.indices = malloc((room + 1) * sizeof *m.indices);
  int32_t at = 0;
  for (int32_t i = 0; i < rows; i++) {
    const int32_t count = i == rows / 2 && dense ? dense : ref_below(&random, longest + 1);
    const int32_t step = count > 0 ? columns / count : 0;
    for (int32_t k = 0; k < count && step > 0; k++)
      m.indices[at++] = ordered ? k * step + ref_below(&random, step) : ref_below(&random, columns);
    m.offsets[i + 1] = at;
  }
  m.doubles = ref_doubles((size_t)at + 1, seed + 1, -2, 2);
  m.floats = malloc(((size_t)at + 1) * sizeof *m.floats);
  for (int32_t e = 0; e < at; e++) m.floats[e] = (float)m.doubles[e];
  return m;
}

static void check_facts(const matrix *m, int as_doubles, const tsi_csr_facts *f) {
  int in_order = 1, has_low = 0, negative = m->rows == m->columns, some_negative = 0;
  int32_t longest = 0, zero = -1;
  double norm = 0, largest = 0, smallest = INFINITY;
  for (int32_t i = 0; i < m->rows; i++) {
    double sum = 0, diagonal = 0;
    for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++) {
      const double value = as_doubles ? m->doubles[e] : (double)m->floats[e];
      if (e > m->offsets[i] && m->indices[e] <= m->indices[e - 1]) in_order = 0;
      has_low |= (double)(float)value != value;
      largest = fmax(largest, fabs(value));
      if (value != 0) smallest = fmin(smallest, fabs(value));
      sum += fabs((double)(float)value);
      if (m->indices[e] == i) diagonal += value;
    }
    const int32_t length = m->offsets[i + 1] - m->offsets[i];
    longest = length > longest ? length : longest;
    norm = fmax(norm, sum);
    negative = negative && diagonal < 0;
    some_negative |= (float)diagonal < 0;
    if ((float)diagonal == 0 && zero < 0) zero = i;
  }
  const int is_square = m->rows == m->columns;
  CHECK_INT(f->in_order, in_order);
  CHECK_INT(f->has_low_parts, has_low);
  CHECK_INT(f->longest_row, longest);
  CHECK(f->norm_infinity == norm);
  CHECK_INT(f->zero_diagonal_row, is_square ? zero : -1);
  CHECK_INT(f->negative_diagonal, is_square && some_negative);
  CHECK_INT(f->is_negative, negative);
  if (largest > 0)
    CHECK(largest < ldexp(1, f->exponents.largest) && largest >= ldexp(0.5, f->exponents.largest));
  if (largest > 0)
    CHECK(smallest < ldexp(1, f->exponents.smallest) && smallest >= ldexp(0.5, f->exponents.smallest));
}

static void look_at(const matrix *m) {
  for (int as_doubles = 0; as_doubles < 2; as_doubles++) {
    const tsi_csr csr = view_of(m, as_doubles);
    tsi_csr_facts facts, alone;
    CHECK_OK(NULL, tsi_csr_look(&context, &csr, NULL, &facts));
    check_facts(m, as_doubles, &facts);
    CHECK(facts.fingerprint == tsi_csr_fingerprint(&context, &csr));
    CHECK_OK(NULL, tsi_csr_look(NULL, &csr, NULL, &alone)); /* by one thread */
    CHECK(alone.fingerprint == facts.fingerprint && alone.norm_infinity == facts.norm_infinity);
    CHECK_INT(alone.has_mirrors, facts.has_mirrors);
  }
}

static const int32_t sizes[] = {1, 2, 127, 128, 129, 1000, 70000};

static void facts(void) {
  begin();
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int ordered = 0; ordered < 2; ordered++) {
      test_context_label("%d rows, ordered %d", sizes[k], ordered);
      matrix square = make(sizes[k], sizes[k], 9, sizes[k] > 100 ? sizes[k] / 2 : 0, ordered, 7 + k),
             wide = make(sizes[k], 3 * sizes[k] + 1, 5, 0, ordered, 17 + k);
      look_at(&square);
      look_at(&wide);
      release(&square);
      release(&wide);
    }
  end();
}

/* ---- Symmetry ---- */

static int has_mirrors(const matrix *m, int as_doubles) {
  const tsi_csr csr = view_of(m, as_doubles);
  tsi_csr_facts f = {0};
  CHECK_OK(NULL, tsi_csr_look(&context, &csr, NULL, &f));
  return f.has_mirrors;
}

/* A grid's Laplacian with symmetric values: a function of the unordered pair of row and column. */
static matrix make_symmetric(int32_t nx, int32_t ny) {
  ref_matrix grid = ref_grid(nx, ny);
  const int32_t entries = grid.offsets[grid.rows];
  matrix m = {grid.rows,  grid.columns, grid.offsets, grid.indices, malloc((size_t)entries * sizeof(double)),
              grid.values};
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) {
      const int32_t j = m.indices[e], low = i < j ? i : j, high = i < j ? j : i;
      m.doubles[e] = sin(low + 0.37 * high);
      m.floats[e] = (float)m.doubles[e];
    }
  return m;
}

static int32_t find(const matrix *m, int32_t i, int32_t j) {
  for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
    if (m->indices[e] == j) return e;
  return -1;
}

static void symmetry(void) {
  begin();
  matrix m = make_symmetric(40, 50);
  ref_random random = {3};
  CHECK(has_mirrors(&m, 0) && has_mirrors(&m, 1));
  for (int n = 0; n < 200; n++) {
    const int32_t i = ref_below(&random, m.rows),
                  e = m.offsets[i] + ref_below(&random, m.offsets[i + 1] - m.offsets[i]);
    const int32_t j = m.indices[e], mirror = find(&m, j, i), other = m.offsets[m.rows] - 1 - e;
    const double before = m.doubles[e], of_mirror = m.doubles[mirror], of_other = m.doubles[other];
    m.doubles[e] = nextafter(before, 9); /* change of the last bit */
    CHECK_INT(has_mirrors(&m, 1), i == j);
    m.doubles[e] = -before;
    CHECK_INT(has_mirrors(&m, 1), i == j);
    m.doubles[e] = of_other; /* exchanged with another entry */
    m.doubles[other] = before;
    CHECK_INT(has_mirrors(&m, 1),
              e == other || other == mirror || (i == j && find(&m, m.rows - 1 - i, m.rows - 1 - i) == other));
    m.doubles[other] = of_other;
    m.doubles[e] = m.doubles[mirror] = n % 2 ? 0.0 : 1e-310;
    if (n % 4 == 1) m.doubles[e] = -0.0;
    CHECK(has_mirrors(&m, 1));
    m.doubles[e] = before;
    m.doubles[mirror] = of_mirror;
  }
  CHECK(has_mirrors(&m, 1));
  release(&m);
  end();
}

/* An entry of 0 is symmetric to a missing entry. An entry of 1 is not. */
static void zeros(void) {
  begin();
  int32_t offsets[] = {0, 2, 3}, indices[] = {0, 1, 1};
  double values[] = {1, 0, 1};
  tsi_csr_facts f;
  const tsi_csr csr = {2, 2, offsets, indices, NULL, values};
  CHECK_OK(NULL, tsi_csr_look(&context, &csr, NULL, &f));
  CHECK(f.has_mirrors);
  values[1] = 1;
  CHECK_OK(NULL, tsi_csr_look(&context, &csr, NULL, &f));
  CHECK(!f.has_mirrors);
  end();
}

static void fingerprints(void) {
  begin();
  matrix m = make(300, 400, 6, 0, 1, 5);
  const tsi_csr csr = view_of(&m, 0);
  const uint64_t before = tsi_csr_fingerprint(&context, &csr);
  for (int32_t e = 0; e < m.offsets[m.rows]; e++) {
    m.indices[e] ^= 1;
    CHECK(tsi_csr_fingerprint(&context, &csr) != before);
    m.indices[e] ^= 1;
  }
  for (int32_t i = 1; i <= m.rows; i++) {
    m.offsets[i]++;
    if (i < m.rows) CHECK(tsi_csr_fingerprint(&context, &csr) != before);
    m.offsets[i]--;
  }
  CHECK(tsi_csr_fingerprint(&context, &csr) == before);
  release(&m);
  end();
}

/* ---- Canonical form ---- */

/* The entries of row i are in order, and each is the sum of the given entries at its place. */
static void check_row(const matrix *m, int as_doubles, const unsigned char *constrained,
                      const tsi_host_csr *out, int32_t i, double *sums, unsigned char *there) {
  for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++) {
    if (constrained && constrained[i]) break;
    sums[m->indices[e]] += as_doubles ? m->doubles[e] : (double)m->floats[e];
    there[m->indices[e]] = 1;
  }
  int32_t before = -1;
  for (int32_t e = out->row_offsets[i]; e < out->row_offsets[i + 1]; e++) {
    const int32_t j = out->column_indices[e];
    double value = (double)out->values[e];
    for (int p = 0; p < 2 && out->low[p]; p++) value += (double)out->low[p][e];
    CHECK(j > before && there[j]);
    CHECK(as_doubles ? value == sums[j] : out->values[e] == (float)sums[j]);
    there[j] = 0;
    before = j;
  }
  for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++) {
    CHECK(!there[m->indices[e]]);
    sums[m->indices[e]] = 0;
  }
}

static void check_canonical(const matrix *m, int as_doubles, const unsigned char *constrained) {
  const tsi_csr csr = view_of(m, as_doubles);
  tsi_host_csr out;
  int64_t duplicates, dropped = 0;
  double *sums = calloc((size_t)m->columns, sizeof *sums);
  unsigned char *there = calloc((size_t)m->columns, 1);
  if (CHECK_OK(NULL,
               tsi_csr_canonical(&context, &csr, constrained, NULL, TSI_CSR_LOW_PARTS, &out, &duplicates))) {
    for (int32_t i = 0; i < m->rows; i++) {
      check_row(m, as_doubles, constrained, &out, i, sums, there);
      if (constrained && constrained[i]) dropped += m->offsets[i + 1] - m->offsets[i];
    }
    CHECK_INT(duplicates, m->offsets[m->rows] - out.row_offsets[m->rows] - dropped);
    tsi_csr_free(&context, &out);
  }
  free(sums);
  free(there);
}

static void canonical(void) {
  begin();
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int ordered = 0; ordered < 2; ordered++) {
      matrix m = make(sizes[k], sizes[k], 9, sizes[k] > 100 ? sizes[k] : 0, ordered, 27 + k);
      unsigned char *constrained = calloc((size_t)sizes[k], 1);
      for (int32_t i = 0; i < sizes[k]; i += 3) constrained[i] = 1;
      for (int n = 0; n < 4; n++) {
        test_context_label("%d rows, ordered %d, %s%s", sizes[k], ordered, n & 1 ? "doubles" : "floats",
                           n & 2 ? ", constrained rows" : "");
        check_canonical(&m, n & 1, n & 2 ? constrained : NULL);
      }
      free(constrained);
      release(&m);
    }
  end();
}

TEST_MAIN_ON_HOST(CASES(facts, symmetry, zeros, fingerprints, canonical))
