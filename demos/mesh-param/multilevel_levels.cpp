#include "multilevel_levels.hpp"

#include <cmath>
#include <new>
#include <utility>

#include "hierarchy.h"
extern "C" {
#include "conformal.h"
}

namespace {

using std::vector;

/* Weights below this part of a row's largest are left out: half of the coarse matrices' entries for a few
 * iterations more. At a tenth it is twice the iterations. */
const double least_weight = 0.02;
const double rounding = 1e-12, rounding_normal = 1e-13;
enum { least_vertices = 400, most_dense = 2000, most_numbers = 1 << 22, power_steps = 20 };

/* ---- Prolongation ---- */

/* Places of vertices between those of a coarser mesh. */
struct places {
  vector<int32_t> number;        /* of a flat vertex among the coarser mesh's, -1 where it is none of them */
  vector<int32_t> first, length; /* of a flat vertex that was taken away: its terms */
  vector<int32_t> vertex;        /* flat, of the coarser mesh */
  vector<double> weight;
  vector<double> sum; /* of a flat vertex, for one row; 0 elsewhere */
  vector<int32_t> touched;

  explicit places(size_t vertices) : first(vertices), length(vertices), sum(vertices) {}

  void add_term(int32_t v, double part) {
    if (sum[v] == 0) touched.push_back(v);
    sum[v] += part;
  }
};

/* Of a vertex whose neighbours have their places already. */
void place_vertex(places &p, const hierarchy_vertex &removed) {
  p.touched.clear();
  for (int32_t k = 0; k < removed.neighbours; k++) {
    const int32_t v = removed.neighbour[k];
    const double weight = (double)removed.weight[k];
    if (weight <= 0) continue;
    if (p.number[v] >= 0) p.add_term(v, weight);
    for (int32_t e = p.first[v]; e < p.first[v] + p.length[v] && p.number[v] < 0; e++)
      p.add_term(p.vertex[e], weight * p.weight[e]);
  }
  double largest = 0, kept = 0;
  for (const int32_t v : p.touched) largest = std::fmax(largest, p.sum[v]);
  const size_t first = p.vertex.size();
  for (const int32_t v : p.touched) {
    if (p.sum[v] > least_weight * largest) {
      kept += p.sum[v];
      p.vertex.push_back(v);
      p.weight.push_back(p.sum[v]);
    }
    p.sum[v] = 0;
  }
  for (size_t e = first; e < p.weight.size(); e++) p.weight[e] /= kept;
  if (p.vertex.size() > INT32_MAX) throw std::bad_alloc();
  p.first[removed.vertex] = (int32_t)first;
  p.length[removed.vertex] = (int32_t)(p.vertex.size() - first);
}

/* What level k of the hierarchy has taken away from the one before, the last one first. */
void place_level(const hierarchy &h, int k, places &p) {
  const hierarchy_level &coarse = h.level[k];
  const int32_t least = k ? h.level[k - 1].removed : 0;
  p.number.assign(p.first.size(), -1);
  for (int32_t i = 0; i < coarse.vertex_count; i++) p.number[coarse.vertices[i]] = i;
  p.vertex.clear();
  p.weight.clear();
  for (int32_t i = coarse.removed; i-- > least;) place_vertex(p, h.removed[i]);
}

/* u and v of the finer level's vertices; `fine` names them, NULL: all flat ones. */
sparse prolongation(const places &p, const unsigned char *pinned, const int32_t *fine, int32_t vertices,
                    int32_t coarse) {
  sparse P;
  P.columns = 2 * coarse;
  for (int32_t row = 0; row < 2 * vertices; row++) {
    const int32_t v = fine ? fine[row / 2] : row / 2, part = row % 2;
    if (p.number[v] >= 0) P.add(2 * p.number[v] + part, 1);
    for (int32_t e = p.first[v]; e < p.first[v] + p.length[v] && p.number[v] < 0; e++)
      if (!pinned[p.vertex[e]]) /* what is to be found is 0 there */
        P.add(2 * p.number[p.vertex[e]] + part, p.weight[e]);
    P.end_row();
  }
  return P;
}

/* ---- Matrices ---- */

vector<double> inverse_roots(const sparse &A) {
  vector<double> scale;
  for (int32_t i = 0; i < A.rows; i++) {
    const double diagonal = A.diagonal(i);
    scale.push_back(diagonal > 0 ? 1 / std::sqrt(diagonal) : 1);
  }
  return scale;
}

/* By the power method, which comes near enough from below for the smoother, whose bound lies above it. */
double largest_eigenvalue(const sparse &A) {
  const size_t n = (size_t)A.rows;
  vector<double> x, y(n);
  double size = 1;
  uint32_t random = 1;
  for (size_t i = 0; i < n; i++) {
    random = random * 1664525u + 1013904223u;
    x.push_back(random / 4294967296.0 - 0.5);
  }
  for (int k = 0; k < power_steps; k++) {
    double xx = 0, yy = 0;
    A.multiply(x.data(), y.data());
    for (size_t i = 0; i < n; i++) {
      xx += x[i] * x[i];
      yy += y[i] * y[i];
    }
    size = xx > 0 ? std::sqrt(yy / xx) : 1;
    for (size_t i = 0; i < n; i++) x[i] = size > 0 ? y[i] / size : 0;
  }
  return size;
}

/* Cholesky's factorization A = R^T R in place, the upper triangle, row by row; false where A is not positive
 * definite. */
bool factorize(double *a, size_t n) {
  for (size_t k = 0; k < n; k++) {
    double *row = a + k * n;
    if (!(row[k] > 0)) return false;
    const double root = std::sqrt(row[k]);
    for (size_t j = k; j < n; j++) row[j] /= root;
    for (size_t i = k + 1; i < n; i++) {
      if (row[i] == 0) continue;
      for (size_t j = i; j < n; j++) a[i * n + j] -= row[i] * row[j];
    }
  }
  return true;
}

/* Row i of the inverse of L = R^T, of which those before are there: (e_i - sum of l_ik (row k)) / l_ii. */
vector<double> invert_row(const double *R, size_t n, size_t i, const vector<vector<double>> &rows) {
  vector<double> row(i + 1);
  const double diagonal = R[i * n + i];
  for (size_t k = 0; k < i; k++) {
    const double l = R[k * n + i] / diagonal;
    for (size_t j = 0; j <= k && l != 0; j++) row[j] -= l * rows[k][j];
  }
  row[i] = 1 / diagonal;
  return row;
}

/* Keeps of a row of the block from row `first` on what is not small beyond single precision; sums of numbers
 * near its end are slow. */
void append_row(const vector<double> &row, int32_t first, sparse &A) {
  double largest = 0;
  for (const double number : row) largest = std::fmax(largest, std::fabs(number));
  for (size_t j = 0; j < row.size(); j++)
    if (!(std::fabs(row[j]) <= 1e-9 * largest)) A.add(first + (int32_t)j, row[j]);
  A.end_row();
}

/* The row after the last one of the block that begins with row `first`: no entry joins it to later rows. */
int32_t block_end(const sparse &A, int32_t first) {
  int32_t last = first;
  for (int32_t i = first; i <= last; i++)
    for (int32_t e = A.offsets[i]; e < A.offsets[i + 1]; e++)
      if (A.column[e] > last) last = A.column[e];
  return last + 1;
}

/* What the inverse of a triangular factor of every block has. */
int64_t count_blocks(const sparse &A, int32_t &largest) {
  int64_t count = 0;
  largest = 0;
  for (int32_t first = 0, end; first < A.rows; first = end) {
    end = block_end(A, first);
    const int64_t n = end - first;
    if (n > largest) largest = (int32_t)n;
    count += n * (n + 1) / 2;
  }
  return count;
}

/* Rows first .. first + n - 1; false where there is no inverse. */
bool invert_block(const sparse &A, int32_t first, size_t n, sparse &inverse) {
  vector<double> dense(n * n);
  vector<vector<double>> rows;
  for (size_t i = 0; i < n; i++)
    for (int32_t e = A.offsets[(size_t)first + i]; e < A.offsets[(size_t)first + i + 1]; e++)
      dense[i * n + (size_t)(A.column[e] - first)] += A.value[e];
  if (!factorize(dense.data(), n)) return false;
  for (size_t i = 0; i < n; i++) {
    rows.push_back(invert_row(dense.data(), n, i, rows));
    append_row(rows[i], first, inverse);
  }
  return true;
}

/* The inverse of Cholesky's factor, block by block, as charts have no entries in common; false where there is
 * none. */
bool invert(const sparse &A, sparse &inverse) {
  inverse.columns = A.rows;
  for (int32_t first = 0, end; first < A.rows; first = end) {
    end = block_end(A, first);
    if (!invert_block(A, first, (size_t)(end - first), inverse)) return false;
  }
  return true;
}

/* ---- All of it ---- */

/* The levels' matrices as they come from each other; level 0 is there. */
void build_levels(const hierarchy &h, const unsigned char *pinned, places &p, vector<coarse_level> &levels) {
  for (int k = 0; k < h.count; k++) {
    coarse_level &fine = levels[k];
    const int32_t *names = k ? h.level[k - 1].vertices : nullptr;
    const int32_t count = k ? h.level[k - 1].vertex_count : (int32_t)p.first.size();
    place_level(h, k, p);
    fine.P = prolongation(p, pinned, names, count, h.level[k].vertex_count);
    fine.R = transposed(fine.P);
    levels[k + 1].A = product(fine.R, product(fine.A, fine.P));
    levels[k + 1].A.prune(rounding);
  }
}

/* Every matrix to the diagonal 1; the transfers follow. */
void scale_levels(coarse_levels &out) {
  vector<double> back; /* what undoes the scaling of the finer level */
  for (size_t k = 0; k < out.level.size(); k++) {
    coarse_level &l = out.level[k];
    vector<double> scale = scale_diagonal(l.A);
    l.largest = largest_eigenvalue(l.A);
    if (!(l.largest >= 0)) throw std::bad_alloc();
    if (k) {
      out.level[k - 1].P.scale(back, scale);
      out.level[k - 1].R.scale(scale, back);
    }
    back = scale;
    for (double &number : back) number = 1 / number;
    if (k == 0) out.scale = std::move(scale);
  }
}

/* All matrices of the hierarchy, or in `why` what is in the way. */
coarse_levels build(const hierarchy &h, size_t vertices, const unsigned char *pinned, sparse A,
                    char why[MESH_MESSAGE]) {
  coarse_levels out;
  places p(vertices);
  int32_t largest;
  out.level.resize((size_t)h.count + 1);
  out.level[0].A = std::move(A);
  build_levels(h, pinned, p, out.level);
  const int64_t count = count_blocks(out.level.back().A, largest);
  if (largest > most_dense || count > most_numbers) {
    mesh_fail(why, "a part has %d vertices left on the coarsest mesh, expected %d at most", (int)(largest / 2),
              most_dense / 2);
    return {};
  }
  scale_levels(out);
  if (!invert(out.level.back().A, out.inverse)) {
    mesh_fail(why, "the coarsest mesh's matrix is not positive definite");
    return {};
  }
  out.inverse_transposed = transposed(out.inverse);
  return out;
}

} // namespace

/* Conditions by the roots of their weights, and below them a row of the identity for each pinned unknown. */
sparse normal_equations(const mesh &m, const charts &c, const unsigned char *pinned) {
  sparse A;
  A.columns = 2 * c.vertices;
  for (int32_t t = 0; t < m.triangle_count; t++) {
    const conformal_condition condition = conformal_condition_of(&m, t);
    const double root = std::sqrt(condition.weight);
    for (int part = 0; part < 2; part++) {
      for (int k = 0; k < 3; k++) {
        const int32_t v = c.corner[3 * (size_t)t + (size_t)k];
        const double re = root * condition.re[k], im = root * condition.im[k];
        if (pinned[v]) continue;
        A.add(2 * v, part ? im : re);
        A.add(2 * v + 1, part ? re : -im);
      }
      A.end_row();
    }
  }
  for (int32_t i = 0; i < 2 * c.vertices; i++) {
    if (!pinned[i / 2]) continue;
    A.add(i, 1);
    A.end_row();
  }
  sparse N = product(transposed(A), A);
  N.prune(rounding_normal);
  return N;
}

vector<double> scale_diagonal(sparse &A) {
  vector<double> scale = inverse_roots(A);
  A.scale(scale, scale);
  return scale;
}

coarse_levels find_coarse_levels(const mesh &m, const charts &c, const unsigned char *pinned, sparse A,
                                 char why[MESH_MESSAGE]) {
  char message[MESH_MESSAGE];
  struct owned : hierarchy {
    ~owned() { hierarchy_destroy(this); }
  } h{};
  if (hierarchy_create(&m, &c, pinned, least_vertices, &h, message)) throw std::bad_alloc();
  return build(h, (size_t)c.vertices, pinned, std::move(A), why);
}
