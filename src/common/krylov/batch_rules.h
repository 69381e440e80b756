/* The decisions of the solve of one system: the method, refusals, and what follows a residual computed from x.
 * Host and CUDA share them. The includer defines BATCH_FUNCTION, a prefix of each function.
 *
 * A solve is a sequence of phases. A phase starts from the best x so far and its residual, and iterates until
 * the recurrence makes a claim: it has converged, or it cannot continue. The residual is then computed from x,
 * and batch_check decides. All norms are those of the scaled system, in which the largest values of A and of b
 * are between 1/2 and 1. */
#ifndef TSI_BATCH_RULES_H
#define TSI_BATCH_RULES_H

#include <math.h>

#include <texsolve/batch.h>

#ifndef BATCH_FUNCTION
#error "BATCH_FUNCTION is to be defined before batch_rules.h is included"
#endif

/* ---- Scaling ---- */

/* A power of two with any exponent that is needed, in factors that are representable. */
typedef struct batch_power {
  double factor[3];
} batch_power;

BATCH_FUNCTION batch_power batch_power_of_two(int exponent) {
  const int third = exponent / 3, is_one = exponent >= -1000 && exponent <= 1000;
  batch_power power;
  power.factor[0] = ldexp(1.0, is_one ? exponent : third);
  power.factor[1] = is_one ? 1 : power.factor[0];
  power.factor[2] = is_one ? 1 : ldexp(1.0, exponent - 2 * third);
  return power;
}

BATCH_FUNCTION double batch_times(double value, const batch_power *power) {
  return value * power->factor[0] * power->factor[1] * power->factor[2];
}

/* Neither NaN nor an infinity. */
BATCH_FUNCTION int batch_is_finite(double value) {
  return fabs(value) <= 1.7976931348623157e308;
}

/* The exponent to divide numbers by, given the largest magnitude. */
BATCH_FUNCTION int batch_exponent(double largest) {
  int exponent = 0;
  if (largest > 0 && batch_is_finite(largest)) frexp(largest, &exponent);
  return exponent;
}

/* The largest number that the array of x holds. */
BATCH_FUNCTION double batch_largest_of(ts_type type) {
  return type == TS_TYPE_FLOAT ? 3.4028234663852886e38 : 1.7976931348623157e308;
}

/* ---- The state of a solve ---- */

/* Why a phase ended. */
typedef enum batch_claim {
  BATCH_RUNS,
  BATCH_CONVERGED,
  BATCH_BROKEN,     /* a divisor is 0, a number is not finite, or the residual does not fall any more */
  BATCH_INDEFINITE, /* d^T A d or r^T M^-1 r is not positive */
  BATCH_MAXIMUM,
  BATCH_REFUSED /* the method cannot solve this system: `reason` */
} batch_claim;

typedef struct batch_state {
  ts_reason reason;
  ts_method method;
  batch_claim claim;
  int ended, may_switch; /* may_switch: bicgstab follows if cg fails */
  int x_was_zeroed;      /* b is 0, and the start was not */
  int iterations, restarts, in_vain;
  int lowest_at; /* the iteration of the lowest residual of the recurrence in this phase */
  double lowest; /* its square */
  double norm_b, tolerance, best, phase_start;
} batch_state;

/* Facts about a system. */
typedef struct batch_facts {
  int is_finite; /* A, b and the start */
  int zero_diagonal, negative_diagonal;
  int is_symmetric;
} batch_facts;

/* Two mirrored values count as equal if rounding in single precision explains their difference, as in
 * tsi_nearly_equal. In squares: `bound` must be above (a - b)^2. */
#define BATCH_SYMMETRY_RELATIVE 1e-10
#define BATCH_SYMMETRY_DIAGONAL 1e-14

/* Below this, relative to b, the residual of a recurrence says nothing about that of x. */
#define BATCH_FLOOR 1e-17

BATCH_FUNCTION int batch_uses_jacobi(ts_preconditioner_kind kind, const batch_facts *facts) {
  return kind == TS_PRECONDITIONER_JACOBI || (kind == TS_PRECONDITIONER_AUTO && !facts->zero_diagonal);
}

BATCH_FUNCTION void batch_refuse(batch_state *s, ts_reason reason) {
  s->claim = BATCH_REFUSED;
  s->reason = reason;
}

BATCH_FUNCTION void batch_begin(batch_state *s, ts_method method, ts_preconditioner_kind kind,
                                const batch_facts *facts) {
  const int is_positive = !facts->zero_diagonal && !facts->negative_diagonal;
  s->may_switch = method == TS_METHOD_AUTO;
  s->method = method;
  if (method == TS_METHOD_AUTO)
    s->method = facts->is_symmetric && is_positive ? TS_METHOD_CG : TS_METHOD_BICGSTAB;
  if (!facts->is_finite)
    batch_refuse(s, TS_REASON_NAN_INPUT);
  else if (kind == TS_PRECONDITIONER_JACOBI && facts->zero_diagonal)
    batch_refuse(s, TS_REASON_ZERO_DIAGONAL);
  else if (s->method == TS_METHOD_CG && facts->negative_diagonal)
    batch_refuse(s, TS_REASON_INDEFINITE);
  else if (s->method == TS_METHOD_CG && !facts->is_symmetric)
    batch_refuse(s, TS_REASON_NOT_SYMMETRIC);
  s->ended = !facts->is_finite;
}

/* Sets the norm of b and the tolerance. The best x so far is 0. */
BATCH_FUNCTION void batch_set_b(batch_state *s, double norm_b, double rtol) {
  s->norm_b = s->best = norm_b;
  s->phase_start = norm_b;
  s->tolerance = rtol * norm_b;
}

BATCH_FUNCTION void batch_end(batch_state *s, ts_reason reason) {
  s->reason = reason;
  s->ended = 1;
}

BATCH_FUNCTION void batch_restart(batch_state *s) {
  s->restarts++;
  s->claim = BATCH_RUNS;
}

/* A phase of cg failed, and bicgstab starts from the best x. */
BATCH_FUNCTION void batch_switch(batch_state *s) {
  s->method = TS_METHOD_BICGSTAB;
  s->may_switch = 0;
  s->in_vain = 0;
  batch_restart(s);
}

/* Decides after a phase. `norm` is that of b - A x. Returns whether x is the best so far; otherwise the caller
 * restores the best one. */
BATCH_FUNCTION int batch_check(batch_state *s, double norm, int max_iterations) {
  enum { MOST_STAGNATIONS = 2, MOST_BREAKDOWNS = 4 };
  const int is_start = s->iterations == 0 && s->restarts == 0;
  const int is_best = norm <= s->best || s->claim == BATCH_REFUSED, gained = norm <= 0.5 * s->phase_start;
  if (is_best) s->best = norm;
  s->phase_start = s->best;
  if (s->best <= s->tolerance) {
    batch_end(s, s->best == 0 && is_start && !s->x_was_zeroed ? TS_REASON_ZERO_RESIDUAL : TS_REASON_CONVERGED);
  } else if (s->claim == BATCH_REFUSED) {
    s->ended = 1;
  } else if (s->iterations >= max_iterations) {
    batch_end(s, TS_REASON_MAX_ITERATIONS);
  } else if (s->claim == BATCH_INDEFINITE && !s->may_switch) {
    batch_end(s, TS_REASON_INDEFINITE);
  } else if (s->claim == BATCH_INDEFINITE) {
    batch_switch(s);
  } else if (s->claim != BATCH_RUNS) {
    const int most = s->claim == BATCH_CONVERGED ? MOST_STAGNATIONS : MOST_BREAKDOWNS;
    s->in_vain = gained ? 0 : s->in_vain + 1;
    if (s->in_vain < most)
      batch_restart(s);
    else if (s->may_switch && s->method == TS_METHOD_CG && s->claim == BATCH_BROKEN)
      batch_switch(s);
    else
      batch_end(s, s->claim == BATCH_CONVERGED ? TS_REASON_STAGNATED : TS_REASON_BREAKDOWN);
  }
  return is_best;
}

/* A norm relative to that of b. */
BATCH_FUNCTION double batch_relative(double norm, const batch_state *s) {
  return s->norm_b > 0 ? norm / s->norm_b : norm;
}

/* ---- Iterations ---- */

BATCH_FUNCTION void batch_begin_phase(batch_state *s) {
  s->claim = BATCH_RUNS;
  s->lowest = s->phase_start * s->phase_start;
  s->lowest_at = s->iterations;
}

/* The end of an iteration with this square of the recurrence's residual. */
BATCH_FUNCTION void batch_count(batch_state *s, double square, int rows, int max_iterations) {
  const int window = rows > 1000 ? rows : 1000;
  const int patience = s->method == TS_METHOD_CG || 3 * (double)rows > window ? window
                       : rows > 16                                            ? 3 * rows
                                                                              : 50;
  const double least = BATCH_FLOOR * s->norm_b, enough = s->tolerance > least ? s->tolerance : least;
  s->iterations++;
  if (square < 0.9 * s->lowest) {
    s->lowest = square;
    s->lowest_at = s->iterations;
  }
  if (square <= enough * enough)
    s->claim = BATCH_CONVERGED;
  else if (!(square <= 1e300) || (s->iterations < max_iterations && s->iterations - s->lowest_at > patience))
    s->claim = BATCH_BROKEN;
  else if (s->iterations >= max_iterations)
    s->claim = BATCH_MAXIMUM;
}

/* A number of cg that must be positive; otherwise the phase ends. */
BATCH_FUNCTION int batch_is_positive(batch_state *s, double number) {
  if (number > 0 && number <= 1e300) return 1;
  s->claim = number <= 0 ? BATCH_INDEFINITE : BATCH_BROKEN;
  return 0;
}

/* A divisor of at most `size` must be more than rounding errors; otherwise the phase ends. */
BATCH_FUNCTION int batch_divides(batch_state *s, double number, double size) {
  const double rounding = 2.220446049250313e-16;
  if (fabs(number) > rounding * size && fabs(number) <= 1e300) return 1;
  s->claim = BATCH_BROKEN;
  return 0;
}

/* beta of bicgstab: rho / last_rho * alpha / omega. `size` bounds rho. */
BATCH_FUNCTION double batch_beta(batch_state *s, double rho, double last_rho, double alpha, double omega,
                                 double size) {
  if (!batch_divides(s, rho, size)) return 0;
  const double beta = rho / last_rho * (alpha / omega);
  if (fabs(beta) <= 1e300) return beta;
  s->claim = BATCH_BROKEN;
  return 0;
}

BATCH_FUNCTION double batch_omega(double ts, double tt) {
  return tt > 0 && tt <= 1e300 ? ts / tt : 0;
}

/* The r~ of bicgstab is r itself. After restarts in vain it is random, but always the same. */
BATCH_FUNCTION double batch_shadow(const batch_state *s, int row, double r) {
  unsigned key = (unsigned)row * 2654435761u + (unsigned)s->in_vain * 2246822519u;
  if (s->in_vain < 2) return r;
  key = (key ^ key >> 15) * 2246822519u;
  key = (key ^ key >> 13) * 3266489917u;
  return (double)((key ^ key >> 16) & 0xffff) / 32768 - 1;
}

#endif
