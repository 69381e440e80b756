/* Smoothing steps, one kernel each. Gauss-Seidel has one kernel per colour.
 *
 *   Gauss-Seidel, colour c   x_c = D_c^-1 (b_c - sum over the eight others of A^d x)
 *   Jacobi                   x' = x + alpha D^-1 (b - A x)
 *   Chebyshev                d' = beta d + alpha D^-1 (b - A x);  x' = x + d'
 *
 * A point has no neighbour of its own colour, so a colour is updated in place. The exception is the seam of an
 * odd periodic dimension, where the result is written to the other field and copied. */
#include "cuda_level_smooth.cuh"

/* ---- Jacobi and Chebyshev ---- */

template <bool NINE>
__global__ static void jacobi(cuda_level_view l, cuda_jacobi step, const float *b, const float *x, float *next,
                              float *direction) {
  cuda_point p;
  if (cuda_my_point(l, (int)blockIdx.y, &p)) cuda_jacobi_at<NINE>(l, step, p, b, x, next, direction);
}

ts_status cuda_level_jacobi_of(tsi_level *level, const tsi_sweep *sweep, cuda_jacobi *step) {
  cuda_level *l = cuda_level_of(level);
  const int chebyshev = sweep->kind == TSI_SWEEP_CHEBYSHEV;
  if (chebyshev && !l->direction)
    TSI_TRY(cuda_alloc_zeroed(level->context, (void **)&l->direction, l->size * sizeof(float),
                              "a level's directions"));
  *step = {sweep->alpha, chebyshev ? sweep->beta : 0, sweep->x_is_zero, chebyshev};
  return TS_OK;
}

static ts_status smooth_jacobi(tsi_level *level, const tsi_sweep *sweep) {
  cuda_level *impl = cuda_level_of(level);
  cuda_jacobi step;
  TSI_TRY(cuda_level_jacobi_of(level, sweep, &step));
  const cuda_level_view l = cuda_view_of(level);
  const auto kernel = l.corners ? jacobi<true> : jacobi<false>;
  TSI_TRY(cuda_launch(level->context, "jacobi", kernel, cuda_level_blocks(&l), CUDA_THREADS, l, step, impl->b,
                      cuda_level_x(level), cuda_level_next(level), impl->direction));
  impl->x = 1 - impl->x;
  return TS_OK;
}

/* ---- Gauss-Seidel ---- */

template <bool NINE>
__global__ static void relax(cuda_level_view l, cuda_colours c, const float *b, const float *x, float *out) {
  cuda_point p;
  if (cuda_my_point(l, blockIdx.y ? c.second : c.first, &p)) cuda_relax_at<NINE>(l, c, p, b, x, out);
}

__global__ static void copy_colours(cuda_level_view l, cuda_colours c, const float *from, float *to) {
  cuda_point p;
  if (!cuda_my_point(l, blockIdx.y ? c.second : c.first, &p)) return;
  const int at = cuda_place(l, p.i, p.j);
  to[at] = from[at];
}

static ts_status relax_colours(tsi_level *level, const cuda_level_view *l, cuda_colours c) {
  cuda_level *impl = cuda_level_of(level);
  const dim3 blocks(cuda_tiles(l), c.first == c.second ? 1 : 2);
  float *x = cuda_level_x(level), *out = c.beside ? cuda_level_next(level) : x;
  const auto kernel = l->corners ? relax<true> : relax<false>;
  TSI_TRY(cuda_launch(level->context, "relax", kernel, blocks, CUDA_THREADS, *l, c, impl->b, x, out));
  if (!c.beside) return TS_OK;
  TSI_TRY(cuda_launch(level->context, "copy_colours", copy_colours, blocks, CUDA_THREADS, *l, c, out, x));
  return TS_OK;
}

int cuda_list_colours(const tsi_level *level, const tsi_sweep *sweep, cuda_colours out[4]) {
  const ts_grid_desc *g = &level->grid;
  const int seam = (g->periodic_x && g->width & 1) || (g->periodic_y && g->height & 1);
  int known = sweep->x_is_zero ? 0 : 15, count = 0;
  for (int k = 0; k < 4; k++) {
    const int first = sweep->colours[k];
    /* Two diagonal parities of a five-point stencil are independent. */
    const int pair = k < 3 && level->five_point && (first ^ sweep->colours[k + 1]) == 3;
    const int second = pair ? sweep->colours[++k] : first;
    out[count++] = {first, second, known, sweep->x_is_zero, seam && known};
    known |= 1 << first | 1 << second;
  }
  return count;
}

static ts_status smooth_colours(tsi_level *level, const tsi_sweep *sweep) {
  const cuda_level_view l = cuda_view_of(level);
  cuda_colours colours[4];
  const int count = cuda_list_colours(level, sweep, colours);
  for (int k = 0; k < count; k++) TSI_TRY(relax_colours(level, &l, colours[k]));
  return TS_OK;
}

ts_status cuda_level_smooth(tsi_level *level, const tsi_sweep *sweep) {
  return sweep->kind == TSI_SWEEP_COLOURS ? smooth_colours(level, sweep) : smooth_jacobi(level, sweep);
}
