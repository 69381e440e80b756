/* Units of a few bodies, whose numbers stay in the registers of a warp's lanes. What does not depend on other
 * units is loaded before the barrier behind which the unit is solved: from there on the path that nothing
 * shortens is the bodies' velocities, then contact after contact its sum over the lanes, its law and what it
 * changes. */
#ifndef CUDA_LCP_SPARSE_UNIT_CUH
#define CUDA_LCP_SPARSE_UNIT_CUH

#include "cuda_lcp_sparse_contacts.cuh"

/* A contact's numbers; those of a lane's number of a body, and in all lanes the others. */
template <typename T, int DIM> struct sparse_contact {
  T H[DIM], G[DIM];
  T W[DIM * DIM], own[DIM], z[DIM], last[DIM], friction; /* own: q - W z */
  sparse_reduced<T, DIM> reduced;
};

template <typename T, int DIM> struct sparse_unit {
  int begin, end;      /* contacts */
  int count, lane;     /* numbers of its bodies; which one the lane has. Up to 16 are there twice */
  T *place;            /* of that number; NULL: the unit is solved from memory */
  size_t first_number; /* the lane's, of the first contact's first row */
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
    c->own[i] = job.d.q[row + i];
    c->last[i] = job.from ? __ldcg(job.last + row + i) : (T)0;
  }
  load_contact<T, DIM>(job, contact, c->W, c->z);
  if (DIM > 1) add_own<T, DIM>(c->W, c->z, -1, c->own);
  c->friction = DIM > 1 ? job.d.friction[row] : (T)0;
  c->reduced = load_reduced<T, DIM>(job, contact);
}

template <typename T, int DIM>
LCP_INLINE void load_unit(const sparse_job<T> &job, int index, int lane, sparse_unit<T, DIM> *unit) {
  const lcp_unit of = job.order[index];
  unit->begin = of.begin, unit->end = of.end, unit->count = of.numbers;
  unit->lane = of.numbers <= 16 ? lane % 16 : lane;
  unit->place = NULL;
  if (!job.mass_blocks || of.numbers > 32) return;
  const int width = job.width, block = unit->lane / width, number = unit->lane % width;
  const int body = unit->lane < of.numbers ? job.columns[of.block + block] : 0;
  unit->place = job.v + (size_t)body * width + number;
  unit->first_number = ((size_t)(of.block + block) * DIM) * width + number;
  load_numbers<T, DIM>(job, unit->begin, *unit, &unit->first);
}

/* A lane keeps a row of what is to be stored, of so many contacts. */
template <int DIM> constexpr int sparse_kept = 32 / DIM;

template <typename T, int DIM> LCP_INLINE void keep(const T (&numbers)[DIM], int contact, int lane, T *kept) {
#pragma unroll
  for (int k = 0; k < DIM; k++)
    if (lane == contact % sparse_kept<DIM> * DIM + k) *kept = numbers[k];
}

/* Stores z, and what momentum makes of it. */
template <typename T, int DIM>
LCP_INLINE void store_unit(const sparse_job<T> &job, const sparse_unit<T, DIM> &unit, int lane, T z, T last,
                           const T (&products)[2]) {
  const int row = row_of_unit<DIM>(unit.begin, lane), first = lcp_first_row<DIM>(unit.begin);
  const bool has_row = lane < (unit.end - unit.begin) * DIM;
  if (has_row) __stcg(job.d.z + row, z);
  if (!job.from) return;
  const T count = lcp_law<T>::lcp_momentum_count(__ldcg(job.counts + first), products[0], products[1]);
  if (has_row) {
    __stcg(job.from + row, lcp_law<T>::lcp_momentum_from(z, last, count));
    __stcg(job.last + row, z);
  }
  __syncwarp();
  if (lane == 0) __stcg(job.counts + first, count);
}

/* From the velocities of its bodies on. */
template <typename T, int DIM>
LCP_INLINE void solve_unit(const sparse_job<T> &job, const sparse_unit<T, DIM> &unit, int lane) {
  const int lanes = unit.count <= 16 ? 16 : 32, contacts = unit.end - unit.begin;
  T v = unit.lane < unit.count ? __ldcg(unit.place) : (T)0, z = 0, last = 0, products[2] = {0, 0};
  sparse_contact<T, DIM> c, next = unit.first;
  for (int k = 0; k < contacts; k++) {
    T u[DIM], solved[DIM];
    c = next;
    if (k + 1 < contacts) load_numbers<T, DIM>(job, unit.begin + k + 1, unit, &next);
#pragma unroll
    for (int i = 0; i < DIM; i++) u[i] = c.H[i] * v, solved[i] = c.z[i];
    sum_lanes(u, lanes);
#pragma unroll
    for (int i = 0; i < DIM; i++) u[i] += c.own[i];
    solve_law<T, DIM>(job, unit.begin + k, c.W, c.reduced, u, c.friction, solved);
#pragma unroll
    for (int i = 0; i < DIM; i++) {
      v += c.G[i] * (solved[i] - c.z[i]);
      lcp_law<T>::lcp_momentum_add(solved[i], c.z[i], c.last[i], &products[0], &products[1]);
    }
    keep<T, DIM>(solved, k, lane, &z);
    keep<T, DIM>(c.last, k, lane, &last);
    if (contacts <= sparse_kept<DIM>) continue;
#pragma unroll
    for (int i = 0; i < DIM; i++)
      if (lane == i) __stcg(job.d.z + lcp_first_row<DIM>(unit.begin + k) + i, solved[i]);
  }
  if (lane < unit.count) __stcg(unit.place, v);
  if (contacts <= sparse_kept<DIM>) {
    store_unit<T, DIM>(job, unit, lane, z, last, products);
    return;
  }
  __syncwarp();
  if (job.from) add_momentum<T, DIM>(job, unit.begin, unit.end, lane);
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
