/* Complementarity problems on CUDA: storage, transfer of vectors, and the choice of kernels for a sweep. */
#include <math.h>

#include "cuda_lcp_contacts.cuh"
#include "cuda_lcp_sparse.cuh"
#include "cuda_lcp_words.cuh"

typedef struct cuda_lcp {
  void *block; /* all arrays */
  size_t bytes;
  lcp_data<float> single; /* one of the two is used */
  lcp_data<double> doubles;
  lcp_sparse sparse; /* with sparse storage; the data then has only vectors */
} cuda_lcp;

static cuda_lcp *cuda_lcp_of(const ts_lcp *lcp) {
  return (cuda_lcp *)lcp->impl;
}

template <typename T> struct lcp_of;
template <> struct lcp_of<float> {
  static lcp_data<float> *data(const ts_lcp *lcp) { return &cuda_lcp_of(lcp)->single; }
};
template <> struct lcp_of<double> {
  static lcp_data<double> *data(const ts_lcp *lcp) { return &cuda_lcp_of(lcp)->doubles; }
};

/* Calls run(lcp_dimension<1>()), or with 2 or 3. */
template <int DIM> struct lcp_dimension { static constexpr int value = DIM; };

template <typename RUN> static ts_status with_dimension(const ts_lcp *lcp, RUN run) {
  switch (lcp->dimension) {
  case 2:
    return run(lcp_dimension<2>());
  case 3:
    return run(lcp_dimension<3>());
  default:
    return run(lcp_dimension<1>());
  }
}

/* ---- Storage ---- */

static bool is_sparse(const ts_lcp *lcp) {
  return lcp->storage == TS_LCP_STORAGE_SPARSE;
}

/* The number of problems in a batch, and the unknowns of each. A sparse problem has no batch. */
static size_t batch_of(const ts_lcp *lcp) {
  return is_sparse(lcp) ? 1 : (size_t)lcp->batch;
}
static size_t size_of(const ts_lcp *lcp) {
  return tsi_lcp_unknowns(lcp) / batch_of(lcp);
}

/* Number of rows up to the last unknown. */
static size_t rows_of(const ts_lcp *lcp) {
  const size_t last = size_of(lcp) - 1;
  return 1 + (lcp->dimension == 3 ? lcp_place<3>(last) : last);
}

/* Places the arrays in one block of memory. If it is NULL, only returns the required bytes. */
template <typename T> static size_t lay_out(const ts_lcp *lcp, lcp_data<T> *d, unsigned char *block) {
  const size_t n = rows_of(lcp), batch = batch_of(lcp), pack = lcp_pack<T>::size;
  *d = {};
  d->n = (int)n, d->batch = (int)batch;
  d->blocks = (int)((n + LCP_BLOCK - 1) / LCP_BLOCK);
  d->height = d->n < LCP_BLOCK ? d->n : (int)LCP_BLOCK;
  d->stride = (n + pack - 1) / pack * pack;
  d->pitch = (size_t)d->blocks * (size_t)d->height;
  const size_t numbers = batch * d->pitch * sizeof(T);
  const size_t slices = is_sparse(lcp) ? 1 : d->blocks < LCP_SLICES ? (size_t)d->blocks : LCP_SLICES;
  size_t used = 0;
  T **const vectors[] = {&d->lower, &d->upper, &d->z, &d->q};
  for (T **vector : vectors) *vector = (T *)lcp_part_of(block, &used, numbers);
  d->sums = (T *)lcp_part_of(block, &used, numbers * slices);
  T **const ahead[] = {&d->from, &d->last, &d->counts};
  for (T **vector : ahead)
    if (is_sparse(lcp) && lcp->dimension > 1) *vector = (T *)lcp_part_of(block, &used, numbers);
  if (is_sparse(lcp)) return used;
  d->matrix = (T *)lcp_part_of(block, &used, numbers * d->stride);
  d->inverse = (T *)lcp_part_of(block, &used, numbers);
  d->carried = (T *)lcp_part_of(block, &used, numbers);
  d->words = (unsigned long long *)lcp_part_of(block, &used, 2 * numbers);
  return used;
}

template <typename T> static ts_status create(ts_lcp *lcp, cuda_lcp *impl, lcp_data<T> *data) {
  impl->bytes = lay_out(lcp, data, NULL);
  TSI_TRY(cuda_alloc_zeroed(lcp->context, &impl->block, impl->bytes, "a dense matrix"));
  lay_out(lcp, data, (unsigned char *)impl->block);
  return TS_OK;
}

ts_status cuda_lcp_create(ts_lcp *lcp) {
  cuda_lcp *impl = (cuda_lcp *)tsi_calloc(lcp->context, 1, sizeof *impl);
  if (!impl) return tsi_out_of_memory(lcp->context, "a dense matrix", sizeof *impl);
  const ts_status status =
      lcp->is_double ? create(lcp, impl, &impl->doubles) : create(lcp, impl, &impl->single);
  if (status == TS_OK)
    lcp->impl = impl;
  else
    tsi_free(lcp->context, impl);
  return status;
}

void cuda_lcp_destroy(ts_lcp *lcp) {
  cuda_lcp *impl = cuda_lcp_of(lcp);
  cuda_lcp_forget_sparse(lcp->context, &impl->sparse);
  cuda_free(lcp->context, impl->block, impl->bytes);
  tsi_free(lcp->context, impl);
  lcp->impl = NULL;
}

/* ---- The matrix, written in pieces ---- */

enum { piece_entries = 1 << 22 };

template <int DIM, typename T> static size_t __host__ __device__ place_of(const lcp_data<T> &d, size_t entry) {
  const size_t n = lcp_unknowns<DIM>(d), row = entry / n, column = lcp_place<DIM>(entry % n);
  const size_t i = lcp_place<DIM>(row % n), height = (size_t)d.height, pack = lcp_pack<T>::size;
  const size_t block = row / n * (size_t)d.blocks + i / LCP_BLOCK;
  return (block * d.stride + column / pack * pack) * height + i % LCP_BLOCK * pack + column % pack;
}

template <typename T, int DIM, typename FROM>
static __global__ __launch_bounds__(CUDA_THREADS) void arrange(lcp_data<T> d, const FROM *entries, size_t first,
                                                               size_t count) {
  const size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) d.matrix[place_of<DIM>(d, first + k)] = (T)entries[k];
}

template <typename T, int DIM> static __global__ __launch_bounds__(CUDA_THREADS) void invert(lcp_data<T> d) {
  const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x, n = lcp_unknowns<DIM>(d);
  if (row >= n * (size_t)d.batch) return;
  const T diagonal = DIM == 1 ? d.matrix[place_of<DIM>(d, row * n + row % n)] : (T)1;
  d.inverse[row / n * d.pitch + lcp_place<DIM>(row % n)] = (T)1 / diagonal;
}

template <typename T, int DIM, typename FROM>
static ts_status write_pieces(const ts_lcp *lcp, const FROM *entries, FROM *piece) {
  const lcp_data<T> &d = *lcp_of<T>::data(lcp);
  const size_t all = tsi_lcp_entries(lcp);
  for (size_t first = 0; first < all; first += piece_entries) {
    const size_t count = all - first < piece_entries ? all - first : piece_entries;
    TSI_TRY(cuda_upload(lcp->context, piece, entries + first, count * sizeof *piece));
    TSI_TRY(cuda_launch(lcp->context, "lcp_arrange", arrange<T, DIM, FROM>, dim3(cuda_blocks_for(count)),
                        dim3(CUDA_THREADS), d, piece, first, count));
  }
  return cuda_launch(lcp->context, "lcp_invert", invert<T, DIM>, dim3(cuda_blocks_for(tsi_lcp_unknowns(lcp))),
                     dim3(CUDA_THREADS), d);
}

template <typename T, typename FROM> static ts_status write(const ts_lcp *lcp, const FROM *entries) {
  const size_t all = tsi_lcp_entries(lcp);
  const size_t bytes = (all < piece_entries ? all : (size_t)piece_entries) * sizeof(FROM);
  void *piece = NULL;
  TSI_TRY(cuda_alloc(lcp->context, &piece, bytes, "a piece of a dense matrix"));
  const ts_status status = with_dimension(
      lcp, [&](auto dimension) { return write_pieces<T, dimension.value>(lcp, entries, (FROM *)piece); });
  cuda_free(lcp->context, piece, bytes);
  return status;
}

ts_status cuda_lcp_write_matrix(ts_lcp *lcp, const tsi_lcp_matrix *m) {
  if (m->sparse) return cuda_lcp_write_sparse(lcp, m->sparse, &cuda_lcp_of(lcp)->sparse);
  if (lcp->is_double) return m->single ? write<double>(lcp, m->single) : write<double>(lcp, m->doubles);
  return m->single ? write<float>(lcp, m->single) : write<float>(lcp, m->doubles);
}

/* ---- Limits ---- */

/* Bounds are scaled, friction coefficients are not. */
template <int DIM>
static double limit_of(const ts_lcp *lcp, const double *limit, size_t unknown, double otherwise) {
  return DIM > 1 && limit ? limit[unknown / DIM] : tsi_lcp_bound(lcp, limit, unknown, otherwise);
}

/* Writes the limits of each unknown, or those of each contact in all of its rows. */
template <typename T, int DIM>
static ts_status write_limit(const ts_lcp *lcp, T *numbers, const double *limit, double otherwise, T *to) {
  const size_t n = size_of(lcp), pitch = lcp_of<T>::data(lcp)->pitch, count = batch_of(lcp) * pitch;
  for (size_t i = 0; i < count; i++) {
    const size_t unknown = lcp_unknown_of<DIM>(i % pitch, n);
    numbers[i] = unknown >= n ? (T)0 : (T)limit_of<DIM>(lcp, limit, i / pitch * n + unknown, otherwise);
  }
  return cuda_upload(lcp->context, to, numbers, count * sizeof(T));
}

template <typename T> static ts_status write_limits(const ts_lcp *lcp) {
  const lcp_data<T> *d = lcp_of<T>::data(lcp);
  const size_t count = batch_of(lcp) * d->pitch;
  T *numbers = (T *)tsi_malloc(lcp->context, count, sizeof *numbers);
  if (!numbers) return tsi_out_of_memory(lcp->context, "limits", count * sizeof *numbers);
  const ts_status status = with_dimension(lcp, [&](auto dimension) {
    if constexpr (dimension.value > 1) {
      return write_limit<T, dimension.value>(lcp, numbers, lcp->friction, 0, d->friction);
    } else {
      TSI_TRY((write_limit<T, 1>(lcp, numbers, lcp->lower, 0, d->lower)));
      return write_limit<T, 1>(lcp, numbers, lcp->upper, HUGE_VAL, d->upper);
    }
  });
  tsi_free(lcp->context, numbers);
  return status;
}

ts_status cuda_lcp_write_limits(const ts_lcp *lcp) {
  return lcp->is_double ? write_limits<double>(lcp) : write_limits<float>(lcp);
}

/* ---- Transfer of vectors ---- */

/* Also resets the words: no sweep has written them yet. */
template <typename T, int DIM>
static __global__ __launch_bounds__(CUDA_THREADS) void load(lcp_data<T> d, lcp_vector z, lcp_vector q) {
  const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, n = lcp_unknowns<DIM>(d);
  if (at >= (size_t)d.batch * d.pitch) return;
  const size_t unknown = lcp_unknown_of<DIM>(at % d.pitch, n);
  const bool is_there = unknown < n;
  const size_t i = at / d.pitch * n + unknown;
  d.z[at] = is_there ? (T)lcp_number(z, i) : (T)0;
  d.q[at] = is_there ? (T)lcp_number(q, i) : (T)0;
  if (d.words) lcp_publish(d.words + at * lcp_words<T>::count, 0, d.z[at]);
}

template <typename T, int DIM>
static __global__ __launch_bounds__(CUDA_THREADS) void store(lcp_data<T> d, lcp_vector z) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, n = lcp_unknowns<DIM>(d);
  if (i < n * (size_t)d.batch) lcp_put_number(z, i, (double)d.z[i / n * d.pitch + lcp_place<DIM>(i % n)]);
}

/* Vectors of momentum: the start of the next sweep, the result of the last one, and counts. */
struct ahead_vectors {
  lcp_vector from, last, counts;
};

template <typename T, int DIM>
static __global__ __launch_bounds__(CUDA_THREADS) void load_ahead(lcp_data<T> d, ahead_vectors v) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lcp_unknowns<DIM>(d)) return;
  d.from[lcp_place<DIM>(i)] = (T)lcp_number(v.from, i);
  d.last[lcp_place<DIM>(i)] = (T)lcp_number(v.last, i);
  d.counts[lcp_place<DIM>(i)] = (T)lcp_number(v.counts, i);
}

template <typename T, int DIM>
static __global__ __launch_bounds__(CUDA_THREADS) void store_ahead(lcp_data<T> d, ahead_vectors v) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lcp_unknowns<DIM>(d)) return;
  lcp_put_number(v.from, i, (double)d.from[lcp_place<DIM>(i)]);
  lcp_put_number(v.last, i, (double)d.last[lcp_place<DIM>(i)]);
  lcp_put_number(v.counts, i, (double)d.counts[lcp_place<DIM>(i)]);
}

/* The natural map of an unknown or a contact. w is q plus the sums of the shares. */
template <typename T, int DIM>
static __global__ __launch_bounds__(CUDA_THREADS) void write_map(lcp_data<T> d, lcp_vector map, int slices) {
  const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * DIM, n = lcp_unknowns<DIM>(d);
  if (i >= n * (size_t)d.batch) return;
  const size_t at = i / n * d.pitch + lcp_place<DIM>(i % n);
  double z[DIM], u[DIM], out[DIM];
  for (int k = 0; k < DIM; k++) {
    T w = d.q[at + k];
    for (int s = 0; s < slices; s++) w += d.sums[(size_t)s * (size_t)d.batch * d.pitch + at + k];
    z[k] = (double)d.z[at + k], u[k] = (double)w;
  }
  if constexpr (DIM == 1)
    out[0] = lcp_map_unknown(z[0], u[0], (double)d.lower[at], (double)d.upper[at]);
  else
    lcp_map_contact(out, z, u, (double)d.friction[at], DIM);
  for (int k = 0; k < DIM; k++) lcp_put_number(map, i + k, out[k]);
}

template <typename T, int DIM>
static ts_status load_vectors(const ts_lcp *lcp, const ts_vector *z, const ts_vector *q) {
  const lcp_data<T> &d = *lcp_of<T>::data(lcp);
  return cuda_launch(lcp->context, "lcp_load", load<T, DIM>, dim3(cuda_blocks_for((size_t)d.batch * d.pitch)),
                     dim3(CUDA_THREADS), d, lcp_vector_of(z), lcp_vector_of(q));
}

/* ---- Sweeps and the residual ---- */

/* A problem that fits one block needs no other scheme. 64 unknowns are not a whole number of three-dimensional
 * contacts. */
static int has_one_block(int32_t size) {
  return size <= LCP_BLOCK;
}

ts_lcp_scheme cuda_lcp_scheme(const ts_context *context, const ts_lcp *lcp, ts_lcp_scheme scheme) {
  const int waits = cuda_state_of(context)->cooperative; /* for waits between thread blocks */
  if (lcp && is_sparse(lcp)) return scheme ? scheme : TS_LCP_SCHEME_COLOUR;
  switch (scheme) {
  case TS_LCP_SCHEME_AUTO:
    return waits && lcp && !has_one_block(lcp->size) ? TS_LCP_SCHEME_GRAPH_2 : TS_LCP_SCHEME_BLOCK;
  case TS_LCP_SCHEME_ROW:
  case TS_LCP_SCHEME_COLUMN:
  case TS_LCP_SCHEME_BLOCK:
  case TS_LCP_SCHEME_COLOUR:
    return scheme;
  default:
    return waits ? scheme : TS_LCP_SCHEME_AUTO;
  }
}

template <typename T, int DIM>
static ts_status sweep(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, const lcp_run *run) {
  const lcp_data<T> *d = lcp_of<T>::data(lcp);
  const bool steps = run->scheme <= TS_LCP_SCHEME_BLOCK;
  TSI_TRY((load_vectors<T, DIM>(lcp, z, q)));
  if (is_sparse(lcp))
    TSI_TRY(cuda_lcp_sweep_sparse(lcp, &cuda_lcp_of(lcp)->sparse, run, d));
  else if (run->scheme >= TS_LCP_SCHEME_BLOCK && has_one_block(lcp->size))
    TSI_TRY(cuda_lcp_sweep_small(run, d));
  else
    TSI_TRY(steps ? cuda_lcp_sweep_steps(run, d) : cuda_lcp_sweep_graph(run, d));
  return cuda_launch(lcp->context, "lcp_store", store<T, DIM>, dim3(cuda_blocks_for(tsi_lcp_unknowns(lcp))),
                     dim3(CUDA_THREADS), *d, lcp_vector_of(z));
}

ts_status cuda_lcp_sweep(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme,
                         int sweeps) {
  const int exact = lcp->local != TS_LCP_LOCAL_PROJECTION;
  const lcp_run run = {lcp->context, scheme, sweeps, lcp->dimension, exact, false};
  return with_dimension(lcp, [&](auto dimension) {
    return lcp->is_double ? sweep<double, dimension.value>(z, lcp, q, &run)
                          : sweep<float, dimension.value>(z, lcp, q, &run);
  });
}

template <typename T, int DIM>
static ts_status sweep_ahead(const ts_lcp *lcp, const ts_vector *q, const ahead_vectors &v,
                             const lcp_run *run) {
  const lcp_data<T> *d = lcp_of<T>::data(lcp);
  const dim3 blocks(cuda_blocks_for(tsi_lcp_unknowns(lcp))), threads(CUDA_THREADS);
  TSI_TRY((load_vectors<T, DIM>(lcp, lcp->z, q)));
  TSI_TRY(cuda_launch(lcp->context, "lcp_load_ahead", load_ahead<T, DIM>, blocks, threads, *d, v));
  TSI_TRY(cuda_lcp_sweep_sparse(lcp, &cuda_lcp_of(lcp)->sparse, run, d));
  TSI_TRY(cuda_launch(lcp->context, "lcp_store_ahead", store_ahead<T, DIM>, blocks, threads, *d, v));
  return cuda_launch(lcp->context, "lcp_store", store<T, DIM>, blocks, threads, *d, lcp_vector_of(lcp->z));
}

static ts_status cuda_lcp_sweep_ahead(const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps,
                                      ts_vector *from, ts_vector *last, ts_vector *counts) {
  const int exact = lcp->local != TS_LCP_LOCAL_PROJECTION;
  const lcp_run run = {lcp->context, scheme, sweeps, lcp->dimension, exact, true};
  const ahead_vectors v = {lcp_vector_of(from), lcp_vector_of(last), lcp_vector_of(counts)};
  return with_dimension(lcp, [&](auto dimension) {
    return lcp->is_double ? sweep_ahead<double, dimension.value>(lcp, q, v, &run)
                          : sweep_ahead<float, dimension.value>(lcp, q, v, &run);
  });
}

template <typename T, int DIM>
static ts_status residual(ts_vector *map, const ts_lcp *lcp, const ts_vector *q, const ts_vector *z,
                          int exact) {
  const lcp_data<T> &d = *lcp_of<T>::data(lcp);
  int slices = 1;
  TSI_TRY((load_vectors<T, DIM>(lcp, z, q)));
  if (exact)
    return cuda_lcp_exact_map(lcp, is_sparse(lcp) ? &cuda_lcp_of(lcp)->sparse : NULL, &d, lcp_vector_of(q),
                              lcp_vector_of(map));
  TSI_TRY(is_sparse(lcp) ? cuda_lcp_product_sparse(lcp, &cuda_lcp_of(lcp)->sparse, &d)
                         : cuda_lcp_product(lcp->context, &d, false, &slices));
  return cuda_launch(lcp->context, "lcp_map", write_map<T, DIM>,
                     dim3(cuda_blocks_for(tsi_lcp_unknowns(lcp) / DIM)), dim3(CUDA_THREADS), d,
                     lcp_vector_of(map), slices);
}

ts_status cuda_lcp_residual(ts_vector *map, const ts_lcp *lcp, const ts_vector *q, const ts_vector *z,
                            int exact) {
  return with_dimension(lcp, [&](auto dimension) {
    return lcp->is_double ? residual<double, dimension.value>(map, lcp, q, z, exact)
                          : residual<float, dimension.value>(map, lcp, q, z, exact);
  });
}

const tsi_lcp_ops cuda_lcp_ops = {TSI_LCP_OPERATIONS(TSI_ENTRY, TSI_ENTRY, cuda_lcp_).add_momentum =
                                      cuda_lcp_add_momentum,
                                  .sweep_ahead = cuda_lcp_sweep_ahead};
