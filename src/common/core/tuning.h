/* Numbers measured on one device that control choices: the format of a matrix, kernels, and how often a solver
 * checks its residual. A backend fills the record when it opens, from the records in tuning.c, which document
 * the source of each number. `texsolve bench tune` prints the cost of each at half and at twice its value. */
#ifndef TSI_TUNING_H
#define TSI_TUNING_H

/* FIELD(name, least, most, meaning). All fields are double: an entry count is exact up to 2^53.
 * ts_context_set_tuning accepts values above 0, from `least` to `most`. */
#define TSI_TUNING_LIST(FIELD)                                                                                 \
  /* The choice of a format (format_choice.c): how long a byte or a fetch takes against csr's or jagged's. */  \
  FIELD(bcrs2_weight, 0, 1e15, "time of a byte or fetch in 2 x 2 blocks")                                      \
  FIELD(bcrs4_weight, 0, 1e15, "time of a byte or fetch in 4 x 4 blocks")                                      \
  FIELD(bcrs2_weight_several, 0, 1e15, "time of a byte or fetch in blocks, for several components")            \
  FIELD(bcrs4_weight_several, 0, 1e15, "time of a byte or fetch in blocks, for several components")            \
  FIELD(sorted_weight, 0, 1e15, "time of a byte in jagged slices of sorted rows")                              \
  FIELD(counted_weight, 0, 1e15, "time of a byte in unpadded slices of jagged")                                \
  FIELD(line_bytes, 0, 1e15, "bytes that take as long as a line of the cache")                                 \
  FIELD(lines_of_sums, 0, 1e15, "cache lines per entry to pass on sums in csr")                                \
  FIELD(lines_of_runs, 0, 1e15, "share of a line for a run of segments")                                       \
  FIELD(segments_longest, 0, 1e15, "longest row for which segments are considered")                            \
  FIELD(many_entries, 0, 1e15, "entries from which bytes limit a product")                                     \
  FIELD(block_entries, 0, 1e15, "entries from which blocks are considered")                                    \
  /* How threads share the rows of csr (layout_csr.c). */                                                      \
  FIELD(csr_threads, 0, 1e15, "threads that do not delay small matrices")                                      \
  FIELD(csr_shared_mean, 0, 1e15, "entries per thread from which rows are shared")                             \
  FIELD(csr_steps, 0, 1e15, "entries per thread that make small matrices uneven")                              \
  FIELD(csr_idle_entries, 0, 1e15, "steps per entry from which rows are uneven")                               \
  FIELD(csr_idle_rows, 0, 1e15, "steps per row from which rows are uneven")                                    \
  FIELD(csr_blocks_mean, 0, 1e15, "mean row from which csr has row blocks")                                    \
  FIELD(csr_blocks_entries, 0, 1e15, "entries from which csr always has row blocks")                           \
  /* The kernels of jagged (cuda_matrix.c), by the size of the cache and the mean length of rows. */           \
  FIELD(stream_caches, 0, 1e15, "caches from which jagged products stream")                                    \
  FIELD(lean_mean, 0, 1e15, "mean row up to which CG runs in few registers")                                   \
  FIELD(lean_short_mean, 0, 1e15, "mean row up to which rows count as short")                                  \
  FIELD(lean_short_caches, 0, 1e15, "caches from which CG with short rows runs in few registers")              \
  FIELD(lean_product_mean, 0, 1e15, "mean row up to which products use few registers")                         \
  FIELD(lean_product_caches, 0, 1e15, "caches from which products use few registers")                          \
  FIELD(lean_product_short_caches, 0, 1e15, "caches from which products with short rows use few registers")    \
  FIELD(device_entries, 0, 1e15, "entries from which the device lays a matrix out")                            \
  /* Solvers. */                                                                                               \
  FIELD(check_interval, 1, 1024, "iterations between two checks of the residual")                              \
  FIELD(pipelined_iterations, 1, 1024, "iterations started before a check's numbers arrive")                   \
  FIELD(one_reduction_texels, 0, 1e15, "texels up to which CG has one reduction")                              \
  FIELD(look_iterations, 1, 1e9, "iterations between the first estimates of those that Jacobi still needs")    \
  FIELD(amg_couplings, 1, 1e15, "graph diameter from which auto is amg")                                       \
  FIELD(amg_nanoseconds, 0, 1e15, "time of amg, set-up and cycles to 1e-8, without rows and entries")          \
  FIELD(amg_entry_nanoseconds, 0, 1e15, "additional time per entry")                                           \
  FIELD(amg_row_nanoseconds, 0, 1e15, "additional time per row")                                               \
  FIELD(ilu_level_nanoseconds, 0, 1e15, "time of a level of a triangle that is solved on the device")          \
  FIELD(iteration_nanoseconds, 0, 1e15, "time of an iteration without entries")                                \
  FIELD(entry_nanoseconds, 0, 1e15, "additional time per entry")                                               \
  FIELD(row_nanoseconds, 0, 1e15, "additional time per row")                                                   \
  FIELD(diagonals_part, 0, 1e15, "part of the time per entry and row if the entries lie on few diagonals")     \
  /* Several devices: partition.c, multi_cg.c, multi_channel.c, cuda_interior.c. */                            \
  FIELD(part_rows, 1, 1e15, "rows of 7 entries that justify another device")                                   \
  FIELD(peer_seconds, 0, 1e9, "seconds that a device waits for another's answer")                              \
  FIELD(ghost_transfer, 1, 4, "ghosts to other ranks: 1 by the host, 2 by the transport, 3 by NCCL, 4 best")   \
  FIELD(interior_entries, 1, 1e15, "entries of rows without ghosts that justify a separate kernel")            \
  /* The CPU backend's threads. */                                                                             \
  FIELD(thread_floats, 1, 1e15, "floats of work that justify a thread")

typedef struct tsi_tuning {
#define TSI_TUNING_FIELD(name, least, most, meaning) double name;
  TSI_TUNING_LIST(TSI_TUNING_FIELD)
#undef TSI_TUNING_FIELD
} tsi_tuning;

/* part_rows of "cuda:0+1". A single device does not make this choice. */
extern const double tsi_part_rows_cuda;

extern const tsi_tuning tsi_tuning_cpu, tsi_tuning_cuda, tsi_tuning_gl, tsi_tuning_gl_software;

#endif
