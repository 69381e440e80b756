/* Rows of a matrix whose entries are in the file's order. */
#ifndef CLI_MM_ROWS_H
#define CLI_MM_ROWS_H

#include "matrix_market.h"

/* Sorts each row by column, stably, and adds up entries at one place. Counts those that were added to another
 * one; with `has_mirrors` in the lower triangle alone, which the file has. Nonzero: out of memory. */
int mm_sort_rows(mm_csr *csr, int has_mirrors);

#endif
