/* Sparse matrices in host memory, in double precision. */
#ifndef SPARSE_HPP
#define SPARSE_HPP

#include <cstdint>
#include <vector>

struct sparse {
  int32_t rows = 0, columns = 0;
  std::vector<int32_t> offsets{0}, column; /* offsets has rows + 1 entries */
  std::vector<double> value;

  /* Appends an entry to the current row. Rows are filled in order. Throws if the number of entries exceeds 32
   * bits. */
  void add(int32_t j, double number) {
    column.push_back(j);
    value.push_back(number);
  }
  void end_row();

  double diagonal(int32_t row) const;
  /* Multiplies a_ij by left[i] and right[j]. */
  void scale(const std::vector<double> &left, const std::vector<double> &right);
  /* Removes entries of at most `rounding` times the geometric mean of their two diagonal entries. */
  void prune(double rounding);
};

sparse transposed(const sparse &A);
/* A B, row by row (Gustavson 1978). */
sparse product(const sparse &A, const sparse &B);

#endif
