/* Ghosts sent by a channel of all ranks (multi_channel.c), or by messages that a device reads late, without
 * NCCL or a GPU. The test uses parts of the CPU backend, and a channel that sends by the transport. A part may
 * read a message until its host next waits for the part. At that time the test compares the message with the
 * values read. */
#define _GNU_SOURCE
#include <unistd.h>

#include <texsolve/ranks.h>
#include <texsolve/solver.h>

#include "heap.h"
#include "multi/multi.h"

static ts_context *context;
static int rank, ranks;

enum { most_ranks = 8 };

/* ---- Parts that read messages late ---- */

typedef struct late_copy {
  const float *from;
  float *expected;
  size_t count;
} late_copy;

static late_copy late[256];
static int late_count;
static long overwritten, checked;

static void look_at_copies(void) {
  for (int k = 0; k < late_count; k++) {
    const late_copy *c = &late[k];
    overwritten += memcmp(c->from, c->expected, c->count * sizeof(float)) != 0;
    checked++;
    free(c->expected);
  }
  late_count = 0;
}

static ts_status message_create(ts_context *part, size_t bytes, int on_device, void **message) {
  (void)on_device;
  *message = tsi_malloc(part, bytes, 1);
  return *message ? TS_OK : tsi_out_of_memory(part, "a message", bytes);
}

static void message_destroy(ts_context *part, void *message, int on_device) {
  (void)on_device;
  look_at_copies();
  tsi_free(part, message);
}

static const tsi_ops *real;

static ts_status ghosts_write(const ts_vector *x, size_t first, size_t count, const float *message) {
  memcpy(real->part->ghosts(x) + first, message, count * sizeof(float));
  if (!CHECK(late_count < 256)) return TS_OK;
  late_copy *copy = &late[late_count++];
  *copy = (late_copy){.from = message, .expected = malloc(count * sizeof(float)), .count = count};
  memcpy(copy->expected, message, count * sizeof(float));
  return TS_OK;
}

/* A part reads nothing between mark and wait_for_mark. */
static ts_status mark(ts_context *part) {
  (void)part;
  return TS_OK;
}
static ts_status wait_for_mark(ts_context *part) {
  usleep((useconds_t)(rand() % 3 == 0 ? rand() % 400 : 0));
  look_at_copies();
  return real->finish(part);
}

/* ---- Parts with a channel ---- */

static tsi_ops table;
static tsi_part_ops part_table;
static int find_fails, open_fails, opened, live, is_broken, exchanges, combinations, finished;
static int gathers_left = -1; /* until one fails; negative: never */

static ts_status gather(const ts_vector *x, const void *list, float *to) {
  if (gathers_left >= 0 && gathers_left-- == 0) return tsi_fail(x->context, TS_ERROR_DEVICE, "no gather");
  return real->part->gather(x, list, to);
}

static ts_status channel_find(ts_context *part, unsigned char *number) {
  if (find_fails) return tsi_fail(part, TS_ERROR_UNSUPPORTED, "no library");
  CHECK_INT(number != NULL, rank == 0);
  if (number) memset(number, 42, TSI_CHANNEL_BYTES);
  return TS_OK;
}

static ts_status channel_open(ts_context *part, int own, int count, const unsigned char *number,
                              const tsi_watch *watch) {
  CHECK_INT(own, rank);
  CHECK_INT(count, ranks);
  CHECK_INT(number[0], 42);
  CHECK_INT(number[TSI_CHANNEL_BYTES - 1], 42);
  CHECK_OK(context, watch->look(watch->whole));
  if (open_fails) return tsi_fail(part, TS_ERROR_DEVICE, "no network");
  is_broken = 0;
  opened++, live++;
  return TS_OK;
}

static ts_status channel_exchange(ts_context *part, const ts_message *messages, int count) {
  CHECK(count > 0 && live == 1 && !is_broken);
  exchanges++;
  const ts_status status = multi_exchange_messages(context, messages, count);
  if (status == TS_OK) return TS_OK;
  is_broken = 1;
  return tsi_fail(part, status, "%s", context->error);
}

/* Gathers the slots of all ranks with their low parts. */
static ts_status gather_slots(const ts_scalars *sums, int slot, int count, double *all) {
  double mine[4 * TSI_MAX_DOTS];
  ts_scalars s = *sums;
  CHECK_OK(context, real->scalars_read_begin(&s, slot, count));
  CHECK_OK(context, real->scalars_read_end(&s, mine));
  return multi_collect(context, mine, 4 * (size_t)count * sizeof *mine, all);
}

static void write_slot(ts_scalars *s, int index, const double *values) {
  float floats[4];
  for (int c = 0; c < 4; c++) floats[c] = (float)values[c];
  CHECK_OK(context, real->scalars_write(s, index, 1, floats));
}

static ts_status channel_combine(ts_scalars *out, const int *index, int count, tsi_reduction kind,
                                 int components, int pair, ts_scalars *sums, int slot) {
  double high[most_ranks * 4 * TSI_MAX_DOTS], low[most_ranks * 4 * TSI_MAX_DOTS] = {0};
  CHECK(live == 1 && !is_broken && ranks <= most_ranks);
  combinations++;
  ts_status status = gather_slots(sums, slot, count, high);
  if (status == TS_OK && pair) status = gather_slots(sums->low, slot, count, low);
  is_broken = status < 0;
  if (status < 0) return tsi_fail(out->context, status, "%s", context->error);
  for (int k = 0; k < count; k++) {
    double total[4] = {0}, remainder[4];
    for (int c = 0; c < 4 && kind == TSI_REDUCE_MAX; c++) total[c] = -INFINITY;
    for (int i = 0; i < 4 * ranks; i++) {
      const size_t at = ((size_t)(i / 4) * (size_t)count + (size_t)k) * 4 + (size_t)(i % 4);
      const double part = high[at] + low[at];
      double *sum = &total[i % 4];
      if (kind == TSI_REDUCE_MAX || kind == TSI_REDUCE_MAX_ABS)
        *sum = fmax(*sum, part);
      else
        *sum += kind == TSI_REDUCE_NORM2 ? part * part : part;
    }
    for (int c = 0; c < 4; c++) {
      if (kind == TSI_REDUCE_NORM2) total[c] = sqrt(total[c]);
      if (c >= components) total[c] = 0;
      remainder[c] = total[c] - (double)(float)total[c];
    }
    write_slot(out, index[k], total);
    if (pair && out->low) write_slot(out->low, index[k], remainder);
  }
  return TS_OK;
}

static int channel_is_broken(const ts_context *part) {
  (void)part;
  return is_broken;
}

static void channel_close(ts_context *part, int finishes) {
  (void)part;
  live--;
  finished = finishes;
}

static void channel_describe(const ts_context *part, char *text, size_t size) {
  (void)part;
  snprintf(text, size, "a test");
}

/* ---- A context with such parts ---- */

/* As during the opening of the context. */
static void find_channel(void) {
  tsi_begin_together(context);
  CHECK_OK(context, tsi_end_together(context, multi_channel_open(context)));
  multi_describe_driver(context);
}

static void let_parts_have_channel(int transfer) {
  multi_state *state = multi_state_of(context);
  real = state->parts[state->first]->ops;
  table = *real;
  part_table = *real->part;
  table.part = &part_table;
  part_table.gather = gather;
  part_table.channel_find = channel_find, part_table.channel_open = channel_open;
  part_table.channel_exchange = channel_exchange, part_table.channel_is_broken = channel_is_broken;
  part_table.channel_combine = channel_combine;
  part_table.channel_close = channel_close, part_table.channel_describe = channel_describe;
  state->parts[state->first]->ops = &table;
  part_table.message_create = message_create, part_table.message_destroy = message_destroy;
  part_table.ghosts_write = ghosts_write;
  part_table.mark = mark, part_table.wait_for_mark = wait_for_mark;
  context->tuning.ghost_transfer = state->parts[state->first]->tuning.ghost_transfer = transfer;
}

static int begin(int transfer) {
  context = test_open();
  if (!context) return 0;
  rank = ts_ranks_get_rank(context), ranks = ts_ranks_get_count(context);
  opened = live = exchanges = combinations = is_broken = finished = 0;
  overwritten = checked = 0;
  srand((unsigned)rank + 1);
  let_parts_have_channel(transfer);
  find_channel();
  return 1;
}

static void end(void) {
  look_at_copies();
  CHECK_INT(overwritten, 0);
  test_close(&context);
  CHECK_INT(live, 0);
}

/* ---- A matrix: each row refers to the previous and the next one ---- */

enum { rows = 40 };

static ts_status create(ts_matrix **matrix) {
  int32_t offsets[rows + 1], n = 0;
  int64_t columns[3 * rows];
  float values[3 * rows];
  for (int32_t i = 0; i < rows; i++) {
    const int64_t row = (int64_t)rank * rows + i;
    offsets[i] = n;
    if (row > 0) columns[n] = row - 1, values[n++] = -1;
    columns[n] = row, values[n++] = 4;
    if (row < (int64_t)ranks * rows - 1) columns[n] = row + 1, values[n++] = -1;
  }
  offsets[rows] = n;
  const ts_ranks_matrix_desc desc = {.csr = ts_host_csr(rows, 0, offsets, columns, values)};
  return ts_ranks_matrix_create(context, &desc, matrix);
}

/* Vectors of 1 to 3 components, with and without low parts, that differ between ranks. */
static void check_products(const ts_matrix *matrix) {
  for (int components = 1; components <= 3; components++)
    for (int parts = 1; parts <= 2; parts++) {
      double xs[3 * rows];
      for (int i = 0; i < rows * components; i++) xs[i] = rank + 1;
      ts_space *space = ts_matrix_get_row_space(matrix);
      ts_vector *x = make_parts(space, components, parts, xs), *y = make_parts(space, components, parts, NULL);
      CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
      double *found = read_doubles(y);
      CHECK_CLOSE(found[components], 2. * (rank + 1), 0);
      CHECK_CLOSE(found[0], 3. * (rank + 1) - rank, 0);
      CHECK_CLOSE(found[rows * components - 1], 3. * (rank + 1) - (rank < ranks - 1 ? rank + 2 : 0), 0);
      free(found);
      ts_vector_destroy(&x);
      ts_vector_destroy(&y);
    }
}

/* With a new matrix. Its ghosts are sent by the channel or not. */
static void check_matrix(int by_channel) {
  ts_matrix *matrix = NULL;
  exchanges = 0;
  if (CHECK_OK(context, create(&matrix))) check_products(matrix);
  CHECK_INT(exchanges > 0, by_channel && ranks > 1);
  ts_matrix_destroy(&matrix);
}

/* ---- Cases ---- */

static void products(void) {
  if (!begin(MULTI_TRANSFER_BEST)) return;
  CHECK_INT(opened, ranks > 1);
  if (ranks > 1) CHECK_CONTAINS(context_info(context).driver, ", ghosts by a test");
  check_matrix(1);
  check_matrix(1);
  CHECK_INT(opened, ranks > 1);
  end();
  CHECK_INT(finished, ranks > 1);
}

/* Messages must not be overwritten by the next exchange until they have been read. */
static void messages(void) {
  if (!begin(MULTI_TRANSFER_HOST)) return;
  if (ranks > 1) CHECK_CONTAINS(context_info(context).driver, ", ghosts through the host");
  ts_matrix *matrix = NULL;
  if (CHECK_OK(context, create(&matrix)))
    for (int k = 0; k < 20; k++) check_products(matrix);
  ts_matrix_destroy(&matrix);
  CHECK_INT(checked > 0, ranks > 1);
  end();
}

/* Reductions of whole vectors: of one element on a single rank, and of many. */
static void check_sums(int32_t n, int parts) {
  ts_space *space = NULL;
  if (!CHECK_OK(context, ts_space_create(context, &(ts_space_desc){.size = n}, &space))) return;
  double *xs = calloc((size_t)n, sizeof *xs);
  for (int32_t i = 0; i < n; i++) xs[i] = -2 - (double)i / 1024 - (parts > 1 ? 0x1p-30 : 0);
  ts_vector *x = make_parts(space, 1, parts, xs);
  ts_scalars *slots = NULL;
  const ts_precision precision = parts > 1 ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE;
  CHECK_OK(context, ts_scalars_create(context, &(ts_scalars_desc){.count = 4, .precision = precision}, &slots));
  CHECK_OK(context, ts_vector_dot(slots, 0, x, x));
  CHECK_OK(context, ts_vector_norm(slots, 1, x, TS_NORM_2));
  CHECK_OK(context, ts_vector_norm(slots, 2, x, TS_NORM_INFINITY));
  CHECK_OK(context, ts_vector_max(slots, 3, x));
  double found[16], squares = 0;
  for (int32_t i = 0; i < n; i++) squares += xs[i] * xs[i];
  CHECK_OK(context, ts_scalars_read(slots, 0, ts_host(found, 16)));
  const double tolerance = parts > 1 ? 0x1p-44 : EPSILON;
  CHECK_CLOSE(found[0], squares, 4 * tolerance * squares);
  CHECK_CLOSE(found[4], sqrt(squares), 4 * tolerance * sqrt(squares));
  CHECK_CLOSE(found[8], -xs[n - 1], tolerance * 4);
  CHECK_CLOSE(found[12], xs[0], tolerance * 4);
  free(xs);
  ts_scalars_destroy(&slots);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
}

static void sums(void) {
  for (int opens = 0; opens < 2; opens++) {
    if (!begin(opens ? MULTI_TRANSFER_CHANNEL : MULTI_TRANSFER_HOST)) return;
    for (int parts = 1; parts <= 2; parts++) {
      test_context_label("%d parts, %s", parts, opens ? "by the channel" : "by the host");
      combinations = 0;
      if (opens) check_matrix(1); /* opens the channel */
      check_sums(1, parts);
      check_sums(1000, parts);
      CHECK_INT(combinations, opens && ranks > 1 ? 8 : 0);
    }
    end();
  }
}

/* If one rank cannot use the channel, no rank uses it. */
static void refusals(void) {
  for (int by = 0; by < ranks; by++)
    for (int early = 0; early < 2; early++) {
      test_context_label("rank %d, %s", by, early ? "no library" : "no network");
      find_fails = early && by == rank;
      open_fails = !early && by == rank;
      if (!begin(MULTI_TRANSFER_BEST)) return;
      CHECK_INT(live, 0);
      CHECK_INT(opened, !early && by != rank && ranks > 1);
      if (ranks > 1)
        CHECK_CONTAINS(context_info(context).driver,
                       early ? ", ghosts through the host (no library)" : "through the host (no network)");
      check_matrix(0);
      CHECK_INT(live, 0);
      end();
    }
  find_fails = open_fails = 0;
}

/* The transfer for each setting. */
static void chosen(void) {
  static const struct {
    int transfer, to_device, expected;
  } ways[] = {{MULTI_TRANSFER_HOST, 0, 0},    {MULTI_TRANSFER_DEVICE, 0, 0}, {MULTI_TRANSFER_CHANNEL, 0, 1},
              {MULTI_TRANSFER_CHANNEL, 1, 1}, {MULTI_TRANSFER_BEST, 1, 0},   {MULTI_TRANSFER_BEST, 0, 1}};
  for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
    test_context_label("ghost_transfer %d, to the device %d", ways[k].transfer, ways[k].to_device);
    if (!begin(MULTI_TRANSFER_HOST)) return;
    CHECK_INT(opened, 0);
    check_matrix(0);
    context->tuning.ghost_transfer = ways[k].transfer;
    multi_state_of(context)->ranks->transport.takes_device_memory = ways[k].to_device;
    check_matrix(ways[k].expected); /* opened by the first matrix that requires it */
    CHECK_INT(opened, ways[k].expected && ranks > 1);
    end();
  }
}

/* One rank requests another transfer than the others. */
static void disagreement(void) {
  for (int by = 0; by < ranks && ranks > 1; by++) {
    test_context_label("rank %d", by);
    if (!begin(MULTI_TRANSFER_CHANNEL)) return;
    if (rank == by) context->tuning.ghost_transfer = MULTI_TRANSFER_HOST;
    check_matrix(0);
    context->tuning.ghost_transfer = MULTI_TRANSFER_CHANNEL;
    check_matrix(1);
    end();
  }
}

/* A rank fails within a solve: the channel holds messages that nobody receives, so all ranks open a new one. */
static void failures(void) {
  if (!begin(MULTI_TRANSFER_BEST)) return;
  ts_matrix *matrix = NULL;
  if (CHECK_OK(context, create(&matrix))) {
    ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, NULL),
              *x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
    CHECK_OK(context, ts_vector_fill(b, 1));
    int expected = ranks > 1;
    for (int by = 0; by < ranks && ranks > 1; by++)
      for (int gathers = 0; gathers < 6; gathers++) {
        test_context_label("rank %d, after %d gathers", by, gathers);
        check_products(matrix);
        gathers_left = rank == by ? gathers : -1;
        CHECK_FAILS(context, solve_vectors(matrix, b, x, NULL, NULL), TS_ERROR_DEVICE, "rank", "no gather");
        gathers_left = -1;
        CHECK_INT(opened, ++expected);
        CHECK_INT(live, 1);
      }
    test_context_label("an argument");
    CHECK_FAILS(context, ts_ranks_agree(context, TS_ERROR_INVALID_ARGUMENT, "no"), TS_ERROR_INVALID_ARGUMENT,
                "no");
    CHECK_INT(opened, expected);
    check_products(matrix);
    test_context_label("no channel afterwards");
    open_fails = rank == ranks - 1;
    gathers_left = rank == 0 && ranks > 1 ? 0 : -1;
    if (ranks > 1) CHECK_FAILS(context, solve_vectors(matrix, b, x, NULL, NULL), TS_ERROR_DEVICE, "no gather");
    gathers_left = -1, open_fails = 0, exchanges = 0;
    CHECK_INT(live, 0);
    check_products(matrix);
    CHECK_INT(exchanges, 0);
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
  }
  ts_matrix_destroy(&matrix);
  end();
}

/* Host memory of one rank runs out at each of its allocations. */
static void memory_of_a_rank(void) {
  ts_context_desc desc = heap_desc();
  desc.threads = 1;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  rank = ts_ranks_get_rank(context), ranks = ts_ranks_get_count(context);
  opened = live = is_broken = 0;
  let_parts_have_channel(MULTI_TRANSFER_CHANNEL);
  int succeeded = 0;
  for (long n = 0; n < 2000 && !succeeded; n = heap_next(n)) {
    test_context_label("allocation %ld", n);
    ts_matrix *matrix = NULL;
    memory.countdown = rank == ranks - 1 ? n : -1;
    memory.failed = 0;
    const ts_status status = create(&matrix);
    memory.countdown = -1;
    if (status == TS_OK)
      succeeded = rank != ranks - 1 || CHECK_INT(memory.failed, 0);
    else
      CHECK_FAILS(context, status, TS_ERROR_OUT_OF_HOST_MEMORY, "memory");
    ts_matrix_destroy(&matrix);
  }
  CHECK(succeeded);
  end();
  CHECK_INT(memory.live, 0);
}

static const test_group groups[] = {
    CASES(products, messages, sums, refusals, chosen, disagreement, failures, memory_of_a_rank),
    {.cases = NULL}};
int main(int argc, char **argv) {
  if (argc > 1 && !strstr(argv[1], "cpu")) {
    printf("skipped: %s: parts of the CPU backend only\n", argv[1]);
    return 77;
  }
  return test_main(argc, argv, groups, 0);
}
