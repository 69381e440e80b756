/* The numbers of each backend, and their sources. The tables are in docs/notes/formats.md. */
#include <texsolve/texsolve.h>

#include <stddef.h>
#include <string.h>

#include "core.h"

/* Blocks must save a tenth, unless measurements say otherwise. */
#define A_TENTH 1.11

/* Two cores of a Xeon with AVX-512. A 4 x 4 block takes a few vector instructions, and its bytes are processed
 * 1.0 to 1.9 times as fast as those of csr. With several components, products are limited by arithmetic,
 * including that on zeros. Waking another thread costs microseconds. An operation is complete when it returns,
 * so a check is free. AMG, including set-up, takes as long as Jacobi at a graph diameter of about 240 for
 * poisson2d, of 180 for triangulations and 9 points, and of 300 to 400 for poisson3d. For triangulations with
 * free boundaries it is 40 to 80.
 *
 * On one core of an EPYC with AVX-512, an iteration with Jacobi takes 1 us, plus 0.39 ns per entry and 0.6 ns
 * per row. AMG with cycles to 1e-8 takes 1.2 ms, plus 115 ns per entry and 420 ns per row. These are accurate
 * to a fifth on grids of 9 k to 500 k rows. With 1 M rows poisson3d takes a quarter longer. The choice between
 * the two depends only on ratios, so they are scaled to an entry_nanoseconds of 1: the values below are 2.5
 * times as large, rounded, and iteration_nanoseconds is twice as large. */
const tsi_tuning tsi_tuning_cpu = {
    .bcrs2_weight = 1,
    .bcrs4_weight = 0.75,
    .bcrs2_weight_several = A_TENTH,
    .bcrs4_weight_several = A_TENTH,
    .check_interval = 1,
    .look_iterations = 5,
    .amg_couplings = 190,
    .amg_nanoseconds = 3e6,
    .amg_entry_nanoseconds = 290,
    .amg_row_nanoseconds = 1050,
    .iteration_nanoseconds = 2000,
    .entry_nanoseconds = 1,
    .row_nanoseconds = 1.5,
    .diagonals_part = 0.37,
    .thread_floats = 65536,
};

/* One H200.
 *
 * Bytes of blocks are processed as fast as those of jagged if the matrix exceeds the cache, and faster inside
 * it. Unpadded slices take twice as long, since a thread counts to find its entry. Sorted rows read and write
 * scattered elements. Jagged diagonals of Delaunay triangulations take 1.3 to 1.4 times as long as their bytes
 * and cache lines predict. A cache line requested by a warp takes as long as 16 contiguous bytes. In csr,
 * threads pass on sums through shared memory, with at least one access per entry. Segments use one thread per
 * row, and all wait for the longest. Below 2^20 entries the slowest thread limits a product.
 *
 * In csr, 80000 threads do not delay a product of a small matrix. More threads share a row as long as each has
 * at least 3 entries. Below 2^20 entries, each entry per thread beyond the number that row blocks assign to all
 * threads costs 0.1 us. With 18 entries per thread row blocks are twice as fast, in conjugate gradients 1 to
 * 1.2 times. With 12 they are a tenth slower in conjugate gradients. For many entries row blocks are faster if
 * half of the threads' steps are idle or if rows are long. Beyond 2^21 entries they are always faster.
 *
 * AMG, including set-up, and Jacobi take the same time at a graph diameter of about 320. poisson2d of 128^2
 * points, diameter 254, takes 2.8 ms with AMG and 2.4 ms with Jacobi; that of 256^2 takes 3.8 and 5.0 ms.
 * poisson3d of 100^3, diameter 297, takes 13.3 and 10 to 15 ms; that of 256^3 takes 167 and 456 ms.
 *
 * Between two estimates of the remaining iterations the device iterates on its own. An estimate takes 25 to 30
 * us, as long as two iterations with 64000 rows. With one every 5 iterations auto took 1.15 to 1.3 times as
 * long as the same iterations without any, in 151 iterations of a 7-point stencil 2.4 ms instead of 1.9.
 *
 * The price of AMG, for changes within a solve: stencils of 7 and 27 points on 100^3 take 15.5 and 21.1 ms,
 * including set-up and cycles to 1e-8. The values below give 15.7 and 23.5 ms. 64 systems of 16384 rows
 * take 2.7 to 6 ms; the values give 4.1. An iteration with Jacobi takes 29.5 us with 7 points, 79 with 27,
 * and 5.4 to 6 with 16384 rows and up to 10 entries per row; the values give 28, 81 and 5.8.
 *
 * ilu_level_nanoseconds is an estimate: the kernel reads a row of a triangle, waits for its last operand, which
 * arrives through the L2 cache, and sums.
 *
 * peer_seconds was not measured: cooperating devices answer each other within microseconds, but a busy host may
 * start one of them milliseconds later. ghost_transfer is not a measurement: 4 selects the first transport
 * that is available, and the other values are for comparisons. interior_entries is between two measurements:
 * with a separate kernel for rows without ghosts, an iteration of two ranks, each with an H200, takes 82 us
 * instead of 75 if a rank has 3.6 M entries, and 119 us instead of 126 if it has 15 M.
 *
 * A product leaves some of the matrix in the cache for the next one. Prefetched data stays there longer than
 * data read once. Therefore products that exceed the cache prefetch only if threads have few other requests in
 * flight. */
const tsi_tuning tsi_tuning_cuda = {
    .bcrs2_weight = 1,
    .bcrs4_weight = 1,
    .bcrs2_weight_several = A_TENTH,
    .bcrs4_weight_several = A_TENTH,
    .sorted_weight = 1.35,
    .counted_weight = 2,
    .line_bytes = 16,
    .lines_of_sums = 0.4,
    .lines_of_runs = 0.7,
    .segments_longest = 64,
    .many_entries = 1 << 20,
    .csr_threads = 80000,
    .csr_shared_mean = 3,
    .csr_steps = 16,
    .csr_idle_entries = 2,
    .csr_idle_rows = 4,
    .csr_blocks_mean = 12,
    .csr_blocks_entries = 1 << 21,
    .stream_caches = 3,
    .lean_mean = 12,
    .lean_short_mean = 6,
    .lean_short_caches = 1.0 / 3,
    .lean_product_mean = 8,
    .lean_product_caches = 2,
    .lean_product_short_caches = 1.5,
    .device_entries = 1 << 17,
    .check_interval = 25,
    .pipelined_iterations = 4,
    .look_iterations = 30,
    .amg_couplings = 320,
    .ilu_level_nanoseconds = 1000,
    .amg_nanoseconds = 3.9e6,
    .amg_entry_nanoseconds = 0.4,
    .amg_row_nanoseconds = 9,
    .iteration_nanoseconds = 5400,
    .entry_nanoseconds = 0.0027,
    .row_nanoseconds = 0.004,
    .diagonals_part = 1,
    .peer_seconds = 2,
    .ghost_transfer = 4,
    .interior_entries = 1 << 23,
};

/* OpenGL on one H200. 4 x 4 blocks take 0.86 to 1.0 times as long as 2 x 2 blocks, with 1.10 to 1.15 times the
 * fetches. So their weight is less than A_TENTH.
 *
 * Vectors of blocks have 2 or 4 numbers per texel. Their sums end in one texel, after an additional level,
 * instead of in 128 texels that the next pass adds up, and cannot be gathered. That costs an iteration of
 * conjugate gradients 10 us or more, as much as blocks save in a product of 2^19 entries. With 359 k entries of
 * a conformal map an iteration took 57.9 us in jagged, 68.9 and 62.6 in blocks. With 761 k entries of a smooth
 * interpolation it took 116, 107 and 83 us. Products alone are faster in blocks from 40 k to 90 k entries on,
 * but the gain is smaller than the loss in iterations.
 *
 * AMG's set-up is on the host. poisson3d of 100^3 points, diameter 297, takes 1.12 s with AMG and 0.24 s with
 * Jacobi. poisson2d of 256^2 points, diameter 510, takes 46 and 52 ms; that of 512^2, diameter 1022, takes 173
 * and 262 ms. The three values of amg_*nanoseconds give 1.16 s, 71 ms and 237 ms for AMG. That is close in 3-D,
 * and 1.4 to 1.5 times as long as measured in 2-D. */
const tsi_tuning tsi_tuning_gl = {
    .bcrs2_weight = A_TENTH,
    .bcrs4_weight = 0.95,
    .bcrs2_weight_several = A_TENTH,
    .bcrs4_weight_several = 0.95,
    .block_entries = 1 << 19,
    .check_interval = 16,
    .pipelined_iterations = 2,
    .one_reduction_texels = 1 << 18, /* with texture barriers */
    .look_iterations = 16,
    .amg_couplings = 800,
    .amg_nanoseconds = 15e6,
    .amg_entry_nanoseconds = 150,
    .amg_row_nanoseconds = 100,
    .iteration_nanoseconds = 60000,
    .entry_nanoseconds = 0.01,
    .row_nanoseconds = 0.3,
    .diagonals_part = 1,
};

/* llvmpipe on two cores. An additional pass for sums is a small part of the time there. AMG takes as long as
 * Jacobi at a graph diameter of 95 to 120.
 *
 * On grids AMG takes 14 to 16 us per row, which is 2 to 3 us per entry, and an iteration 13 ns per entry. The
 * values below give less for both: 11 to 14 us per row of grids of 16 k to 260 k rows, and 11 ns per entry plus
 * the 0.3 ms of any iteration. The choice between AMG and Jacobi depends only on ratios. */
const tsi_tuning tsi_tuning_gl_software = {
    .bcrs2_weight = A_TENTH,
    .bcrs4_weight = A_TENTH,
    .bcrs2_weight_several = A_TENTH,
    .bcrs4_weight_several = A_TENTH,
    .check_interval = 16,
    .pipelined_iterations = 2,
    .look_iterations = 5,
    .amg_couplings = 110,
    .amg_nanoseconds = 50e6,
    .amg_entry_nanoseconds = 600,
    .amg_row_nanoseconds = 8000,
    .iteration_nanoseconds = 300000,
    .entry_nanoseconds = 10,
    .row_nanoseconds = 5,
    .diagonals_part = 1,
};

/* Two H100 with peer access take 19 us per iteration for 512 k rows, as long as one H100. For 1 M rows they
 * take 23 us, and one takes 33. */
const double tsi_part_rows_cuda = 200000;

typedef struct tuning_field {
  const char *name, *meaning;
  double least, most;
  size_t offset;
} tuning_field;

static const tuning_field fields[] = {
#define TUNING_FIELD(name, least, most, meaning) {#name, meaning, least, most, offsetof(tsi_tuning, name)},
    TSI_TUNING_LIST(TUNING_FIELD)
#undef TUNING_FIELD
};
enum { FIELDS = sizeof fields / sizeof *fields };

static double *value_of(const ts_context *context, int index) {
  return (double *)(void *)((char *)&context->tuning + fields[index].offset);
}

ts_status ts_context_get_tuning(const ts_context *context, int index, ts_tuning_entry *entry) {
  TSI_REQUIRE(NULL, context);
  TSI_REQUIRE((ts_context *)context, entry);
  if (index < 0 || index >= FIELDS)
    return tsi_fail((ts_context *)context, TS_ERROR_INVALID_ARGUMENT, "index is %d; it must be 0 to %d", index,
                    FIELDS - 1);
  *entry = (ts_tuning_entry){
      .name = fields[index].name, .meaning = fields[index].meaning, .value = *value_of(context, index)};
  return TS_OK;
}

ts_status ts_context_set_tuning(ts_context *context, const char *name, double value) {
  TSI_REQUIRE(NULL, context);
  TSI_REQUIRE(context, name);
  int i = 0;
  while (i < FIELDS && strcmp(fields[i].name, name)) i++;
  if (i == FIELDS)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "name is \"%s\", not a tuning entry", name);
  if (*value_of(context, i) == 0)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s: this backend does not make this choice", name);
  if (!(value > 0 && value >= fields[i].least && value <= fields[i].most))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is %g, expected a number above 0, from %g to %g",
                    name, value, fields[i].least, fields[i].most);
  *value_of(context, i) = value;
  return TS_OK;
}
