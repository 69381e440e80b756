/* Estimates the eigenvalues of M^-1 A from the coefficients of conjugate gradients. alpha and beta are the
 * entries of a tridiagonal matrix (Lanczos 1950; Golub and Van Loan 2013, 11.3). Its eigenvalues lie between
 * the smallest and the largest of M^-1 A and approach them. */
#ifndef TSI_LANCZOS_H
#define TSI_LANCZOS_H

enum { TSI_LANCZOS_MOST = 512 };

typedef struct tsi_lanczos {
  int count; /* rows of the matrix */
  double diagonal[TSI_LANCZOS_MOST], beside[TSI_LANCZOS_MOST];
  double carried;  /* the contribution of the previous iteration to the next row's diagonal */
  double smallest; /* smallest eigenvalue at the last search; 0: none yet. It never grows */
} tsi_lanczos;

void tsi_lanczos_begin(tsi_lanczos *t);
/* Adds an iteration that started with delta and d^T A d and ended with delta_next. Numbers that are not
 * positive, and rows beyond TSI_LANCZOS_MOST, are ignored. */
void tsi_lanczos_add(tsi_lanczos *t, double delta, double dq, double delta_next);
/* The number of iterations that reduce an error by the factor `reduction`: 1/2 sqrt(condition) ln(2 reduction).
 * d eigenvalues may be far below the rest, one by one or in groups. Then the number is d, plus that for the
 * condition number of the rest with ln(2 reduction) increased by the sum of ln(largest / eigenvalue). The
 * minimum of both counts (Axelsson and Lindskog 1986, "On the rate of convergence of the preconditioned
 * conjugate gradient method"). INFINITY: no estimate. `condition`: the condition number with all eigenvalues.
 */
double tsi_lanczos_iterations(tsi_lanczos *t, double reduction, double *condition);

#endif
