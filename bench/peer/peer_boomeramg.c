#include "peer_boomeramg.h"

#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <_hypre_parcsr_ls.h>

#include "peer_mpi.h"

/* Recommendations of hypre's manual for problems in two and three dimensions: PMIS or HMIS, extended
 * interpolation with at most four entries, and symmetric l1 smoothing. */
typedef struct setting {
  const char *name;
  double threshold;
  int coarsening;        /* 8 PMIS, 10 HMIS */
  int interpolation;     /* 6 extended+i */
  int relaxation;        /* 8 symmetric l1 Gauss-Seidel, 18 l1 Jacobi */
  int aggressive_levels; /* coarsened twice */
} setting;

static const setting settings[] = {
    {"BoomerAMG, HMIS, 0.25, Gauss-Seidel", 0.25, 10, 6, 8, 0},
    {"BoomerAMG, HMIS, 0.5, Gauss-Seidel", 0.5, 10, 6, 8, 0},
    {"BoomerAMG, aggressive, 0.25", 0.25, 10, 6, 8, 1},
    {"BoomerAMG, HMIS, 0.25, l1 Jacobi", 0.25, 10, 6, 18, 0},
};

typedef struct system_part {
  peer_rows rows;
  HYPRE_BigInt lower, upper; /* this process's first and last */
  HYPRE_IJMatrix matrix;
  HYPRE_IJVector b, x;
  HYPRE_ParCSRMatrix A;
  HYPRE_ParVector parallel_b, parallel_x;
} system_part;

static void make_matrix(system_part *p, const peer_system *s) {
  const generated_problem *A = &s->A;
  const size_t rows = (size_t)p->rows.count;
  HYPRE_BigInt *row = peer_mpi_alloc(rows, sizeof *row);
  HYPRE_Int *counts = peer_mpi_alloc(rows, sizeof *counts);
  for (size_t i = 0; i < rows; i++) {
    row[i] = p->lower + (HYPRE_BigInt)i;
    counts[i] = A->row_offsets[row[i] + 1] - A->row_offsets[row[i]];
  }
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, p->lower, p->upper, p->lower, p->upper, &p->matrix);
  HYPRE_IJMatrixSetObjectType(p->matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixSetRowSizes(p->matrix, counts);
  HYPRE_IJMatrixInitialize(p->matrix);
  const int32_t first = A->row_offsets[p->lower];
  HYPRE_IJMatrixSetValues(p->matrix, (HYPRE_Int)rows, counts, row, A->column_indices + first,
                          A->values + first);
  HYPRE_IJMatrixAssemble(p->matrix);
  HYPRE_IJMatrixGetObject(p->matrix, (void **)&p->A);
  free(counts);
  free(row);
}

static void make_vector(const system_part *p, const double *values, HYPRE_IJVector *vector,
                        HYPRE_ParVector *parallel) {
  const size_t rows = (size_t)p->rows.count;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, p->lower, p->upper, vector);
  HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(*vector);
  HYPRE_IJVectorSetValues(*vector, (HYPRE_Int)rows, NULL, values);
  HYPRE_IJVectorAssemble(*vector);
  HYPRE_IJVectorGetObject(*vector, (void **)parallel);
}

static HYPRE_Solver make_amg(const setting *s, const peer_system *system) {
  HYPRE_Solver amg;
  HYPRE_BoomerAMGCreate(&amg);
  HYPRE_BoomerAMGSetTol(amg, 0);
  HYPRE_BoomerAMGSetMaxIter(amg, 1);
  HYPRE_BoomerAMGSetCoarsenType(amg, s->coarsening);
  HYPRE_BoomerAMGSetInterpType(amg, s->interpolation);
  HYPRE_BoomerAMGSetPMaxElmts(amg, 4);
  HYPRE_BoomerAMGSetStrongThreshold(amg, s->threshold);
  HYPRE_BoomerAMGSetRelaxType(amg, s->relaxation);
  HYPRE_BoomerAMGSetAggNumLevels(amg, s->aggressive_levels);
  if (system->A.unknowns > 1) HYPRE_BoomerAMGSetNumFunctions(amg, system->A.unknowns);
  return amg;
}

static double true_residual(const system_part *p, const peer_system *s) {
  double *mine = peer_mpi_alloc((size_t)p->rows.count, sizeof *mine);
  HYPRE_IJVectorGetValues(p->x, p->rows.count, NULL, mine);
  const double residual = peer_mpi_residual(s, mine);
  free(mine);
  return residual;
}

/* The entries of all levels are only available through hypre's private headers. */
static double operator_complexity(HYPRE_Solver amg, int *levels) {
  hypre_ParAMGData *data = (hypre_ParAMGData *)amg;
  hypre_ParCSRMatrix **A = hypre_ParAMGDataAArray(data);
  double all = 0;
  *levels = (int)hypre_ParAMGDataNumLevels(data);
  for (int l = 0; l < *levels; l++) {
    hypre_ParCSRMatrixSetDNumNonzeros(A[l]);
    all += hypre_ParCSRMatrixDNumNonzeros(A[l]);
  }
  return all / hypre_ParCSRMatrixDNumNonzeros(A[0]);
}

static void measure(const setting *setting, system_part *p, peer_system *s) {
  peer_times times;
  HYPRE_Int iterations = 0;
  int levels = 0;
  double cost = 0;
  for (int k = 0; k < s->repeats; k++) {
    HYPRE_Solver cg;
    HYPRE_ParVectorSetConstantValues(p->parallel_x, 0);
    double start = peer_mpi_begin();
    HYPRE_Solver amg = make_amg(setting, s);
    HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &cg);
    HYPRE_PCGSetTol(cg, s->rtol);
    HYPRE_PCGSetTwoNorm(cg, 1);
    HYPRE_PCGSetMaxIter(cg, 1000);
    HYPRE_PCGSetPrecond(cg, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                        (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
    HYPRE_ParCSRPCGSetup(cg, p->A, p->parallel_b, p->parallel_x);
    times.setup[k] = peer_mpi_seconds_since(start);
    cost = operator_complexity(amg, &levels);
    start = peer_mpi_begin();
    HYPRE_ParCSRPCGSolve(cg, p->A, p->parallel_b, p->parallel_x);
    times.solve[k] = peer_mpi_seconds_since(start);
    HYPRE_PCGGetNumIterations(cg, &iterations);
    HYPRE_ClearAllErrors(); /* hypre reports non-convergence as an error; the residual is checked instead */
    HYPRE_ParCSRPCGDestroy(cg);
    HYPRE_BoomerAMGDestroy(amg);
  }
  const double residual = true_residual(p, s);
  if (p->rows.rank == 0) peer_system_row(s, setting->name, levels, cost, &times, iterations, residual);
}

int boomeramg_main(int argc, char **argv) {
  peer_system s = {0};
  system_part p = {0};
  int rank, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < argc; k++) wrong |= !peer_system_option(&s, argv[k]);
  if (wrong || !s.matrix || s.threads) {
    if (rank == 0)
      fputs("usage: peer-hypre --amg MATRIX [--size=N] [--rtol=R] [--repeats=N] [--json]\n", stderr);
    return 2;
  }
  if (peer_system_make(&s, "peer-hypre")) return 1;
  p.rows = peer_mpi_rows(&s);
  p.lower = p.rows.first;
  p.upper = p.lower + p.rows.count - 1;
  HYPRE_Init();
  make_matrix(&p, &s);
  make_vector(&p, s.b + p.lower, &p.b, &p.parallel_b);
  make_vector(&p, s.b + p.lower, &p.x, &p.parallel_x);
  char library[80];
  snprintf(library, sizeof library, "hypre %s, double precision, %d processes", HYPRE_RELEASE_VERSION,
           p.rows.processes);
  if (rank == 0) peer_system_header(&s, library);
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) measure(&settings[k], &p, &s);
  if (rank == 0) peer_system_end(&s);
  HYPRE_IJVectorDestroy(p.x);
  HYPRE_IJVectorDestroy(p.b);
  HYPRE_IJMatrixDestroy(p.matrix);
  HYPRE_Finalize();
  peer_system_free(&s);
  return 0;
}
