#include "lscm_eigen.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <Eigen/CholmodSupport>
#include <Eigen/Core>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

// Row-major with both triangles: only then Eigen's product uses threads.
using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using Vector = Eigen::VectorXd;
using Jacobi = Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper>;

// The rounding error of 0, relative to the geometric mean of the two diagonal entries.
const double rounding = 1e-13;
// Successive solves; each starts at the result of the previous one.
const int most_passes = 30;

double seconds() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Wall-clock and CPU time since construction.
struct Clock {
  double start = seconds(), cpu = cpu_seconds();

  void end_of_setup(lscm_outcome *o) const {
    o->seconds_setup = seconds() - start;
    o->cpu_setup = cpu_seconds() - cpu;
  }
  void end_of_solve(lscm_outcome *o) const {
    o->seconds_solve = seconds() - start - o->seconds_setup;
    o->cpu_solve = cpu_seconds() - cpu - o->cpu_setup;
  }
};

int fail(char message[MESH_MESSAGE], const char *what) {
  std::snprintf(message, MESH_MESSAGE, "Eigen: %s", what);
  return 1;
}

} // namespace

struct lscm_eigen {
  std::vector<int> column; // of an unknown; -1 if it is pinned
  Matrix A;                // conditions, each multiplied by the root of its weight
  Matrix N;                // A^T A
  Vector b, pull;          // contribution of pinned vertices to the conditions, and A^T b
  lscm_forming forming = {};

  double residual(const Vector &x) const {
    const double scale = pull.norm();
    return (pull - N * x).norm() / (scale > 0 ? scale : 1);
  }
};

namespace {

void number_unknowns(const lscm_problem &p, lscm_eigen *e) {
  int count = 0;
  e->column.resize(2 * static_cast<size_t>(p.c->vertices));
  for (size_t i = 0; i < e->column.size(); i++) e->column[i] = p.pinned[i / 2] ? -1 : count++;
  e->A.resize(2 * static_cast<Eigen::Index>(p.m->triangle_count), count);
}

// Row by row with ascending columns, so that Eigen need not sort.
void state_conditions(const lscm_problem &p, const double *uv, lscm_eigen *e) {
  e->A.reserve(6 * e->A.rows());
  e->b = Vector::Zero(e->A.rows());
  for (int32_t t = 0; t < p.m->triangle_count; t++) {
    const conformal_condition row = conformal_condition_of(p.m, t);
    const int32_t *corner = p.c->corner + 3 * static_cast<size_t>(t);
    const double root = std::sqrt(row.weight);
    int order[3] = {0, 1, 2};
    std::sort(order, order + 3, [corner](int a, int b) { return corner[a] < corner[b]; });
    for (int part = 0; part < 2; part++) {
      const Eigen::Index r = 2 * static_cast<Eigen::Index>(t) + part;
      e->A.startVec(r);
      for (const int k : order) {
        const double number[2] = {root * (part ? row.im[k] : row.re[k]),
                                  root * (part ? row.re[k] : -row.im[k])};
        for (int c = 0; c < 2; c++) {
          const size_t unknown = 2 * static_cast<size_t>(corner[k]) + static_cast<size_t>(c);
          if (e->column[unknown] < 0)
            e->b[r] -= number[c] * uv[unknown];
          else
            e->A.insertBack(r, e->column[unknown]) = number[c];
        }
      }
    }
  }
  e->A.finalize();
}

void form_normal_equations(lscm_eigen *e) {
  e->N = e->A.transpose() * e->A;
  e->forming.formed = e->N.nonZeros();
  const Vector diagonal = e->N.diagonal();
  e->N.prune([&diagonal](Eigen::Index i, Eigen::Index j, double number) {
    return i == j || std::fabs(number) > rounding * std::sqrt(diagonal[i] * diagonal[j]);
  });
  e->N.makeCompressed();
  e->forming.kept = e->N.nonZeros();
  e->pull = e->A.transpose() * e->b;
}

// Solves until the true residual is small enough; Eigen itself checks that of its recurrence.
void solve_cg(const lscm_eigen &e, double rtol, int most, Vector &x, lscm_outcome *o) {
  const Clock clock;
  Jacobi solver;
  solver.compute(e.N);
  clock.end_of_setup(o);
  double before = HUGE_VAL, tolerance = rtol;
  for (int pass = 0; pass < most_passes && o->iterations < most; pass++) {
    solver.setMaxIterations(most - o->iterations);
    solver.setTolerance(tolerance);
    x = solver.solveWithGuess(e.pull, x).eval();
    o->iterations += static_cast<int>(solver.iterations());
    const double now = e.residual(x);
    if (now <= rtol || !(now < 0.9 * before)) return;
    before = now;
    tolerance *= 0.5;
  }
}

int solve_direct(const lscm_eigen &e, Vector &x, lscm_outcome *o, char message[MESH_MESSAGE]) {
  const Clock clock;
  const Eigen::SparseMatrix<double> N = e.N;
  Eigen::CholmodSupernodalLLT<Eigen::SparseMatrix<double>> solver;
  solver.compute(N);
  if (solver.info() != Eigen::Success) return fail(message, "CHOLMOD found no factorization");
  clock.end_of_setup(o);
  x = solver.solve(e.pull).eval();
  // A second solve removes the rounding error of the first.
  x += solver.solve(e.pull - e.N * x).eval();
  return 0;
}

} // namespace

int lscm_eigen_create(const lscm_problem *problem, const double *uv, int threads, lscm_eigen **out,
                      char message[MESH_MESSAGE]) {
  try {
#ifdef _OPENMP
    if (threads) omp_set_num_threads(threads);
    Eigen::setNbThreads(threads ? threads : omp_get_max_threads());
#else
    (void)threads;
#endif
    const double start = seconds(), cpu = cpu_seconds();
    auto e = std::make_unique<lscm_eigen>();
    number_unknowns(*problem, e.get());
    state_conditions(*problem, uv, e.get());
    form_normal_equations(e.get());
    e->forming.seconds = seconds() - start;
    e->forming.cpu = cpu_seconds() - cpu;
    *out = e.release();
    return 0;
  } catch (const std::exception &error) {
    return fail(message, error.what());
  }
}

void lscm_eigen_destroy(lscm_eigen **e) {
  delete *e;
  *e = nullptr;
}

lscm_forming lscm_eigen_forming(const lscm_eigen *e) {
  return e->forming;
}

int lscm_eigen_solve(const lscm_eigen *e, lscm_method method, double rtol, int max_iterations, double *uv,
                     lscm_outcome *outcome, char message[MESH_MESSAGE]) {
  try {
    *outcome = {};
    Vector x(e->N.rows());
    for (size_t i = 0; i < e->column.size(); i++)
      if (e->column[i] >= 0) x[e->column[i]] = uv[i];
    const Clock clock;
    if (method == LSCM_CG)
      solve_cg(*e, rtol, max_iterations, x, outcome);
    else if (solve_direct(*e, x, outcome, message))
      return 1;
    clock.end_of_solve(outcome);
    for (size_t i = 0; i < e->column.size(); i++)
      if (e->column[i] >= 0) uv[i] = x[e->column[i]];
    return 0;
  } catch (const std::exception &error) {
    return fail(message, error.what());
  }
}
