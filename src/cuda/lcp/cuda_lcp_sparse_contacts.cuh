/* One contact of a sparse problem, solved by one warp: the products with its blocks, its law, its changes. All
 * lanes solve the law with the same numbers and so along the same branches. */
#ifndef CUDA_LCP_SPARSE_CONTACTS_CUH
#define CUDA_LCP_SPARSE_CONTACTS_CUH

#include "cuda/krylov/cuda_grid_sum.cuh"
#include "cuda_lcp_contacts.cuh"
#include "cuda_lcp_sparse.cuh"

template <typename T> struct sparse_job {
  lcp_data<T> d;
  const T *blocks, *mass_blocks, *diagonal, *laws; /* mass_blocks: NULL for blocks of M */
  T *v;
  unsigned long long *words;
  T *from, *last, *counts; /* of momentum, in the layout of d.z; NULL without */
  const int *row_start, *columns;
  const int *body_start, *body_blocks, *body_contacts; /* of factors, as in lcp_sparse */
  lcp_order order;
  int contacts, units, width, bodies, sweeps, exact;
  cuda_grid_barrier barrier;
};

/* The z that a sweep starts from. */
template <typename T> LCP_INLINE const T *start_of(const sparse_job<T> &job) {
  return job.from ? job.from : job.d.z;
}

/* Loops over the numbers of blocks first .. last - 1, `width` per block, distributed over the lanes. */
#define FOR_NUMBERS(e, job, first, last, lane) for (int e = lane; e < ((last) - (first)) * (job).width; e += 32)

/* The sums over all lanes, in all of them; or over each group of `lanes` consecutive lanes. */
template <typename T, int DIM> LCP_INLINE void sum_lanes(T (&u)[DIM], int lanes = 32) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2)
#pragma unroll
    for (int i = 0; i < DIM && half < lanes; i++) u[i] += __shfl_xor_sync(0xffffffffu, u[i], half);
}

/* The product of the blocks with v or z, in all lanes; with blocks of M, without the contact's own block. */
template <typename T, int DIM>
LCP_INLINE void gather(const sparse_job<T> &job, int contact, int lane, T (&u)[DIM]) {
  const int first = job.row_start[contact], last = job.row_start[contact + 1], width = job.width;
#pragma unroll
  for (int i = 0; i < DIM; i++) u[i] = 0;
  FOR_NUMBERS(e, job, first, last, lane) {
    const int k = first + e / width, l = e % width, column = job.columns[k];
    const T x = __ldcg(job.mass_blocks ? job.v + (size_t)column * width + l
                                       : job.d.z + (size_t)lcp_first_row<DIM>(column) + l);
#pragma unroll
    for (int i = 0; i < DIM; i++) u[i] += job.blocks[((size_t)k * DIM + i) * width + l] * x;
  }
  sum_lanes(u);
}

/* v += G^T change. */
template <typename T, int DIM>
LCP_INLINE void scatter(const sparse_job<T> &job, int contact, int lane, const T (&change)[DIM]) {
  const int first = job.row_start[contact], last = job.row_start[contact + 1], width = job.width;
  FOR_NUMBERS(e, job, first, last, lane) {
    const int k = first + e / width, l = e % width;
    T *v = job.v + (size_t)job.columns[k] * width + l, sum = __ldcg(v);
#pragma unroll
    for (int i = 0; i < DIM; i++) sum += job.mass_blocks[((size_t)k * DIM + i) * width + l] * change[i];
    __stcg(v, sum);
  }
}

/* u += sign M_cc z. */
template <typename T, int DIM>
LCP_INLINE void add_own(const T (&W)[DIM * DIM], const T (&z)[DIM], T sign, T (&u)[DIM]) {
#pragma unroll
  for (int i = 0; i < DIM; i++)
#pragma unroll
    for (int k = 0; k < DIM; k++) u[i] += sign * W[i * DIM + k] * z[k];
}

/* The data of a contact law. For an unknown, its diagonal entry. */
template <typename T, int DIM> struct sparse_law { T reduced[DIM > 1 ? LCP_REDUCED : 1], W[DIM * DIM]; };

template <typename T, int DIM> LCP_INLINE sparse_law<T, DIM> load_law(const sparse_job<T> &job, int contact) {
  sparse_law<T, DIM> law = {};
  if constexpr (DIM == 1) {
    law.W[0] = job.diagonal[contact];
  } else {
    T record[LCP_LAW];
#pragma unroll
    for (int k = 0; k < LCP_LAW; k += lcp_pack<T>::size)
      lcp_load(job.laws + (size_t)contact * LCP_LAW + k, record + k);
#pragma unroll
    for (int k = 0; k < LCP_REDUCED; k++) law.reduced[k] = record[k];
#pragma unroll
    for (int k = 0; k < DIM * DIM; k++) law.W[k] = record[LCP_REDUCED + k];
  }
  return law;
}

template <typename T, int DIM> struct sparse_vector { T of[DIM]; };

/* Not inlined, so that the usual path of the kernel stays short. */
template <typename T, int DIM>
static __device__ __noinline__ sparse_vector<T, DIM>
solve_rarely(const T *of_contact, sparse_vector<T, DIM> u, T friction, sparse_vector<T, DIM> z, int exact) {
  T law[LCP_LAW];
#pragma unroll
  for (int k = 0; k < LCP_REDUCED + DIM * DIM; k++) law[k] = of_contact[k];
  lcp_law<T>::lcp_contact_of(z.of, law + LCP_REDUCED, law, u.of, friction, DIM, exact);
  return z;
}

/* Computes z of a contact with u_n < 0 by its law, from the previous z. */
template <typename T, int DIM>
LCP_INLINE void solve_pressed(const sparse_job<T> &job, int contact, const sparse_law<T, DIM> &law,
                              const T (&u)[DIM], T friction, T (&z)[DIM]) {
  sparse_vector<T, DIM> velocity, next;
#pragma unroll
  for (int k = 0; k < DIM; k++) velocity.of[k] = u[k], next.of[k] = z[k];
  int is_found = 0;
  if constexpr (DIM == 3)
    is_found = job.exact > 1 && friction > 0 &&
               lcp_law<T>::lcp_contact_follow_3(next.of, law.W, law.reduced, u, friction);
  if (!is_found) {
#pragma unroll
    for (int k = 0; k < DIM; k++) next.of[k] = z[k];
    next = solve_rarely<T, DIM>(job.laws + (size_t)contact * LCP_LAW, velocity, friction, next, job.exact);
  }
#pragma unroll
  for (int k = 0; k < DIM; k++) z[k] = next.of[k];
}

/* Computes z of an unknown or a contact. */
template <typename T, int DIM>
LCP_INLINE void solve_law(const sparse_job<T> &job, int contact, const sparse_law<T, DIM> &law,
                          const T (&u)[DIM], T friction, T (&z)[DIM]) {
  if constexpr (DIM == 1) {
    z[0] = lcp_clamp(z[0] - u[0] / law.W[0], job.d.lower[contact], job.d.upper[contact]);
  } else if (u[0] >= 0) {
#pragma unroll
    for (int k = 0; k < DIM; k++) z[k] = 0;
  } else {
    solve_pressed<T, DIM>(job, contact, law, u, friction, z);
  }
}

template <typename T, int DIM> LCP_INLINE void load_start(const sparse_job<T> &job, int contact, T (&z)[DIM]) {
#pragma unroll
  for (int k = 0; k < DIM; k++) z[k] = __ldcg(start_of(job) + lcp_first_row<DIM>(contact) + k);
}

/* The change of a contact of any kind. */
template <typename T, int DIM>
LCP_INLINE void solve_contact(const sparse_job<T> &job, int contact, int lane, T (&change)[DIM]) {
  const int row = lcp_first_row<DIM>(contact);
  const sparse_law<T, DIM> law = load_law<T, DIM>(job, contact);
  T z[DIM], next[DIM], u[DIM];
  load_start<T, DIM>(job, contact, z);
  gather<T, DIM>(job, contact, lane, u);
#pragma unroll
  for (int k = 0; k < DIM; k++) u[k] += job.d.q[row + k], next[k] = z[k];
  if ((DIM > 1) == (job.mass_blocks != NULL)) add_own<T, DIM>(law.W, z, DIM > 1 ? -1 : 1, u);
  solve_law<T, DIM>(job, contact, law, u, job.d.friction[row], next);
#pragma unroll
  for (int k = 0; k < DIM; k++) {
    change[k] = next[k] - z[k];
    if (lane == k) __stcg(job.d.z + row + k, next[k]);
  }
}

/* ---- Momentum of a unit ---- */

/* Row k of the contacts from `begin` on. */
template <int DIM> LCP_INLINE int row_of_unit(int begin, int k) {
  return lcp_first_row<DIM>(begin + k / DIM) + k % DIM;
}

/* Adds the momentum of a unit, from the numbers that its lanes have stored. */
template <typename T, int DIM>
LCP_INLINE void add_momentum(const sparse_job<T> &job, int begin, int end, int lane) {
  const int rows = (end - begin) * DIM, first = lcp_first_row<DIM>(begin);
  T products[2] = {0, 0};
  for (int k = lane; k < rows; k += 32) {
    const int row = row_of_unit<DIM>(begin, k);
    lcp_law<T>::lcp_momentum_add(__ldcg(job.d.z + row), __ldcg(job.from + row), __ldcg(job.last + row),
                                 &products[0], &products[1]);
  }
  sum_lanes(products);
  const T count = lcp_law<T>::lcp_momentum_count(__ldcg(job.counts + first), products[0], products[1]);
  __syncwarp();
  for (int k = lane; k < rows; k += 32) {
    const int row = row_of_unit<DIM>(begin, k);
    const T z = __ldcg(job.d.z + row);
    __stcg(job.from + row, lcp_law<T>::lcp_momentum_from(z, __ldcg(job.last + row), count));
    __stcg(job.last + row, z);
  }
  if (lane == 0) __stcg(job.counts + first, count);
}

#endif
