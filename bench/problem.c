#include "problem.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "family.h"

static void move_arrays(problem *p, generated_problem *g) {
  p->system.A = (mm_csr){.rows = g->rows,
                         .columns = g->rows,
                         .row_offsets = g->row_offsets,
                         .column_indices = g->column_indices,
                         .values = g->values,
                         .nonzeros = g->row_offsets[g->rows]};
  p->unknowns = g->unknowns;
  p->dimensions = g->dimensions;
  p->coordinates = g->coordinates;
  p->vectors = g->vectors;
  p->near_null = g->near_null;
}

int problem_from_generated(problem *p, generated_problem *g) {
  *p = (problem){0};
  move_arrays(p, g);
  p->system.columns = 1;
  p->system.b = malloc((size_t)g->rows * sizeof *p->system.b);
  p->system.exponents = calloc(1, sizeof *p->system.exponents);
  for (int32_t i = 0; p->system.b && i < g->rows; i++) p->system.b[i] = 1;
  if (p->system.b && p->system.exponents) return 0;
  bench_error("no memory for %d rows", g->rows);
  problem_free(p);
  return 2;
}

int problem_is_family(const char *name) {
  return family_find(name) >= 0;
}

static int generate(problem *p, const char *name, int32_t rows) {
  generated_problem g;
  const int family = family_find(name),
            failed = family < 0 ? generate_problem(&g, name, rows) : family_make(family, rows, &g);
  if (failed == 2) bench_error("no memory for the matrix %s of %d rows, or more than 2^31 entries", name, rows);
  if (failed == 3) bench_error("the matrix %s has at least %d rows, not %d", name, GENERATED_MESH_ROWS, rows);
  return failed ? failed : problem_from_generated(p, &g);
}

int problem_make(problem *p, const char *name, int32_t rows) {
  *p = (problem){0};
  if (generated_is_name(name) || problem_is_family(name)) return generate(p, name, rows);
  const solve_options options = {.matrix = name, .preconditioner = TS_PRECONDITIONER_JACOBI};
  const int failed = solve_read(&options, &p->system);
  if (!failed) p->system.exponents[0].x = 0; /* x belongs to the scaled system */
  return failed;
}

void problem_free(problem *p) {
  solve_free(&p->system);
  free(p->coordinates);
  free(p->near_null);
  *p = (problem){0};
}

const char *problem_title(const char *name) {
  const char *slash = strrchr(name, '/');
  return slash ? slash + 1 : name;
}
