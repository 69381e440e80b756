/* Stencil matrices: planes of coefficients in the order of the grid's points. */
#include "cuda_level.cuh"
#include "cuda/matrix/cuda_operands.cuh"

static const char stencil_name[] = "a stencil";

/* ---- Nine values per point to planes, and back ---- */

static __host__ __device__ constexpr int value_index(int direction) {
  return 3 * cuda_y_of(direction) + cuda_x_of(direction);
}

/* Scatters `points` points of the grid, from first_row on. */
__global__ static void scatter(cuda_level_view l, float *sides, float *corners, const float *values,
                               int first_row, size_t points) {
  const size_t n = (size_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (n >= points) return;
  const int at = cuda_place(l, (int)(n % (size_t)l.width), first_row + (int)(n / (size_t)l.width));
#pragma unroll
  for (int k = 0; k < CUDA_SIDES; k++) sides[k * l.plane + at] = values[9 * n + value_index(k)];
  if (!corners) return;
#pragma unroll
  for (int k = 0; k < CUDA_CORNERS; k++)
    corners[k * l.plane + at] = values[9 * n + value_index(CUDA_SIDES + k)];
}

__global__ static void gather(cuda_level_view l, float *values, int first_row, size_t points) {
  const size_t n = (size_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (n >= points) return;
  const int at = cuda_place(l, (int)(n % (size_t)l.width), first_row + (int)(n / (size_t)l.width));
#pragma unroll
  for (int k = 0; k < CUDA_DIRECTIONS; k++)
    values[9 * n + value_index(k)] = k >= CUDA_SIDES && !l.corners ? 0 : cuda_coefficient_at(l, k, at);
}

/* Rows transferred at a time: a few megabytes. */
static int band_height(const cuda_level_view *l) {
  const int rows = (1 << 17) / l->width;
  return rows < 1 ? 1 : rows < l->height ? rows : l->height;
}

static size_t band_bytes(const cuda_level_view *l) {
  return 9 * sizeof(float) * (size_t)l->width * (size_t)band_height(l);
}

static ts_status write_bands(ts_context *context, const cuda_level_view *l, float *sides, float *corners,
                             const float *values, float *band) {
  for (int j = 0; j < l->height; j += band_height(l)) {
    const int rows = l->height - j < band_height(l) ? l->height - j : band_height(l);
    const size_t points = (size_t)l->width * (size_t)rows;
    TSI_TRY(cuda_upload(context, band, values + 9 * (size_t)l->width * (size_t)j, 9 * points * sizeof(float)));
    TSI_TRY(cuda_launch(context, "scatter", scatter, cuda_blocks_for(points), CUDA_THREADS, *l, sides, corners,
                        band, j, points));
  }
  return TS_OK;
}

ts_status cuda_planes_write(ts_context *context, const cuda_level_view *l, float *sides, float *corners,
                            const float *values) {
  void *band;
  TSI_TRY(cuda_alloc(context, &band, band_bytes(l), stencil_name));
  const ts_status status = write_bands(context, l, sides, corners, values, (float *)band);
  cuda_free(context, band, band_bytes(l));
  return status;
}

static ts_status read_bands(ts_context *context, const cuda_level_view *l, float *values, float *band) {
  for (int j = 0; j < l->height; j += band_height(l)) {
    const int rows = l->height - j < band_height(l) ? l->height - j : band_height(l);
    const size_t points = (size_t)l->width * (size_t)rows;
    TSI_TRY(cuda_launch(context, "gather", gather, cuda_blocks_for(points), CUDA_THREADS, *l, band, j, points));
    TSI_TRY(
        cuda_download(context, values + 9 * (size_t)l->width * (size_t)j, band, 9 * points * sizeof(float)));
  }
  return TS_OK;
}

ts_status cuda_planes_read(ts_context *context, const cuda_level_view *l, float *values) {
  void *band;
  TSI_TRY(cuda_alloc(context, &band, band_bytes(l), stencil_name));
  const ts_status status = read_bands(context, l, values, (float *)band);
  cuda_free(context, band, band_bytes(l));
  return status;
}

/* ---- Storage ---- */

static size_t plane_bytes(const ts_matrix *A, int planes) {
  return (size_t)planes * (size_t)A->row_space->tiling.size * sizeof(float);
}

cuda_level_view cuda_stencil_view(const ts_matrix *A) {
  const tsi_grid *g = &A->row_space->grid;
  cuda_level_view l =
      cuda_view_of_grid(g->width, g->height, g->periodic_x, g->periodic_y, TS_GRID_STORAGE_PLAIN);
  l.sides = cuda_stencil_of(A)->sides;
  l.corners = cuda_stencil_of(A)->corners;
  return l;
}

static void free_corners(ts_matrix *A) {
  cuda_stencil *s = cuda_stencil_of(A);
  if (s->corners) cuda_free(A->context, s->corners, plane_bytes(A, CUDA_CORNERS));
  s->corners = NULL;
}

ts_status cuda_stencil_write(ts_matrix *A, const float *values) {
  cuda_stencil *s = cuda_stencil_of(A);
  const int nine = !A->stencil->five_point;
  if (nine && !s->corners)
    TSI_TRY(cuda_alloc(A->context, (void **)&s->corners, plane_bytes(A, CUDA_CORNERS), stencil_name));
  if (!nine) free_corners(A);
  const cuda_level_view l = cuda_stencil_view(A);
  return cuda_planes_write(A->context, &l, s->sides, s->corners, values);
}

static void destroy(ts_matrix *A) {
  cuda_stencil *s = cuda_stencil_of(A);
  if (!s) return;
  free_corners(A);
  cuda_free(A->context, s->sides, plane_bytes(A, CUDA_SIDES));
  tsi_free(A->context, s);
  A->impl = NULL;
}

ts_status cuda_stencil_create(ts_matrix *A, const float *values) {
  cuda_stencil *s = (cuda_stencil *)tsi_calloc(A->context, 1, sizeof *s);
  if (!s) return tsi_out_of_memory(A->context, stencil_name, sizeof *s);
  A->impl = s;
  ts_status status = cuda_alloc(A->context, (void **)&s->sides, plane_bytes(A, CUDA_SIDES), stencil_name);
  if (status == TS_OK) status = cuda_stencil_write(A, values);
  A->kind = &cuda_stencil_kind;
  if (status < 0) destroy(A);
  return status;
}

ts_status cuda_stencil_read(const ts_matrix *A, float *values) {
  const cuda_level_view l = cuda_stencil_view(A);
  return cuda_planes_read(A->context, &l, values);
}

/* ---- Products ---- */

/* Additional operands with their structure known at compile time, which takes fewer registers. */
struct product_operands {
  float *y;
  const float *x;
};

template <typename X> struct residual_operands {
  float *y;
  X x;
  const float *b;
};

/* Both parts exist. */
struct two_parts {
  const float *high, *low;
};

static __device__ __forceinline__ float cuda_value(const product_operands &, size_t, float sum) {
  return sum;
}

template <typename X>
static __device__ __forceinline__ double cuda_value(const residual_operands<X> &o, size_t element, double sum) {
  return (double)o.b[element] - sum;
}

static __device__ __forceinline__ float element_of(const float *x, size_t i) {
  return x[i];
}
static __device__ __forceinline__ double element_of(const two_parts &x, size_t i) {
  return (double)x.high[i] + (double)x.low[i];
}
static __device__ __forceinline__ double element_of(const cuda_pair &x, size_t i) {
  return (double)x.high[i] + (x.low ? (double)x.low[i] : 0);
}

/* b - A x is summed in double precision or better: if x is accurate, it is the difference of nearly equal
 * numbers. */
template <typename Real, typename Operands, bool NINE>
__global__ static void multiply(cuda_level_view l, int components, Operands o) {
  cuda_point p;
  if (!cuda_my_point(l, 0, &p)) return;
  const cuda_around at = cuda_look_around(l, p);
  const int own = at.column[1] + at.row[1];
  const float centre = l.sides[own];
  for (int c = 0; c < components; c++) {
    Real sum = 0;
#pragma unroll
    for (int k = 0; k < (NINE ? CUDA_DIRECTIONS : CUDA_SIDES); k++) {
      const size_t from = (size_t)(at.column[cuda_x_of(k)] + at.row[cuda_y_of(k)]) * components + c;
      sum += (Real)(k ? cuda_coefficient_at(l, k, own) : centre) * element_of(o.x, from);
    }
    const size_t to = (size_t)own * components + c;
    cuda_write(o.y, to, centre != 0 ? cuda_value(o, to, sum) : 0);
  }
}

template <typename Real, typename Operands>
static ts_status run_stencil(const ts_matrix *A, int components, const Operands &o) {
  const cuda_level_view l = cuda_stencil_view(A);
  return cuda_launch(A->context, "multiply",
                     l.corners ? multiply<Real, Operands, true> : multiply<Real, Operands, false>,
                     cuda_level_blocks(&l), CUDA_THREADS, l, components, o);
}

/* The centre coefficient marks points without an equation. */
static ts_status spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  if (y->low) return run_stencil<double>(A, y->components, cuda_pair_operands_of(y, x, NULL));
  return run_stencil<float>(A, y->components, product_operands{cuda_data(y), cuda_data(x)});
}

static ts_status residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  if (r->low) return run_stencil<cuda_exact>(A, r->components, cuda_exact_operands_of(r, b, x, NULL));
  return run_stencil<double>(A, r->components,
                             residual_operands<const float *>{cuda_data(r), cuda_data(x), cuda_data(b)});
}

ts_status cuda_stencil_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x,
                                const ts_vector *low) {
  return run_stencil<double>(
      A, r->components,
      residual_operands<two_parts>{cuda_data(r), {cuda_data(x), cuda_data(low)}, cuda_data(b)});
}

__global__ static void copy_diagonal(float *d, const float *centre, int components, size_t count) {
  const size_t n = (size_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (n < count) d[n] = centre[n / (size_t)components];
}

static ts_status diagonal(ts_vector *d, const ts_matrix *A) {
  const size_t count = cuda_count(d);
  TSI_TRY(cuda_launch(A->context, "copy_diagonal", copy_diagonal, cuda_blocks_for(count), CUDA_THREADS,
                      cuda_data(d), cuda_stencil_of(A)->sides, d->components, count));
  return TS_OK;
}

const tsi_matrix_kind cuda_stencil_kind = {destroy,
                                           spmv,
                                           residual,
                                           diagonal,
                                           &cuda_stencil_cg,
                                           NULL, /* quick_residual, smooth, smooth_all, spmv_dot */
                                           NULL,
                                           NULL,
                                           NULL,
                                           "a stencil",
                                           tsi_stencil_has_constrained,
                                           tsi_stencil_drop_constrained};
