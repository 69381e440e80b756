// Eigen's product, conjugate gradients and operations on vectors, for `texsolve bench compare`.
#include <Eigen/Core>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "compare_peer.h"

namespace {

using Matrix = Eigen::SparseMatrix<float, Eigen::RowMajor, int>;
// Both triangles are stored, because only then the product uses threads.
using Solver =
    Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, Eigen::DiagonalPreconditioner<float>>;

struct Problem {
  Matrix A;
  Eigen::VectorXf x, y;           // y = A x
  Eigen::VectorXf u, v, unknowns; // over A's rows
  Solver solver;
  volatile float sink = 0; // prevents the elimination of sums
};

int product(void *user, long count) {
  Problem &p = *static_cast<Problem *>(user);
  for (long i = 0; i < count; i++) p.y.noalias() = p.A * p.x;
  return 0;
}

int axpy(void *user, long count) {
  Problem &p = *static_cast<Problem *>(user);
  for (long i = 0; i < count; i++) p.v += (i & 1 ? 0.5f : -0.5f) * p.u;
  return 0;
}

int dot(void *user, long count) {
  Problem &p = *static_cast<Problem *>(user);
  for (long i = 0; i < count; i++) p.sink = p.u.dot(p.v);
  return 0;
}

int nrm2(void *user, long count) {
  Problem &p = *static_cast<Problem *>(user);
  for (long i = 0; i < count; i++) p.sink = p.u.norm();
  return 0;
}

int solve(void *user, long count) {
  Problem &p = *static_cast<Problem *>(user);
  for (long i = 0; i < count; i++) p.unknowns = p.solver.solve(p.u);
  return p.solver.iterations() < 1;
}

} // namespace

int main(int argc, char **argv) {
  peer common;
  peer_begin(&common, "compare-eigen", argc, argv);
#ifdef _OPENMP
  Eigen::setNbThreads(common.threads ? common.threads : omp_get_max_threads());
#endif
  const generated_matrix &A = common.A;
  Problem p;
  p.A = Eigen::Map<const Matrix>(A.rows, A.columns, A.row_offsets[A.rows], A.row_offsets, A.column_indices,
                                 A.values);
  p.x = Eigen::Map<const Eigen::VectorXf>(common.x, A.columns);
  p.y.resize(A.rows);
  p.u = p.v = Eigen::Map<const Eigen::VectorXf>(common.y, A.rows);
  peer_measure(&common, "Eigen", "csr", "spmv", 1, 0, product, &p);
  peer_check_product(&common, "csr", p.y.data());
  peer_measure(&common, "Eigen", "csr", "axpy", 1, 0, axpy, &p);
  peer_measure(&common, "Eigen", "csr", "dot", 1, 0, dot, &p);
  peer_measure(&common, "Eigen", "csr", "nrm2", 1, 0, nrm2, &p);
  if (A.rows == A.columns) {
    p.solver.setMaxIterations(PEER_ITERATIONS);
    p.solver.setTolerance(0);
    p.solver.compute(p.A);
    if (solve(&p, 1)) peer_fail("Eigen's conjugate gradients made no iteration");
    peer_measure(&common, "Eigen", "csr", "cg", static_cast<double>(p.solver.iterations()), 0, solve, &p);
  }
  return peer_end(&common);
}
