/* TS_PRECONDITIONER_AUTO: chooses the preconditioner of a matrix before any is created.
 *
 * An iteration of conjugate gradients with Jacobi moves information from a row to the rows coupled with it. If
 * constants are almost in the null space, the iteration count is therefore proportional to the graph diameter.
 * It is some 1.4 times 2 n on a grid of n x n points, and 1.2 times 3 n on one of n x n x n. It is ten times
 * that if coefficients jump. AMG costs as much as hundreds of these iterations, set-up included
 * (core/tuning.c). Networks have a small diameter even with many rows, so Jacobi solves them quickly. It also
 * does if A is diagonally dominant.
 *
 * A matrix that is not symmetric gets incomplete factors unless Jacobi is certain to be quick: the methods for
 * these matrices tend to stagnate before they become slow. A matrix of convection and diffusion gets AMG if it
 * is large or if its factors are useless, as with central differences in a strong wind.
 *
 * On a CPU, Chebyshev replaces Jacobi if the entries lie on few diagonals and the solve is not short.
 *
 * On a GPU both solve a million rows in some 20 ms, and the choice takes a small fraction of that. It inspects
 * a sample of rows and the neighbourhoods of some of them (choose_facts.c). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "common/core/ranks.h"
#include "common/matrix/operator.h"
#include "preconditioner.h"

enum { most_factorised = 1 << 23 /* entries: one host thread computes the factors */ };
/* If coefficients jump, AMG is faster from smaller diameters on. Milliseconds of jumps3d with Jacobi and AMG,
 * by graph diameter. Two CPU cores: 201 and 134 at 75, 430 and 251 at 93. H200 with CUDA: 2.4 and 2.8 at 45,
 * 6.4 and 4.4 at 71. H200 with OpenGL: 33 and 29 at 71, 136 and 97 at 113. */
static const double least_part_of_jumps = 0.125, jumps_weight = 4, enough_with_jumps = 64;

/* If entries lie on few diagonals, the steps of Chebyshev are one sweep (matrix/cpu_dia_sweep.c). An iteration
 * then takes as long as this number of iterations with Jacobi, and replaces this many. The eigenvalue costs 12
 * iterations, so a solve must take about a hundred. Two cores, milliseconds with Jacobi and Chebyshev: 64 x 64
 * points 1.8 and 1.3, 256 x 256 74 and 44, 30^3 8.6 and 6.5, 100^3 540 and 400. */
static const double chebyshev_time = 2.6, chebyshev_iterations = 3.5, chebyshev_couplings = 80;

/* The factor on the least diameter for AMG if the tolerance is loose: Jacobi then saves iterations, AMG cannot
 * save set-up. On a grid of 128 x 128 points (diameter 254), Jacobi takes 16, 12 and 4.8 ms to 1e-8, 1e-5 and
 * 1e-2, AMG 14, 11 and 9.5. */
static double looseness(double rtol) {
  static const double usual = 1e-5;
  const double part = log(rtol) / log(usual);
  return rtol > usual && rtol < 1 ? (0.5 + 0.25 * part) / (0.75 * part) : 1;
}

double tsi_preconditioner_product_time(const ts_matrix *A, double rows, double entries, int components) {
  const tsi_tuning *t = &A->context->tuning;
  const int is_quick = components == 1 && tsi_preconditioner_on_diagonals(A);
  return components * (is_quick ? t->diagonals_part : 1) *
         (t->entry_nanoseconds * entries + t->row_nanoseconds * rows);
}

int tsi_preconditioner_sweeps_diagonals(const ts_matrix *A) {
  return A->context->tuning.diagonals_part < 1 && A->components <= 1 && tsi_preconditioner_on_diagonals(A);
}

double tsi_preconditioner_iteration_time(const ts_matrix *A, ts_preconditioner_kind kind, double rows,
                                         double entries, int components) {
  const int is_sweep = kind == TS_PRECONDITIONER_CHEBYSHEV && tsi_preconditioner_sweeps_diagonals(A);
  return A->context->tuning.iteration_nanoseconds +
         (is_sweep ? chebyshev_time : 1) * tsi_preconditioner_product_time(A, rows, entries, components);
}

double tsi_preconditioner_amg_price(const ts_matrix *A, ts_preconditioner_kind kind, double rows,
                                    double entries, int components, double cycles) {
  const tsi_tuning *t = &A->context->tuning;
  const double amg = t->amg_nanoseconds + t->amg_entry_nanoseconds * entries + t->amg_row_nanoseconds * rows;
  return (0.5 + 0.5 * cycles) * amg / tsi_preconditioner_iteration_time(A, kind, rows, entries, components);
}

/* The least graph diameter for AMG. It grows if products are quick because entries lie on few diagonals. In
 * space Jacobi takes fewer iterations for the same diameter than in the plane, also if coefficients jump, and
 * AMG costs more of them. */
static double least_diameter(const ts_matrix *A, const tsi_couplings *f, double rtol, int jumps) {
  static const double in_space = 2.5, iterations_in_space = 1.15, iterations_in_plane = 1.5;
  const int is_sweep = tsi_preconditioner_sweeps_diagonals(A);
  const int is_in_space = f->growth > in_space;
  const double per_diameter = is_in_space ? iterations_in_space : iterations_in_plane;
  const ts_preconditioner_kind other = is_sweep ? TS_PRECONDITIONER_CHEBYSHEV : TS_PRECONDITIONER_JACOBI;
  const double price =
      tsi_preconditioner_amg_price(A, other, (double)tsi_all_rows(A), f->entries, 1, 1) / per_diameter;
  const double usual = A->context->tuning.amg_couplings;
  double least = usual;
  if (is_sweep)
    least = fmax(usual, chebyshev_iterations * price);
  else if (is_in_space)
    least = fmax(usual, price);
  if (jumps && is_sweep && is_in_space)
    least /= jumps_weight;
  else if (jumps)
    least = fmin(usual / jumps_weight, enough_with_jumps);
  return looseness(rtol) * least;
}

/* Chooses by the entries when every other condition for AMG holds. */
static ts_status choose_by_entries(const ts_matrix *A, double rtol, ts_preconditioner_kind *kind, char *why,
                                   size_t size) {
  tsi_couplings f;
  TSI_TRY(tsi_preconditioner_couplings(A, &f));
  if (f.bad >= 0) {
    snprintf(why, size, "row %lld is not positive on the diagonal", (long long)f.bad);
  } else if (f.small < f.samples / 2) {
    snprintf(why, size, "constants are far from the null space");
  } else {
    const int jumps = f.jumps >= least_part_of_jumps * f.samples;
    const double least = least_diameter(A, &f, rtol, jumps);
    const int is_amg = f.across >= least;
    const double couplings = looseness(rtol) * chebyshev_couplings / (jumps ? jumps_weight : 1);
    if (is_amg)
      *kind = TS_PRECONDITIONER_AMG;
    else if (f.across >= couplings && tsi_preconditioner_sweeps_diagonals(A))
      *kind = TS_PRECONDITIONER_CHEBYSHEV;
    snprintf(why, size, "%lld rows%s, a graph diameter of about %.0f%s, %s %.0f", (long long)tsi_all_rows(A),
             *kind == TS_PRECONDITIONER_CHEBYSHEV ? " on few diagonals" : "", f.across,
             jumps ? ", jumping coefficients" : "", is_amg ? "at least" : "less than", least);
  }
  return TS_OK;
}

/* Chooses by the entries of a matrix that is not symmetric. */
static ts_status choose_unsymmetric(const ts_matrix *A, ts_preconditioner_kind *kind, char *why, size_t size) {
  double found[] = {!tsi_preconditioner_is_dominant(A), (double)A->info.nonzeros};
  if (A->all_rows) TSI_TRY(A->context->ops->ranks->largest(A->context, found, 2));
  const int has_zero = A->info.zero_diagonal_row >= 0;
  if (found[1] > most_factorised && tsi_preconditioner_has_entries(A, TS_PRECONDITIONER_AMG) &&
      tsi_preconditioner_is_transport(A)) {
    *kind = TS_PRECONDITIONER_AMG;
    snprintf(why, size,
             "the matrix is not symmetric, its row sums are about 0, and it has more than %d entries",
             most_factorised);
  } else if (found[1] > most_factorised) {
    snprintf(why, size, "the matrix is not symmetric, and has more than %d entries", most_factorised);
  } else if (!has_zero && found[0] == 0) {
    snprintf(why, size, "the matrix is not symmetric, and its diagonal is dominant");
  } else {
    *kind = TS_PRECONDITIONER_ILU;
    snprintf(why, size, "the matrix is not symmetric%s", has_zero ? ", with a zero on the diagonal" : "");
  }
  return TS_OK;
}

ts_preconditioner_kind tsi_preconditioner_choose_diagonal(const ts_matrix *A) {
  return tsi_knows_diagonal(A) && A->info.zero_diagonal_row < 0 ? TS_PRECONDITIONER_JACOBI
                                                                : TS_PRECONDITIONER_NONE;
}

/* Jacobi is a poor default for a matrix that is not symmetric, so the entries are read back from the device. */
static ts_status read_facts(ts_matrix *A) {
  tsi_matrix_entries read;
  if (!A->made_on_device || A->info.symmetric || tsi_preconditioner_knows_entries(A)) return TS_OK;
  TSI_TRY(tsi_matrix_read(A, &read));
  const ts_status status = tsi_preconditioner_find_facts(A, &read.csr, 0, 0);
  tsi_matrix_entries_free(A->context, &read);
  return status;
}

ts_status tsi_preconditioner_choose(const ts_matrix *A, double rtol, ts_preconditioner_kind *kind, char *choice,
                                    size_t size) {
  char why[160];
  const char *text = why;
  TSI_TRY(read_facts((ts_matrix *)A)); /* the facts are a cache */
  const int knows_entries = tsi_preconditioner_knows_entries(A),
            is_chosen = A->without_copy[0] && !A->made_on_device && A->changes == 0; /* at creation */
  *kind = tsi_preconditioner_choose_diagonal(A);
  if (A->kind->has_no_entries)
    snprintf(why, sizeof why, "the matrix is %s", A->kind->has_no_entries);
  else if (!A->info.symmetric && knows_entries)
    TSI_TRY(choose_unsymmetric(A, kind, why, sizeof why));
  else if (!A->info.symmetric)
    text = A->without_copy[0] ? A->without_copy : "the matrix is not symmetric, and has no host copy";
  else if (A->row_space->constrained)
    text = "the matrix has constrained rows";
  else if (tsi_all_rows(A) < TSI_AUTO_ROWS)
    snprintf(why, sizeof why, "%d rows, less than %d", (int)tsi_all_rows(A), TSI_AUTO_ROWS);
  else if (is_chosen || !knows_entries || !tsi_preconditioner_has_entries(A, TS_PRECONDITIONER_AMG)) {
    text = A->without_copy[0] ? A->without_copy : "the matrix has no host copy";
    if (A->without_copy[0] && A->prefers_sweeps) *kind = TS_PRECONDITIONER_CHEBYSHEV;
  } else
    TSI_TRY(choose_by_entries(A, rtol, kind, why, sizeof why));
  snprintf(choice, size, "%s: %s", ts_preconditioner_kind_name(*kind), text);
  return TS_OK;
}

const tsi_preconditioner_kind tsi_preconditioner_auto = {
    .kind = TS_PRECONDITIONER_AUTO, .is_from_matrix = 1, .choose = tsi_preconditioner_choose};

/* Whether a solve may change to AMG (outlook.c), and would have to read the entries back from blocks or
 * textures. If they are few, the copy takes less time. */
static int is_worth_a_copy(const ts_matrix *A) {
  enum { few = 1 << 20 };
  const int refers = A->context->caps.csr_on_host && A->info.format == TS_FORMAT_CSR;
  return A->info.symmetric && A->info.rows >= TSI_CHANGE_ROWS && A->info.nonzeros < few && !A->all_rows &&
         !A->row_space->constrained && !A->has_nodes && !refers && !tsi_preconditioner_reads_on_device(A);
}

ts_status tsi_preconditioner_wants_copy(ts_matrix *A, int *wanted) {
  ts_preconditioner_kind kind;
  char choice[200];
  TSI_TRY(tsi_preconditioner_choose(A, 0, &kind, choice, sizeof choice));
  const int needs_entries = tsi_preconditioner_row(kind)->needs_entries;
  const char *why = strchr(choice, ':');
  if (A->host_copy && A->info.symmetric) {
    A->has_nodes = tsi_preconditioner_has_nodes(A);
    A->on_diagonals = tsi_preconditioner_on_diagonals(A);
  }
  A->prefers_sweeps = kind == TS_PRECONDITIONER_CHEBYSHEV;
  if (!needs_entries && why) snprintf(A->without_copy, sizeof A->without_copy, "%.159s", why + 2);
  *wanted = needs_entries || is_worth_a_copy(A);
  return TS_OK;
}
