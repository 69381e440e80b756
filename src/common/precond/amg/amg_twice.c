/* The second smoothing step of the prolongator, P = S (S T), as a product of sparse matrices: R (S P) with R
 * the identity. */
#include "amg.h"

typedef struct factor {
  const tsi_amg_host_level *level;
  const double *filtered; /* the diagonal of A_F */
  double omega;
  const tsi_amg_csr *S;
} factor;

static void count_strong(const void *arguments, size_t first, size_t last) {
  const factor *f = arguments;
  const tsi_amg_csr *A = &f->level->A;
  for (size_t i = first; i < last; i++) {
    int32_t count = 0;
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) count += f->level->strong[e] == TSI_AMG_STRONG;
    f->S->offsets[i + 1] = count;
  }
}

static void fill_indices(const void *arguments, size_t first, size_t last) {
  const factor *f = arguments;
  const tsi_amg_csr *A = &f->level->A;
  for (size_t i = first; i < last; i++) {
    int32_t to = f->S->offsets[i];
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
      if (f->level->strong[e] == TSI_AMG_STRONG) f->S->indices[to++] = A->indices[e];
  }
}

static void fill_values(const void *arguments, size_t first, size_t last) {
  const factor *f = arguments;
  const tsi_amg_csr *A = &f->level->A;
  for (size_t i = first; i < last; i++) {
    const double scale = f->filtered[i] > 0 ? f->omega / f->filtered[i] : 0;
    int32_t to = f->S->offsets[i];
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
      if (f->level->strong[e] == TSI_AMG_STRONG)
        f->S->values[to++] =
            (float)(A->indices[e] == (int32_t)i ? 1 - f->omega : -scale * (double)A->values[e]);
  }
}

ts_status tsi_amg_smoother_pattern(ts_context *context, const tsi_amg_host_level *level, tsi_amg_csr *S) {
  const int32_t rows = level->A.rows;
  const factor f = {.level = level, .S = S};
  TSI_TRY(tsi_amg_csr_begin(context, rows, rows, S));
  tsi_parallel(context, (size_t)rows, count_strong, &f);
  TSI_TRY(tsi_amg_csr_finish(context, S));
  tsi_parallel(context, (size_t)rows, fill_indices, &f);
  return TS_OK;
}

void tsi_amg_smoother_values(const ts_context *context, const tsi_amg_host_level *level, const double *filtered,
                             double omega, const tsi_amg_csr *S) {
  tsi_parallel(context, (size_t)level->A.rows, fill_values, &(factor){level, filtered, omega, S});
}

/* Its diagonal is -1, because products use -R. */
static ts_status make_identity(ts_context *context, int32_t rows, tsi_amg_csr *R) {
  TSI_TRY(tsi_amg_csr_create(context, rows, rows, rows, R));
  for (int32_t i = 0; i < rows; i++) {
    R->offsets[i + 1] = i + 1;
    R->indices[i] = i;
    R->values[i] = -1;
  }
  return TS_OK;
}

ts_status tsi_amg_smooth_again(ts_context *context, const tsi_amg_host_level *level, const double *filtered,
                               double omega, const tsi_amg_csr *once, tsi_amg_csr *P) {
  tsi_amg_csr S = {0}, R = {0};
  ts_status status = tsi_amg_smoother_pattern(context, level, &S);
  if (status == TS_OK) status = make_identity(context, level->A.rows, &R);
  if (status == TS_OK) {
    tsi_amg_smoother_values(context, level, filtered, omega, &S);
    status = tsi_amg_product(context, &R, &S, once, 1, P);
  }
  tsi_amg_csr_free(context, &S);
  tsi_amg_csr_free(context, &R);
  return status;
}
