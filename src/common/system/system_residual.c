/* The system builder: checks on the host in double precision: whether a system is visibly singular, and how
 * accurate a solution is. */
#include <math.h>
#include <string.h>

#include "system.h"

/* ---- Singular systems ---- */

static ts_status no_equation(const ts_system *s, int32_t unknown) {
  return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT, "unknown %d is not locked and in no %s", unknown,
                  s->desc.least_squares ? "condition" : "equation");
}

/* Whether a row contributes: its weight is positive or its unknown is not locked. */
static int counts(const ts_system *s, int32_t row) {
  return s->desc.least_squares ? s->equations.weights[row] > 0 : !s->locked[row];
}

/* Marks the unlocked unknowns that occur, and counts the rows that contain one. In a square system a row
 * without one is an error. */
static ts_status mark_unknowns(const ts_system *s, unsigned char *occurs, int32_t *rows) {
  const tsi_equations *q = &s->equations;
  *rows = 0;
  for (int32_t r = 0; r < q->rows; r++) {
    int any = 0;
    for (int32_t e = q->offsets[r]; counts(s, r) && e < q->offsets[r + 1]; e++)
      if (q->values[e] != 0 && !s->locked[q->columns[e]]) any = occurs[q->columns[e]] = 1;
    if (!any && !s->desc.least_squares && counts(s, r))
      return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                      "equation %d has no coefficient of an unlocked unknown", r);
    *rows += any;
  }
  for (int32_t j = 0; j < s->desc.unknowns; j++)
    if (!s->locked[j] && !occurs[j]) return no_equation(s, j);
  return TS_OK;
}

/* ---- Unknowns determined only up to a constant ---- */

static int32_t root_of(int32_t *parents, int32_t j) {
  while (parents[j] != j) j = parents[j] = parents[parents[j]];
  return j;
}

/* Connects the unknowns of each condition. If adding a constant changes the condition, its unknowns get 1 in
 * `held`. */
static void connect(const ts_system *s, int32_t *parents, unsigned char *held) {
  const tsi_equations *q = &s->equations;
  for (int32_t j = 0; j < s->desc.unknowns; j++) parents[j] = j;
  for (int32_t r = 0; r < q->rows; r++) {
    int32_t first = -1;
    double sum = 0, magnitude = 0;
    for (int32_t e = q->offsets[r]; counts(s, r) && e < q->offsets[r + 1]; e++) {
      const int32_t j = q->columns[e];
      if (q->values[e] == 0 || s->locked[j]) continue;
      sum += q->values[e];
      magnitude += fabs(q->values[e]);
      if (first < 0) first = root_of(parents, j);
      const int32_t root = root_of(parents, j);
      held[first] |= held[root];
      parents[root] = first;
    }
    if (first >= 0 && fabs(sum) > 1e-9 * magnitude) held[first] = 1;
  }
}

static ts_status check_constants(const ts_system *s, int32_t *parents, unsigned char *held) {
  memset(held, 0, (size_t)s->desc.unknowns);
  connect(s, parents, held);
  for (int32_t j = 0; j < s->desc.unknowns; j++) {
    if (s->locked[j] || held[root_of(parents, j)]) continue;
    int32_t others = -1;
    for (int32_t k = 0; k < s->desc.unknowns; k++)
      others += !s->locked[k] && root_of(parents, k) == root_of(parents, j);
    return tsi_fail(
        s->context, TS_ERROR_INVALID_ARGUMENT,
        "the conditions do not determine unknown %d: the same number can be added to it and to the %d "
        "unknowns connected with it; lock one of them",
        j, others);
  }
  return TS_OK;
}

ts_status tsi_system_check_singular(ts_system *s) {
  const size_t unknowns = (size_t)s->desc.unknowns;
  unsigned char *flags = tsi_calloc(s->context, unknowns, 1);
  int32_t *parents = tsi_malloc(s->context, unknowns, sizeof *parents);
  int32_t rows = 0;
  ts_status status = TS_OK;
  if (!flags || !parents) status = tsi_out_of_memory(s->context, "checking the system", 5 * unknowns);
  if (status == TS_OK) status = mark_unknowns(s, flags, &rows);
  if (status == TS_OK && s->desc.least_squares && !s->desc.allow_singular) {
    const int32_t unlocked = s->desc.unknowns - s->locked_count;
    if (rows < unlocked)
      status = tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                        "%d conditions with a weight do not determine %d unlocked unknowns", rows, unlocked);
    else
      status = check_constants(s, parents, flags);
  }
  tsi_free(s->context, flags);
  tsi_free(s->context, parents);
  return status;
}

/* ---- Residuals ---- */

/* Sums of squares for each component. The numbers are multiplied by a power of two, so that none overflows or
 * underflows. */
typedef struct sums {
  double residual[4], right_hand_side[4];
} sums;

/* That power of two, which scales the largest right-hand side to about 1. */
static void find_factors(const ts_system *s, double factors[4]) {
  const tsi_equations *q = &s->equations;
  const size_t components = (size_t)s->desc.components;
  double largest[4] = {0};
  for (size_t i = 0; i < (size_t)q->rows * components; i++)
    largest[i % components] = fmax(largest[i % components], fabs(q->right_hand_sides[i]));
  for (size_t c = 0; c < components; c++) {
    int exponent = 0;
    if (largest[c] > 0) frexp(largest[c], &exponent);
    factors[c] = ldexp(1, exponent < -1000 ? 1000 : -exponent);
  }
}

static double largest_ratio(const ts_system *s, const sums *a) {
  double largest = 0;
  for (int c = 0; c < s->desc.components; c++) {
    const double ratio = sqrt(a->residual[c]) / (a->right_hand_side[c] > 0 ? sqrt(a->right_hand_side[c]) : 1);
    if (!(ratio <= largest)) largest = ratio; /* also for a NaN */
  }
  return largest;
}

/* r = b - A x of a row, and b minus the contribution of locked unknowns, times the factors. */
static void row_residual(const ts_system *s, int32_t row, const double factors[4], double *r, double *b) {
  const tsi_equations *q = &s->equations;
  const int components = s->desc.components;
  for (int c = 0; c < components; c++)
    r[c] = b[c] = q->right_hand_sides[(size_t)row * (size_t)components + (size_t)c];
  for (int32_t e = q->offsets[row]; e < q->offsets[row + 1]; e++) {
    const int32_t j = q->columns[e];
    for (int c = 0; c < components; c++) {
      const double term = q->values[e] * s->values[(size_t)j * (size_t)components + (size_t)c];
      r[c] -= term;
      if (s->locked[j]) b[c] -= term;
    }
  }
  for (int c = 0; c < components; c++) {
    r[c] *= factors[c];
    b[c] *= factors[c];
  }
}

/* Adds the row's contribution to A^T W r and A^T W b. `normal` has both for each unknown. */
static void add_normal(const ts_system *s, int32_t row, const double *r, const double *b, double *normal) {
  const tsi_equations *q = &s->equations;
  const int components = s->desc.components;
  for (int32_t e = q->offsets[row]; e < q->offsets[row + 1]; e++) {
    const double factor = q->weights[row] * q->values[e];
    double *to = normal + 2 * (size_t)q->columns[e] * (size_t)components;
    for (int c = 0; c < components; c++) {
      to[c] += factor * r[c];
      to[components + c] += factor * b[c];
    }
  }
}

static void add_squares(const ts_system *s, sums *a, double weight, const double *r, const double *b) {
  for (int c = 0; c < s->desc.components; c++) {
    a->residual[c] += weight * r[c] * r[c];
    a->right_hand_side[c] += weight * b[c] * b[c];
  }
}

ts_status tsi_system_residual(ts_system *s, ts_system_result *result) {
  const int components = s->desc.components;
  double *normal = NULL;
  if (s->desc.least_squares) {
    normal = tsi_calloc(s->context, 2 * tsi_system_numbers(s), sizeof *normal);
    if (!normal)
      return tsi_out_of_memory(s->context, "the residual", 2 * tsi_system_numbers(s) * sizeof *normal);
  }
  sums all = {0};
  double factors[4];
  find_factors(s, factors);
  for (int32_t row = 0; row < s->equations.rows; row++) {
    double r[4], b[4];
    if (!counts(s, row)) continue;
    row_residual(s, row, factors, r, b);
    add_squares(s, &all, s->desc.least_squares ? s->equations.weights[row] : 1, r, b);
    if (normal) add_normal(s, row, r, b, normal);
  }
  result->normal_residual = result->relative_residual = largest_ratio(s, &all);
  if (!normal) return TS_OK;
  all = (sums){0};
  for (int32_t j = 0; j < s->desc.unknowns; j++) {
    const double *of = normal + 2 * (size_t)j * (size_t)components;
    if (!s->locked[j]) add_squares(s, &all, 1, of, of + components);
  }
  result->normal_residual = largest_ratio(s, &all);
  tsi_free(s->context, normal);
  return TS_OK;
}
