/* The natural map with an exact w, computed when a solve may end. Sums are in double precision with their
 * errors, as in src/cpu/lcp/cpu_lcp_map.h. One warp per unknown or contact. Compiled without contraction of
 * products and sums, which would lose the errors. */
#include "cuda_lcp_contacts.cuh"
#include "cuda_lcp_sparse.cuh"

enum { EXACT_WARPS = 8 };

struct exact_sum {
  double sum, error;
};

template <typename T> LCP_INLINE void add_exact(exact_sum *s, T a, double b) {
  lcp_map_add_product((double)a, b, &s->sum, &s->error);
}

/* The sum over all lanes. */
LCP_INLINE double total_of(exact_sum s) {
  for (int half = 16; half > 0; half /= 2) {
    const double sum = __shfl_xor_sync(0xffffffffu, s.sum, half),
                 error = __shfl_xor_sync(0xffffffffu, s.error, half);
    lcp_map_add_product(1, sum, &s.sum, &s.error);
    s.error += error;
  }
  return s.sum + s.error;
}

/* Called by one lane. i: index of the first unknown; at: its index in the data. */
template <typename T, int DIM>
LCP_INLINE void put_map(const lcp_data<T> &d, const lcp_vector &map, size_t i, size_t at,
                        const double (&u)[DIM]) {
  double z[DIM], out[DIM];
  for (int k = 0; k < DIM; k++) z[k] = (double)d.z[at + k];
  if constexpr (DIM == 1)
    out[0] = lcp_map_unknown(z[0], u[0], (double)d.lower[at], (double)d.upper[at]);
  else
    lcp_map_contact(out, z, u, (double)d.friction[at], DIM);
  for (int k = 0; k < DIM; k++) lcp_put_number(map, i + k, out[k]);
}

LCP_INLINE size_t warp_of_grid(void) {
  return (size_t)blockIdx.x * EXACT_WARPS + threadIdx.x / 32;
}

/* ---- Dense matrices ---- */

template <typename T, int DIM>
static __global__ __launch_bounds__(32 * EXACT_WARPS) void dense_map(lcp_data<T> d, lcp_vector q,
                                                                     lcp_vector map) {
  const size_t contacts = lcp_unknowns<DIM>(d) / DIM, warp = warp_of_grid(), problem = warp / contacts;
  const int lane = (int)threadIdx.x % 32, row = lcp_first_row<DIM>((int)(warp % contacts));
  if (problem >= (size_t)d.batch) return;
  const T *z = d.z + problem * d.pitch;
  double u[DIM];
  for (int k = 0; k < DIM; k++) {
    exact_sum s = {lane == 0 ? lcp_number(q, warp * DIM + k) : 0, 0};
    for (int j = lane; j < d.n; j += 32) add_exact(&s, lcp_entry(d, problem, row + k, j), (double)z[j]);
    u[k] = total_of(s);
  }
  if (lane == 0) put_map<T, DIM>(d, map, warp * DIM, problem * d.pitch + (size_t)row, u);
}

/* ---- Sparse matrices ---- */

template <typename T> struct sparse_numbers {
  const T *blocks, *mass_blocks, *diagonal;
  const int *row_start, *columns, *body_start, *body_blocks, *body_contacts;
  double *v;      /* of factors: the numbers, then their errors */
  size_t numbers; /* of v */
  int contacts, width;
};

template <typename T, int DIM>
static __global__ __launch_bounds__(CUDA_THREADS) void velocities(lcp_data<T> d, sparse_numbers<T> s) {
  const size_t place = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= s.numbers) return;
  const int body = (int)(place / (size_t)s.width), l = (int)(place % (size_t)s.width);
  exact_sum v = {};
  for (int e = s.body_start[body]; e < s.body_start[body + 1]; e++)
    for (int i = 0; i < DIM; i++)
      add_exact(&v, s.mass_blocks[((size_t)s.body_blocks[e] * DIM + i) * s.width + l],
                (double)d.z[lcp_first_row<DIM>(s.body_contacts[e]) + i]);
  s.v[place] = v.sum;
  s.v[s.numbers + place] = v.error;
}

template <typename T, int DIM>
static __global__ __launch_bounds__(32 * EXACT_WARPS) void sparse_map(lcp_data<T> d, sparse_numbers<T> s,
                                                                      lcp_vector q, lcp_vector map) {
  const size_t contact = warp_of_grid();
  const int lane = (int)threadIdx.x % 32;
  if (contact >= (size_t)s.contacts) return;
  const int first = s.row_start[contact], last = s.row_start[contact + 1], width = s.width;
  const size_t at = (size_t)lcp_first_row<DIM>((int)contact);
  double u[DIM];
  for (int i = 0; i < DIM; i++) {
    exact_sum sum = {lane == 0 ? lcp_number(q, contact * DIM + i) : 0, 0};
    for (int e = lane; e < (last - first) * width; e += 32) {
      const int k = first + e / width, l = e % width, column = s.columns[k];
      const T number = s.blocks[((size_t)k * DIM + i) * width + l];
      const size_t place = s.v ? (size_t)column * width + l : (size_t)lcp_first_row<DIM>(column) + l;
      add_exact(&sum, number, s.v ? s.v[place] : (double)d.z[place]);
      if (s.v) sum.error += (double)number * s.v[s.numbers + place];
    }
    for (int k = lane; !s.v && k < DIM; k += 32)
      add_exact(&sum, s.diagonal[(contact * DIM + i) * DIM + k], (double)d.z[at + k]);
    u[i] = total_of(sum);
  }
  if (lane == 0) put_map<T, DIM>(d, map, contact * DIM, at, u);
}

/* ---- Launch ---- */

static dim3 blocks_for(size_t warps) {
  return dim3((unsigned)((warps + EXACT_WARPS - 1) / EXACT_WARPS));
}

template <typename T, int DIM>
static ts_status find_sparse(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<T> *d,
                             const lcp_vector &q, const lcp_vector &map) {
  const tsi_lcp_sparse *of = lcp->sparse;
  const sparse_numbers<T> s = {(const T *)sparse->blocks,
                               (const T *)sparse->mass_blocks,
                               (const T *)sparse->diagonal,
                               sparse->row_start,
                               sparse->columns,
                               sparse->body_start,
                               sparse->body_blocks,
                               sparse->body_contacts,
                               sparse->mass_blocks ? sparse->exact_v : NULL,
                               (size_t)of->bodies * (size_t)of->width,
                               of->contacts,
                               of->width};
  if (s.v && s.numbers)
    TSI_TRY(cuda_launch(lcp->context, "lcp_exact_velocities", velocities<T, DIM>,
                        dim3(cuda_blocks_for(s.numbers)), dim3(CUDA_THREADS), *d, s));
  return cuda_launch(lcp->context, "lcp_exact_map", sparse_map<T, DIM>, blocks_for((size_t)s.contacts),
                     dim3(32 * EXACT_WARPS), *d, s, q, map);
}

template <typename T, int DIM>
static ts_status find(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<T> *d, const lcp_vector &q,
                      const lcp_vector &map) {
  if (sparse) return find_sparse<T, DIM>(lcp, sparse, d, q, map);
  return cuda_launch(lcp->context, "lcp_exact_map", dense_map<T, DIM>, blocks_for(tsi_lcp_unknowns(lcp) / DIM),
                     dim3(32 * EXACT_WARPS), *d, q, map);
}

template <typename T>
static ts_status find_any(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<T> *d,
                          const lcp_vector &q, const lcp_vector &map) {
  return lcp->dimension == 1   ? find<T, 1>(lcp, sparse, d, q, map)
         : lcp->dimension == 2 ? find<T, 2>(lcp, sparse, d, q, map)
                               : find<T, 3>(lcp, sparse, d, q, map);
}

ts_status cuda_lcp_exact_map(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<float> *data,
                             const lcp_vector &q, const lcp_vector &map) {
  return find_any(lcp, sparse, data, q, map);
}
ts_status cuda_lcp_exact_map(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<double> *data,
                             const lcp_vector &q, const lcp_vector &map) {
  return find_any(lcp, sparse, data, q, map);
}
