// Eigen's sparse product and texsolve's CPU backend on the same matrices, in the same run.
//
// The two take turns, so that whatever else the machine does falls on both; the figures are medians. Both get
// the same number of threads. Eigen is compiled with -O3 -march=native, texsolve as the library is shipped.
#include <argp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <Eigen/Core>
#include <Eigen/SparseCore>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <texsolve/texsolve.h>

namespace {

struct Csr {
  int32_t rows = 0;
  std::vector<int32_t> offsets{0}, columns;
  std::vector<float> values;

  void add(int32_t column, float value) {
    columns.push_back(column);
    values.push_back(value);
  }
  void end_row() {
    offsets.push_back(static_cast<int32_t>(columns.size()));
    rows++;
  }
};

// The mesh Laplacian plus identity of a square grid whose cells are cut in two: 7 entries in an inner row.
Csr triangulated_grid(int32_t n) {
  static const int step[7][2] = {{-1, -1}, {0, -1}, {-1, 0}, {0, 0}, {1, 0}, {0, 1}, {1, 1}};
  Csr A;
  for (int32_t y = 0; y < n; y++)
    for (int32_t x = 0; x < n; x++) {
      for (const auto &s : step) {
        const int32_t i = x + s[0], j = y + s[1];
        if (i >= 0 && i < n && j >= 0 && j < n) A.add(j * n + i, s[0] == 0 && s[1] == 0 ? 7.0f : -1.0f);
      }
      A.end_row();
    }
  return A;
}

// The 7-point Laplacian of a cube.
Csr laplacian_3d(int32_t n) {
  static const int step[7][3] = {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {0, 0, 0},
                                 {1, 0, 0},  {0, 1, 0},  {0, 0, 1}};
  Csr A;
  for (int32_t z = 0; z < n; z++)
    for (int32_t y = 0; y < n; y++)
      for (int32_t x = 0; x < n; x++) {
        for (const auto &s : step) {
          const int32_t i = x + s[0], j = y + s[1], k = z + s[2];
          if (i >= 0 && i < n && j >= 0 && j < n && k >= 0 && k < n)
            A.add((k * n + j) * n + i, s[0] == 0 && s[1] == 0 && s[2] == 0 ? 6.0f : -1.0f);
        }
        A.end_row();
      }
  return A;
}

// Rows of 1 to 64 entries in columns up to 1000 away: lengths that no processor can foresee.
Csr uneven_rows(int32_t n) {
  uint32_t random = 12345;
  const auto next = [&random](int32_t bound) {
    random = random * 1664525u + 1013904223u;
    return static_cast<int32_t>((random >> 8) % static_cast<uint32_t>(bound));
  };
  Csr A;
  std::vector<int32_t> columns;
  for (int32_t row = 0; row < n; row++) {
    const int32_t low = std::max(0, row - 1000), high = std::min(n, row + 1000);
    columns.clear();
    for (int32_t k = 1 + next(64); k > 0; k--) columns.push_back(low + next(high - low));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const int32_t column : columns) A.add(column, 0.5f + 0.01f * static_cast<float>(next(100)));
    A.end_row();
  }
  return A;
}

struct Options {
  int grid = 1000, cube = 100, uneven = 250000, threads = 0, repeats = 51;
};

double seconds() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

double median(std::vector<double> &values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Ends the program with the library's words.
void require(ts_status status, const ts_context *context) {
  if (status == TS_OK) return;
  std::fprintf(stderr, "peer-eigen: %s: %s\n", ts_status_text(status), ts_last_error(context));
  std::exit(1);
}

// The matrix and vectors of texsolve; released at the end of a run.
class Ours {
public:
  Ours(ts_context *context, const Csr &A, const std::vector<float> &x) : context_(context) {
    ts_matrix_desc desc = {};
    desc.csr = {A.rows, A.rows, A.offsets.data(), A.columns.data(), A.values.data()};
    require(ts_matrix_create(context, &desc, &matrix_), context);
    require(ts_vector_create(ts_matrix_column_space(matrix_), nullptr, &x_), context);
    require(ts_vector_create(ts_matrix_row_space(matrix_), nullptr, &y_), context);
    require(ts_vector_write(x_, x.data(), x.size()), context);
  }
  ~Ours() {
    ts_vector_destroy(&x_);
    ts_vector_destroy(&y_);
    ts_matrix_destroy(&matrix_);
  }
  Ours(const Ours &) = delete;
  Ours &operator=(const Ours &) = delete;

  void multiply() {
    require(ts_matrix_multiply(y_, matrix_, x_), context_);
    require(ts_context_finish(context_), context_);
  }
  std::vector<float> result(size_t rows) const {
    std::vector<float> y(rows);
    require(ts_vector_read(y_, y.data(), y.size()), context_);
    return y;
  }

private:
  ts_context *context_;
  ts_matrix *matrix_ = nullptr;
  ts_vector *x_ = nullptr, *y_ = nullptr;
};

// The largest difference of two products, as a multiple of the machine epsilon times |A| |x| in that row.
double difference(const Csr &A, const std::vector<float> &x, const std::vector<float> &ours,
                  const Eigen::VectorXf &theirs) {
  double worst = 0;
  for (int32_t i = 0; i < A.rows; i++) {
    double scale = 0;
    for (int32_t k = A.offsets[i]; k < A.offsets[i + 1]; k++)
      scale += std::fabs(static_cast<double>(A.values[k]) * static_cast<double>(x[A.columns[k]]));
    const double gap = std::fabs(static_cast<double>(ours[i]) - static_cast<double>(theirs[i]));
    if (!(gap <= 0)) worst = std::max(worst, std::isfinite(gap) ? gap / (scale * 5.96e-8) : HUGE_VAL);
  }
  return worst;
}

bool compare(ts_context *context, const char *name, const Csr &A, const Options &options) {
  using Matrix = Eigen::SparseMatrix<float, Eigen::RowMajor, int>;
  const size_t rows = static_cast<size_t>(A.rows);
  std::vector<float> x(rows);
  for (size_t i = 0; i < rows; i++) x[i] = 0.5f + 0.01f * static_cast<float>(i * 37 % 101);

  const Matrix theirs = Eigen::Map<const Matrix>(A.rows, A.rows, static_cast<Eigen::Index>(A.columns.size()),
                                                 A.offsets.data(), A.columns.data(), A.values.data());
  const Eigen::VectorXf their_x = Eigen::Map<const Eigen::VectorXf>(x.data(), A.rows);
  Eigen::VectorXf their_y(A.rows);
  Ours ours(context, A, x);

  // One product that is not timed brings each one's data back into the caches as far as they fit.
  const int batch = 3;
  std::vector<double> our_times, their_times;
  for (int r = 0; r < options.repeats; r++) {
    ours.multiply();
    double start = seconds();
    for (int i = 0; i < batch; i++) ours.multiply();
    our_times.push_back((seconds() - start) / batch);
    their_y.noalias() = theirs * their_x;
    start = seconds();
    for (int i = 0; i < batch; i++) their_y.noalias() = theirs * their_x;
    their_times.push_back((seconds() - start) / batch);
  }
  const double our_time = median(our_times), their_time = median(their_times);
  const double flops = 2.0 * static_cast<double>(A.columns.size());
  const double gap = difference(A, x, ours.result(rows), their_y);
  // Two sums of n terms differ by at most about 2 n roundings; rows have up to 64.
  const bool same = gap <= 20;
  std::printf("%-18s %9d %10zu %10.3f %9.2f %10.3f %9.2f %8.2f   %.1f eps%s\n", name, A.rows, A.columns.size(),
              our_time * 1e3, flops / our_time * 1e-9, their_time * 1e3, flops / their_time * 1e-9,
              their_time / our_time, gap, same ? "" : "  DIFFERENT RESULTS");
  return same;
}

int parse(int key, char *argument, argp_state *state) {
  Options &options = *static_cast<Options *>(state->input);
  int *target = key == 'g'   ? &options.grid
                : key == 'c' ? &options.cube
                : key == 'u' ? &options.uneven
                : key == 't' ? &options.threads
                : key == 'r' ? &options.repeats
                             : nullptr;
  if (!target) return ARGP_ERR_UNKNOWN;
  char *end = nullptr;
  const long value = std::strtol(argument, &end, 10);
  const long most = key == 'g' ? 10000 : key == 'c' ? 500 : key == 'u' ? 10000000 : 100000;
  if (end == argument || *end || value < (key == 't' ? 0 : 1) || value > most)
    argp_error(state, "\"%s\" is not a number from %d to %ld", argument, key == 't' ? 0 : 1, most);
  *target = static_cast<int>(value);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  static const argp_option rows[] = {
      {"grid", 'g', "N", 0, "triangulated grid of N x N vertices (default: 1000)", 0},
      {"cube", 'c', "N", 0, "3-D Laplacian of N x N x N points (default: 100)", 0},
      {"uneven", 'u', "N", 0, "N rows of 1 to 64 entries (default: 250000)", 0},
      {"threads", 't', "N", 0, "threads of both libraries (default: what OpenMP chooses)", 0},
      {"repeats", 'r', "N", 0, "turns, of which the median is taken (default: 51)", 0},
      {nullptr, 0, nullptr, 0, nullptr, 0}};
  static const argp parser = {
      rows, parse, nullptr, "Times y = A x of texsolve's CPU backend and of Eigen.", nullptr, nullptr, nullptr};
  Options options;
  argp_parse(&parser, argc, argv, 0, nullptr, &options);

#ifdef _OPENMP
  if (options.threads == 0) options.threads = omp_get_max_threads();
#else
  options.threads = 1;
#endif
  Eigen::setNbThreads(options.threads);

  ts_context_desc desc = {};
  desc.backend = "cpu";
  desc.threads = options.threads;
  ts_context *context = nullptr;
  require(ts_context_create(&desc, &context), nullptr);
  ts_context_info info;
  require(ts_context_get_info(context, &info), context);
  std::printf("%s; texsolve %s (%s); Eigen %d.%d.%d, %d threads\n", info.device, ts_version(), info.driver,
              EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, Eigen::nbThreads());
  std::printf("%-18s %9s %10s %10s %9s %10s %9s %8s   %s\n", "matrix", "rows", "entries", "texs. ms", "GFLOP/s",
              "Eigen ms", "GFLOP/s", "speed-up", "difference");
  bool same = compare(context, "triangulated grid", triangulated_grid(options.grid), options);
  same = compare(context, "3-D Laplacian", laplacian_3d(options.cube), options) && same;
  same = compare(context, "uneven rows", uneven_rows(options.uneven), options) && same;
  ts_context_destroy(&context);
  return same ? 0 : 1;
}
