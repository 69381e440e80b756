#include "lanczos.h"

#include <float.h>
#include <math.h>

void tsi_lanczos_begin(tsi_lanczos *t) {
  t->count = 0;
  t->carried = t->smallest = 0;
}

void tsi_lanczos_add(tsi_lanczos *t, double delta, double dq, double delta_next) {
  if (t->count == TSI_LANCZOS_MOST || !(delta > 0 && dq > 0 && delta_next >= 0)) return;
  const double inverse = dq / delta, beta = delta_next / delta;
  if (!isfinite(inverse) || !isfinite(beta)) return;
  t->diagonal[t->count] = inverse + t->carried;
  t->beside[t->count] = sqrt(beta) * inverse;
  t->carried = beta * inverse;
  t->count++;
}

/* Counts the eigenvalues below x as the negative pivots of T - x. Stops at `most`. */
static int count_below(const tsi_lanczos *t, double x, int most) {
  double pivot = t->diagonal[0] - x;
  int found = pivot < 0;
  for (int i = 1; i < t->count && found < most; i++) {
    if (fabs(pivot) < DBL_MIN) pivot = DBL_MIN;
    pivot = t->diagonal[i] - x - t->beside[i - 1] * t->beside[i - 1] / pivot;
    found += pivot < 0;
  }
  return found;
}

/* The maximum row sum of magnitudes, an upper bound of the eigenvalues. */
static double bound_of(const tsi_lanczos *t) {
  double bound = 0;
  for (int i = 0; i < t->count; i++)
    bound = fmax(bound, t->diagonal[i] + (i ? t->beside[i - 1] : 0) + (i + 1 < t->count ? t->beside[i] : 0));
  return bound;
}

/* The `number`-th smallest eigenvalue, between low and high, by bisection of the logarithm. */
static double find(const tsi_lanczos *t, int number, double low, double high) {
  static const double precise = 1.04;
  while (high > precise * low) {
    const double middle = sqrt(low * high);
    if (count_below(t, middle, number) == number)
      high = middle;
    else
      low = middle;
  }
  return high;
}

/* The smallest eigenvalue is at most the smallest diagonal entry. */
static double smallest_of(const tsi_lanczos *t, double bound) {
  static const double least = 1e-16;
  double high = t->smallest > 0 ? t->smallest : bound, factor = 2;
  for (int i = 0; i < t->count; i++) high = fmin(high, t->diagonal[i]);
  double low = high / factor;
  for (; low > least * bound && count_below(t, low, 1); low /= factor) {
    high = low;
    factor *= 2;
  }
  return find(t, 1, low, high);
}

/* Without the eigenvalues of a group that others are far above: each of them counts as one iteration, and makes
 * the target smaller. Groups may follow each other. */
static double without_groups(const tsi_lanczos *t, double smallest, double bound, double logarithm) {
  enum { most = 9 };
  static const double apart = 16;
  double least = INFINITY, end = smallest; /* of the group */
  for (int removed = 0, number = 1; apart * end < bound;) {
    const int next = count_below(t, apart * end, most);
    if (next == most || next == t->count) break;
    if (next > number) {
      number = next;
      end *= apart;
      continue;
    }
    logarithm += (number - removed) * log(bound / smallest);
    removed = number++;
    end = smallest = find(t, number, apart * end, bound);
    least = fmin(least, removed + 0.5 * sqrt(bound / smallest) * logarithm);
  }
  return least;
}

double tsi_lanczos_iterations(tsi_lanczos *t, double reduction, double *condition) {
  *condition = 0;
  if (t->count == 0) return INFINITY;
  const double bound = bound_of(t);
  if (!(bound > 0)) return INFINITY;
  const double smallest = t->smallest = smallest_of(t, bound), logarithm = log(2 * reduction);
  *condition = bound / smallest;
  return fmin(0.5 * sqrt(*condition) * logarithm, without_groups(t, smallest, bound, logarithm));
}
