/* Units of a few bodies, whose numbers stay in the registers of a warp's lanes. What does not depend on other
 * units is loaded before the barrier behind which the unit is solved, and used behind it: from there on the
 * path that nothing shortens is the bodies' velocities, then contact after contact its sum over the lanes, its
 * law and what it changes.
 *
 * With momentum a unit adds to `next` what makes the next sweep start from `from`:
 *
 *   G^T (from' - from) = G^T (z - from) + k / (k + 3) G^T (z - last),   from' = z + k / (k + 3) (z - last)
 *
 * the first of which is what it has changed v by. The first unit of a sweep that has a body takes its v from
 * there. */
#ifndef CUDA_LCP_SPARSE_UNIT_CUH
#define CUDA_LCP_SPARSE_UNIT_CUH

#include "cuda_lcp_sparse_contacts.cuh"

/* A contact's numbers; those of a lane's number of a body, and in all lanes the others. */
template <typename T, int DIM> struct sparse_contact {
  T H[DIM], G[DIM];
  T W[DIM * DIM], q[DIM], z[DIM], last[DIM], friction;
  sparse_reduced<T, DIM> reduced;
};

template <typename T, int DIM> struct sparse_unit {
  int begin, end;      /* contacts */
  int count, lane;     /* numbers of its bodies; which one the lane has. Up to 16 are there twice */
  T *place, *next;     /* of that number; NULL: the unit is solved from memory, there is none */
  bool is_first;       /* in this sweep that has the lane's body */
  size_t first_number; /* the lane's, of the first contact's first row */
  T momentum;          /* its k */
  sparse_contact<T, DIM> first;
};

template <typename T, int DIM>
LCP_INLINE void load_numbers(const sparse_job<T> &job, int contact, const sparse_unit<T, DIM> &unit,
                             sparse_contact<T, DIM> *c) {
  const int row = lcp_first_row<DIM>(contact);
  const size_t first = unit.first_number + (size_t)(contact - unit.begin) * DIM * unit.count;
#pragma unroll
  for (int i = 0; i < DIM; i++) {
    c->H[i] = unit.lane < unit.count ? job.blocks[first + (size_t)i * job.width] : (T)0;
    c->G[i] = unit.lane < unit.count ? job.mass_blocks[first + (size_t)i * job.width] : (T)0;
    c->q[i] = job.d.q[row + i];
    c->last[i] = job.from ? __ldcg(job.last + row + i) : (T)0;
  }
  load_contact<T, DIM>(job, contact, c->W, c->z);
  c->friction = DIM > 1 ? job.d.friction[row] : (T)0;
  c->reduced = load_reduced<T, DIM>(job, contact);
}

template <typename T, int DIM>
LCP_INLINE void load_unit(const sparse_job<T> &job, const lcp_unit &of, int lane, sparse_unit<T, DIM> *unit) {
  unit->begin = of.begin, unit->end = of.end, unit->count = of.numbers;
  unit->lane = of.numbers <= 16 ? lane % 16 : lane;
  unit->place = unit->next = NULL;
  if (!job.mass_blocks || of.numbers > LCP_WARP_NUMBERS) return;
  const int width = job.width, block = unit->lane / width, number = unit->lane % width;
  const int body = unit->lane < of.numbers ? job.columns[of.block + block] : 0;
  const size_t place = (size_t)body * width + number;
  unit->place = job.v + place;
  if (job.next) unit->next = job.next + place;
  unit->is_first = job.next && of.first >> block & 1;
  unit->first_number = ((size_t)(of.block + block) * DIM) * width + number;
  if (job.from) unit->momentum = __ldcg(job.counts + lcp_first_row<DIM>(unit->begin));
  load_numbers<T, DIM>(job, unit->begin, *unit, &unit->first);
}

/* A lane keeps a row of what is to be stored, of so many contacts. */
template <int DIM> constexpr int sparse_kept = 32 / DIM;

template <typename T, int DIM> LCP_INLINE void keep(const T (&numbers)[DIM], int contact, int lane, T *kept) {
#pragma unroll
  for (int k = 0; k < DIM; k++)
    if (lane == contact % sparse_kept<DIM> * DIM + k) *kept = numbers[k];
}

/* Stores z, and what momentum makes of it. Returns the momentum's k. */
template <typename T, int DIM>
LCP_INLINE T store_unit(const sparse_job<T> &job, const sparse_unit<T, DIM> &unit, int lane, T z, T last,
                        const T (&products)[2]) {
  const int row = row_of_unit<DIM>(unit.begin, lane), first = lcp_first_row<DIM>(unit.begin);
  const bool has_row = lane < (unit.end - unit.begin) * DIM;
  if (has_row) __stcg(job.d.z + row, z);
  if (!job.from) return 0;
  const T count = lcp_law<T>::lcp_momentum_count(unit.momentum, products[0], products[1]);
  if (has_row) {
    __stcg(job.from + row, lcp_law<T>::lcp_momentum_from(z, last, count));
    __stcg(job.last + row, z);
  }
  if (lane == 0) __stcg(job.counts + first, count);
  return count;
}

/* A contact of the unit: z becomes what its law says, v what follows. */
template <typename T, int DIM>
LCP_INLINE void solve_in_unit(const sparse_job<T> &job, const sparse_contact<T, DIM> &c, int contact, int lanes,
                              T *v, T (&z)[DIM]) {
  T u[DIM], own[DIM];
#pragma unroll
  for (int i = 0; i < DIM; i++) u[i] = c.H[i] * *v, own[i] = c.q[i], z[i] = c.z[i];
  if (DIM > 1) add_own<T, DIM>(c.W, c.z, -1, own);
  sum_lanes(u, lanes);
#pragma unroll
  for (int i = 0; i < DIM; i++) u[i] += own[i];
  solve_law<T, DIM>(job, contact, c.W, c.reduced, u, c.friction, z);
#pragma unroll
  for (int i = 0; i < DIM; i++) *v += c.G[i] * (z[i] - c.z[i]);
}

/* From the velocities of its bodies on. */
template <typename T, int DIM>
LCP_INLINE void solve_unit(const sparse_job<T> &job, const sparse_unit<T, DIM> &unit, int lane) {
  const int lanes = unit.count <= 16 ? 16 : 32, contacts = unit.end - unit.begin;
  const bool has_number = unit.lane < unit.count, is_kept = contacts <= sparse_kept<DIM>;
  const T start = has_number ? __ldcg(unit.is_first ? unit.next : unit.place) : (T)0;
  const T next = has_number && unit.next ? __ldcg(unit.next) : (T)0;
  T v = start, ahead = 0, z = 0, last = 0, products[2] = {0, 0}; /* ahead: G^T (z - last) */
  sparse_contact<T, DIM> c, following = unit.first;
  for (int k = 0; k < contacts; k++) {
    T solved[DIM];
    c = following;
    if (k + 1 < contacts) load_numbers<T, DIM>(job, unit.begin + k + 1, unit, &following);
    solve_in_unit<T, DIM>(job, c, unit.begin + k, lanes, &v, solved);
#pragma unroll
    for (int i = 0; i < DIM; i++) {
      ahead += c.G[i] * (solved[i] - c.last[i]);
      lcp_law<T>::lcp_momentum_add(solved[i], c.z[i], c.last[i], &products[0], &products[1]);
    }
    keep<T, DIM>(solved, k, lane, &z);
    keep<T, DIM>(c.last, k, lane, &last);
    if (is_kept) continue;
#pragma unroll
    for (int i = 0; i < DIM; i++)
      if (lane == i) __stcg(job.d.z + lcp_first_row<DIM>(unit.begin + k) + i, solved[i]);
  }
  T count = 0;
  if (lane < unit.count) __stcg(unit.place, v);
  if (is_kept) {
    count = store_unit<T, DIM>(job, unit, lane, z, last, products);
  } else {
    __syncwarp();
    if (job.from) count = add_momentum<T, DIM>(job, unit.begin, unit.end, lane);
  }
  if (lane < unit.count && unit.next)
    __stcg(unit.next, next + (v - start) + lcp_law<T>::lcp_momentum_weight(count) * ahead);
}

/* Of any number of bodies. */
template <typename T, int DIM>
LCP_INLINE void do_unit(const sparse_job<T> &job, const sparse_unit<T, DIM> &unit, int lane) {
  if (unit.place) {
    solve_unit<T, DIM>(job, unit, lane);
    __syncwarp();
    return;
  }
  for (int contact = unit.begin; contact < unit.end; contact++) {
    T change[DIM];
    solve_contact<T, DIM>(job, contact, lane, change);
    if (job.mass_blocks) scatter<T, DIM>(job, contact, lane, change);
    __syncwarp(); /* blocks of M: the next contact reads what one lane has written */
  }
  if (job.from) add_momentum<T, DIM>(job, unit.begin, unit.end, lane);
  __syncwarp();
}

#endif
