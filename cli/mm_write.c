#include "matrix_market.h"

#include "progress.h"

void mm_write_dense(FILE *stream, const char *comment, int32_t rows, int columns, int by_columns,
                    const double *values) {
  fprintf(stream, "%%%%MatrixMarket matrix array real general\n%% %s\n%d %d\n", comment, (int)rows, columns);
  for (int c = 0; c < columns; c++)
    for (int32_t i = 0; i < rows; i++) {
      fprintf(
          stream, "%.17g\n",
          values[by_columns ? (size_t)c * (size_t)rows + (size_t)i : (size_t)i * (size_t)columns + (size_t)c]);
      if (i % 4096 == 0)
        progress_step(((double)c * rows + i) / ((double)columns * rows), "row %d of %d", (int)i, (int)rows);
    }
}
