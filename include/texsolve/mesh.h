/* Triangle meshes: implicit mean-curvature flow, with the matrix computed on the device from the positions
 * (Bolz et al. 2003, sections 3 and 3.1.2; the scheme is that of Desbrun et al. 1999).
 *
 * One step from x to x_new solves, for the three coordinates at once,
 *
 *   A x_new = M x,   a_ij = -lambda dt (cot alpha_ij + cot beta_ij),   m_i = 4 A_i,   a_ii = m_i - sum_j a_ij
 *
 * namely A e = M x - A x for the change e = x_new - x, from e = 0: the right-hand side, sum_j a_ij (x_i - x_j),
 * is computed from differences, so that single precision serves large meshes and time steps too, and what does
 * not move stays where it is. Residuals are relative to this right-hand side, the first residual.
 *
 * Here alpha and beta are the angles opposite the edge ij in its two triangles, and A_i is the area of all
 * triangles at vertex i. A_i counts every triangle at three vertices, so lambda = 3, the default, is the speed
 * at which x follows dx/dt = -H n with the mean curvature H = (k1 + k2) / 2: the radius of a sphere obeys
 * r^2 = r_0^2 - 2 t.
 *
 * A sliver's cotangents are bounded: cot = (u . v) / max(|u x v|, 1e-3 (sum of its squared edge lengths)). The
 * floor is one number for the three angles of a triangle, so that its share of A stays positive semidefinite;
 * cutting each cotangent off by itself would not keep that. A triangle that is a single point adds nothing, and
 * a vertex that has only such triangles stays.
 *
 * Lengths may be of any size that single precision holds, from 1e-37 to 1e38: a mesh s times as large takes the
 * same steps with time steps s^2 times as long. Lengths of 1e-19 to 1e19 sqrt(lambda dt) are within range.
 *
 * Threads, errors and ownership are as in texsolve.h.
 */
#ifndef TEXSOLVE_MESH_H
#define TEXSOLVE_MESH_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the vertices of the mesh's boundary do.
 *
 * FIXED: they stay where they are; they have no equation (Bolz et al. 2003, 3.1.2).
 * FLOW: they flow by the boundary curve's own curvature, which shortens it; a circle obeys r^2 = r_0^2 - 2 t at
 * the default speed. That system, a_ij = -(2 lambda / 3) dt / l_ij and m_i = sum of l_ij over the boundary
 * edges at i, l being their lengths, is solved first; in a_ij lengths below 1e-3 sqrt(2 lambda dt / 3) count as
 * that. Its result is the border of the surface's. */
typedef enum ts_mesh_boundary { TS_MESH_BOUNDARY_FIXED = 0, TS_MESH_BOUNDARY_FLOW = 1 } ts_mesh_boundary;

typedef struct ts_mesh_flow_desc {
  int32_t vertices, triangles;      /* at least 3 and 1 */
  const int32_t *triangle_vertices; /* 3 a triangle, 0 .. vertices-1, three different ones; an edge between
                                       vertices that are not both locked has at most two triangles, which pass
                                       along it in opposite directions */
  const unsigned char *locked;      /* `vertices` flags: vertices that never move. Default: none. A vertex
                                       without triangles is locked anyway */
  ts_mesh_boundary boundary;        /* default: fixed */
  ts_format format;                 /* default: TS_FORMAT_AUTO */
  float speed;                      /* lambda; default: 3 */
  ts_cg_desc cg;    /* of every solve, which starts from 0 whatever zero_start says. A max_iterations
                       that is set means the paper's way: a step may end there and counts as long as
                       the residual has fallen */
  int max_halvings; /* how often a step that fails may be cut in half, at most 30; default: 6; -1: never */
} ts_mesh_flow_desc;

typedef struct ts_mesh_flow ts_mesh_flow;

/* Prepares the flow of a mesh: its matrices' layouts and, for each entry, the pointers to the four vertices of
 * the two triangles at its edge. Nothing of `desc` is kept.
 * Errors: TS_ERROR_INVALID_ARGUMENT (an index out of range, a triangle with a vertex twice, an edge with three
 * triangles or with two that pass it in one direction: the triangle or the edge is named), TS_ERROR_LIMIT,
 * TS_ERROR_UNSUPPORTED (a format that the backend lacks, or blocks), memory. */
TS_API ts_status ts_mesh_flow_create(ts_context *context, const ts_mesh_flow_desc *desc, ts_mesh_flow **flow);
TS_API void ts_mesh_flow_destroy(ts_mesh_flow **flow);

typedef struct ts_mesh_flow_info {
  int32_t vertices, triangles;
  int32_t boundary_vertices; /* at an edge with one triangle */
  int32_t locked_vertices;   /* that do not move, those of a fixed boundary and those without triangles among
                                them */
  ts_format format;
  size_t bytes_device;
} ts_mesh_flow_info;

TS_API ts_status ts_mesh_flow_get_info(const ts_mesh_flow *flow, ts_mesh_flow_info *info);

/* The space of the positions: create x over it, with 3 components. Borrowed. */
TS_API ts_space *ts_mesh_flow_space(const ts_mesh_flow *flow);

/* A as the last assembly left it, borrowed, to look at: the surface's, or the boundary's own (NULL where the
 * boundary does not flow). Rows that are not part of the system are those of the identity. Its unit of length
 * is the power of two in whose square lambda dt is at least 1 and less than 4. */
TS_API const ts_matrix *ts_mesh_flow_matrix(const ts_mesh_flow *flow);
TS_API const ts_matrix *ts_mesh_flow_boundary_matrix(const ts_mesh_flow *flow);

/* Other options for the solves to come; NULL: the defaults. On failure the old ones stay. */
TS_API ts_status ts_mesh_flow_set_cg(ts_mesh_flow *flow, const ts_cg_desc *cg);

/* How a step, or its solve, went. */
typedef struct ts_mesh_flow_result {
  ts_cg_result cg;          /* of the surface's last solve; all 0 if the boundary's failed before it */
  ts_cg_result boundary_cg; /* of the boundary's, all 0 where it does not flow */
  int iterations;           /* of all solves of the step, those that failed among them */
  int substeps;             /* 1; more where the step was cut; 0 where x did not move */
  int waits;
  double smallest_time_step; /* that was tried */
  char message[160];         /* why the step failed or was cut, "" otherwise */
} ts_mesh_flow_result;

/* The two halves of a step, for those who time or inspect them. `assemble` computes the entries of A from x on
 * the device, without a wait; `solve` moves the same x. They cut nothing. Where a solve fails, `solve` returns
 * TS_NOT_CONVERGED with the reason in `result`, which may be NULL, and x does not move.
 * Errors: TS_ERROR_INCOMPATIBLE (an x that is not over the flow's space or has other than 3 components),
 * TS_ERROR_INVALID_ARGUMENT (a time step that is not positive and finite, or whose root single precision does
 * not hold; nothing assembled yet; in `solve`, positions that the backend cannot tell from 0). */
TS_API ts_status ts_mesh_flow_assemble(ts_mesh_flow *flow, const ts_vector *x, double time_step);
TS_API ts_status ts_mesh_flow_solve(ts_mesh_flow *flow, ts_vector *x, ts_mesh_flow_result *result);

/* One step of length `time_step` (squared units of x, positive and finite; TS_ERROR_INVALID_ARGUMENT
 * otherwise, and for what the two halves refuse). Where a solve fails, the step is made as two of half the
 * length, and so on.
 *
 * A solve fails where ts_cg_solve says TS_NOT_CONVERGED, with two exceptions: the paper's way (see `cg` above),
 * and a solve that stagnated at a residual within twice the attainable one, whose change is right to its last
 * bits. A step that the progress callback stopped is not tried again.
 *
 * Returns TS_OK; TS_NOT_CONVERGED when even the smallest steps fail, x as it was before the call; or an error,
 * x undefined. `result` may be NULL. */
TS_API ts_status ts_mesh_flow_step(ts_mesh_flow *flow, ts_vector *x, double time_step,
                                   ts_mesh_flow_result *result);

#ifdef __cplusplus
}
#endif
#endif
