#include "sparse.hpp"

#include <cmath>
#include <stdexcept>

void sparse::end_row() {
  if (column.size() > INT32_MAX) throw std::length_error("entries");
  offsets.push_back((int32_t)column.size());
  rows++;
}

double sparse::diagonal(int32_t row) const {
  double sum = 0;
  for (int32_t e = offsets[(size_t)row]; e < offsets[(size_t)row + 1]; e++)
    sum += column[(size_t)e] == row ? value[(size_t)e] : 0;
  return sum;
}

void sparse::scale(const std::vector<double> &left, const std::vector<double> &right) {
  for (int32_t i = 0; i < rows; i++)
    for (int32_t e = offsets[i]; e < offsets[i + 1]; e++) value[e] *= left[i] * right[column[e]];
}

void sparse::prune(double rounding) {
  std::vector<double> root((size_t)rows);
  for (int32_t i = 0; i < rows; i++) root[i] = std::sqrt(std::fabs(diagonal(i)));
  int32_t count = 0, from = 0;
  for (int32_t i = 0; i < rows; i++) {
    const int32_t to = offsets[i + 1];
    for (int32_t e = from; e < to; e++) {
      if (column[e] != i && std::fabs(value[e]) <= rounding * root[i] * root[column[e]]) continue;
      column[count] = column[e];
      value[count++] = value[e];
    }
    from = to;
    offsets[i + 1] = count;
  }
  column.resize(count);
  value.resize(count);
}

sparse transposed(const sparse &A) {
  sparse T;
  T.rows = A.columns;
  T.columns = A.rows;
  T.offsets.assign((size_t)T.rows + 1, 0);
  T.column.resize(A.column.size());
  T.value.resize(A.value.size());
  for (const int32_t j : A.column) T.offsets[j]++;
  int32_t end = 0;
  for (int32_t &offset : T.offsets) offset = end += offset;
  for (int32_t i = A.rows - 1; i >= 0; i--)
    for (int32_t e = A.offsets[i + 1] - 1; e >= A.offsets[i]; e--) {
      const int32_t to = --T.offsets[A.column[e]];
      T.column[to] = i;
      T.value[to] = A.value[e];
    }
  return T;
}

sparse product(const sparse &A, const sparse &B) {
  sparse C;
  C.columns = B.columns;
  C.offsets.reserve(A.offsets.size());
  C.column.reserve(A.column.size());
  C.value.reserve(A.column.size());
  std::vector<double> sum((size_t)B.columns);
  std::vector<int32_t> row_of((size_t)B.columns, -1), touched((size_t)B.columns);
  for (int32_t i = 0; i < A.rows; i++) {
    size_t count = 0;
    for (int32_t e = A.offsets[i]; e < A.offsets[i + 1]; e++) {
      const int32_t row = A.column[e];
      const double number = A.value[e];
      for (int32_t k = B.offsets[row]; k < B.offsets[row + 1]; k++) {
        const int32_t j = B.column[k];
        if (row_of[j] != i) {
          row_of[j] = i;
          sum[j] = 0;
          touched[count++] = j;
        }
        sum[j] += number * B.value[k];
      }
    }
    C.column.insert(C.column.end(), touched.begin(), touched.begin() + count);
    for (size_t k = 0; k < count; k++) C.value.push_back(sum[touched[k]]);
    C.end_row();
  }
  return C;
}
