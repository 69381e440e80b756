/* Algebraic multigrid set up by the parts of one process: the table tsi_ops.amg. If a node has several
 * unknowns, if there are near-null vectors, or if prolongators need a second smoothing step, the host sets it
 * up. */
#include "multi_amg.h"

#include "common/core/pool.h"
#include "common/partition/partition.h"

TSI_AMG_OPERATIONS(TSI_PROTOTYPE, multi_amg_)

/* ---- Operations of the parts ---- */

typedef struct each_job {
  multi_amg_work *s;
  multi_amg_body *body;
  ts_status *status;
} each_job;

static void run_parts(const void *arguments, size_t first, size_t last) {
  const each_job *job = arguments;
  for (int p = (int)first; p < (int)last; p++) {
    ts_context *part = multi_part(job->s->context, p);
    job->status[p] = tsi_enter(part);
    if (job->status[p] == TS_OK) job->status[p] = tsi_leave(part, job->body(job->s, part, p));
  }
}

/* A device waits several times in an operation, and the others work meanwhile if each has a thread. */
ts_status multi_amg_all(multi_amg_work *s, multi_amg_body *body) {
  ts_status status[MULTI_MOST_PARTS] = {TS_OK};
  const each_job job = {s, body, status};
  if (s->is_parallel)
    tsi_parallel(s->context, (size_t)s->parts, run_parts, &job);
  else
    run_parts(&job, 0, (size_t)s->parts);
  for (int p = 0; p < s->parts; p++) TSI_TRY(multi_report(s->context, p, status[p]));
  return TS_OK;
}

static ts_status run_if_rows(multi_amg_work *s, ts_context *part, int p) {
  return multi_amg_rows_of(&s->level, p) ? s->body(s, part, p) : TS_OK;
}

ts_status multi_amg_each(multi_amg_work *s, multi_amg_body *body) {
  s->body = body;
  return multi_amg_all(s, run_if_rows);
}

/* ---- Levels ---- */

/* Whether the parts share a level of this size. */
static int is_shared(const multi_amg_work *s, int32_t rows, int64_t entries) {
  const ts_context *context = s->context;
  return rows > s->amg->desc.coarsest &&
         tsi_partition_worth(context, context->desc.partition, rows, entries, s->parts) > 1;
}

static int64_t entries_of(const multi_amg_work *s) {
  int64_t entries = 0;
  for (int p = 0; p < s->parts; p++) entries += s->level.A.part[p].piece.entries;
  return entries;
}

/* Begins a level. *goes_on: the parts can make the next one. */
static ts_status begin_level(multi_amg_work *s, int l, int *goes_on) {
  const int32_t rows = s->level.first[s->parts];
  int32_t aggregates = 0;
  *goes_on = l + 1 < s->amg->desc.max_levels && (l == 0 || is_shared(s, rows, entries_of(s)));
  if (!*goes_on) return TS_OK;
  TSI_TRY(multi_amg_open_windows(s));
  TSI_TRY(multi_amg_group(s, l, &aggregates));
  *goes_on = aggregates > 0 && aggregates <= 0.9 * rows && multi_amg_is_compact(s);
  return *goes_on ? multi_amg_estimate(s, &s->amg->level[l].eigenvalue, goes_on) : TS_OK;
}

/* Makes levels while the parts share them. */
static ts_status make_shared_levels(multi_amg_work *s) {
  TSI_TRY(multi_amg_take_rows(s));
  for (int l = 0;; l++) {
    int goes_on;
    TSI_TRY(tsi_poll(s->context));
    TSI_TRY(begin_level(s, l, &goes_on));
    if (!goes_on) {
      s->is_declined = l == 0;
      return l > 0 ? multi_amg_make_below(s, l) : TS_OK;
    }
    if (l > 0) TSI_TRY(multi_amg_make_matrices(s, l));
    TSI_TRY(multi_amg_coarsen(s));
  }
}

static int is_suitable(const tsi_amg *amg) {
  const ts_amg_desc *desc = &amg->desc;
  const ts_matrix *A = amg->level[0].A;
  return desc->unknowns == 1 && tsi_amg_vectors(desc) == 1 && !tsi_doubles(&desc->near_null) &&
         desc->smoother != TS_AMG_SMOOTHER_L1_JACOBI && A->host_copy && A->row_space == A->column_space &&
         A->info.rows > desc->coarsest && desc->max_levels > 1;
}

static void free_work(multi_amg_work *s) {
  multi_amg_close_windows(s);
  multi_amg_free_arrays(s, s->level.near_null, s->level.first);
  multi_amg_free_arrays(s, s->coarse, s->coarse_first);
  multi_amg_free_rows(s, &s->level.A);
  multi_amg_free_rows(s, &s->P);
  multi_amg_free_rows(s, &s->R);
}

/* The host needs no device memory apart from that of the levels. */
static ts_status decline(multi_amg_work *s) {
  tsi_log(s->context, TS_LOG_LEVEL_INFO, "amg: the host makes the levels: %s", s->context->error);
  tsi_clear_error(s->context);
  s->is_declined = 1;
  return TS_OK;
}

static void destroy_matrices(tsi_amg *amg) {
  for (int l = 0; l < TSI_AMG_MAX_LEVELS; l++) {
    tsi_amg_level *level = &amg->level[l];
    if (l > 0) ts_matrix_destroy(&level->A);
    ts_matrix_destroy(&level->P);
    ts_matrix_destroy(&level->R);
  }
  ts_matrix_destroy(&amg->inverse);
}

static void destroy_made(tsi_amg *amg) {
  multi_amg_drop(amg);
  destroy_matrices(amg);
  tsi_amg_host_free(amg->context, &amg->host);
  amg->levels = 0;
}

/* Makes the hierarchy `amg`, which is empty. If it remains empty without an error, the host has to make it. */
static ts_status make(tsi_amg *amg) {
  ts_context *context = amg->context;
  int threads;
  if (!is_suitable(amg)) return TS_OK;
  TSI_TRY(tsi_threads(context, &threads));
  multi_amg_work *s = tsi_calloc(context, 1, sizeof *s);
  amg->device = tsi_calloc(context, 1, sizeof(multi_amg));
  if (!s || !amg->device) {
    tsi_free(context, s);
    return tsi_out_of_memory(context, "a preconditioner", sizeof *s);
  }
  const tsi_ops *part = multi_ops_of(context, 0);
  s->amg = amg, s->context = context, s->ops = part->amg_part, s->parts = multi_count(context);
  /* An allocator of the application may not be prepared for several threads. */
  s->is_parallel = part->part->join && !context->desc.allocator.malloc_fn;
  ts_status status = make_shared_levels(s);
  if (status == TS_ERROR_OUT_OF_DEVICE_MEMORY) status = decline(s);
  free_work(s);
  if (s->is_declined) destroy_made(amg);
  tsi_free(context, s);
  multi_account(context);
  return status;
}

/* ---- The operations ---- */

/* The vectors stay until others are made. */
static void keep_automatic_pins(tsi_amg *amg, const tsi_amg *from) {
  for (int l = 0; l < TSI_AMG_MAX_LEVELS; l++) {
    amg->level[l].A = from->level[l].A;
    amg->level[l].P = from->level[l].P;
    amg->level[l].R = from->level[l].R;
    amg->level[l].eigenvalue = from->level[l].eigenvalue;
  }
  amg->host = from->host;
  amg->device = from->device;
  amg->inverse = from->inverse;
  amg->levels = from->levels;
}

/* New values: makes another hierarchy. If that fails, the old one stays. */
ts_status multi_amg_setup(tsi_amg *amg) {
  tsi_amg *fresh = tsi_calloc(amg->context, 1, sizeof *fresh);
  if (!fresh) return tsi_out_of_memory(amg->context, "a preconditioner", sizeof *fresh);
  fresh->context = amg->context;
  fresh->desc = amg->desc;
  fresh->level[0].A = amg->level[0].A;
  const ts_status status = make(fresh);
  if (status == TS_OK) {
    destroy_made(amg);
    keep_automatic_pins(amg, fresh);
  } else
    destroy_made(fresh);
  tsi_free(amg->context, fresh);
  return status;
}

void multi_amg_drop(tsi_amg *amg) {
  multi_amg *made = amg->device;
  if (!made) return;
  ts_context *part = multi_part(amg->context, 0);
  if (made->below) tsi_amg_destroy(part, made->below);
  ts_matrix_destroy(&made->last);
  tsi_free(amg->context, made);
  amg->device = NULL;
}

ts_status multi_amg_read(const ts_matrix *matrix, tsi_amg_csr *csr) {
  *csr = (tsi_amg_csr){0};
  return tsi_fail(matrix->context, TS_ERROR_UNSUPPORTED, "a level of amg has its rows on several devices");
}

ts_status multi_amg_cycle(const tsi_amg *amg, ts_vector *x, const ts_vector *b, tsi_amg_body *body) {
  return body(amg, x, b);
}

void multi_amg_forget_cycles(const tsi_amg *amg) {
  (void)amg;
}

const tsi_amg_ops multi_amg_ops = {TSI_AMG_OPERATIONS(TSI_ENTRY, multi_amg_)};
