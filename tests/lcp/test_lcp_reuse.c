/* Sparse problems in reused memory give the same iterates as in a new context. */
#include <texsolve/lcp.h>

#include "common/core/core.h"

#include "heap.h"
#include "helpers.h"
#include "lcp_graphs.h"

static ts_lcp *make(ts_context *context, const lcp_graph *g, lcp_graph_form form) {
  const ts_lcp_desc desc = lcp_graph_desc(g, form, TS_LCP_STORAGE_SPARSE, TS_PRECISION_SINGLE);
  ts_lcp *lcp = NULL;
  CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
  return lcp;
}

static double *sweep(ts_context *context, ts_lcp *lcp, const lcp_graph *g, ts_lcp_scheme scheme) {
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 1, g->q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
  CHECK_OK(context, ts_lcp_solve(lcp, q, z, &(ts_lcp_settings){.scheme = scheme, .fixed_sweeps = 5}, NULL));
  double *found = read_doubles(z);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  return found;
}

static void compare(ts_context *context, ts_lcp *lcp, const lcp_graph *g, lcp_graph_form form) {
  static const ts_lcp_scheme schemes[] = {TS_LCP_SCHEME_ROW, TS_LCP_SCHEME_GRAPH, TS_LCP_SCHEME_COLOUR};
  for (size_t k = 0; lcp && k < sizeof schemes / sizeof *schemes; k++) {
    if (!ts_lcp_has_scheme(context, schemes[k])) continue;
    ts_context *own = test_open();
    ts_lcp *fresh = make(own, g, form);
    double *found = sweep(context, lcp, g, schemes[k]), *expected = sweep(own, fresh, g, schemes[k]), moved = 0;
    for (int32_t i = 0; i < g->n * g->batch; i++) {
      CHECK_CLOSE(found[i], expected[i], 0);
      moved += fabs(expected[i]);
    }
    CHECK(moved > 0.1);
    free(found), free(expected);
    ts_lcp_destroy(&fresh);
    test_close(&own);
  }
}

static ts_context *context;

/* Consecutive problems, larger and smaller, in different forms, and two at a time. */
static void frames(void) {
  static const int32_t pairs[] = {9, 60, 4, 61, 30, 200};
  for (unsigned k = 0; k < 2 * sizeof pairs / sizeof *pairs; k++) {
    test_context_label("frame %u", k);
    const lcp_graph_form form = (lcp_graph_form)(k % LCP_GRAPH_FORMS);
    lcp_graph g = lcp_graph_make(1 + (int)(k / 2 % 3), pairs[k / 2], 1 + (int32_t)(k % 2), k + 1);
    ts_lcp *lcp = make(context, &g, form), *other = make(context, &g, form);
    compare(context, lcp, &g, form);
    ts_lcp_destroy(&lcp);
    compare(context, other, &g, form);
    ts_lcp_destroy(&other);
    lcp_graph_free(&g);
  }
}

/* Contacts that touch up to `reach` of the next ones. */
static double *band(int32_t n, int32_t reach) {
  double *matrix = calloc((size_t)n * (size_t)n, sizeof *matrix);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++)
      if (abs(i / 3 - j / 3) <= reach) matrix[i * n + j] = i == j ? 2 : i / 3 == j / 3 ? 0 : 0.5 / n;
  return matrix;
}

/* Successive matrices in one problem: all, few and some of the blocks, each followed by one that is refused
 * because of its last number. */
static void matrices(void) {
  lcp_graph g = lcp_graph_make(3, 12, 1, 5), full = g, chain = g;
  double *const last = (full.matrix = band(g.n, g.n)) + g.n * g.n - 1;
  chain.matrix = band(g.n, 1);
  const lcp_graph *const next[] = {&full, &g, &chain};
  const ts_lcp_desc refused = lcp_graph_desc(&full, LCP_GRAPH_DENSE, 0, 0);
  ts_lcp *lcp = make(context, &g, LCP_GRAPH_FACTORS);
  for (int k = 0; k < 6; k++) {
    test_context_label("matrix %d", k);
    const lcp_graph_form form = k % 3 == 1 ? LCP_GRAPH_FACTORS : LCP_GRAPH_DENSE;
    const ts_lcp_desc desc = lcp_graph_desc(next[k % 3], form, 0, 0);
    CHECK_OK(context, ts_lcp_set_matrix(lcp, &desc));
    compare(context, lcp, next[k % 3], form);
    *last = -1;
    CHECK_FAILS(context, ts_lcp_set_matrix(lcp, &refused), TS_ERROR_INVALID_ARGUMENT, "is -1", "");
    *last = 2;
    compare(context, lcp, next[k % 3], form);
  }
  ts_lcp_destroy(&lcp);
  free(full.matrix), free(chain.matrix);
  lcp_graph_free(&g);
}

/* Blocks kept by a context: the smallest sufficient one is used, huge ones are not kept, and a failure loses
 * none. */
static void kept(void) {
  const ts_context_desc desc = heap_desc();
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  tsi_memory small = {0}, large = {0}, huge = {0}, taken = {0};
  CHECK_OK(context, tsi_reserve(context, &small, 1000, "a test"));
  CHECK_OK(context, tsi_reserve(context, &large, 100000, "a test"));
  CHECK_OK(context, tsi_reserve(context, &huge, (size_t)65 << 20, "a test"));
  void *const blocks[] = {small.block, large.block};
  const long live = memory.live;
  tsi_keep(context, &small), tsi_keep(context, &large);
  CHECK_INT(memory.live, live);
  tsi_keep(context, &huge);
  CHECK_INT(memory.live, live - 1);
  CHECK(!small.block && !small.bytes && !huge.block);
  CHECK_OK(context, tsi_reserve(context, &taken, 900, "a test"));
  CHECK(taken.block == blocks[0]);
  memory.countdown = 0;
  CHECK_FAILS(context, tsi_reserve(context, &taken, 200000, "a test"), TS_ERROR_OUT_OF_HOST_MEMORY, "a test",
              "");
  CHECK(taken.block == blocks[0] && taken.bytes >= 1000);
  CHECK_OK(context, tsi_reserve(context, &taken, 2000, "a test"));
  CHECK(taken.block == blocks[1]);
  CHECK_OK(context, tsi_reserve(context, &small, 1000, "a test"));
  CHECK(small.block == blocks[0]);
  memory.countdown = -1;
  tsi_keep(context, &taken), tsi_keep(context, &small);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

TEST_MAIN(CASES_IN_CONTEXT(frames, matrices), CASES(kept))
