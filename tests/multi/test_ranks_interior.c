/* Rows that need no ghosts of other ranks are computed while the ghosts are in transit. Checks the order of
 * events, and that the results are those of products that wait for all ghosts first. Ghosts are NaN until they
 * arrive, and so are outputs until a product writes them. */
#include "multi/multi.h"

#include "helpers.h"

static ts_context *context;
static int rank, ranks;

/* ---- Events: messages that begin and end, and rows of a part that are computed ---- */

static char events[64];

static void note(char event) {
  const size_t length = strlen(events);
  if (length + 1 < sizeof events) events[length] = event, events[length + 1] = 0;
}

static ts_transport carrier;

static ts_context *part_of(void) {
  const multi_state *state = multi_state_of(context);
  return state->parts[state->first];
}

/* A device has pending operations after its functions return. */
static int is_device(void) {
  return part_of()->ops->part->mark != NULL;
}

/* Until a message arrives its place holds NaN. */
static ts_status begin(void *user, int epoch, const ts_message *messages, int count, void **batch, char *error,
                       size_t size) {
  note('<');
  for (int k = 0; k < count; k++)
    if (messages[k].receives && !is_device()) memset(messages[k].data, 0xff, messages[k].bytes);
  return carrier.begin(user, epoch, messages, count, batch, error, size);
}

static ts_status end(void *user, void *batch, int call, int *stopped, char *error, size_t size) {
  note('>');
  return carrier.end(user, batch, call, stopped, error, size);
}

static tsi_matrix_kind kind;
static const tsi_matrix_kind *real;
static int fails;

static ts_status watch(const ts_matrix *A) {
  note("aib"[A->rows]);
  return fails ? tsi_fail(A->context, TS_ERROR_DEVICE, "no product") : TS_OK;
}

static ts_status spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  TSI_TRY(watch(A));
  return real->spmv(y, A, x);
}
static ts_status residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  TSI_TRY(watch(A));
  return real->residual(r, b, A, x);
}
static ts_status quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  TSI_TRY(watch(A));
  return real->quick_residual(r, b, A, x);
}
static ts_status smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s) {
  TSI_TRY(watch(A));
  return real->smooth(out, A, s);
}

static void watch_transport(int watched) {
  ts_transport *transport = &multi_ranks_of(context)->transport;
  if (watched) {
    carrier = *transport;
    transport->begin = begin, transport->end = end;
  } else {
    *transport = carrier;
  }
}

static const multi_matrix *matrix_of(const ts_matrix *A) {
  return A->impl;
}

static ts_matrix *local_of(const ts_matrix *A) {
  return matrix_of(A)->local[multi_state_of(context)->first];
}

/* Sets the ghosts of a device to NaN. Those of other parts become NaN when messages begin. */
static void spoil_ghosts(const ts_matrix *A, const ts_vector *x) {
  const int p = multi_state_of(context)->first;
  const size_t count = (size_t)matrix_of(A)->halo->ghosts[p] * (size_t)x->components;
  multi_view view;
  if (!is_device() || !count || !CHECK(!matrix_of(A)->halo->extended[p])) return;
  float *values = malloc(count * sizeof *values);
  memset(values, 0xff, count * sizeof *values);
  CHECK_OK(context, ts_context_finish(context));
  CHECK_OK(context, multi_begin(context, p));
  CHECK_OK(context, multi_end(context, p,
                              part_of()->ops->part->ghosts_write(multi_local(x, p, &view), 0, count, values)));
  CHECK_OK(context, ts_context_finish(context));
  free(values);
}

static void watch_products(const ts_matrix *A) {
  ts_matrix *local = local_of(A);
  real = local->kind;
  kind = *real;
  kind.spmv = spmv, kind.residual = residual;
  if (real->quick_residual) kind.quick_residual = quick_residual;
  if (real->smooth) kind.smooth = smooth;
  local->kind = &kind;
}

static void check_events(const char *expected) {
  CHECK_INT(strlen(events), strlen(expected));
  CHECK_CONTAINS(events, expected);
}

/* ---- Products of all kinds ---- */

enum { PRODUCT, PRODUCT_IN_PAIRS, RESIDUAL, RESIDUAL_IN_PAIRS, QUICK_RESIDUAL, STEP, PRODUCTS };

typedef struct operands {
  ts_vector *x, *b, *w, *y, *pair_x, *pair_y;
} operands;

static operands make_operands(ts_space *space, int components) {
  const size_t count = (size_t)ts_space_get_size(space) * (size_t)components;
  float *values = ref_values(3 * count, 1, -1, 1);
  double *doubles = ref_doubles(count, 7, -1, 1);
  const operands o = {.x = make_vector(space, components, values),
                      .b = make_vector(space, components, values + count),
                      .w = make_vector(space, components, values + 2 * count),
                      .y = make_vector(space, components, NULL),
                      .pair_x = make_parts(space, components, 2, doubles),
                      .pair_y = make_parts(space, components, 2, NULL)};
  free(values), free(doubles);
  return o;
}

static void destroy_operands(operands *o) {
  ts_vector **all[] = {&o->x, &o->b, &o->w, &o->y, &o->pair_x, &o->pair_y};
  for (int k = 0; k < 6; k++) ts_vector_destroy(all[k]);
}

static ts_status compute(const ts_matrix *A, const operands *o, int what) {
  const tsi_smoothing step = {
      .w = o->w, .b = o->b, .x = o->x, .before = o->y, .scale = 0.5f, .alpha = 0.25f, .gamma = 0.125f};
  switch (what) {
  case PRODUCT:
    return A->kind->spmv(o->y, A, o->x);
  case PRODUCT_IN_PAIRS:
    return A->kind->spmv(o->pair_y, A, o->pair_x);
  case RESIDUAL:
    return A->kind->residual(o->y, o->b, A, o->x);
  case RESIDUAL_IN_PAIRS:
    return A->kind->residual(o->pair_y, o->b, A, o->x);
  case QUICK_RESIDUAL:
    return A->kind->quick_residual(o->y, o->b, A, o->x);
  default:
    return A->kind->smooth(o->y, A, &step);
  }
}

static ts_status carry_out(const ts_matrix *A, const operands *o, int what) {
  if (what == STEP && !A->kind->smooth) return TS_OK;
  CHECK_OK(context, ts_vector_fill(o->y, what == STEP ? 0.75f : NAN));
  CHECK_OK(context, ts_vector_fill(o->pair_y, NAN));
  spoil_ghosts(A, what == PRODUCT_IN_PAIRS ? o->pair_x : o->x);
  tsi_begin_together(context);
  watch_transport(1);
  events[0] = 0;
  const ts_status status = compute(A, o, what);
  watch_transport(0);
  return tsi_end_together(context, status);
}

static double *result(const operands *o, int what) {
  return read_doubles(what == PRODUCT_IN_PAIRS || what == RESIDUAL_IN_PAIRS ? o->pair_y : o->y);
}

/* ---- Cases ---- */

/* Each part chooses its format by weights, which leave only one choice here. */
static void prefer(ts_format format) {
  CHECK_OK(context, ts_context_set_tuning(context, "bcrs2_weight", format == TS_FORMAT_BCRS2 ? 1e-6 : 1e6));
  CHECK_OK(context, ts_context_set_tuning(context, "bcrs4_weight", format == TS_FORMAT_BCRS4 ? 1e-6 : 1e6));
}

static ts_matrix *make_watched(const ref_matrix *m, ts_format format) {
  prefer(format);
  ts_matrix *A = make_matrix(context, m, TS_FORMAT_AUTO);
  if (!A) return NULL;
  watch_products(A);
  CHECK_INT(local_of(A)->info.format, format);
  return A;
}

/* Products wait for all ghosts if the table of part operations has no interior rows. */
static void forget_interior(int forget) {
  static const tsi_ops *known;
  static tsi_ops table;
  static tsi_part_ops part_table;
  multi_state *state = multi_state_of(context);
  ts_context *part = state->parts[state->first];
  if (forget) {
    known = part->ops;
    table = *known;
    part_table = *known->part;
    part_table.has_interior = NULL;
    table.part = &part_table;
  }
  part->ops = forget ? &table : known;
}

/* True if messages are sent between devices without waiting by the host. */
static int has_channel(const ts_matrix *A) {
  const multi_halo *halo = matrix_of(A)->halo;
  return multi_state_of(context)->channel.is_open && halo->exchange_count && halo->exchanges[0].has_channel;
}

/* A device gets its interior rows before the host waits for it and sends. */
static const char *expected_events(const ts_matrix *A, int what) {
  if (ranks == 1 || has_channel(A)) return "a";
  if (what == PRODUCT_IN_PAIRS) return "<><>a";
  return is_device() ? "i<>b" : "<i>b";
}

static void check_products(const ref_matrix *m, ts_format format, int components, int has_interior) {
  ts_matrix *A = make_watched(m, format);
  if (!A) return;
  operands o = make_operands(ts_matrix_get_row_space(A), components);
  const size_t count = (size_t)ts_space_get_size(ts_matrix_get_row_space(A)) * (size_t)components;
  for (int what = 0; what < PRODUCTS; what++) {
    test_context_label("%s, %d components, product %d", ts_format_name(format), components, what);
    if (what == STEP && !A->kind->smooth) continue;
    forget_interior(1);
    CHECK_OK(context, carry_out(A, &o, what));
    double *expected = result(&o, what);
    forget_interior(0);
    CHECK_OK(context, carry_out(A, &o, what));
    double *found = result(&o, what);
    for (size_t i = 0; i < count && CHECK(isfinite(found[i]));) i++;
    CHECK(memcmp(found, expected, count * sizeof *found) == 0);
    if (has_interior) check_events(expected_events(A, what));
    free(expected), free(found);
  }
  destroy_operands(&o);
  ts_matrix_destroy(&A);
}

/* Parts on the CPU find interior rows anywhere. Some matrices have none. */
static void products(void) {
  static const ts_format formats[] = {TS_FORMAT_CSR, TS_FORMAT_BCRS2, TS_FORMAT_BCRS4};
  if (is_device()) return;
  ref_matrix grid = ref_grid(9, 60), other = ref_random_spd(501, 4, 2);
  CHECK_OK(context, ts_context_set_tuning(context, "thread_floats", 1));
  for (int f = 0; f < 3; f++)
    for (int components = 1; components <= 4; components++) {
      check_products(&grid, formats[f], components, 1);
      check_products(&other, formats[f], components, 0);
    }
  ref_free(&grid);
  ref_free(&other);
}

/* ---- Devices: every kernel ---- */

/* Rows of 1 to 11 entries next to some of 151, and every 450th row has one distant entry. */
static int32_t band_row(int32_t n, int32_t row, int32_t *columns) {
  const int32_t half = row % 97 == 50 ? 75 : row * 13 % 11 / 2;
  const int32_t first = row < half ? 0 : row - half, end = row + half < n ? row + half + 1 : n;
  const int32_t far = (row + n / 2) % n;
  int32_t count = 0;
  if (row % 450 == 0 && far < first) columns[count++] = far;
  for (int32_t j = first; j < end; j++) columns[count++] = j;
  if (row % 450 == 0 && far >= end) columns[count++] = far;
  return count;
}

static ref_matrix make_band(int32_t n) {
  const size_t most = (size_t)n * 152;
  ref_matrix m = {.rows = n, .columns = n};
  m.offsets = calloc((size_t)n + 1, sizeof *m.offsets);
  m.indices = malloc(most * sizeof *m.indices);
  m.values = ref_values(most, 5, -1, 1);
  for (int32_t i = 0; i < n; i++) m.offsets[i + 1] = m.offsets[i] + band_row(n, i, m.indices + m.offsets[i]);
  return m;
}

/* Tuning numbers that leave a device only one format and one kernel. */
typedef struct way {
  ts_format format;
  int is_band;
  const char *numbers;
} way;

static const way ways[] = {
    {TS_FORMAT_JAGGED, 0, "many_entries 1e9"},
    {TS_FORMAT_JAGGED, 0, "many_entries 1e9 stream_caches 1e-9"},
    {TS_FORMAT_JAGGED, 0, "many_entries 1e9 lean_product_caches 1e-9 lean_product_short_caches 1e-9"},
    {TS_FORMAT_JAGGED, 1, "many_entries 1 counted_weight 1e-6 sorted_weight 1e-6"},
    {TS_FORMAT_CSR, 1, "many_entries 1e9 csr_steps 1e-9"}, /* row blocks */
    {TS_FORMAT_CSR, 1,
     "many_entries 1 counted_weight 1e6 sorted_weight 1e6 csr_blocks_mean 1e15 csr_blocks_entries 1e15 "
     "csr_idle_entries 1e15"},
    {TS_FORMAT_BCRS2, 0, "many_entries 1"},
    {TS_FORMAT_BCRS4, 0, "many_entries 1"},
};

static void apply_way(const way *w) {
  const char *text = w->numbers;
  char name[40];
  double value;
  CHECK_OK(context, ts_context_set_tuning(context, "interior_entries", 1));
  CHECK_OK(context, ts_context_set_tuning(context, "segments_longest", 1e-9));
  for (int read; sscanf(text, "%39s %lf%n", name, &value, &read) == 2; text += read)
    CHECK_OK(context, ts_context_set_tuning(context, name, value));
}

static const way *taken;

static void one_kernel(void) {
  if (!is_device()) return;
  ref_matrix m = taken->is_band ? make_band(6000) : ref_grid(33, 70);
  apply_way(taken);
  for (int components = 1; components <= 4; components++) check_products(&m, taken->format, components, 1);
  ref_free(&m);
}

/* Too few entries for a separate kernel. */
static void little(void) {
  ref_matrix grid = ref_grid(33, 70);
  ts_matrix *A = make_matrix(context, &grid, TS_FORMAT_AUTO);
  if (A) CHECK_INT(part_of()->ops->part->has_interior(local_of(A)), !is_device() && ranks > 1);
  ts_matrix_destroy(&A);
  ref_free(&grid);
}

/* A rank fails while messages are in transit. All ranks get the error, and the next product works. */
static void failures(void) {
  ref_matrix grid = ref_grid(9, 60);
  if (is_device()) apply_way(&ways[0]);
  ts_matrix *A = make_watched(&grid, is_device() ? ways[0].format : TS_FORMAT_CSR);
  operands o = make_operands(ts_matrix_get_row_space(A), 1);
  CHECK_OK(context, carry_out(A, &o, PRODUCT));
  double *expected = result(&o, PRODUCT);
  for (int by = 0; by < ranks; by++) {
    fails = rank == by;
    const ts_status status = carry_out(A, &o, PRODUCT);
    fails = 0;
    CHECK_FAILS(context, status, TS_ERROR_DEVICE, "no product");
    if (rank == by && ranks > 1 && !has_channel(A)) check_events(is_device() ? "i<>" : "<i>");
    CHECK_OK(context, carry_out(A, &o, PRODUCT));
    double *found = result(&o, PRODUCT);
    CHECK(memcmp(found, expected, (size_t)ts_space_get_size(ts_matrix_get_row_space(A)) * sizeof(double)) == 0);
    free(found);
  }
  free(expected);
  destroy_operands(&o);
  ts_matrix_destroy(&A);
  ref_free(&grid);
}

static void with_threads(int threads, void (*run)(void)) {
  ts_context_desc desc = test_desc();
  desc.threads = threads;
  REQUIRE_OK(NULL, test_context_create(&desc, &context));
  rank = ts_ranks_get_rank(context), ranks = ts_ranks_get_count(context);
  run();
  test_close(&context);
}

static void one_thread(void) {
  with_threads(1, products);
}
static void three_threads(void) {
  with_threads(3, products);
}
static void one_rank_fails(void) {
  with_threads(1, failures);
}
static void few_entries(void) {
  with_threads(1, little);
}
static void each_kernel(void) {
  for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) taken = &ways[k], with_threads(1, one_kernel);
}

TEST_MAIN(CASES(one_thread, three_threads, one_rank_fails, each_kernel, few_entries))
