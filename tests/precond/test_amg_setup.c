/* The set-up of algebraic multigrid on the host: the required properties of aggregates, prolongators and coarse
 * matrices. The bits depend neither on the number of threads nor on whether patterns already existed. */
#include <math.h>

#include "heap.h"

#include "common/precond/amg/amg.h"

/* ---- Matrices ---- */

static tsi_amg_csr view(const ref_matrix *m) {
  return (tsi_amg_csr){m->rows, m->columns, m->offsets, m->indices, m->values};
}

static double *dense_of(const tsi_amg_csr *A) {
  double *a = calloc((size_t)A->rows * (size_t)A->columns + 1, sizeof *a);
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
      a[(size_t)i * (size_t)A->columns + (size_t)A->indices[e]] += (double)A->values[e];
  return a;
}

static double entry(const tsi_amg_csr *A, int32_t i, int32_t j) {
  for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
    if (A->indices[e] == j) return (double)A->values[e];
  return 0;
}

/* Converts a dense array: entries that are not 0, and the whole diagonal. */
static ref_matrix sparse(int32_t n, const double *a) {
  ref_matrix m = {.rows = n, .columns = n, .offsets = calloc((size_t)n + 1, sizeof *m.offsets)};
  m.indices = malloc((size_t)n * (size_t)n * sizeof *m.indices);
  m.values = malloc((size_t)n * (size_t)n * sizeof *m.values);
  int32_t to = 0;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++)
      if (a[i * n + j] != 0) {
        m.indices[to] = j;
        m.values[to++] = (float)a[i * n + j];
      }
    m.offsets[i + 1] = to;
  }
  return m;
}

/* Springs between neighbouring nodes of a plane grid. If `held`, the rows of the left nodes are empty, and
 * other rows still have entries in their columns. */
static ref_matrix springs(int32_t nx, int32_t ny, int held, double *coordinates) {
  const int32_t n = 2 * nx * ny;
  double *a = calloc((size_t)n * (size_t)n, sizeof *a);
  for (int32_t p = 0; p < nx * ny; p++) {
    coordinates[2 * p] = 10 + p % nx;
    coordinates[2 * p + 1] = p / nx;
  }
  for (int32_t p = 0; p < nx * ny; p++)
    for (int32_t q = 0; q < nx * ny; q++) {
      const double d[2] = {coordinates[2 * q] - coordinates[2 * p],
                           coordinates[2 * q + 1] - coordinates[2 * p + 1]};
      const double square = d[0] * d[0] + d[1] * d[1];
      if (p == q || square > 2) continue;
      for (int u = 0; u < 2; u++)
        for (int v = 0; v < 2; v++) {
          const double k = d[u] * d[v] / square;
          a[(2 * p + u) * n + 2 * p + v] += k;
          a[(2 * p + u) * n + 2 * q + v] -= k;
        }
    }
  for (int32_t i = 0; held && i < n; i++)
    for (int32_t j = 0; j < n && i / 2 % nx == 0; j++) a[i * n + j] = 0;
  const ref_matrix m = sparse(n, a);
  free(a);
  return m;
}

/* Coefficients 1 and `small` in the two directions. */
static ref_matrix anisotropic(int32_t nx, int32_t ny, float small) {
  ref_matrix m = ref_graph(nx, ny);
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++)
      if (m.indices[e] != i && m.indices[e] != i - 1 && m.indices[e] != i + 1) m.values[e] *= small;
  return m;
}

static ts_amg_desc defaults(void) {
  return (ts_amg_desc){
      .strength = 0.08, .sweeps = 2, .visits = 1, .max_levels = 30, .coarsest = 20, .unknowns = 1};
}

static ts_context *open_threads(int threads) {
  const ts_context_desc desc = {.backend = "cpu", .threads = threads};
  ts_context *context = NULL;
  CHECK_OK(NULL, ts_context_create(&desc, &context));
  return context;
}

enum { SAMPLES = 11 };

typedef struct sample {
  const char *name;
  ref_matrix matrix;
  ts_amg_desc desc;
  double *numbers; /* coordinates or near-null vectors; may be NULL */
} sample;

static sample get_sample(int k) {
  sample s = {.desc = defaults()};
  double *numbers = NULL;
  switch (k) {
  case 0:
    s.name = "grid", s.matrix = ref_grid(37, 29);
    break;
  case 1:
    s.name = "Laplacian", s.matrix = ref_laplacian_3d(11);
    break;
  case 2:
    s.name = "singular", s.matrix = ref_graph(30, 30);
    break;
  case 3:
    s.name = "anisotropic", s.matrix = anisotropic(31, 33, 0.001f);
    break;
  case 4:
    s.name = "random", s.matrix = ref_random_spd(700, 5, 3);
    break;
  case 5:
    s.name = "dense", s.matrix = ref_random_spd(120, 110, 4), s.desc.strength = 0;
    break;
  case 6:
    s.name = "hubs", s.matrix = ref_hubs(900, 300, 5), s.desc.strength = 0.01;
    break;
  case 7:
  case 8:
    numbers = malloc((size_t)2 * 21 * 12 * sizeof *numbers);
    s.name = k == 7 ? "free springs" : "held springs";
    s.matrix = springs(21, 12, k == 8, numbers);
    s.desc.unknowns = s.desc.dimensions = 2;
    s.desc.coordinates = ts_host(numbers, (size_t)2 * 21 * 12);
    break;
  case 9:
    s.name = "rotated", s.matrix = ref_rotated(40, 41);
    break;
  default:
    s.name = "vectors";
    s.matrix = ref_grid(24, 26);
    s.desc.near_null_vectors = 3;
    numbers = malloc((size_t)3 * 24 * 26 * sizeof *numbers);
    for (int i = 0; i < 24 * 26; i++) {
      numbers[3 * i] = 1;
      numbers[3 * i + 1] = i % 24 / 24.;
      numbers[3 * i + 2] = 2 - 3 * numbers[3 * i + 1]; /* linearly dependent */
    }
    s.desc.near_null = ts_host(numbers, (size_t)3 * 24 * 26);
  }
  s.numbers = numbers;
  return s;
}

static void sample_free(sample *s) {
  ref_free(&s->matrix);
  free(s->numbers);
}

/* ---- Aggregates ---- */

static int depends(const tsi_amg_graph *graph, int32_t node, int32_t other) {
  for (int32_t e = graph->begins[node]; e < graph->ends[node]; e++)
    if (graph->indices[e] == other) return 1;
  return 0;
}

/* A node with a strong neighbour is in an aggregate. Each aggregate has a root that has added all of its
 * dependent neighbours, or four of them, and every other node has a neighbour in the aggregate. If connections
 * are not mutual, a second search may find roots that have lost their neighbours to other aggregates. */
static void check_aggregates(const tsi_amg_graph *graph, const int32_t *aggregates, int32_t count) {
  int *has_root = calloc((size_t)count + 1, sizeof *has_root), is_symmetric = 1, alone = 0;
  for (int32_t i = 0; i < graph->nodes; i++) {
    if (graph->begins[i] == graph->ends[i]) {
      CHECK_INT(aggregates[i], -1);
      continue;
    }
    if (!CHECK(aggregates[i] >= 0 && aggregates[i] < count)) break;
    int within = 0, assigned_here = 0, dependent = 0;
    for (int32_t e = graph->begins[i]; e < graph->ends[i]; e++) {
      const int is_here = aggregates[graph->indices[e]] == aggregates[i];
      const int is_dependent = depends(graph, graph->indices[e], i);
      is_symmetric &= is_dependent;
      within += is_here;
      dependent += is_dependent;
      assigned_here += is_here && is_dependent;
    }
    const int is_root = assigned_here == dependent || assigned_here >= 4;
    alone += !within && !is_root;
    has_root[aggregates[i]] |= is_root;
  }
  for (int32_t a = 0; a < count; a++) CHECK(has_root[a] || !is_symmetric);
  CHECK(!alone || !is_symmetric);
  free(has_root);
}

/* The Frobenius norm of a node's diagonal block. */
static double norm_of(const sample *s, int32_t node) {
  double sum = 0;
  for (int32_t i = node * s->desc.unknowns; i < (node + 1) * s->desc.unknowns; i++)
    for (int32_t e = s->matrix.offsets[i]; e < s->matrix.offsets[i + 1]; e++)
      if (s->matrix.indices[e] / s->desc.unknowns == node) sum += pow((double)s->matrix.values[e], 2);
  return sqrt(sum);
}

/* The Frobenius norms of all blocks in a node's rows. */
static void find_blocks(const sample *s, int32_t node, double *norms) {
  const int32_t unknowns = s->desc.unknowns, nodes = s->matrix.rows / unknowns;
  for (int32_t j = 0; j < nodes; j++) norms[j] = 0;
  for (int32_t i = node * unknowns; i < (node + 1) * unknowns; i++)
    for (int32_t e = s->matrix.offsets[i]; e < s->matrix.offsets[i + 1]; e++)
      norms[s->matrix.indices[e] / unknowns] += pow((double)s->matrix.values[e], 2);
  for (int32_t j = 0; j < nodes; j++) norms[j] = sqrt(norms[j]);
}

/* The entries of a row with their signs. */
static void find_values(const sample *s, int32_t row, double *values) {
  for (int32_t j = 0; j < s->matrix.rows; j++) values[j] = 0;
  for (int32_t e = s->matrix.offsets[row]; e < s->matrix.offsets[row + 1]; e++)
    values[s->matrix.indices[e]] = (double)s->matrix.values[e];
}

static double strength_of(double coupling, double own, double other) {
  return fabs(coupling) / sqrt(own * fmin(own, other));
}

/* The limit of strong couplings as documented in amg.h. `signs` is set if positive couplings are weak. */
static double limit_of(const sample *s, int32_t i, const double *couplings, const double *own, int32_t nodes,
                       int *signs) {
  const double asked = s->desc.strength;
  double largest = 0, sum = 0;
  for (int32_t j = 0; j < nodes; j++) {
    if (j == i || own[i] == 0 || own[j] == 0) continue; /* 0: a constrained row */
    if (s->desc.unknowns == 1 && couplings[j] > 0) continue;
    largest = fmax(largest, strength_of(couplings[j], own[i], own[j]));
    sum += fabs(couplings[j]);
  }
  *signs = s->desc.unknowns == 1 && asked > 0 && sum > own[i] / 2;
  if (sum <= own[i] / 2) return asked;
  return s->desc.unknowns == 1 ? fmin(1, 4 * asked) * fmin(1, largest) : asked * fmin(1, 4 * largest);
}

/* A node's neighbours are in ascending order, without the node, and are exactly the strong ones according to
 * amg.h. */
static void check_graph(const sample *s, const tsi_amg_graph *graph) {
  double *couplings = malloc((size_t)graph->nodes * sizeof *couplings),
         *own = malloc((size_t)graph->nodes * sizeof *own);
  int correct = 1;
  for (int32_t i = 0; i < graph->nodes; i++) own[i] = norm_of(s, i);
  for (int32_t i = 0; i < graph->nodes && correct; i++) {
    int signs;
    if (s->desc.unknowns == 1)
      find_values(s, i, couplings);
    else
      find_blocks(s, i, couplings);
    const double limit = limit_of(s, i, couplings, own, graph->nodes, &signs);
    int32_t e = graph->begins[i];
    for (int32_t j = 0; j < graph->nodes && correct; j++) {
      const int strong = e < graph->ends[i] && graph->indices[e] == j;
      const int is_coupling = j != i && own[i] > 0 && own[j] > 0 && couplings[j] != 0;
      const double strength = is_coupling ? strength_of(couplings[j], own[i], own[j]) : 0;
      const int expected = is_coupling && !(signs && couplings[j] > 0) && strength >= limit;
      correct = (is_coupling && fabs(strength - limit) < 1e-12) || CHECK_INT(strong, expected);
      e += strong;
    }
    correct &= CHECK_INT(e, graph->ends[i]);
  }
  free(couplings), free(own);
}

static void aggregates(void) {
  ts_context *context = open_threads(3);
  for (int k = 0; k < SAMPLES; k++) {
    sample s = get_sample(k);
    test_context_label("%s", s.name);
    tsi_amg_host_level level = {
        .A = view(&s.matrix), .unknowns = s.desc.unknowns, .nodes = s.matrix.rows / s.desc.unknowns};
    level.strong = malloc((size_t)s.matrix.offsets[s.matrix.rows]);
    level.aggregates = malloc((size_t)level.nodes * sizeof *level.aggregates);
    tsi_amg_graph graph;
    CHECK_OK(context, tsi_amg_strength(context, &level, s.desc.strength, 0, &graph));
    check_graph(&s, &graph);
    CHECK_OK(context, tsi_amg_aggregate(context, &graph, level.aggregates, &level.aggregate_count));
    CHECK(level.aggregate_count > 0 && level.aggregate_count <= level.nodes / 2);
    check_aggregates(&graph, level.aggregates, level.aggregate_count);
    tsi_amg_graph_free(context, &graph);
    free(level.strong), free(level.aggregates);
    sample_free(&s);
  }
  test_context_label("%s", "");
  test_close(&context);
}

/* A short path with a weak entry, a positive entry, and an entry towards a constrained row. */
static void strength(void) {
  ts_context *context = open_threads(2);
  enum { n = 6 };
  double a[n * n] = {0};
  for (int i = 0; i < n; i++) a[i * n + i] = 2;
  a[0 * n + 1] = a[1 * n + 0] = -1;
  a[1 * n + 2] = a[2 * n + 1] = 0.1; /* weak */
  a[2 * n + 3] = a[3 * n + 2] = 1;   /* positive and strong */
  a[3 * n + 4] = -1;                 /* towards a constrained row */
  a[4 * n + 4] = 0;
  ref_matrix m = sparse(n, a);
  tsi_amg_csr A = view(&m);
  unsigned char strong[n * n];
  int32_t numbers[n], count = 0;
  const tsi_amg_host_level level = {.A = A, .unknowns = 1, .nodes = n, .strong = strong};
  tsi_amg_graph graph;
  REQUIRE_OK(context, tsi_amg_strength(context, &level, 0.08, 0, &graph));
  static const int lengths[n] = {1, 1, 1, 1, 0, 0};
  for (int i = 0; i < n; i++) CHECK_INT(graph.ends[i] - graph.begins[i], lengths[i]);
  const int expected[] = {1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 2, 1};
  for (int e = 0; e < m.offsets[n]; e++) CHECK_INT(strong[e], expected[e]);
  CHECK_OK(context, tsi_amg_aggregate(context, &graph, numbers, &count));
  CHECK_INT(count, 2);
  CHECK_INT(numbers[0], numbers[1]);
  CHECK_INT(numbers[2], numbers[3]);
  CHECK(numbers[0] != numbers[2] && numbers[4] == -1 && numbers[5] == -1);
  tsi_amg_graph_free(context, &graph);
  ref_free(&m);
  test_close(&context);
}

/* A path of two stiff nodes and two soft nodes. The adjacent soft node depends on the stiff one, but not vice
 * versa. */
static void one_way_strength(void) {
  ts_context *context = open_threads(2);
  enum { n = 4, unknowns = 2 };
  static const float a[n * n] = {1e6f, -1e6f, 0, 0, -1e6f, 1e6f, -2, 0, 0, -2, 3, -1, 0, 0, -1, 2};
  double twice[4 * n * n] = {0}, once[n * n];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      once[i * n + j] = (double)a[i * n + j];
      for (int u = 0; u < unknowns; u++)
        twice[(i * unknowns + u) * n * unknowns + j * unknowns + u] = once[i * n + j];
    }
  for (int u = 1; u <= unknowns; u++) {
    ref_matrix m = sparse(n * u, u == 1 ? once : twice);
    unsigned char strong[unknowns * (3 * n - 2)];
    const tsi_amg_host_level level = {.A = view(&m), .unknowns = u, .nodes = n, .strong = strong};
    tsi_amg_graph graph;
    test_context_label("%d unknowns a node", u);
    REQUIRE_OK(context, tsi_amg_strength(context, &level, 0.08, 0, &graph));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) CHECK_INT(depends(&graph, i, j), abs(i - j) == 1 && !(i == 1 && j == 2));
    for (int i = 0; i < m.rows; i++)
      for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++)
        CHECK_INT(strong[e], i / u == 1 && m.indices[e] / u == 2 ? TSI_AMG_WEAK : TSI_AMG_STRONG);
    tsi_amg_graph_free(context, &graph);
    ref_free(&m);
  }
  test_context_label("%s", "");
  test_close(&context);
}

/* For each node of a cube of 3^3 nodes, with `unknowns` per node, counts the neighbours that it depends on. The
 * diagonal of node `held` is multiplied by 1e6 (-1: none). */
static void find_dependent(ts_context *context, int unknowns, const float *c, float scale, int held,
                           int dependent[27]) {
  ref_matrix m = ref_cube_27(3, unknowns, c[0], c[1], c[2], c[3]);
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++)
      m.values[e] *= m.indices[e] == i && i / unknowns == held ? 1e6f * scale : scale;
  unsigned char *strong = malloc((size_t)m.offsets[m.rows]);
  const tsi_amg_host_level level = {.A = view(&m), .unknowns = unknowns, .nodes = 27, .strong = strong};
  tsi_amg_graph graph;
  if (CHECK_OK(context, tsi_amg_strength(context, &level, unknowns == 1 ? 0.08 : 0.02, 0, &graph))) {
    for (int i = 0; i < 27; i++) dependent[i] = graph.ends[i] - graph.begins[i];
    tsi_amg_graph_free(context, &graph);
  }
  free(strong);
  ref_free(&m);
}

/* Strength is relative to the row, at every scale. A large diagonal leaves a row without strong couplings, and
 * the small couplings of an anisotropic row stay weak. */
static void relative_strength(void) {
  enum { centre = 13, corner = 0, face = 4 };
  static const float points[4] = {26, -1, -1, -1}, trilinear[4] = {32, 0, -2, -1},
                     steep[4] = {26, -3, -0.5f, -0.1f};
  ts_context *context = open_threads(2);
  int dependent[27] = {0};
  for (int unknowns = 1; unknowns <= 3; unknowns++)
    for (int exponent = -100; exponent <= 100; exponent += 50) {
      const float scale = ldexpf(1, exponent);
      test_context_label("%d unknowns per node, scale 2^%d", unknowns, exponent);
      find_dependent(context, unknowns, points, scale, -1, dependent);
      CHECK_INT(dependent[centre], 26);
      CHECK_INT(dependent[face], 17); /* 17 of 26 is close enough to all */
      CHECK_INT(dependent[corner], unknowns == 1 ? 0 : 7);
      find_dependent(context, unknowns, trilinear, scale, -1, dependent);
      CHECK_INT(dependent[centre], 20);
      find_dependent(context, unknowns, points, scale, centre, dependent);
      CHECK_INT(dependent[centre], 0);
      CHECK_INT(dependent[face], 17); /* the coupling is not mutual */
      find_dependent(context, unknowns, steep, scale, -1, dependent);
      CHECK_INT(dependent[centre], unknowns == 1 ? 6 : 18);
    }
  test_context_label("%s", "");
  test_close(&context);
}

/* A row of infinitely stretched bilinear elements: only neighbours along lines are strong. The same holds in
 * other units and signs if the near-null vector provides them. In mass matrices large entries are strong. */
static void signs(void) {
  static const double stiffness[3] = {-1, 2, -1}, mass[3] = {1 / 6., 4 / 6., 1 / 6.};
  ts_context *context = open_threads(2);
  enum { side = 5, n = side * side, centre = n / 2 };
  for (int round = 0; round < 3; round++) {
    double a[n * n] = {0}, weights[n];
    for (int i = 0; i < n; i++) weights[i] = round == 1 ? ldexp(i % 3 == 1 ? -1 : 1, i * 7 % 20 - 10) : 1;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const int dx = j % side - i % side, dy = j / side - i / side;
        if (abs(dx) <= 1 && abs(dy) <= 1)
          a[i * n + j] = (round == 2 ? mass : stiffness)[dx + 1] * mass[dy + 1] / (weights[i] * weights[j]);
      }
    ref_matrix m = sparse(n, a);
    unsigned char strong[9 * n];
    tsi_amg_host_level level = {.A = view(&m), .unknowns = 1, .vectors = 1, .nodes = n, .strong = strong};
    if (round == 1) level.near_null = weights;
    for (int depth = 0; depth < 4; depth++) {
      tsi_amg_graph graph;
      test_context_label("round %d, level %d", round, depth);
      REQUIRE_OK(context, tsi_amg_strength(context, &level, 0.08, depth, &graph));
      for (int j = 0; j < n && round < 2; j++)
        CHECK_INT(depends(&graph, centre, j), j == centre - 1 || j == centre + 1);
      if (round == 2) CHECK_INT(graph.ends[centre] - graph.begins[centre], depth == 0 ? 4 : 8);
      tsi_amg_graph_free(context, &graph);
    }
    ref_free(&m);
  }
  test_context_label("%s", "");
  test_close(&context);
}

/* The near-null space adopts the units of the rows: those of D^-1, separately for each unknown of a node. It
 * does not if only coefficients jump. In constrained rows it is 0. */
static void units(void) {
  ts_context *context = open_threads(3);
  for (int unknowns = 1; unknowns <= 2; unknowns++)
    for (int scaled = 0; scaled < 2; scaled++) {
      ref_matrix m = ref_cube_27(6, unknowns, 26, -1, -1, -1);
      float *d = ref_values(m.rows, 9, -6, 6);
      for (int32_t i = 0; i < m.rows; i++) d[i] = scaled ? ldexpf(1, (int)d[i]) : 1;
      for (int32_t i = 0; i < m.rows; i++)
        for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) m.values[e] *= d[i] * d[m.indices[e]];
      for (int32_t e = m.offsets[7]; e < m.offsets[8]; e++)
        if (m.indices[e] == 7) m.values[e] = 0;
      tsi_amg_host_level level = {
          .A = view(&m), .unknowns = unknowns, .vectors = unknowns, .nodes = m.rows / unknowns};
      level.near_null = calloc((size_t)m.rows * (size_t)unknowns, sizeof *level.near_null);
      test_context_label("%d unknowns per node, scaled: %d", unknowns, scaled);
      CHECK_OK(context, tsi_amg_units(context, &level));
      for (int32_t i = 0; i < m.rows; i++)
        for (int v = 0; v < unknowns; v++) {
          const double value = scaled ? 1 / (sqrt(26) * (double)d[i]) : 1;
          const double expected = v == i % unknowns && i != 7 ? value : 0;
          CHECK(fabs(level.near_null[i * unknowns + v] - expected) <= 1e-12 * expected);
        }
      free(level.near_null), free(d);
      ref_free(&m);
    }
  test_context_label("%s", "");
  test_close(&context);
}

/* A graph with mostly one-way connections: the search must end. */
static void one_way(void) {
  ts_context *context = open_threads(2);
  enum { n = 500 };
  int32_t begins[n], ends[n], indices[3 * n], numbers[n], count = 0;
  float magnitudes[3 * n];
  ref_random r = {7};
  for (int i = 0, to = 0; i < n; i++) {
    begins[i] = to;
    for (int k = ref_below(&r, 4); k > 0; k--) {
      const int32_t j = ref_below(&r, n);
      if (j == i) continue;
      magnitudes[to] = 1;
      indices[to++] = j;
    }
    ends[i] = to;
  }
  const tsi_amg_graph graph = {n, begins, ends, indices, magnitudes};
  CHECK_OK(context, tsi_amg_aggregate(context, &graph, numbers, &count));
  CHECK(count > 0 && count < n);
  for (int i = 0; i < n; i++) CHECK(numbers[i] >= -1 && numbers[i] < count);
  test_close(&context);
}

/* ---- Prolongators ---- */

static void tentative(void) {
  ts_context *context = open_threads(2);
  enum { nodes = 300, unknowns = 2, vectors = 4, count = 40 };
  const int32_t rows = nodes * unknowns;
  double *fine = ref_doubles((size_t)rows * vectors, 5, -1, 1),
         *kept = malloc((size_t)rows * vectors * sizeof *kept);
  int32_t numbers[nodes];
  for (int i = 0; i < nodes; i++) numbers[i] = i % 11 == 3 ? -1 : i * 7 % count;
  for (int i = 0; i < rows; i++) fine[i * vectors + 2] = fine[i * vectors] - 3 * fine[i * vectors + 1];
  memcpy(kept, fine, (size_t)rows * vectors * sizeof *kept);
  float *T = malloc((size_t)rows * vectors * sizeof *T);
  float weights[nodes];
  double *coarse = malloc((size_t)count * vectors * vectors * sizeof *coarse);
  const tsi_amg_host_level level = {.A = {.rows = rows},
                                    .nodes = nodes,
                                    .unknowns = unknowns,
                                    .vectors = vectors,
                                    .aggregates = numbers,
                                    .aggregate_count = count,
                                    .tentative = T,
                                    .weights = weights,
                                    .near_null = fine};
  CHECK_OK(context, tsi_amg_tentative(context, &level, coarse));
  for (int i = 0; i < rows; i++)
    for (int v = 0; v < vectors; v++) {
      const int32_t a = numbers[i / unknowns];
      double sum = 0;
      for (int w = 0; w < vectors && a >= 0; w++)
        sum += (double)T[i * vectors + w] * coarse[(a * vectors + w) * vectors + v];
      CHECK_CLOSE(sum, a < 0 ? 0 : kept[i * vectors + v], 1e-6);
    }
  for (int a = 0; a < count; a++)
    for (int v = 0; v < vectors; v++)
      for (int w = 0; w < vectors; w++) {
        double sum = 0;
        for (int i = 0; i < rows; i++)
          if (numbers[i / unknowns] == a) sum += (double)T[i * vectors + v] * (double)T[i * vectors + w];
        CHECK_CLOSE(sum, v == w && v != 2, 1e-6);
      }
  free(fine), free(kept), free(T), free(coarse);
  test_close(&context);
}

/* ---- Products ---- */

static void products(void) {
  for (int threads = 1; threads <= 3; threads++) {
    ts_context *context = open_threads(threads);
    ref_matrix a = ref_random_spd(90, 6, 2), p = ref_uneven_rows(90, 80, 20, 9);
    const tsi_amg_csr A = view(&a), P = view(&p);
    tsi_amg_csr R = {0}, C = {0};
    REQUIRE_OK(context, tsi_amg_transpose(context, &P, &R));
    REQUIRE_OK(context, tsi_amg_galerkin(context, &R, &A, &P, 1, &C));
    double *da = dense_of(&A), *dp = dense_of(&P), *dc = dense_of(&C), *dr = dense_of(&R);
    for (int i = 0; i < 80; i++)
      for (int j = 0; j < 80; j++) {
        double sum = 0, size = 0;
        for (int k = 0; k < 90; k++)
          for (int l = 0; l < 90; l++) {
            const double term = dp[k * 80 + i] * da[k * 90 + l] * dp[l * 80 + j];
            sum += term;
            size += fabs(term);
          }
        CHECK_CLOSE(dc[i * 80 + j], sum, 2e-7 * size + (size == 0));
      }
    for (int i = 0; i < 90; i++)
      for (int j = 0; j < 80; j++) CHECK(dr[j * 90 + i] == -dp[i * 80 + j]);
    for (int32_t i = 0; i < C.rows; i++)
      for (int32_t e = C.offsets[i] + 1; e < C.offsets[i + 1]; e++) CHECK(C.indices[e] > C.indices[e - 1]);
    free(da), free(dp), free(dc), free(dr);
    tsi_amg_csr_free(context, &R);
    tsi_amg_csr_free(context, &C);
    ref_free(&a), ref_free(&p);
    test_close(&context);
  }
}

/* ---- Hierarchies ---- */

static int same(const tsi_amg_csr *a, const tsi_amg_csr *b) {
  if (!a->offsets || !b->offsets) return !a->offsets && !b->offsets;
  const size_t rows = (size_t)a->rows + 1, entries = (size_t)a->offsets[a->rows];
  return a->rows == b->rows && a->columns == b->columns &&
         !memcmp(a->offsets, b->offsets, rows * sizeof *a->offsets) &&
         !memcmp(a->indices, b->indices, entries * sizeof *a->indices) &&
         !memcmp(a->values, b->values, entries * sizeof *a->values);
}

static void check_same(const tsi_amg_host *a, const tsi_amg_host *b) {
  if (!CHECK_INT(a->levels, b->levels)) return;
  for (int l = 0; l < a->levels; l++) {
    const tsi_amg_host_level *x = &a->level[l], *y = &b->level[l];
    CHECK(same(&x->A, &y->A));
    CHECK(same(&x->P, &y->P));
    CHECK(same(&x->R, &y->R));
    CHECK(x->bound == y->bound && x->eigenvalue == y->eigenvalue);
  }
  const size_t n = (size_t)a->level[a->levels - 1].A.rows;
  if (CHECK(!a->inverse == !b->inverse) && a->inverse)
    CHECK(!memcmp(a->inverse, b->inverse, n * n * sizeof(float)));
}

static void check_hierarchy(const tsi_amg_host *host) {
  for (int l = 0; l + 1 < host->levels; l++) {
    const tsi_amg_host_level *level = &host->level[l], *next = level + 1;
    CHECK(level->eigenvalue > 0 && level->eigenvalue <= level->bound);
    CHECK_INT(next->A.rows, level->aggregate_count * level->vectors);
    CHECK(next->A.rows <= 0.9 * level->A.rows);
    for (int32_t i = 0; i < next->A.rows; i++) {
      CHECK(entry(&next->A, i, i) > 0);
      for (int32_t e = next->A.offsets[i]; e < next->A.offsets[i + 1]; e++) {
        const int32_t j = next->A.indices[e];
        const double size = sqrt(entry(&next->A, i, i) * entry(&next->A, j, j));
        CHECK_CLOSE((double)next->A.values[e], entry(&next->A, j, i), 2e-6 * size);
      }
    }
    for (int32_t i = 0; i < level->A.rows; i++)
      for (int32_t e = level->P.offsets[i]; e < level->P.offsets[i + 1]; e++)
        CHECK((double)level->P.values[e] == -entry(&level->R, level->P.indices[e], i));
  }
}

static void hierarchies(void) {
  for (int k = 0; k < SAMPLES; k++) {
    sample s = get_sample(k);
    const tsi_amg_csr A = view(&s.matrix);
    tsi_amg_host first;
    ts_context *one = open_threads(1);
    test_context_label("%s", s.name);
    REQUIRE_OK(one, tsi_amg_setup(one, &s.desc, &A, 0, &first));
    CHECK(first.levels > 1 && first.inverse);
    check_hierarchy(&first);
    static const int threads[] = {2, 3, 7};
    for (int t = 0; t < 3; t++) {
      ts_context *context = open_threads(threads[t]);
      test_context_label("%s, %d threads", s.name, threads[t]);
      tsi_amg_host host;
      REQUIRE_OK(context, tsi_amg_setup(context, &s.desc, &A, 0, &host));
      check_same(&first, &host);
      CHECK_OK(context, tsi_amg_setup(context, &s.desc, &A, 1, &host));
      check_same(&first, &host);
      tsi_amg_host_free(context, &host);
      test_close(&context);
    }
    /* Four times the matrix, which keeps the square roots of its diagonal exact. Its hierarchy is the first one
     * with four times the coarse matrices. */
    for (int32_t e = 0; e < A.offsets[A.rows]; e++) A.values[e] *= 4;
    CHECK_OK(one, tsi_amg_setup(one, &s.desc, &A, 1, &first));
    tsi_amg_host twice;
    CHECK_OK(one, tsi_amg_setup(one, &s.desc, &A, 0, &twice));
    check_same(&first, &twice);
    tsi_amg_host_free(one, &first);
    tsi_amg_host_free(one, &twice);
    test_close(&one);
    sample_free(&s);
  }
  test_context_label("%s", "");
}

/* If A maps constants to 0, so does the filtered matrix, and the smoothed prolongator reproduces constants. */
static void constants(void) {
  ts_context *context = open_threads(2);
  for (int k = 0; k < 2; k++) {
    ref_matrix m = k ? anisotropic(30, 30, 1.0f / 128) : ref_graph(30, 30);
    for (int32_t i = 0; i < m.rows; i++) { /* makes all row sums 0 */
      double sum = 0;
      int32_t diagonal = 0;
      for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++)
        if (m.indices[e] == i)
          diagonal = e;
        else
          sum += (double)m.values[e];
      m.values[diagonal] = (float)-sum;
    }
    const tsi_amg_csr A = view(&m);
    const ts_amg_desc desc = defaults();
    tsi_amg_host host;
    REQUIRE_OK(context, tsi_amg_setup(context, &desc, &A, 0, &host));
    const tsi_amg_csr *P = &host.level[0].P;
    int32_t *sizes = calloc((size_t)P->columns, sizeof *sizes);
    for (int32_t i = 0; i < m.rows; i++) sizes[host.level[0].aggregates[i]]++;
    for (int32_t i = 0; i < P->rows; i++) {
      double sum = 0;
      for (int32_t e = P->offsets[i]; e < P->offsets[i + 1]; e++)
        sum += (double)P->values[e] * sqrt(sizes[P->indices[e]]);
      CHECK_CLOSE(sum, 1, 2e-6);
    }
    /* The last level is singular, so the inverse omits one unknown. */
    const int32_t n = host.level[host.levels - 1].A.rows;
    int empty = 0;
    for (int32_t i = 0; i < n; i++) empty += host.inverse[i * n + i] == 0;
    CHECK_INT(empty, 1);
    for (int32_t e = 0; e < n * n; e++) CHECK(isfinite(host.inverse[e]));
    free(sizes);
    tsi_amg_host_free(context, &host);
    ref_free(&m);
  }
  test_close(&context);
}

typedef struct second_step {
  double energies, below;
  int is_made;
} second_step;

static second_step second_step_of(ts_context *context, ref_matrix m) {
  const tsi_amg_csr A = view(&m);
  const ts_amg_desc desc = defaults();
  tsi_amg_host host;
  second_step s = {0};
  if (CHECK_OK(context, tsi_amg_setup(context, &desc, &A, 0, &host))) {
    s = (second_step){host.level[0].energies, host.level[1].energies, host.level[0].smooths_twice};
    tsi_amg_host_free(context, &host);
  }
  ref_free(&m);
  return s;
}

/* Energies are computed only if there are positive couplings. The energies of a rotated anisotropy require a
 * second smoothing step, on coarser levels too. */
static void second_steps(void) {
  ts_context *context = open_threads(2);
  const second_step rotated = second_step_of(context, ref_rotated(60, 60)),
                    grid = second_step_of(context, ref_grid(60, 60)),
                    corners = second_step_of(context, ref_cube_27(16, 1, 30, -2, -2, 1));
  CHECK(rotated.is_made && rotated.energies > 2 && rotated.energies < 2.3);
  CHECK(rotated.below == rotated.energies);
  CHECK(!grid.is_made && grid.energies == 0);
  CHECK(!corners.is_made && corners.energies == 0); /* not computed for aggregates of many nodes */
  test_close(&context);
}

/* A nearly degenerate triangle in a large grid. Its eigenvector has three rows, which are a tiny part of a
 * vector's norm, and its eigenvalue of almost 3 is the largest. The eigenvalues of the grid are below 2. */
static void few_rows(void) {
  static const float weights[] = {1, -2, 1};
  ts_context *context = open_threads(2);
  ref_matrix m = ref_grid(200, 200);
  const int32_t corner = 100 * 200 + 100, corners[] = {corner, corner + 1, corner + 201};
  int found = 0;
  for (int a = 0; a < 3; a++)
    for (int32_t e = m.offsets[corners[a]]; e < m.offsets[corners[a] + 1]; e++)
      for (int b = 0; b < 3; b++) {
        if (m.indices[e] != corners[b]) continue;
        m.values[e] += 1000 * weights[a] * weights[b];
        found++;
      }
  CHECK_INT(found, 9);
  tsi_amg_host_level level = {.A = view(&m), .unknowns = 1};
  level.bound = tsi_amg_bound(&level.A);
  CHECK_OK(context, tsi_amg_eigenvalue(context, &level));
  CHECK(level.eigenvalue > 2.9 && level.eigenvalue < 3.2 && level.bound > 3.9);
  ref_free(&m);
  test_close(&context);
}

static void inverse(void) {
  ts_context *context = open_threads(1);
  static const int32_t sizes[] = {1, 2, 7, 150};
  for (int k = 0; k < 4; k++) {
    const int32_t n = sizes[k];
    ref_matrix m = ref_random_spd(n, 5, 4);
    const tsi_amg_csr A = view(&m);
    float *inverse = NULL;
    REQUIRE_OK(context, tsi_amg_invert(context, &A, &inverse));
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j < n; j++) {
        double sum = 0;
        for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++)
          sum += (double)m.values[e] * (double)inverse[m.indices[e] * n + j];
        CHECK_CLOSE(sum, i == j, 1e-5);
      }
    tsi_free(context, inverse);
    ref_free(&m);
  }
  test_close(&context);
}

/* ---- Difficult matrices ---- */

static int levels_of(ts_context *context, const ref_matrix *m, ts_amg_desc desc) {
  const tsi_amg_csr A = view(m);
  tsi_amg_host host;
  if (!CHECK_OK(context, tsi_amg_setup(context, &desc, &A, 0, &host))) return 0;
  for (int l = 0; l < host.levels; l++) {
    const tsi_amg_host_level *level = &host.level[l];
    for (int32_t e = 0; e < level->A.offsets[level->A.rows]; e++) CHECK(isfinite(level->A.values[e]));
    for (int32_t e = 0; level->P.offsets && e < level->P.offsets[level->P.rows]; e++)
      CHECK(isfinite(level->P.values[e]));
  }
  const size_t n = (size_t)host.level[host.levels - 1].A.rows;
  for (size_t e = 0; host.inverse && e < n * n; e++) CHECK(isfinite(host.inverse[e]));
  const int levels = host.levels;
  tsi_amg_host_free(context, &host);
  return levels;
}

static void ends(void) {
  ts_context *context = open_threads(2);
  ref_matrix diagonal = ref_diagonal(2000, 1, 1e6f), grid = ref_grid(40, 40), arrow = ref_arrow(1500);
  ref_matrix indefinite = ref_indefinite(30, 30), one = ref_diagonal(1, 1, 1), zero = ref_grid(30, 30);
  CHECK_INT(levels_of(context, &diagonal, defaults()), 1); /* without connections, so without an inverse */
  CHECK_INT(levels_of(context, &one, defaults()), 1);
  CHECK(levels_of(context, &grid, defaults()) > 1);
  ts_amg_desc desc = defaults();
  desc.max_levels = 1;
  CHECK_INT(levels_of(context, &grid, desc), 1);
  desc.max_levels = 2;
  CHECK_INT(levels_of(context, &grid, desc), 2);
  desc = defaults();
  desc.coarsest = 1000;
  CHECK_INT(levels_of(context, &grid, desc), 2);
  desc = defaults();
  desc.strength = 0;
  CHECK(levels_of(context, &arrow, desc) >= 1); /* one aggregate of all nodes */
  levels_of(context, &indefinite, defaults());
  for (int32_t i = 0; i < zero.rows; i++)
    for (int32_t e = zero.offsets[i]; e < zero.offsets[i + 1]; e++)
      if (zero.indices[e] != i) zero.values[e] = fabsf(zero.values[e]);
  levels_of(context, &zero, defaults()); /* positive off the diagonal */
  memset(zero.values, 0, (size_t)zero.offsets[zero.rows] * sizeof *zero.values);
  CHECK_INT(levels_of(context, &zero, defaults()), 1);
  ref_free(&diagonal), ref_free(&grid), ref_free(&arrow), ref_free(&indefinite), ref_free(&one),
      ref_free(&zero);
  test_close(&context);
}

/* When memory runs out, the set-up and the update report it and leave nothing behind. An update can be
 * repeated. */
static void memory_runs_out(void) {
  const ts_context_desc desc = {.backend = "cpu", .threads = 2, .allocator = heap_allocator()};
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  const long live = memory.live;
  for (int k = 7; k < SAMPLES; k++) {
    sample s = get_sample(k);
    const tsi_amg_csr A = view(&s.matrix);
    tsi_amg_host host, fresh;
    FAIL_EACH_USE(context, tsi_amg_setup(context, &s.desc, &A, 0, &host));
    FAIL_EACH_USE(context, tsi_amg_setup(context, &s.desc, &A, 1, &host));
    CHECK_OK(context, tsi_amg_setup(context, &s.desc, &A, 0, &fresh));
    check_same(&host, &fresh);
    tsi_amg_host_free(context, &host);
    tsi_amg_host_free(context, &fresh);
    CHECK_INT(memory.live, live);
    sample_free(&s);
  }
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

TEST_MAIN_ON_HOST(CASES(strength, one_way_strength, relative_strength, signs, units, aggregates, one_way,
                        tentative, products, hierarchies, constants, few_rows, second_steps, inverse, ends,
                        memory_runs_out))
