/* The matrices of the mesh flow, which the device computes, compared with double precision. */
#include <texsolve/mesh.h>

#include "common/core/core.h"
#include "helpers.h"
#include "mesh/mesh_operator.h"
#include "mesh_samples.h"

static ts_context *context;
static ts_format formats[8];
static int format_count;

static ts_mesh_flow_desc desc_of(const mesh_sample *m) {
  const ts_mesh_flow_desc desc = {
      .vertices = m->vertices, .triangles = m->triangles, .triangle_vertices = m->t};
  return desc;
}

static ts_mesh_flow *make_flow(const ts_mesh_flow_desc *desc) {
  ts_mesh_flow *flow = NULL;
  CHECK_OK(context, ts_mesh_flow_create(context, desc, &flow));
  return flow;
}

/* ---- Matrices ---- */

typedef struct problem {
  ts_mesh_flow_desc desc;
  const mesh_sample *mesh;
  unsigned char *boundary, *constrained; /* constrained: must not move */
  double time_step;
} problem;

/* The matrices use a unit of length in which lambda dt is from 1 to 4. */
static float scale_of(double time_step) {
  float scale = 1;
  while (3 * time_step * scale * scale >= 4) scale /= 2;
  while (3 * time_step * scale * scale < 1) scale *= 2;
  return scale;
}

/* Checks A v of one matrix. `rows` marks the rows of its system. Constrained rows are 0, and all others are
 * those of the identity. */
static void check_product(const problem *p, const tsi_mesh_operator *op, mesh_system *system, ts_vector *v,
                          const float *vs) {
  const ts_matrix *A = op->matrix;
  const size_t n = (size_t)p->mesh->vertices;
  double *out = malloc(8 * n * sizeof *out), *size = out + 3 * n, *diagonal = out + 6 * n,
         *diagonal_size = out + 7 * n;
  mesh_apply(system, vs, out, size, diagonal, diagonal_size);
  for (size_t i = 0; i < n; i++)
    if (p->constrained[i]) out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = diagonal[i] = 0;
  ts_space *space = ts_matrix_get_row_space(A);
  ts_vector *y = make_vector(space, 3, NULL), *d = make_vector(space, 1, NULL);
  CHECK_OK(context, ts_matrix_multiply(y, A, v));
  CHECK_OK(context, ts_matrix_diagonal(d, A));
  float *ys = read_vector(y), *ds = read_vector(d);
  /* The entries have errors of a few roundings each. Their sum has one rounding per entry, which adds up like a
   * square root. */
  const double tolerance = 12 + 2 * sqrt((double)matrix_info(A).longest_row);
  CHECK_VALUES(ys, out, size, 3 * n, tolerance);
  CHECK_VALUES(ds, diagonal, diagonal_size, n, tolerance);
  CHECK_PADDING(y);
  CHECK_PADDING(d);
  /* Without rows of the identity A is symmetric. A^T must have the entries that the device computed last. */
  if (!memchr(p->boundary, 1, n) && !memchr(p->constrained, 1, n)) {
    CHECK_OK(context, ts_matrix_multiply_transposed(y, op->matrix, v));
    CHECK_OK(context, ts_vector_read(y, ts_host(ys, 3 * n)));
    CHECK_VALUES(ys, out, size, 3 * n, tolerance);
  }

  /* The right-hand side, with v as the positions. */
  system->force = 1;
  mesh_apply(system, vs, out, size, diagonal, diagonal_size);
  system->force = 0;
  CHECK_OK(context, tsi_enter(context));
  CHECK_OK(context, tsi_leave(context, context->ops->mesh->force(y, op, v, 1)));
  CHECK_OK(context, ts_vector_read(y, ts_host(ys, 3 * n)));
  CHECK_VALUES(ys, out, size, 3 * n, tolerance);
  CHECK_PADDING(y);
  free(ys), free(ds), free(out);
  ts_vector_destroy(&y);
  ts_vector_destroy(&d);
}

static void check_matrices(const problem *p, ts_mesh_flow *flow, ts_vector *v, const float *vs) {
  const size_t n = (size_t)p->mesh->vertices;
  unsigned char *rows = calloc(n, 1);
  const float scale = scale_of(p->time_step);
  const double time_step = p->time_step * scale * scale;
  float *x = malloc(3 * n * sizeof *x);
  for (size_t i = 0; i < 3 * n; i++) x[i] = scale * p->mesh->x[i];
  mesh_system system = {.mesh = p->mesh, .x = x, .rows = rows, .factor = (float)(3 * time_step)};
  for (size_t i = 0; i < n; i++) rows[i] = !p->constrained[i] && !p->boundary[i];
  check_product(p, &flow->surface, &system, v, vs);
  CHECK(ts_mesh_flow_get_matrix(flow) == flow->surface.matrix);
  const ts_matrix *curve = ts_mesh_flow_get_boundary_matrix(flow);
  CHECK((curve != NULL) == (p->desc.boundary == TS_MESH_BOUNDARY_FLOW && memchr(p->boundary, 1, n) != NULL));
  if (curve) {
    system.curve = 1;
    system.factor = (float)(2 * time_step);
    system.shortest = (float)(1e-3 * sqrt(2 * time_step));
    for (size_t i = 0; i < n; i++) rows[i] = !p->constrained[i] && p->boundary[i];
    check_product(p, &flow->curve, &system, v, vs);
  }
  free(x);
  free(rows);
}

/* The matrices at the mesh's positions: all columns of a small matrix, otherwise two random vectors. */
static void check_assembly(const problem *p, ts_mesh_flow *flow) {
  const size_t n = (size_t)p->mesh->vertices;
  /* Positions inside a texture: the last vector of a group, if the backend has groups. */
  ts_vector *group[4] = {NULL}, *v = make_vector(ts_mesh_flow_get_space(flow), 3, NULL);
  CHECK_OK(context, tsi_enter(context));
  CHECK_OK(context,
           tsi_leave(context, tsi_arena_create(ts_mesh_flow_get_space(flow), 3, 1, group, 4, 0, NULL)));
  ts_vector *x = group[3];
  CHECK_OK(context, ts_vector_write(x, ts_host(p->mesh->x, 3 * n)));
  const uint64_t before = context_info(context).host_synchronisations;
  CHECK_OK(context, ts_mesh_flow_assemble(flow, x, p->time_step));
  CHECK_INT(context_info(context).host_synchronisations - before, 0);
  float *xs = read_vector(x);
  CHECK(memcmp(xs, p->mesh->x, 3 * n * sizeof *xs) == 0);
  if (n <= 40)
    for (size_t column = 0; column < n; column += 3) {
      float *unit = calloc(3 * n, sizeof *unit);
      for (size_t c = 0; c < 3 && column + c < n; c++) unit[3 * (column + c) + c] = 1;
      CHECK_OK(context, ts_vector_write(v, ts_host(unit, 3 * n)));
      check_matrices(p, flow, v, unit);
      free(unit);
    }
  else
    for (uint64_t seed = 1; seed <= 2; seed++) {
      float *vs = ref_values(3 * n, seed, -1, 1);
      CHECK_OK(context, ts_vector_write(v, ts_host(vs, 3 * n)));
      check_matrices(p, flow, v, vs);
      free(vs);
    }
  free(xs);
  for (int k = 0; k < 4; k++) ts_vector_destroy(&group[k]);
  ts_vector_destroy(&v);
}

/* A mesh in every format, with fixed and flowing boundary, with and without constrained vertices. A brief run
 * has one combination per format, which changes from mesh to mesh. */
static void check_mesh(const char *name, mesh_sample m, double time_step) {
  static int calls;
  calls++;
  const size_t n = (size_t)m.vertices;
  unsigned char *boundary = mesh_boundary(&m), *some = calloc(n, 1), *constrained = malloc(n);
  some[0] = some[n / 2] = some[n - 1] = 1;
  for (int f = 0; f < format_count; f++)
    for (int flows = 0; flows < 2; flows++)
      for (int holds = 0; holds < 2; holds++) {
        if (test_is_brief() && (calls + f + 2 * flows + holds) % 4) continue;
        test_context_label("%s, %s, %s boundary%s", name, ts_format_name(formats[f]),
                           flows ? "flowing" : "fixed", holds ? ", constrained vertices" : "");
        problem p = {desc_of(&m), &m, boundary, constrained, time_step};
        p.desc.format = formats[f];
        p.desc.boundary = flows ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED;
        p.desc.constrained = holds ? some : NULL;
        int32_t at_boundary = 0, still = 0;
        for (size_t i = 0; i < n; i++) {
          constrained[i] = (holds && some[i]) || (!flows && boundary[i]);
          at_boundary += boundary[i];
          still += constrained[i];
        }
        ts_mesh_flow *flow = make_flow(&p.desc);
        if (!flow) continue;
        ts_mesh_flow_info info;
        CHECK_OK(context, ts_mesh_flow_get_info(flow, &info));
        CHECK_INT(info.vertices, m.vertices);
        CHECK_INT(info.triangles, m.triangles);
        CHECK_INT(info.boundary_vertices, at_boundary);
        CHECK_INT(info.constrained_vertices, still);
        CHECK(info.bytes_device > 0 && info.bytes_device <= context_info(context).bytes_device);
        if (formats[f] != TS_FORMAT_AUTO) CHECK_INT(info.format, formats[f]);
        check_assembly(&p, flow);
        ts_mesh_flow_destroy(&flow);
      }
  test_context_label("%s", "");
  free(boundary), free(some), free(constrained);
  mesh_free(&m);
}

static void small_meshes(void) {
  check_mesh("icosahedron", mesh_sphere(0), 0.01);
  check_mesh("two rings", mesh_disk(2), 0.01);
  check_mesh("three rings", mesh_disk(3), 0.5);
  check_mesh("cone of five", mesh_cone(5, 1), 0.1);
}

static void irregular_meshes(void) {
  check_mesh("irregular", mesh_irregular(20, 0, 1), 1e-3);
  check_mesh("slivers", mesh_irregular(20, 1, 2), 1e-3);
  check_mesh("large slivers", mesh_irregular(20, 1, 3), 100);
}

static void large_meshes(void) {
  check_mesh("sphere", mesh_sphere(4), 1e-3);
  check_mesh("large irregular", mesh_irregular(75, 1, 4), 1e-4);
}

/* A row that needs several passes if rows are drawn. */
static void high_valence(void) {
  check_mesh("cone of 3000", mesh_cone(3000, 0.5), 1e-3);
  check_mesh("cone of 600", mesh_cone(600, 0.5), 1e-3);
}

/* a_ij and a_ji have the same bits: d_i (A e_j) = d_j (A e_i). */
static void symmetric_bits(void) {
  mesh_sample m = mesh_irregular(12, 1, 7);
  const size_t n = (size_t)m.vertices;
  for (int f = 0; f < format_count; f++) {
    ts_mesh_flow_desc desc = desc_of(&m);
    desc.format = formats[f];
    desc.boundary = TS_MESH_BOUNDARY_FLOW;
    ts_mesh_flow *flow = make_flow(&desc);
    if (!flow) continue;
    ts_space *space = ts_mesh_flow_get_space(flow);
    ts_vector *x = make_vector(space, 3, m.x), *v = make_vector(space, 1, NULL),
              *y = make_vector(space, 1, NULL);
    CHECK_OK(context, ts_mesh_flow_assemble(flow, x, 0.37));
    float *A = malloc(n * n * sizeof *A), *unit = calloc(n, sizeof *unit);
    for (size_t j = 0; j < n; j++) {
      unit[j] = 1;
      CHECK_OK(context, ts_vector_write(v, ts_host(unit, n)));
      unit[j] = 0;
      CHECK_OK(context, ts_matrix_multiply(y, ts_mesh_flow_get_matrix(flow), v));
      CHECK_OK(context, ts_vector_read(y, ts_host(A + j * n, n)));
    }
    unsigned char *boundary = mesh_boundary(&m);
    int differ = 0, entries = 0;
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < i; j++) {
        differ += !boundary[i] && !boundary[j] && A[i * n + j] != A[j * n + i];
        entries += A[i * n + j] != 0;
      }
    CHECK_INT(differ, 0);
    CHECK(entries > 2 * m.vertices);
    free(boundary), free(A), free(unit);
    ts_vector_destroy(&x);
    ts_vector_destroy(&v);
    ts_vector_destroy(&y);
    ts_mesh_flow_destroy(&flow);
  }
  mesh_free(&m);
}

/* A negative time step gives a matrix that is not positive definite. The solver must detect this by comparing
 * with the magnitude of the matrix. Only the device knows it, so the solver must have requested it. */
static void backwards(void) {
  mesh_sample m = mesh_irregular(16, 0, 3);
  const ts_mesh_flow_desc desc = desc_of(&m);
  ts_mesh_flow *flow = make_flow(&desc);
  ts_space *space = ts_mesh_flow_get_space(flow);
  ts_vector *x = make_vector(space, 3, m.x), *b = make_vector(space, 3, m.x), *d = make_vector(space, 1, NULL);
  CHECK_OK(context, tsi_enter(context));
  CHECK_OK(context, tsi_leave(context, context->ops->mesh->assemble(&flow->surface, x, 1, -1e-3f, 0)));
  const ts_solver_desc plain = {.preconditioner_kind = TS_PRECONDITIONER_NONE};
  ts_solver *cg = make_cg(flow->surface.matrix, &plain);
  ts_result result;
  CHECK_INT(ts_solver_solve(cg, b, x, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_INDEFINITE);
  CHECK_OK(context, ts_matrix_diagonal(d, flow->surface.matrix));
  float *ds = read_vector(d);
  double largest = 0;
  for (int32_t i = 0; i < m.vertices; i++) largest = fmax(largest, fabs((double)ds[i]));
  CHECK(flow->surface.matrix->norm_infinity == 2 * largest);
  free(ds);
  ts_solver_destroy(&cg);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_vector_destroy(&d);
  ts_mesh_flow_destroy(&flow);
  mesh_free(&m);
}

static int find_formats(int round) {
  (void)round;
  format_count = list_mesh_formats(context, formats);
  return 1;
}

static const test_fixture fixture = {.context = &context, .setup = find_formats};

TEST_MAIN(CASES_WITH(&fixture, small_meshes, irregular_meshes, large_meshes, high_valence, symmetric_bits,
                     backwards))
