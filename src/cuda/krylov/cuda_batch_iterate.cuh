/* Conjugate gradients and BiCGSTAB for one system of a batch in one block, and its result. The block computes
 * the same numbers as a lane of batch_kernel.h, with its sums in another order. */
#ifndef CUDA_BATCH_ITERATE_CUH
#define CUDA_BATCH_ITERATE_CUH

#include "cuda_batch.cuh"

/* ---- Conjugate gradients ---- */

template <bool WARP> static __device__ void batch_cg(batch_solver<WARP> &s) {
  const int rows = s.call.rows;
  double rho = 0, dq, qq = 0;
  BATCH_EACH(i, rows) {
    const double d = s.m[i] * s.r[i];
    s.d[i] = d;
    rho += s.r[i] * d;
  }
  batch_sum(s, rho, qq);
  if (!batch_is_positive(&s.state, rho)) return;
  for (;;) {
    batch_multiply(s, s.q, s.d, s.d, dq, qq);
    if (!batch_is_positive(&s.state, dq)) return;
    const double alpha = rho / dq;
    double square = 0, next = 0;
    BATCH_EACH(i, rows) {
      const double r = s.r[i] - alpha * s.q[i];
      s.x[i] += alpha * s.d[i];
      s.r[i] = r;
      square += r * r;
      next += r * r * s.m[i];
    }
    batch_sum(s, square, next);
    batch_count(&s.state, square, rows, s.call.max_iterations);
    if (s.state.claim != BATCH_RUNS || !batch_is_positive(&s.state, next)) return;
    const double beta = next / rho;
    rho = next;
    BATCH_EACH(i, rows) s.d[i] = s.m[i] * s.r[i] + beta * s.d[i];
  }
}

/* ---- BiCGSTAB ---- */

template <bool WARP> static __device__ void batch_bicgstab(batch_solver<WARP> &s) {
  const int rows = s.call.rows;
  double rho = 1, alpha = 1, omega = 1, next = 0, square = 0, norm_shadow = 0, sv, vv, ts, tt, unused = 0;
  BATCH_EACH(i, rows) {
    const double r = s.r[i], shadow = batch_shadow(&s.state, i, r);
    s.shadow[i] = shadow;
    s.d[i] = s.q[i] = 0;
    next += shadow * r;
    square += r * r;
    norm_shadow += shadow * shadow;
  }
  batch_sum(s, next, square);
  batch_sum(s, norm_shadow, unused);
  norm_shadow = sqrt(norm_shadow);
  for (;;) {
    const double beta = batch_beta(&s.state, next, rho, alpha, omega, norm_shadow * sqrt(square));
    if (s.state.claim != BATCH_RUNS) return;
    rho = next;
    BATCH_EACH(i, rows) {
      const double p = s.r[i] + beta * (s.d[i] - omega * s.q[i]);
      s.d[i] = p;
      s.y[i] = s.m[i] * p;
    }
    batch_multiply(s, s.q, s.y, s.shadow, sv, vv);
    if (!batch_divides(&s.state, sv, norm_shadow * sqrt(vv))) return;
    alpha = rho / sv;
    BATCH_EACH(i, rows) {
      const double r = s.r[i] - alpha * s.q[i];
      s.x[i] += alpha * s.y[i];
      s.r[i] = r;
      s.y[i] = s.m[i] * r;
    }
    batch_multiply(s, s.t, s.y, s.r, ts, tt);
    omega = batch_omega(ts, tt);
    square = next = 0;
    BATCH_EACH(i, rows) {
      const double r = s.r[i] - omega * s.t[i];
      s.x[i] += omega * s.y[i];
      s.r[i] = r;
      square += r * r;
      next += s.shadow[i] * r;
    }
    batch_sum(s, square, next);
    batch_count(&s.state, square, rows, s.call.max_iterations);
    if (s.state.claim == BATCH_RUNS && omega == 0) s.state.claim = BATCH_BROKEN;
    if (s.state.claim != BATCH_RUNS) return;
  }
}

/* ---- Phases, and the result ---- */

template <bool WARP> static __device__ void batch_iterate(batch_solver<WARP> &s) {
  for (;;) {
    const double norm = batch_residual(s);
    const bool is_best = batch_check(&s.state, norm, s.call.max_iterations) != 0;
    BATCH_EACH(i, s.call.rows) {
      if (is_best)
        s.best[i] = s.x[i];
      else
        s.x[i] = s.best[i];
    }
    if (s.state.ended) return;
    if (!is_best) batch_residual(s);
    batch_begin_phase(&s.state);
    if (s.state.method == TS_METHOD_CG)
      batch_cg(s);
    else
      batch_bicgstab(s);
  }
}

template <bool WARP> static __device__ bool batch_fits(const batch_solver<WARP> &s) {
  const double most = batch_largest_of(s.call.x_is_float ? TS_TYPE_FLOAT : TS_TYPE_DOUBLE);
  bool is_too_large = false;
  BATCH_EACH(i, s.call.rows) {
    if (!(fabs(batch_times(s.x[i], &s.x_to_user)) <= most)) is_too_large = true;
  }
  return !batch_any<WARP>(is_too_large);
}

template <bool WARP>
static __device__ __forceinline__ void batch_write(const batch_solver<WARP> &s, int i, double value) {
  const size_t at = s.system * (size_t)s.call.rows + (size_t)i;
  if (s.call.x_is_float)
    ((float *)s.call.x)[at] = (float)value;
  else
    ((double *)s.call.x)[at] = value;
}

/* Returns the residual of x as the array of x rounds it. x is then `best`. */
template <bool WARP> static __device__ double batch_rounded(const batch_solver<WARP> &s, double residual) {
  bool differs = false;
  BATCH_EACH(i, s.call.rows) {
    const double value = batch_times(s.x[i], &s.x_to_user);
    const double stored = batch_times(s.call.x_is_float ? (double)(float)value : value, &s.x_from_user);
    if (stored != s.x[i]) differs = true;
    s.x[i] = stored;
  }
  return batch_any<WARP>(differs) ? batch_relative(batch_residual(s), &s.state) : residual;
}

/* x is written last: b may be the same array. */
template <bool WARP> static __device__ void batch_store(const batch_solver<WARP> &s) {
  const double not_a_number = __longlong_as_double(0x7ff8000000000000ll);
  const bool is_finite = s.facts.is_finite != 0;
  const bool is_kept = !is_finite || !batch_fits(s);
  const double residual = is_finite ? batch_relative(s.state.best, &s.state) : not_a_number;
  const double rounded = is_kept ? not_a_number : batch_rounded(s, residual);
  BATCH_EACH(i, s.call.rows) {
    if (!is_kept)
      batch_write(s, i, batch_times(s.best[i], &s.x_to_user));
    else if (s.call.zero_start)
      batch_write(s, i, 0);
  }
  if (threadIdx.x > 0) return;
  ts_batch_result *result = &s.call.results[s.system];
  result->relative_residual = residual;
  result->rounded_residual = rounded;
  result->reason = is_finite && is_kept ? TS_REASON_BREAKDOWN : s.state.reason;
  result->method = s.state.method;
  result->iterations = s.state.iterations;
  result->restarts = s.state.restarts;
}

#endif
