/* What the coefficients of conjugate gradients say of the eigenvalues of M^-1 A: alpha and beta are the entries
 * of a tridiagonal matrix (Lanczos 1950; Golub and Van Loan 2013, 11.3), whose eigenvalues lie between the
 * smallest and the largest of M^-1 A and come near these. */
#ifndef TSI_LANCZOS_H
#define TSI_LANCZOS_H

enum { TSI_LANCZOS_MOST = 512 };

typedef struct tsi_lanczos {
  int count; /* rows of the matrix */
  double diagonal[TSI_LANCZOS_MOST], beside[TSI_LANCZOS_MOST];
  double carried;  /* what the next row's diagonal has of the iteration before */
  double smallest; /* eigenvalue when it was last looked for; 0: not yet. It never grows */
} tsi_lanczos;

void tsi_lanczos_begin(tsi_lanczos *t);
/* An iteration that began with delta and d^T A d and ended with delta_next. What is not positive, and rows
 * beyond TSI_LANCZOS_MOST, are not looked at. */
void tsi_lanczos_add(tsi_lanczos *t, double delta, double dq, double delta_next);
/* How many iterations bring an error to 1 / reduction of what it is: 1/2 sqrt(condition) ln(2 reduction). Where
 * some eigenvalues are far below the rest, d of them: with the condition of the rest, d more, and ln(2
 * reduction) larger by the sum of ln(largest / theirs), if that is fewer (Axelsson and Lindskog 1986, "On the
 * rate of convergence of the preconditioned conjugate gradient method"). INFINITY: nothing is known.
 * `condition`: of all. */
double tsi_lanczos_iterations(tsi_lanczos *t, double reduction, double *condition);

#endif
