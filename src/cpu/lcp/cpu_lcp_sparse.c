/* Sparse complementarity problems on the CPU: storage, and sweeps shared by threads. */
#include "cpu_lcp.h"

/* ---- Storage ---- */

/* Rows of bodies' blocks are padded with zeros to the vector width. */
static size_t stride_of(const tsi_lcp_sparse *s) {
  const size_t width = (size_t)s->width;
  return s->mass_blocks && width > 2 ? (width + 3) / 4 * 4 : width;
}

static size_t numbers_of(const tsi_lcp_sparse *s) {
  return (size_t)s->row_start[s->contacts] * (size_t)s->dimension * stride_of(s);
}

/* If `block` is NULL, counts the bytes. */
static size_t lay_out(const ts_lcp *lcp, const tsi_lcp_sparse *s, cpu_lcp_sparse *to, unsigned char *block) {
  const size_t size = cpu_lcp_size_of(lcp), d = (size_t)s->dimension, numbers = numbers_of(s);
  size_t used = 0;
  to->stride = stride_of(s);
  to->blocks = cpu_lcp_suballoc(block, &used, numbers * size);
  to->mass_blocks = cpu_lcp_suballoc(block, &used, (s->mass_blocks ? numbers : 0) * size);
  to->diagonal = cpu_lcp_suballoc(block, &used, (size_t)s->contacts * d * d * size);
  to->reduced = cpu_lcp_suballoc(block, &used, (d > 1 ? (size_t)s->contacts * CPU_LCP_REDUCED : 0) * size);
  to->v = cpu_lcp_suballoc(block, &used, (size_t)s->bodies * to->stride * size);
  to->exact_v = cpu_lcp_suballoc(block, &used, 2 * (size_t)s->bodies * to->stride * sizeof *to->exact_v);
  const size_t ahead = d > 1 ? (size_t)s->contacts * d : 0;
  to->from = cpu_lcp_suballoc(block, &used, ahead * size);
  to->last = cpu_lcp_suballoc(block, &used, ahead * size);
  to->counts = cpu_lcp_suballoc(block, &used, ahead * size);
  return used;
}

void cpu_lcp_forget_sparse(ts_lcp *lcp) {
  cpu_lcp_sparse *sparse = &((cpu_lcp *)lcp->impl)->sparse;
  tsi_device_free(lcp->context, sparse->bytes);
  tsi_keep(lcp->context, &sparse->memory);
  *sparse = (cpu_lcp_sparse){0};
}

ts_status cpu_lcp_write_sparse(ts_lcp *lcp, const tsi_lcp_sparse *s) {
  ts_context *context = lcp->context;
  cpu_lcp_sparse *to = &((cpu_lcp *)lcp->impl)->sparse, sizes;
  const size_t bytes = lay_out(lcp, s, &sizes, NULL) + CPU_ALIGNMENT;
  const size_t more = bytes > to->bytes ? bytes - to->bytes : 0;
  TSI_TRY(tsi_device_alloc(context, more, "sparse contacts"));
  const ts_status status = tsi_reserve(context, &to->memory, bytes, "sparse contacts");
  if (status < 0) {
    tsi_device_free(context, more);
    return status;
  }
  tsi_device_free(context, to->bytes + more - bytes);
  to->bytes = bytes;
  const uintptr_t start = ((uintptr_t)to->memory.block + CPU_ALIGNMENT - 1) / CPU_ALIGNMENT * CPU_ALIGNMENT;
  lay_out(lcp, s, to, (unsigned char *)start);
  (lcp->is_double ? cpu_lcp_write_sparse_double : cpu_lcp_write_sparse_float)(s, to);
  return TS_OK;
}

/* ---- Sweeps ---- */

enum {
  contact_cost = 100, /* work of a contact's law, in floats */
  step_share = 64     /* a step needs 1/64 of the work that makes a thread worthwhile; it ends with a barrier */
};

static size_t work_of(const ts_lcp *lcp) {
  const tsi_lcp_sparse *s = lcp->sparse;
  return numbers_of(s) * (s->mass_blocks ? 2 : 1) + (size_t)s->contacts * contact_cost;
}

static size_t threads_for(const ts_lcp *lcp, const tsi_lcp_steps *steps, int sweeps) {
  const size_t worth = (size_t)lcp->context->tuning.thread_floats;
  const size_t all = work_of(lcp) * (size_t)sweeps / worth;
  const size_t step = work_of(lcp) / (size_t)steps->count / (worth / step_share + 1);
  size_t threads = (size_t)cpu_state_of(lcp->context)->threads;
  if (threads > CPU_LCP_MEMBERS) threads = CPU_LCP_MEMBERS;
  if (threads > all) threads = all;
  if (threads > step) threads = step;
  return threads;
}

typedef struct sparse_job {
  const ts_lcp *lcp;
  const tsi_lcp_steps *steps;
  int sweeps, ahead;
  cpu_lcp_team *team;
} sparse_job;

static void sweep_as(const sparse_job *job, const cpu_lcp_member *self) {
  (job->lcp->is_double ? cpu_lcp_sweep_sparse_double : cpu_lcp_sweep_sparse_float)(job->lcp, job->steps, self,
                                                                                   job->sweeps, job->ahead);
}

static void body_steps(const void *arguments, size_t first, size_t last) {
  const sparse_job *job = arguments;
  cpu_lcp_member self;
  if (cpu_lcp_join(job->team, first, last - first < job->team->asked, &self)) sweep_as(job, &self);
}

ts_status cpu_lcp_sweep_sparse(const ts_lcp *lcp, ts_lcp_scheme scheme, int sweeps, int ahead) {
  const ts_context *context = lcp->context;
  cpu_lcp_team team;
  sparse_job job = {.lcp = lcp, .sweeps = sweeps, .ahead = ahead, .team = &team};
  size_t threads = 1;
  if (scheme != TS_LCP_SCHEME_ROW) {
    TSI_TRY(tsi_lcp_steps_of(lcp, scheme, &job.steps));
    threads = threads_for(lcp, job.steps, sweeps);
  }
  if (threads < 2) {
    cpu_lcp_team_init(&team, 1, 0);
    sweep_as(&job, &(cpu_lcp_member){.team = &team, .members = 1});
    return TS_OK;
  }
  const double work = (double)work_of(lcp) * sweeps, quarter = work * 1e-10; /* about 1/4 of a thread's time */
  cpu_lcp_team_init(&team, threads, fmin(fmax(quarter, 20e-6), 500e-6));
  cpu_for(context, threads, (size_t)work / threads + 1, body_steps, &job);
  if (team.lost > 0) cpu_pace_note(&cpu_state_of(context)->pace, tsi_seconds(), team.lost);
  return TS_OK;
}

/* Minimum work per sweep for two threads, in units of the work that makes a thread worthwhile. They were 1.6
 * times as fast as one with 1800 contacts of boxes, and gained nothing with 450. */
enum { least_work = 2 };

/* Keeps the iterates of the loop, unless colours can use more threads. */
ts_lcp_scheme cpu_lcp_sparse_scheme(const ts_lcp *lcp, ts_lcp_scheme scheme) {
  if (scheme != TS_LCP_SCHEME_AUTO) return scheme;
  const size_t threads = (size_t)cpu_state_of(lcp->context)->threads;
  const tsi_lcp_steps *levels, *colours;
  if (threads < 2 || work_of(lcp) < least_work * (size_t)lcp->context->tuning.thread_floats ||
      tsi_lcp_steps_of(lcp, TS_LCP_SCHEME_GRAPH, &levels) < 0 ||
      tsi_lcp_steps_of(lcp, TS_LCP_SCHEME_COLOUR, &colours) < 0)
    return TS_LCP_SCHEME_ROW;
  const size_t by_levels = threads_for(lcp, levels, 1), by_colours = threads_for(lcp, colours, 1);
  if (by_levels < 2 && by_colours < 2) return TS_LCP_SCHEME_ROW;
  return by_levels < by_colours ? TS_LCP_SCHEME_COLOUR : TS_LCP_SCHEME_GRAPH;
}
