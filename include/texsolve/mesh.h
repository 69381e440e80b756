/* Triangle meshes: implicit mean-curvature flow. The matrix is assembled on the device from the positions (Bolz
 * et al. 2003, sections 3 and 3.1.2) with the scheme of Desbrun et al. 1999. This example makes one step of a
 * tetrahedron:
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
 * in the form A e = M x - A x for the change e = x_new - x, starting from e = 0. The right-hand side, sum_j
 * a_ij (x_i - x_j), is computed from differences. Single precision is therefore sufficient for large meshes and
 * time steps, and vertices that do not move stay exactly in place. Residuals are relative to this right-hand
 * side, the first residual.
 *
 * alpha and beta are the angles opposite the edge ij in its two triangles, and A_i is the area of all triangles
 * at vertex i. The A_i count every triangle three times. The default lambda = 3 is therefore the speed at which
 * x follows dx/dt = -H n with the mean curvature H = (k1 + k2) / 2: the radius of a sphere obeys r^2 = r_0^2 -
 * 2 t.
 *
 * The cotangents of a sliver are bounded: cot = (u . v) / max(|u x v|, 1e-3 (sum of its squared edge lengths)).
 * The bound is the same for the three angles of a triangle, so that its part of A stays positive semidefinite;
 * clamping each cotangent separately would not preserve that. A triangle that is a single point contributes
 * nothing, and a vertex with only such triangles does not move.
 *
 * A preconditioner that is made from values (AMG, Chebyshev, ISAI, block Jacobi) is created in the first step.
 * Later steps update its numbers (ts_preconditioner_update). It is created again when iterations have grown by
 * half or a solve fails. For all of them except Chebyshev the host reads the positions, with one host
 * synchronisation per step, and computes the same values. A boundary that flows then uses Jacobi.
 *
 * Auto, the default, is Jacobi for meshes with fewer than 8192 vertices, for meshes with vertices that do not
 * move, and with fixed_iterations. For other meshes the first step chooses. If it chooses Jacobi, the host does
 * no work until iterations have grown by half; the next step then chooses again.
 *
 * Lengths may have any magnitude in the range of single precision, from 1e-37 to 1e38: a mesh s times as large
 * takes the same steps with time steps s^2 times as long. Lengths must be 1e-19 to 1e19 sqrt(lambda dt).
 *
 * Threads, version, common errors and ownership are as in texsolve.h: the thread that uses the context may call
 * all functions. */
#ifndef TEXSOLVE_MESH_H
#define TEXSOLVE_MESH_H

#include <texsolve/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The boundary of the mesh.
 *
 * FIXED: its vertices are constrained; they have no equation (Bolz et al. 2003, section 3.1.2).
 * FLOW: it evolves by the curvature of the boundary curve, which shortens it; at the default speed a circle
 * obeys r^2 = r_0^2 - 2 t. Its system is a_ij = -(2 lambda / 3) dt / l_ij and m_i = sum of l_ij over the
 * boundary edges at i, with the edge lengths l. In a_ij lengths are at least 1e-3 sqrt(2 lambda dt / 3). This
 * system is solved first, and gives the boundary values of the surface's system. */
typedef enum ts_mesh_boundary { TS_MESH_BOUNDARY_FIXED = 0, TS_MESH_BOUNDARY_FLOW = 1 } ts_mesh_boundary;

typedef struct ts_mesh_flow_desc {
  int32_t vertices, triangles;      /* at least 3 and 1 */
  const int32_t *triangle_vertices; /* 3 per triangle, 0 .. vertices-1, all different. An edge between vertices
                                       that are not both constrained may have up to two triangles, which must
                                       traverse it in opposite directions */
  const unsigned char *constrained; /* `vertices` flags: constrained vertices. A vertex without triangles is
                                       always constrained. Default: none */
  ts_mesh_boundary boundary;        /* default: fixed */
  ts_format format;                 /* default: TS_FORMAT_AUTO */
  float speed;                      /* lambda; default: 3 */
  /* Options of every solve, which uses cg, in single precision unless another is set, and always starts from 0.
   * If max_iterations is set, as in the paper, a solve may end there and succeeds if the residual has
   * decreased. If the host takes part in preconditioner_kind, or in auto's choice, it keeps the mesh, about 120
   * additional bytes per vertex. */
  ts_solver_desc solver;
  int max_halvings;     /* how often a failing step may be halved, up to 30; -1: never. Default: 6 */
  uint64_t reserved[8]; /* 0 */
} ts_mesh_flow_desc;

typedef struct ts_mesh_flow ts_mesh_flow;

/* Creates the flow of a mesh: builds the layout of its matrices and, for each entry, the pointers to the four
 * vertices of the two triangles at its edge. `desc` and its arrays are not kept. Destroy the flow before its
 * context.
 * Errors: TS_ERROR_INVALID_ARGUMENT (an index out of range, a triangle with a repeated vertex, an edge with
 * three triangles or with two that traverse it in the same direction: the message names the triangle or edge),
 * TS_ERROR_LIMIT, TS_ERROR_UNSUPPORTED (a format that the backend lacks, or a block format), memory. */
TS_API ts_status ts_mesh_flow_create(ts_context *context, const ts_mesh_flow_desc *desc, ts_mesh_flow **flow);
TS_API void ts_mesh_flow_destroy(ts_mesh_flow **flow);

typedef struct ts_mesh_flow_info {
  int32_t vertices, triangles;
  int32_t boundary_vertices;    /* vertices at an edge with one triangle */
  int32_t constrained_vertices; /* constrained vertices, including a fixed boundary and vertices without
                                   triangles */
  ts_format format;
  size_t bytes_device;
  uint64_t reserved[8];
} ts_mesh_flow_info;

/* Returns sizes and the format. */
TS_API ts_status ts_mesh_flow_get_info(const ts_mesh_flow *flow, ts_mesh_flow_info *info);

/* Returns the space of the positions: create x over it, with 3 components. Owned by the flow. */
TS_API ts_space *ts_mesh_flow_get_space(const ts_mesh_flow *flow);

/* Return the matrix A of the last assembly, for inspection: the surface's, or the boundary's (NULL if the
 * boundary is fixed). Owned by the flow. Rows that do not belong to the system are those of the identity. The
 * unit of length is a power of two, in whose square lambda dt is at least 1 and less than 4. */
TS_API const ts_matrix *ts_mesh_flow_get_matrix(const ts_mesh_flow *flow);
TS_API const ts_matrix *ts_mesh_flow_get_boundary_matrix(const ts_mesh_flow *flow);

/* Replaces the options of later solves; NULL: the defaults. On failure the old options are kept.
 * Errors: TS_ERROR_INVALID_ARGUMENT (an invalid field, which is named; a preconditioner_kind for which the host
 * must keep the mesh, if the flow was created without one), memory. */
TS_API ts_status ts_mesh_flow_set_solver(ts_mesh_flow *flow, const ts_solver_desc *solver);

/* The result of a step or of ts_mesh_flow_solve. */
typedef struct ts_mesh_flow_result {
  ts_result surface;  /* the surface's last solve; all 0 if the boundary's solve failed */
  ts_result boundary; /* the boundary's solve; all 0 if the boundary is fixed */
  int iterations;     /* iterations of all solves of the step, including failed ones */
  int substeps;       /* 1; more if the step was subdivided; 0 if x did not move */
  int host_synchronisations;
  double smallest_time_step; /* the smallest attempted time step */
  int setups; /* how often a preconditioner that is made from values was created; 0 if it was only updated */
  double seconds_setup; /* time of these creations and updates */
  char message[160];    /* why the step failed or was subdivided; otherwise "" */
  uint64_t reserved[8];
} ts_mesh_flow_result;

/* The two halves of a step, for timing or inspection. `assemble` computes the entries of A from x on the
 * device, without host synchronisation. `solve` then moves the same x, and does not subdivide. If a solve
 * fails, `solve` returns TS_NOT_CONVERGED with the reason in `result`, which may be NULL, and x does not move.
 * Errors: TS_ERROR_INCOMPATIBLE (an x over another space, or without 3 components), TS_ERROR_INVALID_ARGUMENT
 * (a time step that is not positive and finite, or whose square root exceeds the range of single precision;
 * `solve` before `assemble`; in `solve`, positions that the backend cannot distinguish from 0). */
TS_API ts_status ts_mesh_flow_assemble(ts_mesh_flow *flow, const ts_vector *x, double time_step);
TS_API ts_status ts_mesh_flow_solve(ts_mesh_flow *flow, ts_vector *x, ts_mesh_flow_result *result);

/* Makes one step of length `time_step`, in squared units of x. If a solve fails, two steps of half the length
 * replace the step, and so on.
 *
 * A solve fails if ts_solver_solve returns TS_NOT_CONVERGED, with two exceptions. It does not fail if
 * max_iterations is set (see `solver` above), or if it stagnated within twice the attainable residual: the
 * change is then accurate to its last bits. A step that the progress callback stopped is not retried.
 *
 * Returns TS_OK, or TS_NOT_CONVERGED if even the smallest steps fail; x is then unchanged. After an error x is
 * undefined. `result` may be NULL. Errors: those of the two halves, and of ts_preconditioner_create. */
TS_API ts_status ts_mesh_flow_step(ts_mesh_flow *flow, ts_vector *x, double time_step,
                                   ts_mesh_flow_result *result);

#ifdef __cplusplus
}
#endif
#endif
