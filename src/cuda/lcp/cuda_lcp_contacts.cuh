/* Contacts with friction in the kernels of complementarity problems, and code shared by all dimensions:
 * positions of unknowns, limits of an unknown or a contact, solution of a block.
 *
 * A block has whole contacts, in three dimensions 21: row 63 is padding, like the rows after the last unknown.
 * The diagonal entries of tangents may be 0, so rows are not divided by them (lcp_data.inverse is 1). A sweep
 * sums up -(q + M r) without the contact's own reaction. The sum restarts at -q when the contact is solved, and
 * the contact's block of M is in no sum. So nothing has to be subtracted from b, which would cause
 * cancellation. */
#ifndef CUDA_LCP_CONTACTS_CUH
#define CUDA_LCP_CONTACTS_CUH

#include "cuda_lcp.cuh"

/* ---- The contact law in the type of a matrix: lcp_law<T>::lcp_contact ---- */

#define LCP_FUNCTION LCP_INLINE
#define LCP_SQRT(x) sqrt(x)

template <typename T> struct lcp_law;

template <> struct lcp_law<float> {
#define REAL float
#include "lcp/lcp_law.h"
#undef REAL
};

template <> struct lcp_law<double> {
#define REAL double
#include "lcp/lcp_law.h"
#undef REAL
};

#define LCP_MAP_FUNCTION LCP_INLINE
#include "lcp/lcp_map.h"

/* ---- Positions of unknowns ---- */

template <int DIM> constexpr int lcp_contacts_of_block = LCP_BLOCK / DIM;

/* The row of unknown i, counted over all blocks of a problem. */
template <int DIM> __host__ __device__ constexpr size_t lcp_place(size_t i) {
  constexpr size_t unknowns = (size_t)lcp_contacts_of_block<DIM> * DIM;
  if constexpr (unknowns == LCP_BLOCK)
    return i;
  else
    return i / unknowns * LCP_BLOCK + i % unknowns;
}

/* The unknown of a row; for a padding row, a number past the last unknown. */
template <int DIM> __host__ __device__ constexpr size_t lcp_unknown_of(size_t row, size_t unknowns) {
  constexpr size_t rows = (size_t)lcp_contacts_of_block<DIM> * DIM;
  if constexpr (rows == LCP_BLOCK)
    return row;
  else
    return row % LCP_BLOCK < rows ? row / LCP_BLOCK * rows + row % LCP_BLOCK : unknowns;
}

/* The number of unknowns of a problem. */
template <int DIM, typename T> __host__ __device__ constexpr size_t lcp_unknowns(const lcp_data<T> &d) {
  return lcp_unknown_of<DIM>((size_t)d.n - 1, 0) + 1;
}

/* The first row of a contact. Without friction, a contact is an unknown. */
template <int DIM> LCP_INLINE int lcp_first_row(int contact) {
  if constexpr (DIM == 1)
    return contact;
  else
    return (int)lcp_place<DIM>((size_t)contact * DIM);
}

/* The entry M_ij of two rows. */
template <typename T> LCP_INLINE T lcp_entry(const lcp_data<T> &d, size_t problem, int i, int j) {
  const int pack = j / lcp_pack<T>::size * lcp_pack<T>::size;
  return lcp_row(d, problem, i / LCP_BLOCK,
                 i % LCP_BLOCK)[(size_t)pack * (size_t)d.height + (size_t)(j - pack)];
}

/* ---- Limits ---- */

/* The data to solve a contact. */
template <typename T, int DIM> struct lcp_contact {
  T block[DIM * DIM]; /* of M, row by row */
  T friction;
  int exact;
};

template <typename T, int DIM> struct lcp_limit_of { typedef lcp_contact<T, DIM> type; };
template <typename T> struct lcp_limit_of<T, 1> { typedef lcp_bounds<T> type; };

template <typename T, int DIM> using lcp_limit = typename lcp_limit_of<T, DIM>::type;

/* The limits of the unknown at index `at` of a vector, or of the contact with its first unknown there. After
 * the last contact they are zeros, which give the reaction 0. */
template <typename T, int DIM>
LCP_INLINE lcp_limit<T, DIM> lcp_load_limit(const lcp_data<T> &d, size_t problem, size_t at, int exact) {
  if constexpr (DIM == 1) {
    return {d.lower[at], d.upper[at]};
  } else {
    const int row = (int)(at - problem * d.pitch);
    lcp_contact<T, DIM> contact = {};
    if (row >= d.n) return contact;
#pragma unroll
    for (int k = 0; k < DIM * DIM; k++) contact.block[k] = lcp_entry(d, problem, row + k / DIM, row + k % DIM);
    contact.friction = d.friction[at];
    contact.exact = exact;
    return contact;
  }
}

/* ---- Solution of a contact and of a block of contacts ---- */

/* Computes r of a contact from its previous value and b. */
template <typename T, int DIM>
LCP_INLINE void lcp_solve_contact(const lcp_contact<T, DIM> &contact, const T (&b)[DIM], T (&r)[DIM]) {
  lcp_law<T>::lcp_contact(r, contact.block, b, contact.friction, DIM, contact.exact);
}

/* The number of row j of a block, in all lanes. */
template <typename T, int ROWS> LCP_INLINE T lcp_of_row(const T (&numbers)[ROWS], int j) {
  static_assert(ROWS <= 2, "a lane has more rows than two");
  const T even = numbers[0], odd = numbers[ROWS - 1];
  return __shfl_sync(0xffffffffu, j % ROWS ? odd : even, j / ROWS);
}

/* Like lcp_solve_block of cuda_lcp.cuh. All lanes solve each contact with the same numbers and so along the
 * same branches. Reactions need not be sent between lanes. */
template <typename T, int ROWS, int DIM>
LCP_INLINE void lcp_solve_block(const T *a, const lcp_contact<T, DIM> *contacts, int count, int lane,
                                lcp_rows<T, ROWS> *r) {
  constexpr int size = 32 * ROWS;
#pragma unroll 1
  for (int c = 0; c < count; c++) {
    T b[DIM], reaction[DIM];
#pragma unroll
    for (int k = 0; k < DIM; k++) {
      b[k] = -lcp_of_row(r->next, DIM * c + k);
      reaction[k] = lcp_of_row(r->z, DIM * c + k);
    }
    lcp_solve_contact(contacts[c], b, reaction);
#pragma unroll
    for (int k = 0; k < DIM; k++)
#pragma unroll
      for (int h = 0; h < ROWS; h++) {
        const int i = lcp_row_of<ROWS>(lane, h);
        r->next[h] += a[(DIM * c + k) * size + i] * reaction[k];
        if (i == DIM * c + k) r->z[h] = reaction[k];
      }
#pragma unroll
    for (int h = 0; h < ROWS; h++)
      if (lcp_row_of<ROWS>(lane, h) / DIM == c) r->next[h] = r->base[h];
  }
}

#endif
