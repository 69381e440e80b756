/* Numbers at the points of a grid, from and to files: Matrix Market (a dense matrix whose first row is the
 * grid's lowest one) or NumPy's .npy (the same order). Point (i, j) has the index j * width + i. */
#ifndef CLI_GRID_FILE_H
#define CLI_GRID_FILE_H

#include <stdint.h>

#include "output_file.h"

/* Reads width x height numbers into a new array, and refuses another shape and numbers that are not
 * finite. `option` is what named the file, for messages; "-" is standard input. Returns 0, or -1
 * after a message. */
int grid_file_read(const char *option, const char *path, int32_t width, int32_t height, double **values);

/* Writes to the open file, in NumPy's format where `path` ends with .npy. The comment goes to a Matrix Market
 * file. */
void grid_file_write(const output_file *file, const char *path, const char *comment, int32_t width,
                     int32_t height, const double *values);

#endif
