/* Systems A x = b with b = 1 in double precision, for precision, amg and similar benchmarks. */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include "generate_problem.h"
#include "solve.h"

typedef struct problem {
  solve_system system;
  int unknowns, dimensions; /* as in generate_problem.h; 0 for a file */
  double *coordinates;
  int vectors;
  double *near_null;
} problem;

/* A generated matrix of `rows` rows, one of a family (family.h), or the file `name`. Nonzero after a
 * message. */
int problem_make(problem *p, const char *name, int32_t rows);
/* Uses an existing matrix. The problem takes ownership of its arrays, also on failure. */
int problem_from_generated(problem *p, generated_problem *g);
void problem_free(problem *p);
int problem_is_family(const char *name);

/* The part of a name after the directories. */
const char *problem_title(const char *name);

#endif
