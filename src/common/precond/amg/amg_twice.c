/* The second step of smoothing of the prolongator, P = S (S T), as a product of sparse matrices: R (S P) with
 * R the identity. */
#include "amg.h"

typedef struct factor {
  const tsi_amg_host_level *level;
  const double *filtered; /* the diagonal of A_F */
  double omega;
  const tsi_amg_csr *S, *R;
} factor;

static void count_strong(const void *arguments, size_t first, size_t last) {
  const factor *f = arguments;
  const tsi_amg_csr *A = &f->level->A;
  for (size_t i = first; i < last; i++) {
    int32_t count = 0;
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) count += f->level->strong[e] == TSI_AMG_STRONG;
    f->S->offsets[i + 1] = count;
    f->R->offsets[i + 1] = 1;
  }
}

static void fill(const void *arguments, size_t first, size_t last) {
  const factor *f = arguments;
  const tsi_amg_csr *A = &f->level->A, *S = f->S;
  for (size_t i = first; i < last; i++) {
    const double scale = f->filtered[i] > 0 ? f->omega / f->filtered[i] : 0;
    int32_t to = S->offsets[i];
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
      if (f->level->strong[e] != TSI_AMG_STRONG) continue;
      const int32_t j = A->indices[e];
      S->indices[to] = j;
      S->values[to++] = (float)(j == (int32_t)i ? 1 - f->omega : -scale * (double)A->values[e]);
    }
    f->R->indices[i] = (int32_t)i;
    f->R->values[i] = -1; /* products are by -R */
  }
}

static ts_status multiply(ts_context *context, const factor *f, tsi_amg_csr *S, tsi_amg_csr *R,
                          const tsi_amg_csr *once, tsi_amg_csr *P) {
  const size_t rows = (size_t)f->level->A.rows;
  tsi_parallel(context, rows, count_strong, f);
  TSI_TRY(tsi_amg_csr_finish(context, S));
  TSI_TRY(tsi_amg_csr_finish(context, R));
  tsi_parallel(context, rows, fill, f);
  return tsi_amg_product(context, R, S, once, 1, P);
}

ts_status tsi_amg_smooth_again(ts_context *context, const tsi_amg_host_level *level, const double *filtered,
                               double omega, const tsi_amg_csr *once, tsi_amg_csr *P) {
  const int32_t rows = level->A.rows;
  tsi_amg_csr S = {0}, R = {0};
  const factor f = {level, filtered, omega, &S, &R};
  ts_status status = tsi_amg_csr_begin(context, rows, rows, &S);
  if (status == TS_OK) status = tsi_amg_csr_begin(context, rows, rows, &R);
  if (status == TS_OK) status = multiply(context, &f, &S, &R, once, P);
  tsi_amg_csr_free(context, &S);
  tsi_amg_csr_free(context, &R);
  return status;
}
