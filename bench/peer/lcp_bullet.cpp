// Bullet's projected Gauss-Seidel for LCPs with and without bounds, for `texsolve bench lcp`. It does not
// support friction cones, and has no measure that could stop it near the requested residual. So the program
// first counts the necessary sweeps, in tens, and passes their number to it. Its time includes no tests.
#define BT_USE_DOUBLE_PRECISION
#include <algorithm>

#include <BulletDynamics/MLCPSolvers/btSolveProjectedGaussSeidel.h>

#include "lcp_peer.h"

namespace {

constexpr int interval = 10;
constexpr double longest = 5; // maximum seconds of counting

struct Solver {
  const lcp_peer *p;
  btMatrixXu A;
  btVectorXu b, x, lower, upper;
  btAlignedObjectArray<int> dependencies;
  btSolveProjectedGaussSeidel method;
  bool use_sparsity;
  int sweeps;
};

void read(Solver &s, double *z) {
  for (int i = 0; i < s.p->size; i++) z[i] = s.x[i];
}

void count_sweeps(Solver &s) {
  double *z = static_cast<double *>(lcp_peer_memory(s.p->size, sizeof *z));
  const double start = timing_now();
  s.x.setZero();
  s.sweeps = 0;
  do {
    s.method.solveMLCP(s.A, s.b, s.x, s.lower, s.upper, s.dependencies, interval, s.use_sparsity);
    s.sweeps += interval;
    read(s, z);
  } while (!(lcp_peer_residual(z) <= s.p->rtol) && s.sweeps < s.p->max_sweeps &&
           timing_now() - start < longest);
  free(z);
}

int solve(void *user, double, int max_sweeps, double *z) {
  Solver &s = *static_cast<Solver *>(user);
  const int sweeps = std::min(s.sweeps, max_sweeps);
  s.x.setZero();
  s.method.solveMLCP(s.A, s.b, s.x, s.lower, s.upper, s.dependencies, sweeps, s.use_sparsity);
  read(s, z);
  return sweeps;
}

void fill(Solver &s) {
  const int n = s.p->size;
  s.A.resize(n, n);
  s.b.resize(n);
  s.x.resize(n);
  s.lower.resize(n);
  s.upper.resize(n);
  s.dependencies.resize(n, -1);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) s.A.setElem(i, j, s.p->matrix[static_cast<size_t>(i) * n + j]);
    s.b[i] = -s.p->q[i];
    s.lower[i] = s.p->lower[i];
    s.upper[i] = s.p->upper[i];
  }
}

} // namespace

int main(int argc, char **argv) {
  lcp_peer p;
  lcp_peer_begin(&p, "lcp-bullet", argc, argv);
  if (p.dimension == 1) {
    Solver s;
    s.p = &p;
    const double start = timing_now();
    fill(s);
    const double setup = timing_now() - start;
    for (const bool use_sparsity : {false, true}) {
      s.use_sparsity = use_sparsity;
      count_sweeps(s);
      lcp_peer_measure("Bullet", use_sparsity ? "PGS, nonzeros" : "PGS, dense", setup, solve, &s);
    }
  }
  return lcp_peer_end();
}
