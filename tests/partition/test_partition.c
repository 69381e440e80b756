/* Partitions of the rows of a matrix: required properties, compared with sets of columns; balance; METIS for
 * matrices in a bad order, and only for them. */
#include <texsolve/reorder.h>

#include "common/partition/partition.h"
#include "heap.h"

static const ts_partition kinds[] = {TS_PARTITION_AUTO, TS_PARTITION_BLOCKS, TS_PARTITION_METIS};

static ts_context *context;

static ts_context_desc one_thread(int round) {
  (void)round;
  return (ts_context_desc){.backend = "cpu", .threads = 1, .allocator = heap_allocator()};
}

static const test_fixture fixture = {.context = &context, .desc = one_thread};

static tsi_host_csr view(const ref_matrix *m) {
  return (tsi_host_csr){
      .rows = m->rows, .columns = m->columns, .row_offsets = m->offsets, .column_indices = m->indices};
}

/* P A P^T with a random P. Frees m. */
static ref_matrix shuffled(ref_matrix m) {
  ref_random r = {11};
  int32_t *order = malloc((size_t)m.rows * sizeof *order);
  for (int32_t i = 0; i < m.rows; i++) {
    const int32_t j = ref_below(&r, i + 1);
    order[i] = i;
    order[i] = order[j];
    order[j] = i;
  }
  const size_t entries = (size_t)ref_nonzeros(&m);
  ref_matrix p = {m.rows, m.columns, malloc(((size_t)m.rows + 1) * sizeof(int32_t)),
                  malloc(entries * sizeof(int32_t)), malloc(entries * sizeof(float))};
  const ts_csr csr = ref_csr(&m), result = {.row_offsets = ts_host(p.offsets, (size_t)m.rows + 1),
                                            .column_indices = ts_host(p.indices, entries),
                                            .values = ts_host(p.values, entries)};
  CHECK_OK(NULL, ts_csr_permute(NULL, &csr, order, &result));
  free(order);
  ref_free(&m);
  return p;
}

/* ---- Properties of every partition ---- */

static int part_of_row(const tsi_partition *p, int32_t row) {
  if (p->part_of) return p->part_of[row];
  int part = 0;
  while (row >= p->first[part + 1]) part++;
  return part;
}

static int owner(const tsi_partition *p, const ref_matrix *m, int32_t column) {
  if (m->rows == m->columns) return part_of_row(p, column);
  int part = 0;
  while (column >= (int64_t)m->columns * (part + 1) / p->parts) part++;
  return part;
}

static int check_partition(const tsi_partition *p, const ref_matrix *m) {
  int64_t *rows = calloc((size_t)p->parts, sizeof *rows), *entries = calloc((size_t)p->parts, sizeof *entries);
  unsigned char *needed = calloc((size_t)p->parts * (size_t)m->columns + 1, 1);
  int64_t halo = 0, largest = 0;
  int good = CHECK_INT(p->first[0], 0) && CHECK_INT(p->first[p->parts], m->rows);
  for (int32_t i = 0; i < m->rows && good; i++) {
    const int part = part_of_row(p, i);
    if (!(good = CHECK(part >= 0 && part < p->parts))) break;
    rows[part]++;
    entries[part] += ref_row_length(m, i);
    for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++) {
      unsigned char *flag = &needed[(size_t)part * (size_t)m->columns + (size_t)m->indices[e]];
      if (!*flag && owner(p, m, m->indices[e]) != part) halo++;
      *flag = 1;
    }
  }
  for (int part = 0; part < p->parts && good; part++) {
    good = CHECK_INT(p->first[part + 1] - p->first[part], rows[part]);
    if (entries[part] > largest) largest = entries[part];
  }
  good = good && CHECK_INT(p->halo, halo) && CHECK_INT(p->largest_entries, largest);
  good = good && CHECK_CONTAINS(p->choice, p->part_of ? "METIS: " : "blocks of rows: ");
  free(rows), free(entries), free(needed);
  return good;
}

/* With every partitioner, twice. */
static void check_all(const ref_matrix *m, int parts) {
  const tsi_host_csr csr = view(m);
  for (int k = 0; k < 3; k++) {
    tsi_partition p, again;
    const ts_status status = tsi_partition_create(context, &csr, parts, kinds[k], &p);
    if (kinds[k] == TS_PARTITION_METIS && status == TS_ERROR_UNAVAILABLE && !tsi_partition_has_metis) continue;
    if (!CHECK_OK(context, status)) return;
    CHECK_INT(p.parts, parts);
    check_partition(&p, m);
    if (CHECK_OK(context, tsi_partition_create(context, &csr, parts, kinds[k], &again))) {
      CHECK(!p.part_of == !again.part_of && !strcmp(p.choice, again.choice));
      CHECK(!memcmp(p.first, again.first, ((size_t)parts + 1) * sizeof *p.first));
      if (p.part_of) CHECK(!memcmp(p.part_of, again.part_of, (size_t)m->rows * sizeof *p.part_of));
    }
    tsi_partition_free(context, &p);
    tsi_partition_free(context, &again);
    CHECK(p.first == NULL && p.part_of == NULL);
  }
}

static void every_sample(void) {
  ref_sample sample;
  for (int s = 0; ref_get_sample(s, &sample); s++) {
    const int counts[] = {1, 3, 7, 200};
    for (int c = 0; c < 4; c++) {
      test_context_label("%s, %d parts", sample.name, counts[c]);
      check_all(&sample.matrix, counts[c]);
    }
    ref_free(&sample.matrix);
  }
  test_context_label("%s", "");
}

/* Takes ownership of m. */
static void check_shape(ref_matrix m) {
  for (int parts = 1; parts <= 16; parts = 2 * parts + 1) {
    test_context_label("%d x %d, %d parts", m.rows, m.columns, parts);
    check_all(&m, parts);
  }
  test_context_label("%s", "");
  ref_free(&m);
}

static void shapes(void) {
  check_shape(ref_gaps(900, 900, 3)); /* empty rows */
  check_shape(ref_gaps(900, 300, 3));
  check_shape(ref_uneven_rows(300, 900, 40, 3));
  check_shape(ref_dense_row(2000, 700, 3));
  check_shape(ref_arrow(2000)); /* with a dense column */
  check_shape(shuffled(ref_hubs(3000, 2000, 5)));
  check_shape(shuffled(ref_convection(40, 40, 3)));
  check_shape(ref_cyclic_shift(1000)); /* only one direction of each edge */
  check_shape(ref_random_dominant(800, 9, 3));
  check_shape(ref_dense(60, 60, 3));
  check_shape(ref_diagonal(700, 1, 2)); /* without edges */
  check_shape(ref_diagonal(1, 1, 1));
}

/* ---- Blocks ---- */

static void balance(void) {
  ref_matrix m = ref_uneven_rows(5000, 5000, 40, 3);
  const tsi_host_csr csr = view(&m);
  tsi_partition p;
  REQUIRE_OK(context, tsi_partition_create(context, &csr, 7, TS_PARTITION_BLOCKS, &p));
  for (int part = 0; part < 7; part++) {
    const int32_t begin = p.first[part], end = p.first[part + 1];
    const double cost = m.offsets[end] - m.offsets[begin] + (double)tsi_partition_row_cost * (end - begin);
    const double mean = ((double)m.offsets[5000] + (double)tsi_partition_row_cost * 5000) / 7;
    CHECK_CLOSE(cost, mean, 40 + tsi_partition_row_cost); /* half of the longest row at either end */
  }
  tsi_partition_free(context, &p);
  ref_free(&m);
}

/* A row that costs more than one part still leaves a part for each of the others. If there are fewer rows than
 * parts, each row is a part. */
static void few_rows(void) {
  ref_matrix dense = ref_dense_row(10, 9, 3), small = ref_diagonal(3, 1, 1);
  for (int32_t e = 0; e < 9; e++) dense.offsets[e + 1] = 0; /* all entries are in the last row */
  tsi_host_csr csr = view(&dense);
  tsi_partition p;
  REQUIRE_OK(context, tsi_partition_create(context, &csr, 8, TS_PARTITION_BLOCKS, &p));
  for (int part = 0; part < 8; part++) CHECK(p.first[part] < p.first[part + 1]);
  tsi_partition_free(context, &p);
  csr = view(&small);
  REQUIRE_OK(context, tsi_partition_create(context, &csr, 5, TS_PARTITION_AUTO, &p));
  for (int part = 0; part <= 5; part++) CHECK_INT(p.first[part], part < 3 ? part : 3);
  tsi_partition_free(context, &p);
  ref_free(&dense), ref_free(&small);
}

/* ---- Few parts ---- */

/* Parts that are worth having rows come first, and the others are empty. */
static void check_worth(ref_matrix m, int parts, int worth, const char *choice) {
  const tsi_host_csr csr = view(&m);
  tsi_partition p;
  if (CHECK_OK(context, tsi_partition_create(context, &csr, parts, TS_PARTITION_AUTO, &p))) {
    CHECK_INT(p.worth, worth);
    for (int q = 0; q < parts; q++) CHECK_INT(p.first[q + 1] > p.first[q], q < worth);
    CHECK_CONTAINS(p.choice, choice);
    if (worth == 1) CHECK_INT(p.halo, 0);
  }
  tsi_partition_free(context, &p);
  if (CHECK_OK(context, tsi_partition_create(context, &csr, parts, TS_PARTITION_BLOCKS, &p)))
    for (int q = 0; q < parts; q++) CHECK(p.first[q + 1] > p.first[q]);
  tsi_partition_free(context, &p);
  ref_free(&m);
}

static void few_parts(void) {
  const int32_t expected[] = {0, 333, 666, 1000, 1000};
  int32_t first[5];
  context->tuning.part_rows = 500;
  check_worth(ref_diagonal(999, 1, 2), 4, 1, "999 rows are too few to share");
  check_worth(ref_diagonal(1000, 1, 2), 4, 2, "1000 rows are too few for more; blocks of rows: 0");
  check_worth(ref_diagonal(2000, 1, 2), 4, 4, "blocks of rows: 0");
  check_worth(ref_dense(100, 100, 3), 3, 1, "100 rows are too few to share");
  /* 100 entries per row cost 100 + 5, compared with 7 + 5. */
  context->tuning.part_rows = 400;
  check_worth(ref_dense(100, 100, 3), 3, 2, "100 rows are too few for more");
  context->tuning.part_rows = 300;
  tsi_partition_evenly(context, TS_PARTITION_AUTO, 1000, 4, first);
  for (int q = 0; q < 5; q++) CHECK_INT(first[q], expected[q]);
  tsi_partition_evenly(context, TS_PARTITION_BLOCKS, 1000, 4, first);
  for (int q = 0; q < 5; q++) CHECK_INT(first[q], 250 * q);
}

/* ---- METIS ---- */

static tsi_partition partition(const ref_matrix *m, int parts, ts_partition how) {
  const tsi_host_csr csr = view(m);
  tsi_partition p = {0};
  CHECK_OK(context, tsi_partition_create(context, &csr, parts, how, &p));
  return p;
}

/* 300 x 200 points: the edge of a block of rows has 300 points, which are in the halo of both blocks. */
static void good_order(void) {
  ref_matrix m = ref_convection(300, 200, 0);
  tsi_partition p = partition(&m, 4, TS_PARTITION_AUTO);
  CHECK(p.part_of == NULL && p.halo == 6 * 300);
  CHECK_CONTAINS(p.choice, "blocks of rows: 1800 columns from other parts");
  CHECK(strstr(p.choice, "METIS") == NULL); /* METIS was not run */
  tsi_partition_free(context, &p);
  ref_free(&m);
}

static void bad_order(void) {
  ref_matrix m = shuffled(ref_convection(300, 200, 0));
  tsi_partition blocks = partition(&m, 4, TS_PARTITION_BLOCKS);
  tsi_partition p = partition(&m, 4, TS_PARTITION_AUTO);
  CHECK(blocks.part_of == NULL && blocks.halo > 60000);
  if (tsi_partition_has_metis) {
    CHECK(p.part_of != NULL && p.halo < 1800);
    CHECK(p.largest_entries < 1.04 * ref_nonzeros(&m) / 4);
    char text[80];
    snprintf(text, sizeof text, "blocks of rows: %lld", (long long)blocks.halo);
    CHECK_CONTAINS(p.choice, text);
  } else {
    CHECK(p.part_of == NULL && p.halo == blocks.halo);
    CHECK_CONTAINS(p.choice, "METIS is not built in");
  }
  tsi_partition_free(context, &p), tsi_partition_free(context, &blocks);
  ref_free(&m);
}

/* No order of a random graph has a small halo. METIS is not tried if it would take long. */
static void no_order(void) {
  ref_matrix graphs[] = {ref_random_spd(3000, 12, 5), ref_random_spd(70000, 12, 5)};
  static const char *const texts[] = {"; METIS", "; not METIS: the graph diameter is small"};
  for (int i = 0; i < 2; i++) {
    tsi_partition p = partition(&graphs[i], 4, TS_PARTITION_AUTO);
    CHECK(p.part_of == NULL);
    if (tsi_partition_has_metis) CHECK_CONTAINS(p.choice, texts[i]);
    tsi_partition_free(context, &p);
    ref_free(&graphs[i]);
  }
}

/* A mesh in any order can be divided well, at any size. */
static void large_in_bad_order(void) {
  ref_matrix m = shuffled(ref_laplacian_3d(41));
  tsi_partition p = partition(&m, 4, TS_PARTITION_AUTO);
  CHECK((p.part_of != NULL) == tsi_partition_has_metis);
  tsi_partition_free(context, &p);
  ref_free(&m);
}

static void asked_for(void) {
  ref_matrix m = ref_grid(30, 30), wide = ref_gaps(300, 900, 3), small = ref_grid(5, 5);
  const tsi_host_csr csr = view(&m), rectangular = view(&wide), tiny = view(&small);
  tsi_partition p;
  if (!tsi_partition_has_metis) {
    CHECK_FAILS(context, tsi_partition_create(context, &csr, 3, TS_PARTITION_METIS, &p), TS_ERROR_UNAVAILABLE,
                "METIS");
    CHECK(p.first == NULL && p.part_of == NULL);
  } else {
    p = partition(&m, 3, TS_PARTITION_METIS);
    CHECK(p.part_of != NULL);
    tsi_partition_free(context, &p);
    REQUIRE_OK(context, tsi_partition_create(context, &rectangular, 3, TS_PARTITION_METIS, &p));
    CHECK(p.part_of == NULL);
    CHECK_CONTAINS(p.choice, "square");
    tsi_partition_free(context, &p);
    REQUIRE_OK(context, tsi_partition_create(context, &tiny, 3, TS_PARTITION_METIS, &p));
    CHECK(p.part_of == NULL);
    CHECK_CONTAINS(p.choice, "too few rows");
    tsi_partition_free(context, &p);
  }
  ref_free(&m), ref_free(&wide), ref_free(&small);
}

#ifdef __GLIBC__
/* METIS has its own seed and must not change the application's. */
static void random_numbers(void) {
  ref_matrix m = shuffled(ref_grid(40, 40));
  srand(3);
  const int first = rand(), second = rand();
  srand(3);
  CHECK_INT(rand(), first);
  tsi_partition p = partition(&m, 3, TS_PARTITION_AUTO);
  CHECK_INT(rand(), second);
  tsi_partition_free(context, &p);
  ref_free(&m);
}
#endif

static void out_of_memory(void) {
  ref_matrix good = ref_grid(40, 40), bad = shuffled(ref_grid(40, 40));
  const tsi_host_csr csr[] = {view(&good), view(&bad)};
  tsi_partition p;
  for (int m = 0; m < 2; m++)
    for (int k = 0; k < (tsi_partition_has_metis ? 3 : 2); k++) {
      p.first = NULL;
      FAIL_EACH_CREATION(context, p.first, tsi_partition_create(context, &csr[m], 3, kinds[k], &p));
      tsi_partition_free(context, &p);
    }
  ref_free(&good), ref_free(&bad);
}

static const test_group groups[] = {CASES_WITH(&fixture, every_sample, shapes, balance, few_rows, few_parts,
                                               good_order, bad_order, no_order, large_in_bad_order, asked_for,
                                               out_of_memory),
#ifdef __GLIBC__
                                    CASES_WITH(&fixture, random_numbers),
#endif
                                    {.cases = NULL}};
int main(int argc, char **argv) {
  return test_main(argc, argv, groups, TEST_HOST_ONLY);
}
