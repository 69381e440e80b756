/* Ghosts in memory that ranks share (multi_share.c), without a GPU: parts of the CPU backend whose shares are
 * mapped files. Like a device that is late, a part may read a share until its host next waits for it; there the
 * test looks whether what was read is still the same. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <texsolve/ranks.h>
#include <texsolve/solver.h>

#include "heap.h"
#include "multi/multi.h"

static ts_context *context;
static int rank, ranks;

/* ---- Parts that share ---- */

typedef struct file_share {
  char name[TSI_SHARE_BYTES];
  char *memory;
  size_t message_bytes;
  int is_own;
} file_share;

/* What may be read until the part is waited for. */
typedef struct late_copy {
  const float *from;
  float *expected;
  size_t count;
  int call;
} late_copy;

static const tsi_ops *real;
static tsi_ops table;
static tsi_part_ops part_table;
static int live_shares, exports_fail, imports_fail,
    gathers_left = -1; /* until one fails; negative: none does */
static late_copy late[256];
static int late_count, call, failed_call = -1;
static long overwritten, checked;

static void look_at_copies(void) {
  for (int k = 0; k < late_count; k++) {
    const late_copy *c = &late[k];
    /* What a failed call leads to is undefined. */
    overwritten += c->call != failed_call && memcmp(c->from, c->expected, c->count * sizeof(float)) != 0;
    checked++;
    free(c->expected);
  }
  late_count = 0;
}

static ts_status finish(ts_context *part) {
  usleep((useconds_t)(rand() % 3 == 0 ? rand() % 400 : 0));
  look_at_copies();
  return real->finish(part);
}

/* Nothing is read between the two. */
static ts_status mark(ts_context *part) {
  (void)part;
  return TS_OK;
}
static ts_status wait_for_mark(ts_context *part) {
  return finish(part);
}

static ts_status gather(const ts_vector *x, const void *list, float *to) {
  if (gathers_left >= 0 && gathers_left-- == 0) return tsi_fail(x->context, TS_ERROR_DEVICE, "no gather");
  return real->part->gather(x, list, to);
}

static ts_status message_create(ts_context *part, size_t bytes, int on_device, void **message) {
  CHECK_INT(on_device, 0);
  *message = tsi_malloc(part, bytes, 1);
  return *message ? TS_OK : tsi_out_of_memory(part, "a message", bytes);
}
static void message_destroy(ts_context *part, void *message, int on_device) {
  (void)on_device;
  look_at_copies();
  tsi_free(part, message);
}

static ts_status ghosts_write(const ts_vector *x, size_t first, size_t count, const float *message) {
  memcpy(real->part->ghosts(x) + first, message, count * sizeof(float));
  if (!CHECK(late_count < 256)) return TS_OK;
  late_copy *copy = &late[late_count++];
  *copy = (late_copy){.from = message, .expected = malloc(count * sizeof(float)), .count = count, .call = call};
  memcpy(copy->expected, message, count * sizeof(float));
  return TS_OK;
}

static size_t share_bytes(const file_share *s) {
  return 2 * s->message_bytes;
}

static ts_status map(ts_context *part, file_share *s, int flags) {
  const int file = open(s->name, flags, 0600);
  if (file < 0) return tsi_fail(part, TS_ERROR_UNSUPPORTED, "no file %s", s->name);
  const int sized = !(flags & O_CREAT) || ftruncate(file, (off_t)share_bytes(s)) == 0;
  s->memory = mmap(NULL, share_bytes(s), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return sized && s->memory != MAP_FAILED ? TS_OK : tsi_fail(part, TS_ERROR_UNSUPPORTED, "no %s", s->name);
}

static ts_status open_share(ts_context *part, const char *name, size_t bytes, int flags, void **out) {
  file_share *s = calloc(1, sizeof *s);
  snprintf(s->name, sizeof s->name, "%s", name);
  s->message_bytes = bytes;
  s->is_own = (flags & O_CREAT) != 0;
  const ts_status status = map(part, s, flags);
  if (status == TS_OK) {
    *out = s;
    live_shares++;
  } else {
    free(s);
  }
  return status;
}

static ts_status share_export(ts_context *part, size_t bytes, void *description, void **share) {
  static int number;
  char name[TSI_SHARE_BYTES];
  if (exports_fail) return tsi_fail(part, TS_ERROR_UNSUPPORTED, "no export");
  snprintf(name, sizeof name, "/tmp/texsolve-share-%ld-%d", (long)getpid(), number++);
  memcpy(description, name, sizeof name);
  return open_share(part, name, bytes, O_CREAT | O_EXCL | O_RDWR, share);
}

static ts_status share_import(ts_context *part, size_t bytes, const void *description, void **share) {
  if (imports_fail) return tsi_fail(part, TS_ERROR_UNSUPPORTED, "no import");
  return open_share(part, description, bytes, O_RDWR, share);
}

static float *share_message(const void *share, int turn) {
  const file_share *s = share;
  return (float *)(void *)(s->memory + (size_t)turn * s->message_bytes);
}

static void share_destroy(ts_context *part, void *share, int imported) {
  file_share *s = share;
  (void)part, (void)imported;
  look_at_copies();
  munmap(s->memory, share_bytes(s));
  if (s->is_own) unlink(s->name);
  free(s);
  live_shares--;
}

/* ---- A context of such parts ---- */

static ts_status find_shares(void) {
  tsi_begin_together(context);
  return tsi_end_together(context, multi_shares_open(context));
}

static void let_parts_share(void) {
  multi_state *state = multi_state_of(context);
  real = state->parts[state->first]->ops;
  table = *real;
  part_table = *real->part;
  table.part = &part_table;
  table.finish = finish;
  part_table.mark = mark, part_table.wait_for_mark = wait_for_mark;
  part_table.gather = gather;
  part_table.message_create = message_create, part_table.message_destroy = message_destroy;
  part_table.ghosts_write = ghosts_write;
  part_table.share_export = share_export, part_table.share_import = share_import;
  part_table.share_message = share_message, part_table.share_destroy = share_destroy;
  for (int p = state->first; p < state->first + state->own; p++) state->parts[p]->ops = &table;
  const size_t count = (size_t)state->own * (size_t)state->count;
  state->shares = tsi_calloc(context, count, 1);
  for (size_t k = 0; state->shares && k < count; k++)
    if (!multi_part(context, (int)(k % (size_t)state->count))) state->shares[k] = MULTI_SENDS | MULTI_RECEIVES;
  context->tuning.ghost_transfer = MULTI_TRANSFER_SHARED;
  CHECK_OK(context, find_shares());
}

static int begin(void) {
  context = test_open();
  if (!context) return 0;
  rank = ts_ranks_rank(context), ranks = ts_ranks_count(context);
  srand((unsigned)rank + 1);
  overwritten = checked = 0;
  failed_call = -1;
  let_parts_share();
  return 1;
}

static void end(void) {
  look_at_copies();
  CHECK_INT(overwritten, 0);
  CHECK_INT(live_shares, 0);
  test_close(&context);
}

/* ---- A matrix: each row takes the one before it, and the one after it with the factor `upper` ---- */

enum { rows = 40 };

static ts_status create(float upper, ts_matrix **matrix) {
  int32_t offsets[rows + 1], n = 0;
  int64_t columns[3 * rows];
  float values[3 * rows];
  for (int32_t i = 0; i < rows; i++) {
    const int64_t row = (int64_t)rank * rows + i;
    offsets[i] = n;
    if (row > 0) columns[n] = row - 1, values[n++] = 1;
    columns[n] = row, values[n++] = 4;
    if (upper != 0 && row < (int64_t)ranks * rows - 1) columns[n] = row + 1, values[n++] = upper;
  }
  offsets[rows] = n;
  const ts_ranks_matrix_desc desc = {
      .rows = rows, .row_offsets = offsets, .column_indices = columns, .values = values};
  return ts_ranks_matrix_create(context, &desc, matrix);
}

static int count_shares(const ts_matrix *matrix) {
  const multi_halo *halo = ((const multi_matrix *)matrix->impl)->halo;
  int count = 0;
  for (int i = 0; i < halo->exchange_count; i++) count += halo->exchanges[i].share != NULL;
  return count;
}

/* Products with vectors that are new each time, of 1 to 3 components. */
static void check_products(const ts_matrix *matrix, float upper, int count) {
  ts_space *space = ts_matrix_row_space(matrix);
  for (int components = 1; components <= 3; components++) {
    ts_vector *x = make_vector(space, components, NULL), *y = make_vector(space, components, NULL);
    for (int k = 1; k <= count; k++, call++) {
      CHECK_OK(context, ts_vector_fill(x, k));
      CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
      float *found = read_vector(y);
      const int first = rank == 0, last = rank == ranks - 1;
      CHECK_CLOSE((double)found[0], k * (first ? 4 + (double)upper : 5 + (double)upper), 0);
      CHECK_CLOSE((double)found[rows * components - 1], k * (last ? 5 : 5 + (double)upper), 0);
      free(found);
    }
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
  }
}

/* ---- Cases ---- */

/* One neighbour may have nothing to send back: only the answer then keeps the sender from overwriting. */
static void products(void) {
  if (!begin()) return;
  for (int both = 0; both < 2; both++) {
    ts_matrix *matrix = NULL;
    if (CHECK_OK(context, create((float)both, &matrix))) {
      const int neighbours = (rank > 0) + (rank < ranks - 1);
      CHECK_INT(count_shares(matrix), (1 + both) * neighbours);
      check_products(matrix, (float)both, 60);
    }
    ts_matrix_destroy(&matrix);
  }
  CHECK(checked > 0 || rank == 0);
  end();
}

/* Where a share cannot be made, both ranks have none; found when the context is opened, or later. */
static void refusals(void) {
  for (int by = 0; by < ranks; by++)
    for (int early = 0; early < 2; early++) {
      test_context_label("rank %d, %s", by, early ? "at once" : "later");
      exports_fail = imports_fail = early && by == rank;
      if (!begin()) return;
      exports_fail = by == rank;
      imports_fail = by == rank;
      ts_matrix *matrix = NULL;
      if (CHECK_OK(context, create(1, &matrix))) {
        const int neighbours = (rank > 0) + (rank < ranks - 1);
        const int refused = rank == by ? neighbours : abs(rank - by) == 1;
        CHECK_INT(count_shares(matrix), 2 * (neighbours - refused));
        check_products(matrix, 1, 5);
      }
      ts_matrix_destroy(&matrix);
      exports_fail = imports_fail = 0;
      end();
    }
}

/* One rank wants none, the others do. */
static void chosen(void) {
  if (!begin()) return;
  if (rank == 0) context->tuning.ghost_transfer = MULTI_TRANSFER_HOST;
  ts_matrix *matrix = NULL;
  if (CHECK_OK(context, create(1, &matrix))) {
    CHECK_INT(count_shares(matrix), 2 * ((rank > 0) + (rank < ranks - 1)) - (rank <= 1 && ranks > 1));
    check_products(matrix, 1, 5);
  }
  ts_matrix_destroy(&matrix);
  end();
}

/* A rank fails within a solve: what was sent before is not overwritten, and on it goes. */
static void failures(void) {
  if (!begin()) return;
  ts_matrix *matrix = NULL;
  if (CHECK_OK(context, create(0.5f, &matrix))) {
    ts_vector *b = make_vector(ts_matrix_row_space(matrix), 1, NULL),
              *x = make_vector(ts_matrix_row_space(matrix), 1, NULL);
    CHECK_OK(context, ts_vector_fill(b, 1));
    for (int by = 0; by < ranks && ranks > 1; by++)
      for (int gathers = 0; gathers < 6; gathers++, call++) {
        test_context_label("rank %d, after %d gathers", by, gathers);
        check_products(matrix, 0.5f, 2);
        gathers_left = rank == by ? gathers : -1;
        failed_call = call;
        CHECK_FAILS(context, ts_solve(matrix, b, x, NULL, NULL), TS_ERROR_DEVICE, "rank", "no gather");
        gathers_left = -1;
      }
    check_products(matrix, 0.5f, 5);
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
  }
  ts_matrix_destroy(&matrix);
  end();
}

/* Host memory of a rank runs out at each allocation: no share is left, and all ranks return the same. */
static void memory_of_a_rank(void) {
  ts_context_desc desc = heap_desc();
  desc.threads = 1;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  rank = ts_ranks_rank(context), ranks = ts_ranks_count(context);
  overwritten = 0;
  let_parts_share();
  int succeeded = 0;
  for (long n = 0; n < 2000 && !succeeded; n = heap_next(n)) {
    test_context_label("allocation %ld", n);
    ts_matrix *matrix = NULL;
    memory.countdown = rank == ranks - 1 ? n : -1;
    memory.failed = 0;
    const ts_status status = create(1, &matrix);
    memory.countdown = -1;
    if (status == TS_OK)
      succeeded = rank != ranks - 1 || CHECK_INT(memory.failed, 0);
    else
      CHECK_FAILS(context, status, TS_ERROR_OUT_OF_HOST_MEMORY, "memory");
    ts_matrix_destroy(&matrix);
    CHECK_INT(live_shares, 0);
  }
  CHECK(succeeded);
  end();
  CHECK_INT(memory.live, 0);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strstr(argv[1], "cpu")) {
    printf("skipped: %s: parts of the CPU backend only\n", argv[1]);
    return 77;
  }
  static const test_case cases[] = {{"products", products},
                                    {"refusals", refusals},
                                    {"chosen", chosen},
                                    {"failures", failures},
                                    {"memory_of_a_rank", memory_of_a_rank}};
  return test_main(argc, argv, cases, sizeof cases / sizeof cases[0], 0);
}
