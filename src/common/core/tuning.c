/* The numbers of each backend, and where they come from. The tables are in docs/notes/formats.md. */
#include <texsolve/texsolve.h>

#include <stddef.h>
#include <string.h>

#include "core.h"

/* Blocks must save a tenth, where nothing else is known. */
#define A_TENTH 1.11

/* Two cores of a Xeon with AVX-512. A 4 x 4 block is a few vector instructions, and its bytes pass 1.0 to 1.9
 * times as fast as csr's. With several components products are limited by arithmetic, on zeros too. A thread of
 * its own costs microseconds to wake. An operation is done when it returns, so a check costs nothing. AMG takes
 * as long as Jacobi, set-up included, at 165 to 190 couplings across of poisson2d, at 190 to 250 of poisson3d
 * and at 40 to 80 of triangulations whose boundaries are free.
 *
 * On one core of an EPYC with AVX-512 an iteration with Jacobi takes 1 us, 0.39 ns an entry and 0.6 ns a row,
 * and AMG with cycles to 1e-8 1.6 ms, 97 ns an entry and 350 ns a row, on grids and elements of 4 k to 260 k
 * rows within a third. Only quotients of times matter: all are 2.5 times as large here, as entry_nanoseconds
 * is. */
const tsi_tuning tsi_tuning_cpu = {
    .bcrs2_weight = 1,
    .bcrs4_weight = 0.75,
    .bcrs2_weight_several = A_TENTH,
    .bcrs4_weight_several = A_TENTH,
    .check_interval = 1,
    .amg_couplings = 190,
    .amg_nanoseconds = 4e6,
    .amg_entry_nanoseconds = 250,
    .amg_row_nanoseconds = 900,
    .iteration_nanoseconds = 2000,
    .entry_nanoseconds = 1,
    .row_nanoseconds = 1.5,
    .thread_floats = 65536,
};

/* One H200.
 *
 * Blocks pass as fast as jagged's bytes beyond the cache, and faster inside. Unpadded slices take twice as
 * long, since a thread counts to find its entry. Rows in another order read what lies apart, and write so:
 * jagged diagonals of Delaunay triangulations take 1.3 to 1.4 times as long as their bytes and lines would have
 * it. A line that a warp asks for takes as long as 16 bytes, one beside the other; in csr threads hand sums on
 * through shared memory, an access for each entry and more; segments have a thread for a row, and all wait for
 * the longest. Below 2^20 entries it is the slowest thread that limits a product.
 *
 * In csr a product of a small matrix is not held up by 80000 threads, so that more of them share a row while
 * that shortens it to 3 entries each. Below 2^20 entries each entry beyond what row blocks take for all costs
 * 0.1 us: with 18 entries a thread row blocks are twice as fast, in conjugate gradients 1 to 1.2 times; with 12
 * they are slower there, by a tenth. Of many entries row blocks are faster where half of the threads' steps are
 * idle, where rows are long, and beyond 2^21 always.
 *
 * AMG and Jacobi take as long at some 320 couplings across: poisson2d of 128^2 points, 254 across, takes 2.8 ms
 * with AMG, set-up included, and 2.4 with Jacobi, one of 256^2 3.8 and 5.0; poisson3d of 100^3, 297
 * across, 13.3 and 10 to 15, one of 256^3 167 and 456.
 *
 * AMG's price, for changes within a solve: 7 and 27 points on 100^3 take 15.5 and 21.1 ms, set-up and cycles to
 * 1e-8, where an iteration of Jacobi takes 29.5 and 79 us.
 *
 * ilu_level_nanoseconds is an estimate: a row of a triangle is read, waits for the last number that it needs,
 * which comes by the L2 cache, and sums.
 *
 * peer_seconds is no measured number: devices that work together answer each other within microseconds, and the
 * processor of a host that is busy may start one of them milliseconds later. Nor is ghost_transfer:
 * the other ways are for comparing them. interior_entries:
 * with a kernel of its own for rows without ghosts an iteration of two ranks, each with an H200, takes 82 us
 * instead of 75 where a rank has 3.6 M entries, and 119 instead of 126 where it has 15 M.
 *
 * A product keeps some of the matrix in the cache for the next. What is prefetched stays there longer than what
 * is read once, so products beyond the cache do that only where threads have little else on their way. */
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
    .amg_couplings = 320,
    .ilu_level_nanoseconds = 1000,
    .amg_nanoseconds = 5e6,
    .amg_entry_nanoseconds = 0.4,
    .amg_row_nanoseconds = 7,
    .iteration_nanoseconds = 12000,
    .entry_nanoseconds = 0.0027,
    .row_nanoseconds = 0.001,
    .peer_seconds = 2,
    .ghost_transfer = 4,
    .interior_entries = 1 << 23,
};

/* OpenGL on one H200. 4 x 4 blocks take 0.86 to 1.0 times as long as 2 x 2 where they have 1.10 to 1.15 times
 * the fetches.
 *
 * Vectors of blocks have 2 or 4 numbers a texel, whose sums end in one texel instead of in 128 that the next
 * pass adds up, a level more, and cannot be gathered. That costs an iteration of conjugate gradients 10 us or
 * more, as much as blocks save in a product of 2^19 entries: with 359 k entries, of a conformal map, it
 * took 57.9 us in jagged, 68.9 and 62.6 in blocks; with 761 k, of a smooth interpolation, 116, 107 and 83.
 * Products alone are faster in blocks from 40 k to 90 k entries on, by less than iterations are slower.
 *
 * AMG's set-up is on the host: poisson3d of 100^3 points, 297 couplings across, takes 1.12 s with AMG and 0.24
 * with Jacobi, poisson2d of 256^2 points, 510 across, 46 and 52 ms, one of 512^2, 1022 across, 173 and 262. So
 * its price is about 10 ms and 160 ns an entry. */
const tsi_tuning tsi_tuning_gl = {
    .bcrs2_weight = A_TENTH,
    .bcrs4_weight = 0.95,
    .bcrs2_weight_several = A_TENTH,
    .bcrs4_weight_several = 0.95,
    .block_entries = 1 << 19,
    .check_interval = 16,
    .pipelined_iterations = 2,
    .one_reduction_texels = 1 << 18, /* with texture barriers */
    .amg_couplings = 800,
    .amg_nanoseconds = 15e6,
    .amg_entry_nanoseconds = 150,
    .amg_row_nanoseconds = 100,
    .iteration_nanoseconds = 60000,
    .entry_nanoseconds = 0.01,
    .row_nanoseconds = 0.3,
};

/* llvmpipe on two cores, where a pass more for sums is a small part. AMG takes as long as Jacobi at 95 to 120
 * couplings across, and 2 to 3 us an entry, or 14 to 16 us a row of grids, where an iteration takes 13 ns an
 * entry. */
const tsi_tuning tsi_tuning_gl_software = {
    .bcrs2_weight = A_TENTH,
    .bcrs4_weight = A_TENTH,
    .bcrs2_weight_several = A_TENTH,
    .bcrs4_weight_several = A_TENTH,
    .check_interval = 16,
    .pipelined_iterations = 2,
    .amg_couplings = 110,
    .amg_nanoseconds = 50e6,
    .amg_entry_nanoseconds = 600,
    .amg_row_nanoseconds = 8000,
    .iteration_nanoseconds = 300000,
    .entry_nanoseconds = 10,
    .row_nanoseconds = 5,
};

/* Two H100 whose memory reaches each other take as long for 512 k rows as one of them, 19 us an iteration, and
 * 23 us for 1 M rows, which take one 33. */
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
