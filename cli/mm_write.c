/* Writes dense matrices to Matrix Market files. Threads format numbers into blocks of text, which are written
 * in order. */
#include <stdlib.h>

#include "decimal.h"
#include "matrix_market.h"
#include "progress.h"
#include "threads.h"

/* Numbers per block, and blocks per thread and round. */
enum { block_numbers = 1 << 14, most_blocks = 64 };

typedef struct writer {
  FILE *stream;
  int64_t rows, columns;
  int by_columns;
  const double *values;
  int64_t first; /* number of the first block */
  char *text;    /* of the blocks, each with room for numbers of maximum length */
  size_t lengths[most_blocks];
} writer;

enum { block_bytes = block_numbers * (DECIMAL_LENGTH + 1) };

/* k counts down the columns. */
static double number(const writer *w, int64_t k) {
  return w->by_columns || w->columns == 1 ? w->values[k] : w->values[k % w->rows * w->columns + k / w->rows];
}

static void write_block(void *argument, int64_t block) {
  writer *const w = argument;
  const int64_t first = (w->first + block) * block_numbers, count = w->rows * w->columns;
  char *const begin = w->text + block * block_bytes, *to = begin;
  for (int64_t k = first; k < first + block_numbers && k < count; k++) {
    to += decimal_write(number(w, k), to);
    *to++ = '\n';
  }
  w->lengths[block] = (size_t)(to - begin);
}

/* Used if the blocks cannot be allocated. */
static void write_plainly(const writer *w) {
  for (int64_t k = 0; k < w->rows * w->columns; k++) fprintf(w->stream, "%.17g\n", number(w, k));
}

void mm_write_dense(FILE *stream, const char *comment, int32_t rows, int columns, int by_columns,
                    const double *values) {
  writer w = {.stream = stream, .rows = rows, .columns = columns, .by_columns = by_columns, .values = values};
  const int64_t count = w.rows * w.columns, all = (count + block_numbers - 1) / block_numbers;
  const int64_t wanted = 4 * (int64_t)threads_count(), most = wanted < most_blocks ? wanted : most_blocks;
  const int64_t blocks = all < most ? all : most;
  fprintf(stream, "%%%%MatrixMarket matrix array real general\n%% %s\n%d %d\n", comment, (int)rows, columns);
  w.text = malloc((size_t)blocks * block_bytes + 1);
  if (!w.text) write_plainly(&w);
  for (; w.text && w.first < all; w.first += blocks) {
    const int64_t now = all - w.first < blocks ? all - w.first : blocks;
    const double part = (double)w.first / (double)all;
    progress_step(part, "%.0f %%, number %lld of %lld", 100 * part, (long long)w.first * block_numbers,
                  (long long)count);
    threads_each(now, write_block, &w);
    for (int64_t k = 0; k < now; k++) fwrite(w.text + k * block_bytes, 1, w.lengths[k], stream);
  }
  free(w.text);
}
