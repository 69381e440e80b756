/* Maximum-product matchings on the host. Small matrices are compared with all permutations. For larger ones the
 * test checks the conditions that prove optimality. */
#include "helpers.h"

#include "common/core/core.h"
#include "common/matrix/matching.h"

enum { MOST = 400, ENTRIES = 8 * MOST };

typedef struct sample {
  int32_t offsets[MOST + 1], columns[ENTRIES];
  double values[ENTRIES];
  tsi_csr csr;
} sample;

static uint32_t seed = 1;

static double uniform(void) {
  seed = seed * 1664525u + 1013904223u;
  return (double)(seed >> 8) / (double)(1 << 24);
}

/* Entries at random places. Their magnitudes span `decades` decades. */
static void make(sample *s, int n, double density, double decades) {
  int32_t next = 0;
  for (int i = 0; i < n; i++) {
    s->offsets[i] = next;
    for (int j = 0; j < n && next < 8 * (i + 1); j++) {
      if (uniform() >= density) continue;
      s->columns[next] = j;
      s->values[next++] = (uniform() < 0.5 ? -1 : 1) * pow(10, decades * (uniform() - 0.5));
    }
  }
  s->offsets[n] = next;
  s->csr = (tsi_csr){n, n, s->offsets, s->columns, NULL, s->values};
}

static double log2_at(const sample *s, int i, int j) {
  for (int32_t e = s->offsets[i]; e < s->offsets[i + 1]; e++)
    if (s->columns[e] == j) return log2(fabs(s->values[e]));
  return -INFINITY;
}

/* The largest sum of logarithms over all matchings of the rows from i on with the columns outside `taken`. A
 * missing entry costs 1e6, so the number of entries is maximised first. */
static double best_from(const sample *s, int i, unsigned taken) {
  double best = -INFINITY;
  if (i == s->csr.rows) return 0;
  for (int j = 0; j < s->csr.rows; j++)
    if (!(taken >> j & 1))
      best = fmax(best, fmax(log2_at(s, i, j), -1e6) + best_from(s, i + 1, taken | 1u << j));
  return best;
}

static double sum_of(const sample *s, const tsi_matching *m) {
  double sum = 0;
  for (int i = 0; i < s->csr.rows; i++) sum += fmax(log2_at(s, i, m->columns[i]), -1e6);
  return sum;
}

/* The result is a permutation. After scaling no entry exceeds 1, and matched entries are 1. */
static void check_conditions(const sample *s, const tsi_matching *m) {
  const int n = s->csr.rows;
  unsigned char taken[MOST] = {0}, unmatched[MOST] = {0};
  for (int32_t k = 0; k < m->unmatched; k++) unmatched[m->unmatched_rows[k]] = 1;
  for (int i = 0; i < n; i++) {
    CHECK(m->columns[i] >= 0 && m->columns[i] < n && !taken[m->columns[i]]);
    taken[m->columns[i]] = 1;
    for (int32_t e = s->offsets[i]; e < s->offsets[i + 1]; e++) {
      const double scaled = log2(fabs(s->values[e])) + m->rows_log2[i] + m->columns_log2[s->columns[e]];
      CHECK(scaled <= 1e-9);
      if (s->columns[e] == m->columns[i] && !unmatched[i]) CHECK_CLOSE(scaled, 0, 1e-9);
    }
    if (!unmatched[i]) CHECK(log2_at(s, i, m->columns[i]) > -INFINITY);
  }
}

static void best_of_all_permutations(void) {
  static sample s;
  for (int k = 0; k < 300; k++) {
    tsi_matching m;
    make(&s, 1 + k % 7, 0.2 + 0.1 * (k % 8), k % 3 == 0 ? 0 : 20 * (k % 3));
    CHECK_OK(NULL, tsi_match(NULL, &s.csr, INT64_MAX, &m));
    const double best = best_from(&s, 0, 0), found = sum_of(&s, &m);
    CHECK_INT(m.unmatched, (int)floor(-best / 1e6 + 0.5));
    if (m.unmatched == 0) CHECK_CLOSE(found, best, 1e-9 * (1 + fabs(best)));
    check_conditions(&s, &m);
    tsi_matching_free(NULL, &m);
  }
}

static void conditions_of_large_ones(void) {
  static sample s;
  for (int k = 0; k < 30; k++) {
    tsi_matching m;
    make(&s, MOST - k, 0.02, k % 2 ? 600 : 8);
    CHECK_OK(NULL, tsi_match(NULL, &s.csr, INT64_MAX, &m));
    check_conditions(&s, &m);
    tsi_matching_free(NULL, &m);
  }
}

/* Two rows share their only column, so one of them remains unmatched. */
static void names_rows_without_a_match(void) {
  static sample s = {.offsets = {0, 1, 2, 4, 4}, .columns = {1, 1, 0, 2}, .values = {1, 2, 3, 4}};
  tsi_matching m;
  char text[80];
  s.csr = (tsi_csr){4, 4, s.offsets, s.columns, NULL, s.values};
  CHECK_OK(NULL, tsi_match(NULL, &s.csr, INT64_MAX, &m));
  CHECK_INT(m.unmatched, 2);
  CHECK_INT(m.unmatched_rows[1], 3);
  tsi_matching_say(&m, text, sizeof text);
  CHECK(strstr(text, "rows ") == text && strstr(text, ", 3 have no entry left"));
  check_conditions(&s, &m);
  tsi_matching_free(NULL, &m);
}

static void a_good_diagonal_stays(void) {
  static sample s;
  tsi_matching m;
  make(&s, 100, 0.03, 4);
  for (int i = 0; i < 100; i++)
    for (int32_t e = s.offsets[i]; e < s.offsets[i + 1]; e++) s.values[e] = s.columns[e] == i ? 1e4 : 1;
  for (int i = 0; i < 100; i++) {
    if (log2_at(&s, i, i) > 0) continue;
    s.columns[s.offsets[i]] = i; /* may create duplicates and disorder, which are allowed */
    s.values[s.offsets[i]] = 1e4;
  }
  CHECK_OK(NULL, tsi_match(NULL, &s.csr, INT64_MAX, &m));
  for (int i = 0; i < 100; i++)
    if (log2_at(&s, i, i) > 0) CHECK_INT(m.columns[i], i);
  tsi_matching_free(NULL, &m);
}

static void ends_at_the_limit(void) {
  static sample s;
  tsi_matching m;
  make(&s, MOST, 0.02, 8);
  CHECK_FAILS(NULL, tsi_match(NULL, &s.csr, 3000, &m), TS_ERROR_LIMIT, "took too long");
}

TEST_MAIN_ON_HOST(CASES(best_of_all_permutations, conditions_of_large_ones, names_rows_without_a_match,
                        a_good_diagonal_stays, ends_at_the_limit))
