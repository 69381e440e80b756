/* Rows of a matrix with entries in the file's order. */
#ifndef CLI_MM_ROWS_H
#define CLI_MM_ROWS_H

#include "matrix_market.h"

/* Sorts each row by column, stably, and adds entries at the same place. Counts the added entries; with
 * `has_mirrors` only in the lower triangle, which is the stored one. Nonzero: out of memory. */
int mm_sort_rows(mm_csr *csr, int has_mirrors);

#endif
