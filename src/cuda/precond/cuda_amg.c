/* Hierarchies of algebraic multigrid, made on the device level by level. */

#include "common/matrix/csr.h"
#include "cuda/matrix/cuda_matrix.h"
#include "cuda_amg.h"

/* ---- Matrices ---- */

static void own(cuda_matrix *m, const void *data, size_t bytes) {
  m->blocks[m->block_count].data = (void *)data;
  m->blocks[m->block_count++].bytes = bytes;
}

/* Threads per row, for a few entries each. The rows of a level have similar lengths. */
static int share_rows(const cuda_amg_csr *csr) {
  enum { FEW = 6 };
  int log2_subwarp = 0;
  while (log2_subwarp < 5 && csr->entries > (int64_t)FEW * csr->rows << log2_subwarp) log2_subwarp++;
  return log2_subwarp;
}

ts_status cuda_amg_adopt(ts_context *context, const cuda_amg_csr *csr, ts_space *row_space,
                         ts_space *column_space, ts_matrix **matrix) {
  cuda_matrix *m = tsi_calloc(context, 1, sizeof *m);
  if (!m) return tsi_out_of_memory(context, "a matrix", sizeof *m);
  const size_t entries = cuda_amg_room((size_t)csr->entries);
  own(m, csr->offsets, ((size_t)csr->rows + 1) * sizeof *csr->offsets);
  own(m, csr->indices, entries * sizeof *csr->indices);
  own(m, csr->values, entries * sizeof *csr->values);
  m->csr = (cuda_csr){.rows = csr->rows,
                      .log2_subwarp = share_rows(csr),
                      .row_offsets = csr->offsets,
                      .columns = csr->indices,
                      .values = csr->values};
  m->values = csr->values;
  m->value_count = (size_t)csr->entries;
  const tsi_device_csr of = {
      .rows = csr->rows,
      .columns = csr->columns,
      .entries = csr->entries,
      .bytes = m->blocks[0].bytes + m->blocks[1].bytes + m->blocks[2].bytes,
      .row_space = row_space,
      .column_space = column_space,
  };
  const ts_status status = tsi_matrix_adopt(context, &of, cuda_format_csr.kind, m, matrix);
  if (status < 0) tsi_free(context, m);
  return status;
}

static ts_status adopt_level(tsi_amg *amg, int l) {
  const cuda_amg_hierarchy *h = amg->device;
  tsi_amg_level *fine = &amg->level[l], *coarse = fine + 1;
  TSI_TRY(cuda_amg_adopt(amg->context, &h->level[l + 1].A, NULL, NULL, &coarse->A));
  ts_space *of_fine = fine->A->row_space, *of_coarse = coarse->A->row_space;
  TSI_TRY(cuda_amg_adopt(amg->context, &h->level[l].P, of_fine, of_coarse, &fine->P));
  TSI_TRY(cuda_amg_adopt(amg->context, &h->level[l].R, of_coarse, of_fine, &fine->R));
  ts_matrix *const with_long_rows[] = {coarse->A, fine->R}; /* rows of P are short: they reach few aggregates */
  return cuda_amg_part_long_rows(amg->context, with_long_rows, 2);
}

/* Frees arrays that no matrix has taken over. */
static void free_level(const tsi_amg *amg, int l) {
  cuda_amg_hierarchy *h = amg->device;
  if (l > 0 && !amg->level[l].A) cuda_amg_csr_free(amg->context, &h->level[l].A);
  if (!amg->level[l].P) cuda_amg_csr_free(amg->context, &h->level[l].P);
  if (!amg->level[l].R) cuda_amg_csr_free(amg->context, &h->level[l].R);
  cuda_amg_free(&h->kept[l]);
  cuda_amg_free(&h->modes[l]);
  cuda_amg_free(&h->level[l].again.memory);
  cuda_amg_free(&h->level[l].again.of_order);
}

/* ---- Levels ---- */

static ts_status group(const tsi_amg *amg, int l) {
  cuda_amg_hierarchy *h = amg->device;
  cuda_amg_level *level = &h->level[l];
  CUDA_AMG_ALLOC(&h->kept[l], level->A.entries, level->strong);
  CUDA_AMG_ALLOC(&h->kept[l], level->nodes, level->aggregates);
  cuda_amg_memory memory = {.context = amg->context};
  cuda_amg_graph graph;
  ts_status status = cuda_amg_strength(&memory, level, amg->desc.strength, amg->depth + l, &graph);
  if (status == TS_OK)
    status = cuda_amg_aggregate(amg->context, &graph, level->aggregates, &level->aggregate_count);
  cuda_amg_free(&memory);
  return status;
}

static ts_status make_tentative(const tsi_amg *amg, int l) {
  cuda_amg_hierarchy *h = amg->device;
  cuda_amg_level *level = &h->level[l], *next = level + 1;
  const size_t vectors = (size_t)level->vectors;
  CUDA_AMG_ALLOC(&h->kept[l], (size_t)level->A.rows * vectors, level->tentative);
  CUDA_AMG_ALLOC(&h->kept[l], level->nodes, level->weights);
  CUDA_AMG_ALLOC(&h->modes[l + 1], (size_t)level->aggregate_count * vectors * vectors, next->near_null);
  TSI_TRY(cuda_amg_tentative(amg->context, level, next->near_null));
  cuda_amg_free(&h->modes[l]);
  level->near_null = NULL;
  return TS_OK;
}

static ts_status compute(tsi_amg *amg, int l) {
  cuda_amg_hierarchy *h = amg->device;
  cuda_amg_level *level = &h->level[l], *next = level + 1;
  TSI_TRY(cuda_amg_smooth(amg->context, level));
  TSI_TRY(cuda_amg_transpose(amg->context, &level->P, &level->R));
  TSI_TRY(cuda_amg_galerkin(amg->context, &level->R, &level->A, &level->P, level->vectors, &next->A));
  amg->level[l].eigenvalue = level->eigenvalue;
  return TS_OK;
}

/* Recomputes only the values. */
static ts_status compute_again(tsi_amg *amg, int l) {
  cuda_amg_hierarchy *h = amg->device;
  cuda_amg_level *level = &h->level[l], *next = level + 1;
  TSI_TRY(cuda_amg_smooth(amg->context, level));
  TSI_TRY(cuda_amg_transpose_again(amg->context, level));
  TSI_TRY(cuda_amg_galerkin_again(amg->context, level, &next->A));
  amg->level[l].eigenvalue = level->eigenvalue;
  return TS_OK;
}

/* Makes a coarser level if it is worthwhile. */
static ts_status add_level(tsi_amg *amg) {
  const int l = amg->levels - 1;
  cuda_amg_hierarchy *h = amg->device;
  cuda_amg_level *level = &h->level[l], *next = level + 1;
  TSI_TRY(group(amg, l));
  const double rows = (double)level->aggregate_count * level->vectors;
  if (level->aggregate_count == 0 || rows > 0.9 * level->A.rows) return TS_OK;
  TSI_TRY(make_tentative(amg, l));
  TSI_TRY(compute(amg, l));
  TSI_TRY(adopt_level(amg, l));
  next->vectors = next->unknowns = level->vectors;
  next->nodes = level->aggregate_count;
  next->energies = level->smooths_twice ? level->energies : 0;
  amg->levels++;
  return TS_OK;
}

static ts_status check_diagonal(const tsi_amg *amg) {
  const cuda_amg_hierarchy *h = amg->device;
  const unsigned char *constrained = NULL;
  int32_t row;
  float diagonal;
  TSI_TRY(cuda_constrained(amg->level[0].A->row_space, &constrained));
  TSI_TRY(cuda_amg_check_diagonal(amg->context, &h->level[0].A, constrained, &row, &diagonal));
  return row < 0 ? TS_OK : tsi_amg_refuse_row(amg->context, row, diagonal);
}

static ts_status start(tsi_amg *amg) {
  cuda_amg_hierarchy *h = amg->device;
  const ts_amg_desc *desc = &amg->desc;
  cuda_amg_level *first = &h->level[0];
  first->unknowns = desc->unknowns;
  first->nodes = first->A.rows / desc->unknowns;
  first->vectors = tsi_amg_vectors(desc);
  if (amg->depth == 0) TSI_TRY(check_diagonal(amg));
  CUDA_AMG_ALLOC(&h->modes[0], (size_t)first->A.rows * (size_t)first->vectors, first->near_null);
  return cuda_amg_near_null(amg->context, desc, first);
}

static ts_status make_levels(tsi_amg *amg) {
  TSI_TRY(start(amg));
  amg->levels = 1;
  for (int before = 0; before < amg->levels && amg->levels < amg->desc.max_levels;) {
    const cuda_amg_hierarchy *h = amg->device;
    before = amg->levels;
    TSI_TRY(tsi_poll(amg->context));
    if (h->level[before - 1].A.rows > amg->desc.coarsest) TSI_TRY(add_level(amg));
  }
  return TS_OK;
}

/* ---- The operations ---- */

ts_status cuda_amg_read(const ts_matrix *matrix, tsi_amg_csr *csr) {
  ts_context *context = matrix->context;
  const cuda_matrix *m = cuda_matrix_of(matrix);
  const size_t rows = (size_t)matrix->info.rows, entries = m->value_count;
  TSI_TRY(tsi_amg_csr_create(context, matrix->info.rows, matrix->info.columns, (int64_t)entries, csr));
  ts_status status =
      cuda_download(context, csr->offsets, m->csr.row_offsets, (rows + 1) * sizeof *csr->offsets);
  if (status == TS_OK)
    status = cuda_download(context, csr->indices, m->csr.columns, entries * sizeof *csr->indices);
  if (status == TS_OK) status = cuda_download(context, csr->values, m->values, entries * sizeof *csr->values);
  if (status < 0) tsi_amg_csr_free(context, csr);
  return status;
}

static ts_status make_inverse(tsi_amg *amg) {
  const int last = amg->levels - 1;
  const cuda_amg_hierarchy *h = amg->device;
  if (!amg->inverse) {
    cuda_amg_csr dense;
    ts_space *space = amg->level[last].A->row_space;
    TSI_TRY(cuda_amg_csr_dense(amg->context, h->level[last].A.rows, &dense));
    const ts_status status = cuda_amg_adopt(amg->context, &dense, space, space, &amg->inverse);
    if (status < 0) cuda_amg_csr_free(amg->context, &dense);
    TSI_TRY(status);
  }
  return cuda_amg_invert(amg->context, &h->level[last].A, cuda_matrix_of(amg->inverse)->values);
}

/* Copies the last level's matrix to the host, which chooses a smoother for it, since it has no inverse. */
static ts_status read_last(tsi_amg *amg) {
  const int last = amg->levels - 1;
  amg->host.levels = amg->levels;
  tsi_amg_csr_free(amg->context, &amg->host.level[last].A);
  return cuda_amg_read(amg->level[last].A, &amg->host.level[last].A);
}

static ts_status set_up(tsi_amg *amg, int keep, cuda_amg_memory *source) {
  cuda_amg_hierarchy *h = amg->device;
  TSI_TRY(cuda_amg_source(source, keep ? &h->source : NULL, amg->level[0].A, &h->level[0].A));
  if (!keep) TSI_TRY(make_levels(amg));
  for (int l = 0; keep && l + 1 < amg->levels; l++) TSI_TRY(compute_again(amg, l));
  if (h->level[amg->levels - 1].A.rows <= TSI_AMG_DENSE) return make_inverse(amg);
  return amg->levels > 1 ? read_last(amg) : TS_OK;
}

ts_status cuda_amg_setup(tsi_amg *amg) {
  ts_context *context = amg->context;
  const int keep = amg->device != NULL;
  if (!keep) amg->device = tsi_calloc(context, 1, sizeof(cuda_amg_hierarchy));
  cuda_amg_hierarchy *h = amg->device;
  if (!h) return tsi_out_of_memory(context, "a preconditioner", sizeof *h);
  for (int l = 0; l < TSI_AMG_MAX_LEVELS; l++) {
    cuda_amg_again *again = &h->level[l].again;
    h->kept[l].context = h->modes[l].context = again->memory.context = again->of_order.context = context;
    again->memory.what = again->of_order.what = "an update of amg";
  }
  h->source.memory.context = context;
  h->source.memory.what = "an update of amg";
  cuda_amg_memory source = {.context = context};
  const ts_status status = set_up(amg, keep, &source);
  cuda_amg_free(&source);
  h->level[0].A = (cuda_amg_csr){0};
  if (status == TS_OK && (amg->levels > 1 || amg->inverse))
    free_level(amg, amg->levels - 1);
  else if (!keep)
    cuda_amg_drop(amg);
  return status;
}

void cuda_amg_drop(tsi_amg *amg) {
  cuda_amg_hierarchy *h = amg->device;
  cuda_amg_forget_cycles(amg);
  for (int l = 0; l < TSI_AMG_MAX_LEVELS; l++) free_level(amg, l);
  if (h) cuda_amg_free(&h->source.memory);
  tsi_free(amg->context, h);
  amg->device = NULL;
}

const tsi_amg_ops cuda_amg_ops = {TSI_AMG_OPERATIONS(TSI_ENTRY, cuda_amg_)};
