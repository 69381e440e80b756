/* Sparse matrices on the host in double precision. */
#ifndef SPARSE_HPP
#define SPARSE_HPP

#include <cstdint>
#include <vector>

struct sparse {
  int32_t rows = 0, columns = 0;
  std::vector<int32_t> offsets{0}, column; /* offsets: rows + 1 */
  std::vector<double> value;

  /* Rows are filled one after the other. Throws where entries cannot be counted in 32 bits. */
  void add(int32_t j, double number) {
    column.push_back(j);
    value.push_back(number);
  }
  void end_row();

  double diagonal(int32_t row) const;
  /* a_ij times left[i] times right[j]. */
  void scale(const std::vector<double> &left, const std::vector<double> &right);
  /* Takes out what is at most `rounding` of the geometric mean of the two numbers on the diagonal. */
  void prune(double rounding);
};

sparse transposed(const sparse &A);
/* A B, row by row (Gustavson 1978). */
sparse product(const sparse &A, const sparse &B);

#endif
