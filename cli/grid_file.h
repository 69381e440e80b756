/* Reads and writes numbers at the points of a grid: as a dense Matrix Market matrix with the grid's lowest row
 * first, or as NumPy's .npy in the same order. Point (i, j) has the index j * width + i. */
#ifndef CLI_GRID_FILE_H
#define CLI_GRID_FILE_H

#include <stdint.h>

#include "output_file.h"

/* Reads width x height numbers into a new array. Rejects other shapes and numbers that are not finite. `option`
 * is the option with the file name, for messages; "-" is standard input. Returns 0, or -1 after a message. */
int grid_file_read(const char *option, const char *path, int32_t width, int32_t height, double **values);

/* Writes to the open file, in NumPy's format if `path` ends with .npy. The comment is written to a Matrix
 * Market file only. */
void grid_file_write(const output_file *file, const char *path, const char *comment, int32_t width,
                     int32_t height, const double *values);

#endif
