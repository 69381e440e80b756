/* Matrices whose values the device computes from the positions of a triangle mesh, and the private types of the
 * mesh flow. Call path: mesh_topology.c (triangles to patterns), mesh_operator.c (a pattern to a matrix with
 * corners for its entries), the backend's operations, mesh_step.c (the flow), mesh_precondition.c. */
#ifndef TSI_MESH_OPERATOR_H
#define TSI_MESH_OPERATOR_H

#include <texsolve/mesh.h>

#include "common/layout/layout.h"

/* ---- Patterns ---- */

/* Rows in canonical CSR: neighbours and the diagonal. Rows of constrained vertices are empty. */
typedef struct tsi_mesh_pattern {
  int32_t rows; /* 0: the mesh does not have this pattern */
  int32_t *row_offsets, *columns;
  /* Surface: the third vertices of the two triangles at entry (i, j), which are (j, i, previous) and (i, j,
   * next). -1 on the diagonal. Curve: NULL. */
  int32_t *previous, *next;
} tsi_mesh_pattern;

typedef struct tsi_mesh_topology {
  int32_t boundary_vertices, constrained_vertices;
  unsigned char *constrained;      /* per vertex: 1 if it does not move */
  tsi_mesh_pattern surface, curve; /* the curve only if a boundary flows */
} tsi_mesh_topology;

/* Validates the triangles of a descriptor and finds all neighbours. O(triangles) for bounded valence. */
ts_status tsi_mesh_topology_create(ts_context *context, const ts_mesh_flow_desc *desc, tsi_mesh_topology *out);
void tsi_mesh_topology_free(ts_context *context, tsi_mesh_topology *topology);
void tsi_mesh_pattern_free(ts_context *context, tsi_mesh_pattern *pattern);

/* ---- Operators ---- */

typedef enum tsi_mesh_kind {
  TSI_MESH_SURFACE, /* a_ij = -factor (cot alpha_ij + cot beta_ij), m_i = 4 A_i */
  TSI_MESH_CURVE    /* a_ij = -factor / l_ij, m_i = sum of l_ij, with l_ij = |x_i - x_j| */
} tsi_mesh_kind;

typedef struct tsi_mesh_operator {
  ts_context *context;
  tsi_mesh_kind kind;
  ts_matrix *matrix;
  void *impl; /* private data of the backend */
} tsi_mesh_operator;

/* The corners of an entry, as indices into a vector: i, j, previous, next. All are TSI_MESH_NO_CORNER in
 * padding. */
#define TSI_MESH_NO_CORNER 0xffffffffu
typedef struct tsi_mesh_corners {
  uint32_t i, j, previous, next;
} tsi_mesh_corners;

/* A backend's copy of a pattern: the pattern itself (csr), or corners in the layout of the matrix's entries. */
typedef struct tsi_mesh_packed {
  const tsi_mesh_pattern *pattern;
  int32_t *places;           /* in linear spaces: places of the entries' values; NULL: in entry order */
  tsi_mesh_corners *entries; /* NULL in linear spaces */
  tsi_mesh_corners *stage;   /* of the first stage of split rows; NULL if rows are not split */
} tsi_mesh_packed;

/* ---- The table tsi_ops.mesh ---- */

/* clang-format off */
#define TSI_MESH_OPERATIONS(REQUIRED, UNWATCHED, prefix)                                                       \
  /* op->matrix is made, its values are 0; `packed` is the caller's. */                                        \
  UNWATCHED(prefix, ts_status, create, (tsi_mesh_operator *op, const tsi_mesh_packed *packed))                 \
  UNWATCHED(prefix, void, destroy, (tsi_mesh_operator *op))                                                    \
  /* The values of op->matrix from the positions `scale` x, three components: a_ij as tsi_mesh_kind says, where\
   * no length counts as less than `shortest`, and a_ii = m_i - sum of a_ij, or 1 in a row where that is 0.    \
   * `scale` is a power of two; the other two are in the unit that it makes. */                                \
  REQUIRED(prefix, ts_status, assemble,                                                                        \
           (tsi_mesh_operator *op, const ts_vector *x, float scale, float factor, float shortest))             \
  /* g = (M x - A x) scale from differences: g_i = sum of a_ij scale (x_i - x_j). g is not x. Constrained rows of g \
   * become 0. */                                                                                              \
  REQUIRED(prefix, ts_status, force,                                                                           \
           (ts_vector *g, const tsi_mesh_operator *op, const ts_vector *x, float scale))
/* clang-format on */

struct tsi_mesh_ops {
  TSI_MESH_OPERATIONS(TSI_FIELD, TSI_FIELD, )
};

/* `space`: NULL creates one with these constrained vertices. `host_copy`: the matrix keeps a host copy, with
 * zero values. */
ts_status tsi_mesh_operator_create(ts_context *context, tsi_mesh_kind kind, const tsi_mesh_pattern *pattern,
                                   ts_format format, ts_space *space, const unsigned char *constrained,
                                   int host_copy, tsi_mesh_operator *out);
void tsi_mesh_operator_destroy(tsi_mesh_operator *op);

/* ---- The flow ---- */

struct ts_mesh_flow {
  ts_context *context;
  ts_mesh_flow_info info;
  ts_mesh_boundary boundary;
  double speed;
  int max_halvings;
  int limited;                      /* solver.max_iterations is set: a solve may stop at this limit */
  tsi_mesh_operator surface, curve; /* curve.matrix: NULL if no boundary flows */
  ts_solver *surface_solver, *curve_solver;
  ts_vector *force, *change; /* right-hand side and solution */
  ts_vector *border;         /* x with the new boundary; NULL if no boundary flows */
  ts_vector *start;          /* start of a step that had to be cut; created on demand */
  double time_step;          /* time step of the last assembly; 0: none */

  /* The surface's preconditioner, if it is made from values. The surface's solver uses Jacobi before the first
   * values, and while they are not finite. */
  ts_solver_desc desc;               /* resolved */
  ts_preconditioner *preconditioner; /* NULL before the first step */
  tsi_mesh_pattern pattern;          /* the surface, for a host copy; otherwise empty */
  float *positions;                  /* host copy of the positions, for the pattern above */
  int is_current;                    /* the preconditioner has the values of the last assembly */
  int is_fresh;                      /* it was rebuilt for these values, not updated */
  int is_worn;                       /* it must be rebuilt */
  int first_iterations;              /* iterations of the first solve after a rebuild */
};

/* ---- mesh_step.c ---- */

/* The inverse of the unit of length. lambda dt is given in the square of this unit. */
double tsi_mesh_scale(const ts_mesh_flow *flow, double time_step);
double tsi_mesh_factor(const ts_mesh_flow *flow, double time_step);

/* ---- mesh_precondition.c ---- */

/* Whether the host keeps the surface for a preconditioner. For auto this holds only if auto may select one that
 * needs it. */
int tsi_mesh_needs_host(ts_preconditioner_kind kind, const tsi_mesh_topology *topology);
/* Whether the preconditioner is made from the matrix's values, in the first step. */
int tsi_mesh_is_made(const ts_mesh_flow *flow, const ts_solver_desc *desc);
/* Makes or updates the preconditioner for the values of the last assembly, which was at x. Adds the time to
 * `result`. */
ts_status tsi_mesh_precondition(ts_mesh_flow *flow, const ts_vector *x, ts_mesh_flow_result *result);
/* Whether a failed solve may succeed with a rebuilt preconditioner for the same values. */
int tsi_mesh_can_renew(const ts_mesh_flow *flow);
/* Records the iteration count of a solve. */
void tsi_mesh_note_iterations(ts_mesh_flow *flow, int iterations);
void tsi_mesh_drop_preconditioner(ts_mesh_flow *flow);

#endif
