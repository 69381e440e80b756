// The sequential loop of projected Gauss-Seidel as usually written with Eigen, for `texsolve bench lcp`. It
// consists of a row's dot product and a projection, for a dense or a sparse matrix, and a test of the natural
// map every 10 sweeps. It does not support friction.
#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "lcp_peer.h"

namespace {

constexpr int interval = 10;
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using Vector = Eigen::VectorXd;

template <class Matrix> struct Solver {
  double norm_q;
  Matrix A;
  Vector q, lower, upper, diagonal;
};

template <class Matrix> int solve(void *user, double tolerance, int max_sweeps, double *values) {
  const Solver<Matrix> &s = *static_cast<const Solver<Matrix> *>(user);
  Eigen::Map<Vector> z(values, s.q.size());
  int sweep = 0;
  while (sweep < max_sweeps) {
    for (Eigen::Index i = 0; i < z.size(); i++) {
      const double w = s.A.row(i).dot(z) + s.q[i];
      z[i] = std::min(std::max(z[i] - w / s.diagonal[i], s.lower[i]), s.upper[i]);
    }
    if (++sweep % interval) continue;
    const Vector w = s.A * z + s.q;
    const double residual = (z - (z - w).cwiseMax(s.lower).cwiseMin(s.upper)).norm();
    if (residual <= tolerance * s.norm_q) break;
  }
  return sweep;
}

template <class Matrix> void measure(const lcp_peer &p, const char *setting) {
  const Eigen::Map<const Dense> given(p.matrix, p.size, p.size);
  Solver<Matrix> s;
  const double start = timing_now();
  if constexpr (std::is_same_v<Matrix, Sparse>)
    s.A = given.sparseView();
  else
    s.A = given;
  const double setup = timing_now() - start;
  s.norm_q = p.norm_q;
  s.q = Eigen::Map<const Vector>(p.q, p.size);
  s.lower = Eigen::Map<const Vector>(p.lower, p.size);
  s.upper = Eigen::Map<const Vector>(p.upper, p.size);
  s.diagonal = given.diagonal();
  lcp_peer_measure("Eigen", setting, setup, solve<Matrix>, &s);
}

} // namespace

int main(int argc, char **argv) {
  lcp_peer p;
  lcp_peer_begin(&p, "lcp-eigen", argc, argv);
  if (p.dimension == 1) {
    measure<Dense>(p, "loop, dense");
    measure<Sparse>(p, "loop, sparse");
  }
  return lcp_peer_end();
}
