/* PETSc's conjugate gradients with the Jacobi preconditioner on A x = 1, in double precision with MPI
 * processes:
 *
 *   mpirun -n 2 peer-petsc MATRIX [--size=N] [--rtol=1e-8] [--repeats=3]
 *
 * Set-up is the assembly of the matrix, with each process's own rows in preallocated memory, and KSPSetUp. A
 * solve starts from 0 and ends when ||r|| <= rtol ||b||; the first is not timed. PETSc reads its own options,
 * such as -log_view, from the environment variable PETSC_OPTIONS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <petscksp.h>

#include "peer_mpi.h"

typedef struct setting {
  const char *name;
  MatType type;
  PetscBool one_reduction; /* combines an iteration's sums in one message */
  int upper;               /* only the upper triangle is stored */
} setting;

static const setting settings[] = {
    {"CG, Jacobi, AIJ", MATAIJ, PETSC_FALSE, 0},
    {"CG, Jacobi, AIJ, one reduction", MATAIJ, PETSC_TRUE, 0},
    {"CG, Jacobi, SBAIJ", MATSBAIJ, PETSC_FALSE, 1},
};

/* Entries per row, in columns of this process and of others; also for the upper triangle. */
static PetscErrorCode preallocate(Mat matrix, const generated_problem *A, const peer_rows *p) {
  const size_t rows = (size_t)p->count;
  PetscInt *own = peer_mpi_alloc(rows, sizeof *own), *other = peer_mpi_alloc(rows, sizeof *other);
  PetscInt *own_upper = peer_mpi_alloc(rows, sizeof *own), *other_upper = peer_mpi_alloc(rows, sizeof *other);
  for (int32_t i = 0; i < p->count; i++) {
    const int32_t row = p->first + i;
    for (int32_t k = A->row_offsets[row]; k < A->row_offsets[row + 1]; k++) {
      const int32_t column = A->column_indices[k];
      const int mine = column >= p->first && column - p->first < p->count;
      (mine ? own : other)[i]++;
      if (column >= row) (mine ? own_upper : other_upper)[i]++;
    }
  }
  PetscCall(MatXAIJSetPreallocation(matrix, 1, own, other, own_upper, other_upper));
  free(other_upper);
  free(own_upper);
  free(other);
  free(own);
  return 0;
}

static PetscErrorCode make_matrix(const setting *setting, const generated_problem *A, const peer_rows *p,
                                  Mat *matrix) {
  PetscCall(MatCreate(PETSC_COMM_WORLD, matrix));
  PetscCall(MatSetSizes(*matrix, p->count, p->count, A->rows, A->rows));
  PetscCall(MatSetType(*matrix, setting->type));
  PetscCall(preallocate(*matrix, A, p));
  /* AIJ does not support this option. */
  if (setting->upper) PetscCall(MatSetOption(*matrix, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  /* PETSc's integers may have 64 bits. */
  int32_t longest = 0;
  for (int32_t i = p->first; i < p->first + p->count; i++) {
    const int32_t length = A->row_offsets[i + 1] - A->row_offsets[i];
    if (length > longest) longest = length;
  }
  PetscInt *columns = peer_mpi_alloc((size_t)longest, sizeof *columns);
  for (PetscInt i = p->first; i < p->first + p->count; i++) {
    const int32_t start = A->row_offsets[i], length = A->row_offsets[i + 1] - start;
    for (int32_t k = 0; k < length; k++) columns[k] = A->column_indices[start + k];
    PetscCall(MatSetValues(*matrix, 1, &i, length, columns, A->values + start, INSERT_VALUES));
  }
  free(columns);
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  return 0;
}

static PetscErrorCode make_solver(const setting *setting, Mat matrix, double rtol, KSP *solver) {
  PC jacobi;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, solver));
  PetscCall(KSPSetOperators(*solver, matrix, matrix));
  PetscCall(KSPSetType(*solver, KSPCG));
  PetscCall(KSPCGUseSingleReduction(*solver, setting->one_reduction));
  PetscCall(KSPGetPC(*solver, &jacobi));
  PetscCall(PCSetType(jacobi, PCJACOBI));
  PetscCall(KSPSetNormType(*solver, KSP_NORM_UNPRECONDITIONED));
  /* Residuals may grow substantially before they fall. */
  PetscCall(KSPSetTolerances(*solver, rtol, 0, 1e30, 100000));
  PetscCall(KSPSetUp(*solver));
  return 0;
}

static PetscErrorCode true_residual(const peer_system *s, Vec x, double *residual) {
  const PetscScalar *mine;
  PetscCall(VecGetArrayRead(x, &mine));
  *residual = peer_mpi_residual(s, mine);
  PetscCall(VecRestoreArrayRead(x, &mine));
  return 0;
}

static PetscErrorCode set_right_side(const peer_system *s, const peer_rows *p, Vec b) {
  PetscScalar *mine;
  PetscCall(VecGetArrayWrite(b, &mine));
  memcpy(mine, s->b + p->first, (size_t)p->count * sizeof *mine);
  PetscCall(VecRestoreArrayWrite(b, &mine));
  return 0;
}

static PetscErrorCode measure(const setting *setting, peer_system *s, const peer_rows *p) {
  peer_times times;
  Mat matrix = NULL;
  KSP solver = NULL;
  Vec b, x;
  PetscInt iterations;
  double residual = 0;
  for (int k = 0; k < s->repeats; k++) {
    PetscCall(KSPDestroy(&solver));
    PetscCall(MatDestroy(&matrix));
    const double start = peer_mpi_begin();
    PetscCall(make_matrix(setting, &s->A, p, &matrix));
    PetscCall(make_solver(setting, matrix, s->rtol, &solver));
    times.setup[k] = peer_mpi_seconds_since(start);
  }
  PetscCall(MatCreateVecs(matrix, &x, &b));
  PetscCall(set_right_side(s, p, b));
  for (int k = -1; k < s->repeats; k++) {
    const double start = peer_mpi_begin();
    PetscCall(KSPSolve(solver, b, x)); /* from 0, which is KSP's default */
    if (k >= 0) times.solve[k] = peer_mpi_seconds_since(start);
  }
  PetscCall(KSPGetIterationNumber(solver, &iterations));
  PetscCall(true_residual(s, x, &residual));
  if (p->rank == 0) peer_system_row(s, setting->name, 0, 0, &times, (int)iterations, residual);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&solver));
  PetscCall(MatDestroy(&matrix));
  return 0;
}

/* Returns the program's status. */
static int peer_petsc_solve(int argc, char **argv) {
  peer_system s = {0};
  int rank, wrong = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  for (int k = 1; k < argc; k++) wrong |= !peer_system_option(&s, argv[k]);
  if (wrong || !s.matrix || s.threads) {
    if (rank == 0) fputs("usage: peer-petsc MATRIX [--size=N] [--rtol=R] [--repeats=N] [--json]\n", stderr);
    return 2;
  }
  if (peer_system_make(&s, "peer-petsc")) return 1;
  const peer_rows p = peer_mpi_rows(&s);
  char library[80];
  snprintf(library, sizeof library, "PETSc %d.%d.%d, double precision, %d processes", PETSC_VERSION_MAJOR,
           PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, p.processes);
  if (rank == 0) peer_system_header(&s, library);
  int failed = 0;
  for (size_t k = 0; k < sizeof settings / sizeof *settings && !failed; k++)
    failed = measure(&settings[k], &s, &p) != 0;
  if (rank == 0) peer_system_end(&s);
  peer_system_free(&s);
  return failed;
}

int main(int argc, char **argv) {
  if (PetscInitializeNoArguments()) return 1;
  const int status = peer_petsc_solve(argc, argv);
  return PetscFinalize() ? 1 : status;
}
