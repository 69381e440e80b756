/* One pass over a matrix as given, in blocks of rows that threads share. It checks whether the arrays are valid
 * and finds the facts that the creation of a matrix needs. If it detects an error, a second, slower pass finds
 * the position.
 *
 * A check for symmetry searches for the mirror of each entry. Most matrices are exactly symmetric, and a sum
 * suffices for them. It adds a 64-bit hash of each entry right of the diagonal and subtracts that of each entry
 * on the left; mirrored entries have the same hash. The sum of an unsymmetric matrix is 0 with a probability of
 * 2^-64. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/core/clones.h"
#include "common/core/core.h"
#include "common/core/pool.h"
#include "csr.h"

enum { CHUNK = 2048 }; /* entries that fit in the first-level cache */

/* The facts about a block of rows. */
typedef struct found {
  uint64_t largest, smallest; /* magnitudes as integers; `smallest` ignores zeros */
  uint64_t hash, mirrors;
  double norm;
  int32_t longest, zero_diagonal;
  unsigned char decreases, is_outside, is_disordered, has_low_parts, negative_diagonal, not_negative;
} found;

typedef struct look {
  const tsi_csr *csr;
  const unsigned char *constrained;
  found *found;
} look;

static int32_t rows_begin(const look *l, size_t block) {
  return tsi_block_begin(l->csr->rows, block);
}

/* ---- Offsets ---- */

static uint64_t mixed(uint64_t h, uint64_t word) {
  h = (h ^ word) * 0xc4ceb9fe1a85ec53u;
  return h ^ h >> 29;
}

/* The hash includes the position, so sums of hashes do not depend on the distribution to threads. */
CPU_INLINE uint64_t hash_at(uint32_t place, uint32_t number) {
  const uint32_t a = number + 0x9e3779b1u * place, b = (number ^ 0x5bd1e995u) + 0xc2b2ae3du * place;
  return (uint64_t)a * b;
}

CPU_CLONES static uint64_t hash_numbers(const int32_t *numbers, int32_t first, int32_t end) {
  uint64_t h = 0;
  for (int32_t k = first; k < end; k++) h += hash_at((uint32_t)k, (uint32_t)numbers[k]);
  return h;
}

CPU_CLONES static int look_for_decrease(const int32_t *offsets, int32_t first, int32_t end, int32_t *longest) {
  int32_t most = 0;
  int decreases = 0;
  for (int32_t i = first; i < end; i++) {
    const int32_t length = (int32_t)((uint32_t)offsets[i + 1] - (uint32_t)offsets[i]);
    decreases |= offsets[i + 1] < offsets[i];
    most = length > most ? length : most;
  }
  *longest = most;
  return decreases;
}

static void look_at_offsets(const void *arguments, size_t first, size_t last) {
  const look *l = arguments;
  for (size_t b = first; b < last; b++)
    l->found[b].decreases = (unsigned char)look_for_decrease(l->csr->row_offsets, rows_begin(l, b),
                                                             rows_begin(l, b + 1), &l->found[b].longest);
}

static void hash_pattern(const void *arguments, size_t first, size_t last) {
  const look *l = arguments;
  const int32_t *offsets = l->csr->row_offsets;
  for (size_t b = first; b < last; b++) {
    const int32_t row = rows_begin(l, b), end = rows_begin(l, b + 1);
    l->found[b].hash = mixed(hash_numbers(offsets, row, end), 0) +
                       hash_numbers(l->csr->column_indices, offsets[row], offsets[end]);
  }
}

static uint64_t join_hashes(const tsi_csr *csr, const found *all) {
  uint64_t h = mixed((uint32_t)csr->rows, (uint32_t)csr->columns);
  for (int b = 0; b < TSI_BLOCKS; b++) h = mixed(h, all[b].hash);
  return mixed(h, (uint32_t)csr->row_offsets[csr->rows]);
}

uint64_t tsi_csr_fingerprint(const ts_context *context, const tsi_csr *csr) {
  found all[TSI_BLOCKS];
  const look l = {.csr = csr, .found = all};
  tsi_in_blocks(context, csr->rows, hash_pattern, &l);
  return join_hashes(csr, all);
}

/* ---- Columns ---- */

/* Counts columns that do not ascend from one entry to the next, also across the start of a row. */
CPU_CLONES static int32_t look_at_columns(const int32_t *columns, int32_t first, int32_t end, int32_t count,
                                          int *is_outside) {
  uint32_t outside = 0;
  int32_t descents = 0;
  for (int32_t e = first; e < end; e++) outside |= (uint32_t)columns[e] >= (uint32_t)count;
  for (int32_t e = first > 0 ? first : 1; e < end; e++) descents += columns[e] <= columns[e - 1];
  *is_outside |= (int)outside;
  return descents;
}

/* Counts those at the start of a row. */
static int32_t count_descents_between(const tsi_csr *csr, int32_t row, int32_t end) {
  const int32_t *offsets = csr->row_offsets, *columns = csr->column_indices;
  int32_t descents = 0;
  for (int32_t i = row; i < end; i++)
    if (offsets[i] > 0 && offsets[i] < offsets[i + 1])
      descents += columns[offsets[i]] <= columns[offsets[i] - 1];
  return descents;
}

/* ---- Values ---- */

CPU_INLINE uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static const uint64_t infinite = (uint64_t)0x7ff << 52;

/* The bits of a magnitude increase with it; those of infinities and NaN are the largest. */
CPU_INLINE void look_at_value(double value, uint64_t *largest, uint64_t *smallest) {
  const uint64_t bits = bits_of(value) & ~((uint64_t)1 << 63), counted = bits ? bits : infinite;
  *largest = bits > *largest ? bits : *largest;
  *smallest = counted < *smallest ? counted : *smallest;
}

CPU_CLONES static void look_at_floats(const float *values, int32_t first, int32_t end, found *f) {
  uint64_t largest = f->largest, smallest = f->smallest;
  for (int32_t e = first; e < end; e++) look_at_value((double)values[e], &largest, &smallest);
  f->largest = largest;
  f->smallest = smallest;
}

CPU_CLONES static void look_at_doubles(const double *values, int32_t first, int32_t end, found *f) {
  uint64_t largest = f->largest, smallest = f->smallest, low_bits = 0;
  for (int32_t e = first; e < end; e++) {
    look_at_value(values[e], &largest, &smallest);
    low_bits |= bits_of((double)(float)values[e]) ^ bits_of(values[e]);
  }
  f->largest = largest;
  f->smallest = smallest;
  f->has_low_parts |= low_bits != 0;
}

/* ---- Symmetry ---- */

/* 0 for a value of 0, which is equivalent to no entry. */
CPU_INLINE uint64_t hash_entry(int32_t i, int32_t j, double value) {
  const uint32_t low = (uint32_t)(i < j ? i : j), high = (uint32_t)(i < j ? j : i);
  const uint32_t a = low * 0x9e3779b1u + 0x7f4a7c15u, b = (high * 0x85ebca77u) ^ 0x5bd1e995u;
  const uint64_t bits = bits_of(value + 0.0), place = (uint64_t)a * b;
  return (place ^ place >> 31) * (bits ^ bits >> 32 ^ bits >> 52);
}

CPU_INLINE uint64_t signed_hash(int32_t i, int32_t j, double value) {
  const uint64_t h = hash_entry(i, j, value);
  return i < j ? h : i > j ? 0 - h : 0;
}

CPU_CLONES static uint64_t hash_floats(const int32_t *rows, const int32_t *columns, const float *values,
                                       int32_t count) {
  uint64_t sum = 0;
  for (int32_t k = 0; k < count; k++) sum += signed_hash(rows[k], columns[k], (double)values[k]);
  return sum;
}

CPU_CLONES static uint64_t hash_doubles(const int32_t *rows, const int32_t *columns, const double *values,
                                        int32_t count) {
  uint64_t sum = 0;
  for (int32_t k = 0; k < count; k++) sum += signed_hash(rows[k], columns[k], values[k]);
  return sum;
}

/* Sets the row of each entry from `first` to `end`. On entry *row is the row of `first`, on return that of
 * `end`. */
static void name_rows(const int32_t *offsets, int32_t first, int32_t end, int32_t *row, int32_t *rows) {
  for (int32_t e = first; e < end;) {
    while (offsets[*row + 1] <= e) ++*row;
    const int32_t stop = offsets[*row + 1] < end ? offsets[*row + 1] : end;
    for (; e < stop; e++) rows[e - first] = *row;
  }
}

/* ---- Entries ---- */

static void look_at_chunk(const look *l, int32_t first, int32_t end, int32_t *row, found *f) {
  const tsi_csr *csr = l->csr;
  int32_t rows[CHUNK] = {0};
  if (csr->values) look_at_floats(csr->values, first, end, f);
  if (csr->double_values) look_at_doubles(csr->double_values, first, end, f);
  if (l->constrained || csr->rows != csr->columns) return;
  name_rows(csr->row_offsets, first, end, row, rows);
  if (csr->values)
    f->mirrors += hash_floats(rows, csr->column_indices + first, csr->values + first, end - first);
  if (csr->double_values)
    f->mirrors += hash_doubles(rows, csr->column_indices + first, csr->double_values + first, end - first);
}

typedef struct row_sums {
  double norm, diagonal;
} row_sums;

CPU_INLINE row_sums sum_up(const tsi_csr *csr, int32_t i, int are_floats) {
  row_sums sums = {0, 0};
  for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++) {
    const double value = are_floats ? (double)csr->values[e] : csr->double_values[e];
    sums.norm += fabs((double)(float)value);
    sums.diagonal += csr->column_indices[e] == i ? value : 0;
  }
  return sums;
}

/* Finds row sums of magnitudes, with values as floats, and the diagonal. */
static void look_at_rows(const look *l, int32_t row, int32_t end, found *f) {
  const tsi_csr *csr = l->csr;
  const int are_floats = csr->values != NULL;
  for (int32_t i = row; i < end; i++) {
    const row_sums sums = are_floats ? sum_up(csr, i, 1) : sum_up(csr, i, 0);
    const float diagonal = (float)sums.diagonal;
    if (sums.norm > f->norm) f->norm = sums.norm;
    if (!(sums.diagonal < 0)) f->not_negative = 1;
    if (diagonal < 0) f->negative_diagonal = 1;
    if (diagonal == 0 && f->zero_diagonal < 0 && !(l->constrained && l->constrained[i])) f->zero_diagonal = i;
  }
}

static int has_constrained_entries(const look *l, int32_t row, int32_t end) {
  const int32_t *offsets = l->csr->row_offsets;
  int has = 0;
  for (int32_t i = row; l->constrained && i < end; i++) has |= l->constrained[i] && offsets[i + 1] > offsets[i];
  return has;
}

static void look_at_block(const look *l, int32_t row, int32_t row_end, found *f) {
  const tsi_csr *csr = l->csr;
  const int32_t first = csr->row_offsets[row], end = csr->row_offsets[row_end];
  int32_t descents = 0, at = row;
  int is_outside = 0;
  f->hash = mixed(hash_numbers(csr->row_offsets, row, row_end), 0);
  for (int32_t e = first, stop; e < end; e = stop) {
    stop = end - e < CHUNK ? end : e + CHUNK;
    descents += look_at_columns(csr->column_indices, e, stop, csr->columns, &is_outside);
    f->hash += hash_numbers(csr->column_indices, e, stop);
    look_at_chunk(l, e, stop, &at, f);
  }
  f->is_outside = (unsigned char)is_outside;
  f->is_disordered =
      descents != count_descents_between(csr, row, row_end) || has_constrained_entries(l, row, row_end);
  if (csr->values || csr->double_values) look_at_rows(l, row, row_end, f);
}

static void look_at_entries(const void *arguments, size_t first, size_t last) {
  const look *l = arguments;
  for (size_t b = first; b < last; b++) {
    found f = {.smallest = infinite, .zero_diagonal = -1, .longest = l->found[b].longest};
    look_at_block(l, rows_begin(l, b), rows_begin(l, b + 1), &f);
    l->found[b] = f;
  }
}

/* ---- Messages ---- */

static int is_outside(const tsi_csr *csr, int32_t e) {
  return csr->column_indices[e] < 0 || csr->column_indices[e] >= csr->columns;
}
static int is_infinite(const tsi_csr *csr, int32_t e) {
  return (csr->values && !isfinite(csr->values[e])) || (csr->double_values && !isfinite(csr->double_values[e]));
}

static ts_status report_decrease(ts_context *context, const tsi_csr *csr) {
  int32_t i = 0;
  while (csr->row_offsets[i + 1] >= csr->row_offsets[i]) i++;
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                  "row_offsets[%d] is %d, less than row_offsets[%d], which is %d", i + 1,
                  csr->row_offsets[i + 1], i, csr->row_offsets[i]);
}

static ts_status report_bad_entry(ts_context *context, const tsi_csr *csr) {
  int32_t e = 0, i = 0;
  while (!is_outside(csr, e) && !is_infinite(csr, e)) e++;
  while (csr->row_offsets[i + 1] <= e) i++;
  const int32_t j = csr->column_indices[e];
  if (is_outside(csr, e))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "column_indices[%d] in row %d is %d; it must be 0 to %d", e, i, j, csr->columns - 1);
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "values[%d] in row %d, column %d is %g", e, i, j,
                  csr->values ? (double)csr->values[e] : csr->double_values[e]);
}

/* ---- The pass ---- */

static ts_status check_shape(ts_context *context, const tsi_csr *csr) {
  if (csr->rows < 1 || csr->columns < 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is %d x %d; it needs at least one row and column", csr->rows, csr->columns);
  if (csr->rows > TSI_MAX_SIZE || csr->columns > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "the matrix is %d x %d; it may have at most %d rows and columns",
                    csr->rows, csr->columns, TSI_MAX_SIZE);
  if (!csr->row_offsets) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "row_offsets is NULL");
  if (csr->row_offsets[0] != 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "row_offsets[0] is %d, not 0", csr->row_offsets[0]);
  return TS_OK;
}

static int exponent_of(uint64_t magnitude) {
  int exponent;
  frexp(from_bits(magnitude), &exponent);
  return exponent;
}

static void join(const found *f, found *all) {
  all->largest = f->largest > all->largest ? f->largest : all->largest;
  all->smallest = f->smallest < all->smallest ? f->smallest : all->smallest;
  all->mirrors += f->mirrors;
  all->norm = f->norm > all->norm ? f->norm : all->norm;
  all->longest = f->longest > all->longest ? f->longest : all->longest;
  if (all->zero_diagonal < 0) all->zero_diagonal = f->zero_diagonal;
  all->is_outside |= f->is_outside;
  all->is_disordered |= f->is_disordered;
  all->has_low_parts |= f->has_low_parts;
  all->negative_diagonal |= f->negative_diagonal;
  all->not_negative |= f->not_negative;
}

static tsi_csr_facts facts_of(const look *l, const found *all) {
  const tsi_csr *csr = l->csr;
  const int is_square = csr->rows == csr->columns, has_values = csr->values || csr->double_values;
  tsi_csr_facts facts = {.in_order = !all->is_disordered,
                         .has_low_parts = all->has_low_parts,
                         .longest_row = all->longest,
                         .fingerprint = join_hashes(csr, l->found),
                         .exponents = tsi_no_exponents,
                         .norm_infinity = all->norm,
                         .zero_diagonal_row = !is_square   ? -1
                                              : has_values ? all->zero_diagonal
                                                           : 0,
                         .negative_diagonal = is_square && all->negative_diagonal,
                         .is_negative = is_square && has_values && !all->not_negative,
                         .has_mirrors = is_square && !l->constrained && all->mirrors == 0};
  if (all->largest) facts.exponents = (tsi_exponents){exponent_of(all->largest), exponent_of(all->smallest)};
  return facts;
}

ts_status tsi_csr_look(ts_context *context, const tsi_csr *csr, const unsigned char *constrained,
                       tsi_csr_facts *facts) {
  found blocks[TSI_BLOCKS], all = {.smallest = infinite, .zero_diagonal = -1};
  const look l = {.csr = csr, .constrained = constrained, .found = blocks};
  TSI_TRY(check_shape(context, csr));
  TSI_TRY(tsi_threads_for(context, csr->rows));
  tsi_in_blocks(context, csr->rows, look_at_offsets, &l);
  for (int b = 0; b < TSI_BLOCKS; b++)
    if (blocks[b].decreases) return report_decrease(context, csr);
  const int32_t nonzeros = csr->row_offsets[csr->rows];
  if (nonzeros && !csr->column_indices)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "column_indices is NULL and there are %d entries",
                    nonzeros);
  tsi_in_blocks(context, csr->rows, look_at_entries, &l);
  for (int b = 0; b < TSI_BLOCKS; b++) join(&blocks[b], &all);
  if (all.is_outside || all.largest >= infinite) return report_bad_entry(context, csr);
  *facts = facts_of(&l, &all);
  return TS_OK;
}

ts_status tsi_csr_validate(ts_context *context, const tsi_csr *csr) {
  tsi_csr_facts facts;
  return tsi_csr_look(context, csr, NULL, &facts);
}
