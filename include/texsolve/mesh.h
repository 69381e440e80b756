/* Triangle meshes: implicit mean-curvature flow, with the matrix assembled on the device from the positions
 * (Bolz et al. 2003, sections 3 and 3.1.2; the scheme is that of Desbrun et al. 1999). A step of a tetrahedron:
 *
 *   float positions[] = {1, 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1};
 *   const int triangles[] = {0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2};
 *   ts_mesh_flow_desc desc = {.vertices = 4, .triangles = 4, .triangle_vertices = triangles};
 *   ts_vector_desc three = {.components = 3};
 *   ts_mesh_flow *flow;
 *   ts_vector *x;
 *   ts_mesh_flow_create(context, &desc, &flow);
 *   ts_vector_create(ts_mesh_flow_get_space(flow), &three, &x);
 *   ts_vector_write(x, ts_host(positions, 12));
 *   ts_mesh_flow_step(flow, x, 0.01, NULL);
 *   ts_vector_read(x, ts_host(positions, 12));
 *   ts_vector_destroy(&x);
 *   ts_mesh_flow_destroy(&flow);
 *
 * One step from x to x_new solves, for the three coordinates at once,
 *
 *   A x_new = M x,   a_ij = -lambda dt (cot alpha_ij + cot beta_ij),   m_i = 4 A_i,   a_ii = m_i - sum_j a_ij
 *
 * as A e = M x - A x for the change e = x_new - x, from e = 0. The right-hand side, sum_j a_ij (x_i - x_j), is
 * computed from differences, so that single precision suffices for large meshes and time steps, and what does
 * not move stays exactly where it is. Residuals are relative to this right-hand side, the first residual.
 *
 * alpha and beta are the angles opposite the edge ij in its two triangles, and A_i is the area of all triangles
 * at vertex i. A_i counts every triangle at three vertices, so lambda = 3, the default, is the speed at which x
 * follows dx/dt = -H n with the mean curvature H = (k1 + k2) / 2: the radius of a sphere obeys r^2 = r_0^2 - 2
 * t.
 *
 * The cotangents of a sliver are bounded: cot = (u . v) / max(|u x v|, 1e-3 (sum of its squared edge lengths)).
 * The floor is one number for the three angles of a triangle, so that its share of A stays positive
 * semidefinite; clamping each cotangent by itself would not preserve that. A triangle that is a single point
 * adds nothing, and a vertex that has only such triangles does not move.
 *
 * A preconditioner that is made from values (AMG, Chebyshev, ISAI, block Jacobi) is made in the first step; for
 * the values of each later one its numbers follow (ts_preconditioner_update), until iterations have grown by
 * half or a solve fails, when it is made as a whole again. For all of them but Chebyshev the host reads the
 * positions, with one host synchronisation a step, and computes the same values. A boundary that flows has
 * Jacobi then.
 *
 * Auto, the default, is Jacobi for meshes of less than 8192 vertices, or with vertices that do not move, and
 * with fixed_iterations. For others the first step chooses; Jacobi then takes nothing from the host until
 * iterations have grown by half, when the next step chooses again.
 *
 * Lengths may have any size in the range of single precision, from 1e-37 to 1e38: a mesh s times as large takes
 * the same steps with time steps s^2 times as long. Lengths of 1e-19 to 1e19 sqrt(lambda dt) are within range.
 *
 * Threads, version, common errors and ownership are as in texsolve.h: the thread that uses the context may call
 * all functions.
 */
#ifndef TEXSOLVE_MESH_H
#define TEXSOLVE_MESH_H

#include <texsolve/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The boundary of the mesh.
 *
 * FIXED: its vertices are constrained; they have no equation (Bolz et al. 2003, 3.1.2).
 * FLOW: it evolves by the curvature of the boundary curve, which shortens it; a circle obeys r^2 = r_0^2 - 2 t
 * at the default speed. That system, a_ij = -(2 lambda / 3) dt / l_ij and m_i = sum of l_ij over the boundary
 * edges at i, with l their lengths, is solved first; in a_ij lengths below 1e-3 sqrt(2 lambda dt / 3) count as
 * that. Its result gives the boundary values of the surface's system. */
typedef enum ts_mesh_boundary { TS_MESH_BOUNDARY_FIXED = 0, TS_MESH_BOUNDARY_FLOW = 1 } ts_mesh_boundary;

typedef struct ts_mesh_flow_desc {
  int32_t vertices, triangles;      /* at least 3 and 1 */
  const int32_t *triangle_vertices; /* 3 a triangle, 0 .. vertices-1, three different ones; an edge between
                                       vertices that are not both constrained has at most two triangles, which
                                       traverse it in opposite directions */
  const unsigned char *constrained; /* `vertices` flags: constrained vertices. Default: none. A vertex without
                                  triangles is constrained anyway */
  ts_mesh_boundary boundary;        /* default: fixed */
  ts_format format;                 /* default: TS_FORMAT_AUTO */
  float speed;                      /* lambda; default: 3 */
  ts_solver_desc solver; /* of every solve by cg, in single precision unless it says another, which starts from
                       0 whatever zero_start says. If max_iterations is set, as in the paper, a solve may end
                       there and counts if the residual has fallen. A preconditioner_kind that the host takes
                       part in, auto where it chooses included, keeps the mesh there, some 120 bytes a vertex
                       more */
  int max_halvings;      /* how often a failing step may be halved, at most 30; default: 6; -1: never */
  uint64_t reserved[8];  /* 0 */
} ts_mesh_flow_desc;

typedef struct ts_mesh_flow ts_mesh_flow;

/* Creates the flow of a mesh: lays out its matrices and, for each entry, the pointers to the four vertices of
 * the two triangles at its edge. Nothing of `desc` is kept; destroy the flow before its context.
 * Errors: TS_ERROR_INVALID_ARGUMENT (an index out of range, a triangle with a repeated vertex, an edge with
 * three triangles or with two that traverse it in one direction: the triangle or the edge is named),
 * TS_ERROR_LIMIT, TS_ERROR_UNSUPPORTED (a format that the backend lacks, or a block format), memory. */
TS_API ts_status ts_mesh_flow_create(ts_context *context, const ts_mesh_flow_desc *desc, ts_mesh_flow **flow);
TS_API void ts_mesh_flow_destroy(ts_mesh_flow **flow);

typedef struct ts_mesh_flow_info {
  int32_t vertices, triangles;
  int32_t boundary_vertices;    /* at an edge with one triangle */
  int32_t constrained_vertices; /* constrained, including a fixed boundary and vertices without triangles */
  ts_format format;
  size_t bytes_device;
  uint64_t reserved[8];
} ts_mesh_flow_info;

/* Returns sizes and the format. */
TS_API ts_status ts_mesh_flow_get_info(const ts_mesh_flow *flow, ts_mesh_flow_info *info);

/* The space of the positions: create x over it, with 3 components. Owned by the flow. */
TS_API ts_space *ts_mesh_flow_get_space(const ts_mesh_flow *flow);

/* A of the last assembly, for inspection: the surface's, or the boundary's own (NULL if the boundary is fixed).
 * Owned by the flow. Rows outside the system are those of the identity. The unit of length is the power of two
 * in whose square lambda dt is at least 1 and less than 4. */
TS_API const ts_matrix *ts_mesh_flow_get_matrix(const ts_mesh_flow *flow);
TS_API const ts_matrix *ts_mesh_flow_get_boundary_matrix(const ts_mesh_flow *flow);

/* Replaces the options of later solves; NULL: the defaults. On failure the old ones are kept.
 * Errors: TS_ERROR_INVALID_ARGUMENT (field and value are named; a preconditioner_kind for which the host keeps
 * the mesh, of a flow that was made without one), memory. */
TS_API ts_status ts_mesh_flow_set_solver(ts_mesh_flow *flow, const ts_solver_desc *solver);

/* The result of a step, or of its solve. */
typedef struct ts_mesh_flow_result {
  ts_result surface;  /* of the surface's last solve; all 0 if the boundary's solve failed */
  ts_result boundary; /* of the boundary's; all 0 if it is fixed */
  int iterations;     /* of all solves of the step, failed ones included */
  int substeps;       /* 1; more if the step was subdivided; 0 if x did not move */
  int host_synchronisations;
  double smallest_time_step; /* attempted */
  int setups;           /* of a preconditioner that is made from values: how often as a whole; 0: updated */
  double seconds_setup; /* of these set-ups and updates */
  char message[160];    /* why the step failed or was subdivided, "" otherwise */
  uint64_t reserved[8];
} ts_mesh_flow_result;

/* The two halves of a step, for timing or inspection. `assemble` computes the entries of A from x on the
 * device, without host synchronisation; `solve` moves the same x, and does not subdivide. If a solve fails,
 * `solve` returns TS_NOT_CONVERGED with the reason in `result`, which may be NULL, and x does not move. Errors:
 * TS_ERROR_INCOMPATIBLE (an x that is not over the flow's space or does not have 3 components),
 * TS_ERROR_INVALID_ARGUMENT (a time step that is not positive and finite, or whose square root is out of the
 * range of single precision; `solve` before `assemble`; in `solve`, positions that the backend cannot
 * distinguish from 0). */
TS_API ts_status ts_mesh_flow_assemble(ts_mesh_flow *flow, const ts_vector *x, double time_step);
TS_API ts_status ts_mesh_flow_solve(ts_mesh_flow *flow, ts_vector *x, ts_mesh_flow_result *result);

/* Makes one step of length `time_step`, in squared units of x. If a solve fails, the step is replaced by two of
 * half the length, and so on.
 *
 * A solve fails if ts_solver_solve returns TS_NOT_CONVERGED, with two exceptions: max_iterations is set (see
 * `solver` above), and a solve that stagnated within twice the attainable residual, whose change is right to
 * its last bits. A step that the progress callback stopped is not retried.
 *
 * Returns TS_OK; TS_NOT_CONVERGED if even the smallest steps fail, x as before the call; or an error, x
 * undefined. `result` may be NULL. Errors: those of the two halves, and of ts_preconditioner_create. */
TS_API ts_status ts_mesh_flow_step(ts_mesh_flow *flow, ts_vector *x, double time_step,
                                   ts_mesh_flow_result *result);

#ifdef __cplusplus
}
#endif
#endif
