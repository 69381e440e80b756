/* AMGCL: smoothed aggregation with its default smoother, SPAI(0), and with Gauss-Seidel, without which
 * elasticity does not converge. It preconditions conjugate gradients and uses OpenMP threads. Usage:
 * peer_system.h. --single: the preconditioner in single precision, as in texsolve. If coordinates are given,
 * the near-null space contains the rigid-body modes. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#define AMGCL_NO_BOOST
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/coarsening/rigid_body_modes.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/gauss_seidel.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/cg.hpp>

#include "peer_system.h"

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* AMGCL describes the hierarchy only as text. */
void read_hierarchy(const std::string &text, int &levels, double &cost) {
  const size_t a = text.find("Number of levels:"), b = text.find("Operator complexity:");
  if (a != std::string::npos) std::sscanf(text.c_str() + a, "Number of levels: %d", &levels);
  if (b != std::string::npos) std::sscanf(text.c_str() + b, "Operator complexity: %lf", &cost);
}

/* Rigid-body modes from the coordinates, or the given vectors. */
template <class P> void set_near_null(const generated_problem &A, P &coarsening) {
  const auto rows = static_cast<size_t>(A.rows);
  if (A.unknowns > 1) coarsening.aggr.block_size = static_cast<unsigned>(A.unknowns);
  if (A.dimensions) {
    const std::vector<double> coordinates(A.coordinates, A.coordinates + rows);
    coarsening.nullspace.cols =
        amgcl::coarsening::rigid_body_modes(A.dimensions, coordinates, coarsening.nullspace.B);
  } else if (A.vectors) {
    coarsening.nullspace.cols = A.vectors;
    coarsening.nullspace.B.assign(A.near_null, A.near_null + rows * static_cast<size_t>(A.vectors));
  }
  if (coarsening.nullspace.cols) coarsening.aggr.eps_strong = 0; /* better than the default for elasticity */
}

template <class T, template <class> class Relaxation> void measure(peer_system &s, const char *setting) {
  using outer = amgcl::backend::builtin<double>;
  using solver = amgcl::make_solver<
      amgcl::amg<amgcl::backend::builtin<T>, amgcl::coarsening::smoothed_aggregation, Relaxation>,
      amgcl::solver::cg<outer>>;
  const generated_problem &A = s.A;
  const auto rows = static_cast<size_t>(A.rows), entries = static_cast<size_t>(A.row_offsets[A.rows]);
  const std::vector<ptrdiff_t> offsets(A.row_offsets, A.row_offsets + rows + 1);
  const std::vector<ptrdiff_t> columns(A.column_indices, A.column_indices + entries);
  const std::vector<double> values(A.values, A.values + entries), b(s.b, s.b + rows);
  std::vector<double> x(rows);
  peer_times times;
  int levels = 0, iterations = 0;
  double cost = 0;
  for (int k = 0; k < s.repeats; k++) {
    typename solver::params parameters;
    parameters.solver.tol = s.rtol;
    parameters.solver.maxiter = 1000;
    double start = now();
    set_near_null(A, parameters.precond.coarsening);
    const solver solve(std::tie(rows, offsets, columns, values), parameters);
    times.setup[k] = now() - start;
    std::ostringstream text;
    text << solve.precond();
    read_hierarchy(text.str(), levels, cost);
    std::fill(x.begin(), x.end(), 0.0);
    start = now();
    iterations = static_cast<int>(std::get<0>(solve(b, x)));
    times.solve[k] = now() - start;
  }
  peer_system_row(&s, setting, levels, cost, &times, iterations, peer_system_residual(&s, x.data()));
}

} // namespace

int main(int argc, char **argv) {
  peer_system s = {};
  bool wrong = false, single = false;
  for (int k = 1; k < argc; k++)
    if (!std::strcmp(argv[k], "--single"))
      single = true;
    else
      wrong |= !peer_system_option(&s, argv[k]);
  if (wrong || !s.matrix) {
    std::fputs(
        "usage: peer-amgcl MATRIX [--size=N] [--rtol=R] [--repeats=N] [--threads=N] [--json] [--single]\n",
        stderr);
    return 2;
  }
  if (peer_system_make(&s, "peer-amgcl")) return 1;
#ifdef _OPENMP
  if (s.threads) omp_set_num_threads(s.threads);
#endif
  int status = 0;
  try {
    peer_system_header(&s, "AMGCL");
    if (single) {
      measure<float, amgcl::relaxation::spai0>(s, "AMGCL, SPAI(0), single");
    } else {
      measure<double, amgcl::relaxation::spai0>(s, "AMGCL, SPAI(0)");
      measure<double, amgcl::relaxation::gauss_seidel>(s, "AMGCL, Gauss-Seidel");
    }
    peer_system_end(&s);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "peer-amgcl: %s\n", error.what());
    status = 1;
  }
  peer_system_free(&s);
  return status;
}
