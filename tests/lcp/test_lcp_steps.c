/* Units, levels and colours of sparse contacts, on the host. */
#include "lcp/lcp.h"

#include "helpers.h"
#include "lcp_graphs.h"

static ts_context *context;

static ts_lcp *make(const lcp_graph *g, lcp_graph_form form) {
  const ts_lcp_desc desc = lcp_graph_desc(g, form, TS_LCP_STORAGE_SPARSE, TS_PRECISION_SINGLE);
  ts_lcp *lcp = NULL;
  CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
  return lcp;
}

/* True if M has numbers for two contacts, in either order. */
static int are_neighbours(const lcp_graph *g, int32_t a, int32_t b) {
  const int32_t d = g->dimension, n = g->n;
  for (int32_t k = 0; k < d * d; k++) {
    const int32_t i = a * d + k / d, j = b * d + k % d;
    if (i / n == j / n && (g->matrix[i * n + j % n] != 0 || g->matrix[j * n + i % n] != 0)) return 1;
  }
  return 0;
}

static int units_touch(const lcp_graph *g, const tsi_lcp_sparse *s, int32_t u, int32_t v) {
  for (int32_t a = s->unit_start[u]; a < s->unit_start[u + 1]; a++)
    for (int32_t b = s->unit_start[v]; b < s->unit_start[v + 1]; b++)
      if (are_neighbours(g, a, b)) return 1;
  return 0;
}

/* The step of each unit is the smallest that the rule allows. */
static void check_steps(const lcp_graph *g, const ts_lcp *lcp, ts_lcp_scheme scheme) {
  const tsi_lcp_sparse *s = lcp->sparse;
  const tsi_lcp_steps *steps = NULL;
  if (!CHECK_OK(context, tsi_lcp_steps_of(lcp, scheme, &steps))) return;
  int32_t *step = calloc((size_t)s->units, sizeof *step);
  for (int32_t u = 0; u < s->units; u++) step[u] = -1;
  for (int32_t k = 0; k < steps->count; k++) {
    CHECK(steps->start[k] < steps->start[k + 1]);
    for (int32_t i = steps->start[k]; i < steps->start[k + 1]; i++) {
      CHECK(i == steps->start[k] || steps->units[i - 1] < steps->units[i]);
      CHECK_INT(step[steps->units[i]], -1);
      step[steps->units[i]] = k;
    }
  }
  CHECK_INT(steps->start[steps->count], s->units);
  unsigned char *taken = calloc((size_t)s->units + 1, 1);
  for (int32_t u = 0; u < s->units; u++) {
    int32_t expected = 0;
    memset(taken, 0, (size_t)s->units + 1);
    for (int32_t v = 0; v < u; v++)
      if (units_touch(g, s, u, v)) {
        taken[step[v]] = 1;
        if (step[v] >= expected) expected = step[v] + 1;
      }
    if (scheme == TS_LCP_SCHEME_COLOUR)
      for (expected = 0; taken[expected];) expected++;
    CHECK_INT(step[u], expected);
  }
  free(step), free(taken);
}

static void steps(void) {
  for (int dimension = 1; dimension <= 3; dimension++)
    for (lcp_graph_form form = 0; form < LCP_GRAPH_FORMS; form++) {
      lcp_graph g = lcp_graph_make(dimension, 17, 2, 9);
      test_context_label("dimension %d, form %d", dimension, (int)form);
      ts_lcp *lcp = make(&g, form);
      /* Consecutive pairs have different bodies. At the ends of the row they may have the same
       * neighbourhood. */
      if (form == LCP_GRAPH_FACTORS)
        CHECK_INT(lcp->sparse->units, 2 * 17);
      else
        CHECK(lcp->sparse->units > 17 && lcp->sparse->units <= 2 * 17);
      const tsi_lcp_sparse *made = lcp->sparse;
      CHECK_INT(made->contacts, 2 * g.n / dimension);
      for (int32_t c = 0; c < made->contacts; c++)
        for (int32_t b = made->row_start[c] + 1; b < made->row_start[c + 1]; b++)
          CHECK(made->columns[b - 1] < made->columns[b]);
      check_steps(&g, lcp, TS_LCP_SCHEME_GRAPH);
      check_steps(&g, lcp, TS_LCP_SCHEME_COLOUR);
      ts_lcp_destroy(&lcp);
      lcp_graph_free(&g);
    }
}

/* One-sided rows of a triangular matrix. */
static void one_sided(void) {
  for (int is_lower = 0; is_lower < 2; is_lower++) {
    lcp_graph g = lcp_graph_make(1, 25, 1, 3);
    test_context_label("lower %d", is_lower);
    for (int32_t i = 0; i < g.n; i++)
      for (int32_t j = 0; j < g.n; j++)
        if (is_lower ? j > i : j < i) g.matrix[i * g.n + j] = 0;
    ts_lcp *lcp = make(&g, LCP_GRAPH_DENSE);
    check_steps(&g, lcp, TS_LCP_SCHEME_GRAPH);
    check_steps(&g, lcp, TS_LCP_SCHEME_COLOUR);
    ts_lcp_destroy(&lcp);
    lcp_graph_free(&g);
  }
}

/* A body with more neighbours than a word has bits: each contact has its own colour, and those of others are
 * few. */
static void hub(void) {
  enum { spokes = 150, rows = 2 * spokes };
  double *H = calloc((size_t)rows * (spokes + 1), sizeof *H), mass[spokes + 1];
  for (int32_t i = 0; i < spokes; i++) {
    H[2 * i * (spokes + 1)] = H[2 * i * (spokes + 1) + i + 1] = 1;
    H[(2 * i + 1) * (spokes + 1) + i + 1] = 1;
  }
  for (int32_t i = 0; i <= spokes; i++) mass[i] = 1;
  ts_csr csr = lcp_csr_of(H, rows, spokes + 1);
  const ts_lcp_desc desc = {
      .size = rows, .jacobian = &csr, .inverse_mass = HOST(mass), .storage = TS_LCP_STORAGE_SPARSE};
  ts_lcp *lcp = NULL;
  const tsi_lcp_steps *levels = NULL, *colours = NULL;
  CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
  CHECK_INT(lcp->sparse->units, rows);
  CHECK_OK(context, tsi_lcp_steps_of(lcp, TS_LCP_SCHEME_GRAPH, &levels));
  CHECK_OK(context, tsi_lcp_steps_of(lcp, TS_LCP_SCHEME_COLOUR, &colours));
  CHECK_INT(levels->count, spokes + 1);
  CHECK_INT(colours->count, spokes);
  for (int32_t k = 0; k < spokes; k++) {
    CHECK_INT(colours->units[colours->start[k] + (k == 0 ? 0 : k == 1)], k == 1 ? 2 : 2 * k);
    CHECK_INT(colours->start[k + 1] - colours->start[k], k == 0 ? spokes : k == 1 ? 2 : 1);
  }
  ts_lcp_destroy(&lcp);
  lcp_csr_free(&csr);
  free(H);
}

TEST_MAIN(CASES_IN_CONTEXT(steps, one_sided, hub))
