/* Siconos' solvers of LCPs and of contacts with friction, for `texsolve bench lcp`. Each runs in every setting
 * that a user would try, with the matrix dense and in blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <lcp_cst.h>

#include "lcp_peer.h"

typedef struct setting {
  const char *name;
  int solver, local; /* local: 0 if the solver has none */
  int evaluation, frequency;
} setting;

enum { EVERY = 10 }; /* sweeps between two full evaluations of the error, as in texsolve */

static const setting LCP[] = {{"lcp_pgs", SICONOS_LCP_PGS, 0, 0, 0},
                              {"lcp_cpg", SICONOS_LCP_CPG, 0, 0, 0},
                              {"lcp_nsgs_SBM", SICONOS_LCP_NSGS_SBM, 0, 0, 0},
                              {"lcp_lexicolemke", SICONOS_LCP_LEMKE, 0, 0, 0}};

static const setting FRICTION_2D[] = {{"fc2d_nsgs", SICONOS_FRICTION_2D_NSGS, 0, 0, 0}};

#define NSGS SICONOS_FRICTION_3D_NSGS
#define FULL SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL
#define LIGHT SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_LIGHT_WITH_FULL_FINAL
/* The first is Siconos' default, a Newton method with globalisation, and projections if it fails. `newton` is
 * the plain Newton method, and `newton gp` the one with globalisation. `projection` is one step onto the cone,
 * `projections` several.
 *
 * The error is either estimated from the change of z and evaluated when that is small, or evaluated every 10
 * sweeps. The enumerative solvers (SICONOS_FRICTION_3D_ONECONTACT_QUARTIC) of 4.4 crash. */
static const setting FRICTION_3D[] = {
    {"fc3d_nsgs", NSGS, 0, LIGHT, 0},
    {"fc3d_nsgs, every 10", NSGS, 0, FULL, EVERY},
    {"newton", NSGS, SICONOS_FRICTION_3D_ONECONTACT_NSN, LIGHT, 0},
    {"newton, every 10", NSGS, SICONOS_FRICTION_3D_ONECONTACT_NSN, FULL, EVERY},
    {"newton gp", NSGS, SICONOS_FRICTION_3D_ONECONTACT_NSN_GP, LIGHT, 0},
    {"newton gp, every 10", NSGS, SICONOS_FRICTION_3D_ONECONTACT_NSN_GP, FULL, EVERY},
    {"projection", NSGS, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnCone, LIGHT, 0},
    {"projections", NSGS, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration, LIGHT, 0},
};

typedef struct solver {
  const lcp_peer *p;
  const setting *s;
  NumericsMatrix *matrix;
  double *w;
} solver;

/* ---- Matrices ---- */

static NumericsMatrix *make_dense(const lcp_peer *p) {
  const size_t n = (size_t)p->size;
  NumericsMatrix *M = NM_create(NM_DENSE, p->size, p->size);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) M->matrix0[j * n + i] = p->matrix[i * n + j];
  return M;
}

static double *copy_block(const lcp_peer *p, size_t d, size_t row, size_t column) {
  const size_t n = (size_t)p->size;
  double *block = lcp_peer_memory(d * d, sizeof *block);
  int is_zero = row != column;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) {
      block[j * d + i] = p->matrix[(row * d + i) * n + column * d + j];
      is_zero &= !(block[j * d + i] < 0 || block[j * d + i] > 0);
    }
  if (!is_zero) return block;
  free(block);
  return NULL;
}

/* The size of a contact; without friction the largest divisor of the matrix size up to 16. */
static size_t block_size(const lcp_peer *p) {
  size_t d = p->dimension > 1 ? (size_t)p->dimension : 16;
  while ((size_t)p->size % d) d--;
  return d;
}

/* Zero blocks are omitted. */
static NumericsMatrix *make_blocks(const lcp_peer *p) {
  const size_t d = block_size(p), rows = (size_t)p->size / d;
  NumericsMatrix *M = NM_create(NM_SPARSE_BLOCK, p->size, p->size);
  SparseBlockStructuredMatrix *B = M->matrix1;
  size_t count = 0;
  B->blocknumber0 = B->blocknumber1 = (unsigned)rows;
  B->blocksize0 = lcp_peer_memory(rows, sizeof *B->blocksize0);
  B->blocksize1 = lcp_peer_memory(rows, sizeof *B->blocksize1);
  B->index1_data = lcp_peer_memory(rows + 1, sizeof *B->index1_data);
  B->index2_data = lcp_peer_memory(rows * rows, sizeof *B->index2_data);
  B->block = lcp_peer_memory(rows * rows, sizeof *B->block);
  for (size_t i = 0; i < rows; i++) {
    B->blocksize0[i] = B->blocksize1[i] = (unsigned)((i + 1) * d);
    for (size_t j = 0; j < rows; j++) {
      double *block = copy_block(p, d, i, j);
      if (!block) continue;
      B->block[count] = block;
      B->index2_data[count++] = j;
    }
    B->index1_data[i + 1] = count;
  }
  B->nbblocks = (unsigned)count;
  B->filled1 = rows + 1;
  B->filled2 = count;
  return M;
}

/* ---- Solves ---- */

static SolverOptions *make_options(const setting *s, double tolerance, int max_sweeps) {
  SolverOptions *o = solver_options_create(s->solver);
  if (!o) lcp_peer_fail("Siconos has no solver %d", s->solver);
  o->iparam[SICONOS_IPARAM_MAX_ITER] = max_sweeps;
  o->dparam[SICONOS_DPARAM_TOL] = tolerance;
  o->filterOn = false; /* texsolve computes the residual */
  if (s->solver != NSGS) return o;
  if (s->local) solver_options_update_internal(o, 0, s->local);
  o->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = s->evaluation;
  if (s->frequency) o->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION_FREQUENCY] = s->frequency;
  return o;
}

static int lcp_siconos_solve(void *user, double tolerance, int max_sweeps, double *z) {
  solver *k = user;
  const lcp_peer *p = k->p;
  SolverOptions *o = make_options(k->s, tolerance, max_sweeps);
  memset(k->w, 0, (size_t)p->size * sizeof *k->w);
  if (p->dimension == 1) {
    LinearComplementarityProblem lcp = {.size = p->size, .M = k->matrix, .q = p->q};
    linearComplementarity_driver(&lcp, z, k->w, o);
  } else {
    FrictionContactProblem contacts = {.dimension = p->dimension,
                                       .numberOfContacts = p->size / p->dimension,
                                       .M = k->matrix,
                                       .q = p->q,
                                       .mu = p->friction};
    if (p->dimension == 2)
      fc2d_driver(&contacts, z, k->w, o);
    else
      fc3d_driver(&contacts, z, k->w, o);
  }
  const int sweeps = o->iparam[SICONOS_IPARAM_ITER_DONE];
  solver_options_delete(o);
  free(o);
  return sweeps < 0 ? 0 : sweeps;
}

static void measure(const lcp_peer *p, const setting *settings, size_t count, int is_dense) {
  char name[64];
  solver k = {.p = p, .w = lcp_peer_memory((size_t)p->size, sizeof *k.w)};
  const double start = timing_now();
  k.matrix = is_dense ? make_dense(p) : make_blocks(p);
  const double setup = timing_now() - start;
  for (size_t i = 0; i < count; i++) {
    if (p->dimension == 1 && is_dense == (settings[i].solver == SICONOS_LCP_NSGS_SBM)) continue;
    snprintf(name, sizeof name, "%s, %s", settings[i].name, is_dense ? "dense" : "blocks");
    k.s = &settings[i];
    lcp_peer_measure("Siconos", name, setup, lcp_siconos_solve, &k);
  }
  NM_clear(k.matrix);
  free(k.matrix);
  free(k.w);
}

static int has_bounds(const lcp_peer *p) {
  for (int32_t i = 0; i < p->size && p->dimension == 1; i++)
    if (p->lower[i] < 0 || p->lower[i] > 0 || p->upper[i] < 1e300) return 1;
  return 0;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

int main(int argc, char **argv) {
  lcp_peer p;
  lcp_peer_begin(&p, "lcp-siconos", argc, argv);
  for (int is_dense = 1; is_dense >= 0 && !has_bounds(&p); is_dense--) {
    if (p.dimension == 1) measure(&p, LCP, COUNT(LCP), is_dense);
    if (p.dimension == 2) measure(&p, FRICTION_2D, COUNT(FRICTION_2D), is_dense);
    if (p.dimension == 3) measure(&p, FRICTION_3D, COUNT(FRICTION_3D), is_dense);
  }
  return lcp_peer_end();
}
