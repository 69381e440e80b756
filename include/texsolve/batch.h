/* Many small systems with one sparsity pattern, A_k x_k = b_k for k = 0, 1, ..., solved in one call. The
 * matrices differ in their values only. In this example there are two systems of two unknowns:
 *
 *   const int offsets[] = {0, 2, 4}, columns[] = {0, 1, 0, 1};
 *   const double values[] = {2, 1, 1, 3, 4, -1, -1, 2}; // the rows 2 1, 1 3 and 4 -1, -1 2
 *   const double sides[] = {3, 4, 2, 3};
 *   double x_all[4];
 *   ts_batch_result results[2];
 *   ts_batch_desc desc = {.systems = 2,
 *                         .rows = 2,
 *                         .row_offsets = ts_host(offsets, 3),
 *                         .column_indices = ts_host(columns, 4),
 *                         .values = ts_host(values, 8),
 *                         .rtol = 1e-8,
 *                         .zero_start = 1};
 *   ts_batch_solve(context, &desc, ts_host(sides, 4), ts_host(x_all, 4), results);
 *   printf("%g %g, %s\n", x_all[0], x_all[1], ts_reason_text(results[0].reason)); // 1 1 1 2
 *
 * A ts_solver suits systems that occupy the whole device. Its calls take microseconds, which is longer than the
 * solve of a small system. Here each thread of the host, or each block of a GPU, solves another system.
 *
 * The methods are conjugate gradients (Hestenes and Stiefel 1952) and BiCGSTAB (van der Vorst 1992), with the
 * Jacobi preconditioner or none. All arithmetic is in double precision. On a GPU each block
 * keeps the vectors of its system in shared memory, as in Kashi et al. 2022, "Batched sparse iterative solvers
 * on GPU for the collision operator for fusion plasma simulations".
 *
 * Threads, version, errors and ownership are as in texsolve.h. */
#ifndef TEXSOLVE_BATCH_H
#define TEXSOLVE_BATCH_H

#include <texsolve/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The systems and how to solve them. */
typedef struct ts_batch_desc {
  int64_t systems;         /* number of systems; 0: the call does nothing */
  int64_t rows;            /* rows, columns and unknowns of each system, at least 1 */
  ts_array row_offsets;    /* the pattern in CSR: rows + 1 integers, ascending, from 0 */
  ts_array column_indices; /* integers, 0 .. rows - 1, in any order. Entries with the same row and column are
                              added */
  ts_array values;         /* floats or doubles: value e of system k is number k * entries + e */
  /* cg, bicgstab or auto. Default: auto, for each system cg if it is symmetric with a positive diagonal,
   * otherwise bicgstab; bicgstab also continues if cg fails. */
  ts_method method;
  /* none, Jacobi or auto. Default: auto, Jacobi, or none for a system with a 0 on its diagonal. */
  ts_preconditioner_kind preconditioner_kind;
  double rtol;        /* relative tolerance, below 1; a negative value means 0. Default: 1e-5 */
  int max_iterations; /* of each system. Default: 10 times the rows, at least 1000 and at most 100000 */
  int zero_start;     /* 1: start from x = 0 and ignore the contents of x. Default: 0, start from the values in
                         x, or from 0 for a system in which their residual is larger than b */
  uint64_t reserved[8]; /* 0 */
} ts_batch_desc;

/* The outcome of one system. */
typedef struct ts_batch_result {
  double relative_residual; /* ||b - A x|| / ||b||, computed from x in double precision at the end; 0 if b is 0.
                               NaN if it was not computed */
  double rounded_residual;  /* that of x as stored in its array; larger if the array rounds x to floats */
  ts_reason reason;
  ts_method method; /* cg or bicgstab, at the end */
  int iterations;
  int restarts; /* restarts from x and b - A x */
} ts_batch_result;

/* Solves all systems. b has systems * rows numbers, floats or doubles: number i of system k is k * rows + i. x
 * has the same layout; it contains the starting values and receives the solutions. b and x may be one array.
 * `results` has one element per system in host memory, and may be NULL. Synchronises with the device.
 *
 * Returns TS_OK if every system meets ||b - A x|| <= rtol ||b||, with b - A x computed from x before an array
 * of floats rounds it. Returns TS_NOT_CONVERGED otherwise. ts_last_error then names the first system that did
 * not converge, its reason, and the number of such systems.
 *
 * Systems do not influence each other: the bits of a result do not depend on the other systems. If a system
 * fails, its x is the one with the smallest computed residual. Two kinds of failure leave x unchanged, or 0
 * with zero_start: the system was refused (TS_REASON_NAN_INPUT, TS_REASON_ZERO_DIAGONAL,
 * TS_REASON_NOT_SYMMETRIC, and TS_REASON_INDEFINITE in iteration 0), or the solution exceeds the range of x's
 * array (TS_REASON_BREAKDOWN).
 *
 * Each system is scaled by powers of two, so A, b and x may have any scale that doubles can represent. Values
 * 2^1000 times smaller than the largest of their system begin to lose digits.
 *
 * Backends: with "cuda" one launch solves all systems, a block for each. It reads and writes arrays in CUDA
 * memory in place; host arrays are copied to the device. On all other backends, "gl" and multi-device backends
 * included, the threads of the context solve the systems on the host. In several processes each one solves the
 * systems of its own call.
 *
 * Errors: TS_ERROR_INVALID_ARGUMENT (an array of another size or type, offsets that do not ascend, a column out
 * of range, an invalid field, another method or preconditioner), TS_ERROR_UNSUPPORTED (an array in CUDA memory
 * on another backend), TS_ERROR_LIMIT (more than 2^31 - 1024 rows or entries), memory. After an error
 * x is unchanged, or undefined if the device failed. */
TS_API ts_status ts_batch_solve(ts_context *context, const ts_batch_desc *desc, ts_array b, ts_array x,
                                ts_batch_result *results);

#ifdef __cplusplus
}
#endif
#endif
