/* Units of a few bodies and contacts that fit the registers of a warp. The velocities of bodies are in words
 * (cuda_lcp_words.cuh). The mark of a word counts the units that have solved the body since the words were
 * reset. A unit waits only for earlier units of its bodies, and loads all independent data before. The critical
 * path is then, contact after contact, the sum over the lanes, the law and the changes.
 *
 * With momentum (AHEAD), each number has a second word, the start of the next sweep. A unit adds to it
 *
 *   G^T (from' - from) = G^T (z - from) + k / (k + 3) G^T (z - last),   from' = z + k / (k + 3) (z - last)
 *
 * The first term is the unit's change of v. The first unit of a sweep with a body takes v from the second
 * word. */
#ifndef CUDA_LCP_SPARSE_UNIT_CUH
#define CUDA_LCP_SPARSE_UNIT_CUH

#include "cuda_lcp_sparse_contacts.cuh"
#include "cuda_lcp_words.cuh"

/* The numbers of a contact. H and G are those of the lane's number of a body; the others are equal in all
 * lanes. */
template <typename T, int DIM> struct sparse_contact {
  T H[DIM], G[DIM];
  T q[DIM], z[DIM], last[DIM], friction;
  sparse_law<T, DIM> law;
};

template <typename T, int DIM> struct sparse_unit {
  int begin, end;            /* of its contacts */
  int count, lane;           /* numbers of its bodies, and this lane's number; up to 16 are duplicated */
  size_t place;              /* the index of that number in v */
  lcp_body_order body_order; /* at the lane's body */
  size_t first_number;       /* the lane's index in the first row of the first contact */
  T momentum;                /* k of the momentum */
  sparse_contact<T, DIM> first;
};

template <typename T, int DIM, bool AHEAD>
LCP_INLINE void load_numbers(const sparse_job<T> &job, int contact, const sparse_unit<T, DIM> &unit,
                             sparse_contact<T, DIM> *c) {
  const int row = lcp_first_row<DIM>(contact);
  const size_t first = unit.first_number + (size_t)(contact - unit.begin) * DIM * unit.count;
  const bool has_number = unit.lane < unit.count;
#pragma unroll
  for (int i = 0; i < DIM; i++) {
    c->H[i] = has_number ? job.blocks[first + (size_t)i * job.width] : (T)0;
    c->G[i] = has_number ? job.mass_blocks[first + (size_t)i * job.width] : (T)0;
    c->q[i] = job.d.q[row + i];
    c->z[i] = __ldcg((AHEAD ? job.from : job.d.z) + row + i);
    if (AHEAD) c->last[i] = __ldcg(job.last + row + i);
  }
  if (DIM > 1) c->friction = job.d.friction[row];
  c->law = load_law<T, DIM>(job, contact);
}

template <typename T, int DIM, bool AHEAD>
LCP_INLINE void load_unit(const sparse_job<T> &job, const lcp_unit &of, int lane, sparse_unit<T, DIM> *unit) {
  unit->begin = of.begin, unit->end = of.end, unit->count = of.numbers;
  unit->lane = of.numbers <= 16 ? lane % 16 : lane;
  const int width = job.width, block = unit->lane / width, number = unit->lane % width;
  const lcp_body_order none = {};
  unit->body_order = unit->lane < of.numbers ? job.order.body_orders[of.block + block] : none;
  unit->place = (size_t)unit->body_order.body * width + number;
  unit->first_number = ((size_t)(of.block + block) * DIM) * width + number;
  if (AHEAD) unit->momentum = __ldcg(job.counts + lcp_first_row<DIM>(unit->begin));
  load_numbers<T, DIM, AHEAD>(job, unit->begin, *unit, &unit->first);
}

/* A row of a unit that a lane keeps for the final store. */
template <typename T> struct sparse_row { T z, last; };

template <int DIM, typename T> LCP_INLINE void keep(const T (&numbers)[DIM], int contact, int lane, T *kept) {
#pragma unroll
  for (int i = 0; i < DIM; i++)
    if (lane == contact * DIM + i) *kept = numbers[i];
}

/* Stores z and the momentum. Returns k of the momentum. */
template <typename T, int DIM, bool AHEAD>
LCP_INLINE T store_unit(const sparse_job<T> &job, const sparse_unit<T, DIM> &unit, int lane,
                        const sparse_row<T> &kept, const T (&products)[2]) {
  const int row = row_of_unit<DIM>(unit.begin, lane);
  const bool has_row = lane < (unit.end - unit.begin) * DIM;
  if (has_row) __stcg(job.d.z + row, kept.z);
  if (!AHEAD) return 0;
  const T count = lcp_law<T>::lcp_momentum_count(unit.momentum, products[0], products[1]);
  if (has_row) {
    __stcg(job.from + row, lcp_law<T>::lcp_momentum_from(kept.z, kept.last, count));
    __stcg(job.last + row, kept.z);
  }
  if (lane == 0) __stcg(job.counts + row, count);
  return count;
}

/* Solves a contact of the unit by its law: updates z and v. */
template <typename T, int DIM>
LCP_INLINE void solve_in_unit(const sparse_job<T> &job, const sparse_contact<T, DIM> &c, int contact, int lanes,
                              T *v, T (&z)[DIM]) {
  T u[DIM], own[DIM];
#pragma unroll
  for (int i = 0; i < DIM; i++) u[i] = c.H[i] * *v, own[i] = c.q[i], z[i] = c.z[i];
  if (DIM > 1) add_own<T, DIM>(c.law.W, c.z, -1, own);
  sum_lanes(u, lanes);
#pragma unroll
  for (int i = 0; i < DIM; i++) u[i] += own[i];
  solve_law<T, DIM>(job, contact, c.law, u, c.friction, z);
#pragma unroll
  for (int i = 0; i < DIM; i++) *v += c.G[i] * (z[i] - c.z[i]);
}

/* ---- Words of velocities ---- */

/* The words of v. Those of the start of the next sweep follow. */
template <typename T> LCP_INLINE unsigned long long *words_of(const sparse_job<T> &job, size_t place) {
  return job.words + place * 2 * lcp_words<T>::count;
}

template <typename T> struct sparse_velocity { T v, next; };

/* Waits until the earlier units have solved the lane's body. k counts sweeps since the words were reset. */
template <typename T, int DIM, bool AHEAD>
LCP_INLINE sparse_velocity<T> await_velocity(const sparse_job<T> &job, const sparse_unit<T, DIM> &unit, int k) {
  const unsigned long long *words = words_of(job, unit.place);
  const unsigned mark = (unsigned)(k * unit.body_order.units + unit.body_order.before);
  const bool needs_v = !AHEAD || unit.body_order.before > 0;
  bool waits = unit.lane < unit.count;
  sparse_velocity<T> seen = {0, 0};
  do {
    unsigned of_v = mark, of_next = mark;
    bool is_whole = true;
    if (waits) {
      if (needs_v) is_whole = lcp_look(words, &of_v, &seen.v);
      if (AHEAD) is_whole &= lcp_look(words + lcp_words<T>::count, &of_next, &seen.next);
      waits = !is_whole || of_v != mark || of_next != mark;
    }
  } while (__any_sync(0xffffffffu, waits));
  if (!needs_v) seen.v = seen.next;
  return seen;
}

/* ---- The unit ---- */

/* Solves a unit. k counts sweeps since the words were reset. */
template <typename T, int DIM, bool AHEAD>
LCP_INLINE void solve_unit(const sparse_job<T> &job, const sparse_unit<T, DIM> &unit, int lane, int k) {
  const int lanes = unit.count <= 16 ? 16 : 32;
  const sparse_velocity<T> start = await_velocity<T, DIM, AHEAD>(job, unit, k);
  T v = start.v, ahead = 0, products[2] = {0, 0}; /* ahead: G^T (z - last) */
  sparse_row<T> kept = {};
  sparse_contact<T, DIM> c, following = unit.first;
  for (int contact = unit.begin; contact < unit.end; contact++) {
    T z[DIM];
    c = following;
    if (contact + 1 < unit.end) load_numbers<T, DIM, AHEAD>(job, contact + 1, unit, &following);
    solve_in_unit<T, DIM>(job, c, contact, lanes, &v, z);
    keep<DIM>(z, contact - unit.begin, lane, &kept.z);
    if constexpr (AHEAD) {
#pragma unroll
      for (int i = 0; i < DIM; i++) {
        ahead += c.G[i] * (z[i] - c.last[i]);
        lcp_law<T>::lcp_momentum_add(z[i], c.z[i], c.last[i], &products[0], &products[1]);
      }
      keep<DIM>(c.last, contact - unit.begin, lane, &kept.last);
    }
  }
  unsigned long long *words = words_of(job, unit.place);
  const unsigned mark = (unsigned)(k * unit.body_order.units + unit.body_order.before + 1);
  if (lane < unit.count) lcp_publish(words, mark, v);
  const T count = store_unit<T, DIM, AHEAD>(job, unit, lane, kept, products);
  if (AHEAD && lane < unit.count)
    lcp_publish(words + lcp_words<T>::count, mark,
                start.next + (v - start.v) + lcp_law<T>::lcp_momentum_weight(count) * ahead);
  __syncwarp();
}

#endif
