/* hypre's PFMG, the multigrid method of its structured grids, on the problem of `texsolve bench multigrid`:
 * -div grad u = 1 on N x N points of the unit square, u = 0 on its sides, from u = 0 to a relative residual. It
 * uses double precision and MPI processes (Debian's hypre has no threads):
 *
 *   mpirun -n 2 peer-hypre [--size=2049] [--rtol=1e-6] [--repeats=5] [--all]
 *
 * BoomerAMG with conjugate gradients on a matrix (peer_boomeramg.c):
 *
 *   mpirun -n 2 peer-hypre --amg MATRIX [--size=N] [--rtol=1e-8] [--repeats=3]
 *
 * The points on the sides have no equation, so hypre solves on the inner N - 2 x N - 2 points. Several settings
 * are timed: every one with --all, otherwise the three that are usually fastest. The fastest is reported. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <HYPRE_struct_ls.h>

#include "peer_boomeramg.h"
#include "peer_mpi.h"

typedef struct setting {
  const char *name;
  int relax;     /* 1 Jacobi, weighted; 2 red-black Gauss-Seidel, symmetric; 3 red-black, nonsymmetric */
  int rap;       /* 0 Galerkin, 1 non-Galerkin of five points (for constant coefficients) */
  int skip;      /* skips relaxation on levels where an isotropic problem hardly needs it */
  int pre, post; /* steps */
  int cg;        /* as the preconditioner of conjugate gradients */
  int usual;
} setting;

static const setting settings[] = {
    {"red-black, Galerkin", 3, 0, 1, 1, 1, 0, 0},
    {"red-black, non-Galerkin", 3, 1, 1, 1, 1, 0, 1},
    {"red-black, non-Galerkin, no skip", 3, 1, 0, 1, 1, 0, 0},
    {"red-black, non-Galerkin, (2,1)", 3, 1, 1, 2, 1, 0, 0},
    {"symmetric red-black, non-Galerkin", 2, 1, 1, 1, 1, 0, 0},
    {"symmetric red-black, Galerkin", 2, 0, 1, 1, 1, 0, 0},
    {"Jacobi, non-Galerkin", 1, 1, 1, 1, 1, 0, 1},
    {"cg, symmetric red-black, non-Galerkin", 2, 1, 1, 1, 1, 1, 1},
    {"cg, symmetric red-black, no skip", 2, 1, 0, 1, 1, 1, 0},
};

typedef struct problem {
  int rank, processes;
  int lower[2], upper[2]; /* this process's box */
  HYPRE_StructGrid grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix A;
  HYPRE_StructVector b, x;
} problem;

static size_t box_size(const problem *p) {
  return (size_t)(p->upper[0] - p->lower[0] + 1) * (size_t)(p->upper[1] - p->lower[1] + 1);
}

/* The centre, eastern and northern entries; hypre knows that the matrix is symmetric. */
static void make_matrix(problem *p, int inner, double h) {
  static int offsets[3][2] = {{0, 0}, {1, 0}, {0, 1}};
  int entries[3] = {0, 1, 2};
  HYPRE_StructStencilCreate(2, 3, &p->stencil);
  for (int k = 0; k < 3; k++) HYPRE_StructStencilSetElement(p->stencil, k, offsets[k]);
  HYPRE_StructMatrixCreate(MPI_COMM_WORLD, p->grid, p->stencil, &p->A);
  HYPRE_StructMatrixSetSymmetric(p->A, 1);
  HYPRE_StructMatrixInitialize(p->A);
  double *values = peer_mpi_alloc(3 * box_size(p), sizeof *values);
  size_t at = 0;
  for (int j = p->lower[1]; j <= p->upper[1]; j++)
    for (int i = p->lower[0]; i <= p->upper[0]; i++) {
      values[at++] = 4 / (h * h);
      values[at++] = i + 1 < inner ? -1 / (h * h) : 0;
      values[at++] = j + 1 < inner ? -1 / (h * h) : 0;
    }
  HYPRE_StructMatrixSetBoxValues(p->A, p->lower, p->upper, 3, entries, values);
  HYPRE_StructMatrixAssemble(p->A);
  free(values);
}

static void make_problem(problem *p, int size) {
  const int inner = size - 2;
  p->lower[0] = 0;
  p->upper[0] = inner - 1;
  p->lower[1] = (int)((long long)inner * p->rank / p->processes);
  p->upper[1] = (int)((long long)inner * (p->rank + 1) / p->processes) - 1;
  HYPRE_StructGridCreate(MPI_COMM_WORLD, 2, &p->grid);
  HYPRE_StructGridSetExtents(p->grid, p->lower, p->upper);
  HYPRE_StructGridAssemble(p->grid);
  make_matrix(p, inner, 1.0 / (size - 1));
  HYPRE_StructVectorCreate(MPI_COMM_WORLD, p->grid, &p->b);
  HYPRE_StructVectorInitialize(p->b);
  double *ones = peer_mpi_alloc(box_size(p), sizeof *ones);
  for (size_t k = 0; k < box_size(p); k++) ones[k] = 1;
  HYPRE_StructVectorSetBoxValues(p->b, p->lower, p->upper, ones);
  free(ones);
  HYPRE_StructVectorAssemble(p->b);
  HYPRE_StructVectorCreate(MPI_COMM_WORLD, p->grid, &p->x);
  HYPRE_StructVectorInitialize(p->x);
  HYPRE_StructVectorAssemble(p->x);
}

static HYPRE_StructSolver make_pfmg(const setting *s) {
  HYPRE_StructSolver pfmg;
  HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &pfmg);
  HYPRE_StructPFMGSetRelaxType(pfmg, s->relax);
  HYPRE_StructPFMGSetRAPType(pfmg, s->rap);
  HYPRE_StructPFMGSetSkipRelax(pfmg, s->skip);
  HYPRE_StructPFMGSetNumPreRelax(pfmg, s->pre);
  HYPRE_StructPFMGSetNumPostRelax(pfmg, s->post);
  return pfmg;
}

typedef struct outcome {
  double setup, solve, residual;
  int cycles;
} outcome;

static void run_cycles(const setting *s, problem *p, double rtol, outcome *o) {
  double start = peer_mpi_begin();
  HYPRE_StructSolver pfmg = make_pfmg(s);
  HYPRE_StructPFMGSetTol(pfmg, rtol);
  HYPRE_StructPFMGSetMaxIter(pfmg, 100);
  HYPRE_StructPFMGSetZeroGuess(pfmg);
  HYPRE_StructPFMGSetLogging(pfmg, 1); /* required to keep a residual */
  HYPRE_StructPFMGSetup(pfmg, p->A, p->b, p->x);
  o->setup = peer_mpi_seconds_since(start);
  start = peer_mpi_begin();
  HYPRE_StructPFMGSolve(pfmg, p->A, p->b, p->x);
  o->solve = peer_mpi_seconds_since(start);
  HYPRE_StructPFMGGetNumIterations(pfmg, &o->cycles);
  HYPRE_StructPFMGGetFinalRelativeResidualNorm(pfmg, &o->residual);
  HYPRE_StructPFMGDestroy(pfmg);
}

static void run_cg(const setting *s, problem *p, double rtol, outcome *o) {
  HYPRE_StructSolver cg;
  double start = peer_mpi_begin();
  HYPRE_StructSolver pfmg = make_pfmg(s);
  HYPRE_StructPFMGSetTol(pfmg, 0);
  HYPRE_StructPFMGSetMaxIter(pfmg, 1);
  HYPRE_StructPFMGSetZeroGuess(pfmg);
  HYPRE_StructPCGCreate(MPI_COMM_WORLD, &cg);
  HYPRE_StructPCGSetTol(cg, rtol);
  HYPRE_StructPCGSetTwoNorm(cg, 1);
  HYPRE_StructPCGSetMaxIter(cg, 100);
  HYPRE_StructPCGSetPrecond(cg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, pfmg);
  HYPRE_StructPCGSetup(cg, p->A, p->b, p->x);
  o->setup = peer_mpi_seconds_since(start);
  start = peer_mpi_begin();
  HYPRE_StructPCGSolve(cg, p->A, p->b, p->x);
  o->solve = peer_mpi_seconds_since(start);
  HYPRE_StructPCGGetNumIterations(cg, &o->cycles);
  HYPRE_StructPCGGetFinalRelativeResidualNorm(cg, &o->residual);
  HYPRE_StructPCGDestroy(cg);
  HYPRE_StructPFMGDestroy(pfmg);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

enum { MAX_REPEATS = 101 };

static double measure(const setting *s, problem *p, double rtol, int repeats) {
  double setup[MAX_REPEATS], solve[MAX_REPEATS];
  outcome o = {0, 0, 0, 0};
  /* The first run is not counted. */
  for (int k = -1; k < repeats; k++) {
    HYPRE_StructVectorSetConstantValues(p->x, 0);
    if (s->cg)
      run_cg(s, p, rtol, &o);
    else
      run_cycles(s, p, rtol, &o);
    HYPRE_ClearAllErrors(); /* hypre reports non-convergence as an error; the residual is checked instead */
    if (k < 0) continue;
    setup[k] = o.setup;
    solve[k] = o.solve;
  }
  qsort(setup, (size_t)repeats, sizeof *setup, ascending);
  qsort(solve, (size_t)repeats, sizeof *solve, ascending);
  if (p->rank == 0) {
    printf("%-38s %7d %9.1e %9.3f %10.2f %10.2f %10.2f\n", s->name, o.cycles, o.residual,
           pow(o.residual, 1.0 / o.cycles), 1e3 * setup[repeats / 2], 1e3 * solve[repeats / 2],
           1e3 * solve[repeats / 2] / o.cycles);
    fflush(stdout);
  }
  return o.residual <= rtol ? solve[repeats / 2] : INFINITY;
}

static int whole(const char *argument, const char *option, int least, int most, int *value) {
  char *end;
  if (strncmp(argument, option, strlen(option)) != 0) return 0;
  const long number = strtol(argument + strlen(option), &end, 10);
  if (*end || end == argument + strlen(option) || number < least || number > most) return 0;
  *value = (int)number;
  return 1;
}

int main(int argc, char **argv) {
  problem p = {0};
  int size = 2049, repeats = 5, all = 0, wrong = 0;
  double rtol = 1e-6;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.processes);
  if (argc > 1 && !strcmp(argv[1], "--amg")) {
    const int status = boomeramg_main(argc - 2, argv + 2);
    MPI_Finalize();
    return status;
  }
  for (int k = 1; k < argc; k++) {
    if (!strcmp(argv[k], "--all"))
      all = 1;
    else if (!strncmp(argv[k], "--rtol=", 7))
      wrong |= !((rtol = atof(argv[k] + 7)) > 0 && rtol < 1);
    else
      wrong |= !whole(argv[k], "--size=", 9, 32769, &size) &&
               !whole(argv[k], "--repeats=", 1, MAX_REPEATS, &repeats);
  }
  if (wrong) {
    if (p.rank == 0)
      fputs("peer-hypre: expected --size=N (9 to 32769), --rtol=R, --repeats=N (1 to 101), --all\n", stderr);
    MPI_Finalize();
    return 2;
  }
  HYPRE_Init();
  make_problem(&p, size);
  if (p.rank == 0) {
    printf("hypre %s, PFMG in double precision, %d processes; %dx%d points, residual to %g\n\n",
           HYPRE_RELEASE_VERSION, p.processes, size, size, rtol);
    printf("%-38s %7s %9s %9s %10s %10s %10s\n", "setting", "cycles", "residual", "factor", "set-up ms",
           "solve ms", "ms/cycle");
  }
  double best = INFINITY;
  const char *best_name = "none";
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
    if (!all && !settings[k].usual) continue;
    const double solve = measure(&settings[k], &p, rtol, repeats);
    if (solve < best) {
      best = solve;
      best_name = settings[k].name;
    }
  }
  if (p.rank == 0) printf("\nfastest: %s, %.2f ms\n", best_name, 1e3 * best);
  HYPRE_StructVectorDestroy(p.x);
  HYPRE_StructVectorDestroy(p.b);
  HYPRE_StructMatrixDestroy(p.A);
  HYPRE_StructStencilDestroy(p.stencil);
  HYPRE_StructGridDestroy(p.grid);
  HYPRE_Finalize();
  MPI_Finalize();
  return best < INFINITY ? 0 : 1;
}
