/* The default format of a matrix, on the host without a device. Each expected format was the fastest in
 * measurements of the matrices of `texsolve bench compare --set` (docs/results.md), except among formats within
 * a few percent of each other. */
#include "helpers.h"

#include "common/core/core.h"
#include "generate.h"
#include "common/layout/layout_build.h"

/* Four kinds of devices: limited by memory traffic, limited by the number of threads, textures of a software
 * rasterizer, and textures of a GPU. */
enum { BLOCKS = 1u << TS_FORMAT_BCRS2 | 1u << TS_FORMAT_BCRS4 };
static ts_context host = {.caps.formats = 1u << TS_FORMAT_CSR | BLOCKS, .caps.linear_spaces = 1};
static ts_context device = {.caps.formats = 1u << TS_FORMAT_CSR | 1u << TS_FORMAT_JAGGED |
                                            1u << TS_FORMAT_SEGMENTS | BLOCKS,
                            .caps.linear_spaces = 1,
                            .caps.row_plans = 1};
static ts_context textures = {.caps.formats = 1u << TS_FORMAT_JAGGED | 1u << TS_FORMAT_SEGMENTS | BLOCKS};
static ts_context gpu_textures = {.caps.formats = 1u << TS_FORMAT_JAGGED | 1u << TS_FORMAT_SEGMENTS | BLOCKS};

static void fill_tuning(void) {
  host.tuning = tsi_tuning_cpu;
  device.tuning = tsi_tuning_cuda;
  textures.tuning = tsi_tuning_gl_software;
  gpu_textures.tuning = tsi_tuning_gl;
}

static void expect(const ts_context *context, const tsi_host_csr *csr, int blocks, ts_format expected,
                   const char *part) {
  char text[sizeof((ts_matrix *)NULL)->choice];
  const ts_format format = tsi_format_choose(context, csr, blocks, text, sizeof text);
  if (format != expected)
    test_fail(__FILE__, __LINE__, "chosen: %s (%s), expected %s", ts_format_name(format), text,
              ts_format_name(expected));
  CHECK_CONTAINS(text, part);
  CHECK(strncmp(text, ts_format_name(format), strlen(ts_format_name(format))) == 0);
  CHECK(strlen(text) + 1 < sizeof text); /* the text was not truncated */
}

static void expect_choice(const ts_context *context, const ref_matrix *m, int blocks, ts_format expected,
                          const char *part) {
  const tsi_host_csr csr = {.rows = m->rows,
                            .columns = m->columns,
                            .row_offsets = m->offsets,
                            .column_indices = m->indices,
                            .values = m->values};
  expect(context, &csr, blocks, expected, part);
}

static void choices(void) {
  fill_tuning();
  ref_matrix grid = ref_grid(40, 40), large = ref_grid(400, 400), dense = ref_dense(64, 64, 3),
             empty = ref_gaps(1, 5, 1), even = ref_dense(1200, 1200, 1),
             uneven = ref_uneven_rows(60000, 60000, 90, 5), few_uneven = ref_uneven_rows(9000, 9000, 400, 5),
             hubs = ref_hubs(9000, 3000, 5);
  expect_choice(&host, &grid, TSI_LINEAR_BLOCKS, TS_FORMAT_CSR, "bcrs4");
  expect_choice(&host, &dense, TSI_LINEAR_BLOCKS, TS_FORMAT_BCRS4, "(fill 1.00, x 0.75); csr 8.1");
  expect_choice(&host, &dense, TSI_SEVERAL_COMPONENTS, TS_FORMAT_BCRS4, "(fill 1.00, x 1.11); csr 8.1");
  expect_choice(&host, &dense, TSI_NO_BLOCKS, TS_FORMAT_CSR, "csr: 8.1 bytes");
  expect_choice(&host, &empty, TSI_LINEAR_BLOCKS, TS_FORMAT_CSR, "csr");
  expect_choice(&device, &grid, TSI_LINEAR_BLOCKS, TS_FORMAT_JAGGED, "few entries in short rows");
  expect_choice(&device, &dense, TSI_LINEAR_BLOCKS, TS_FORMAT_BCRS2,
                "few entries, so threads share rows of blocks");
  expect_choice(&device, &dense, TSI_ONE_COMPONENT, TS_FORMAT_BCRS2,
                "few entries, so threads share rows of blocks");
  expect_choice(&device, &dense, TSI_SEVERAL_COMPONENTS, TS_FORMAT_BCRS2,
                "few entries, so threads share rows of blocks");
  expect_choice(&device, &grid, TSI_SEVERAL_COMPONENTS, TS_FORMAT_CSR, "few entries, so threads share rows;");
  expect_choice(&device, &dense, TSI_NO_BLOCKS, TS_FORMAT_CSR, "few entries, so threads share rows;");
  expect_choice(&device, &few_uneven, TSI_LINEAR_BLOCKS, TS_FORMAT_CSR, "few entries in uneven rows");
  expect_choice(&device, &hubs, TSI_LINEAR_BLOCKS, TS_FORMAT_CSR, "few entries in uneven rows");
  expect_choice(&device, &empty, TSI_LINEAR_BLOCKS, TS_FORMAT_JAGGED, "few entries in short rows");
  expect_choice(&device, &large, TSI_LINEAR_BLOCKS, TS_FORMAT_JAGGED, "jagged: 5.");
  expect_choice(&device, &uneven, TSI_LINEAR_BLOCKS, TS_FORMAT_CSR, "csr: 2");
  expect_choice(&device, &even, TSI_LINEAR_BLOCKS, TS_FORMAT_BCRS4, "bcrs4: 4.5");
  expect_choice(&textures, &dense, TSI_LINEAR_BLOCKS, TS_FORMAT_JAGGED,
                "bcrs4 0.7 (fill 1.00, x 1.11), for one component only");
  expect_choice(&textures, &dense, TSI_ONE_COMPONENT, TS_FORMAT_BCRS4, "bcrs2 1.0 (fill 1.00, x 1.11)");
  expect_choice(&textures, &dense, TSI_SEVERAL_COMPONENTS, TS_FORMAT_JAGGED, "for one component only");
  expect_choice(&textures, &grid, TSI_ONE_COMPONENT, TS_FORMAT_JAGGED,
                "jagged: 2.0 fetches an entry; segments 3.0");
  ref_free(&grid), ref_free(&large), ref_free(&dense), ref_free(&empty), ref_free(&even), ref_free(&uneven);
  ref_free(&few_uneven), ref_free(&hubs);
}

/* The matrices of `texsolve bench compare`, each with about a million entries. */
static void measured(void) {
  fill_tuning();
  static const struct {
    const char *name;
    int32_t rows;
    ts_format device, host, textures, gpu_textures; /* the last two are for one component */
  } set[] = {
      {"grid", 160000, TS_FORMAT_JAGGED, TS_FORMAT_CSR, TS_FORMAT_JAGGED, TS_FORMAT_JAGGED},
      {"laplace3d", 160000, TS_FORMAT_JAGGED, TS_FORMAT_CSR, TS_FORMAT_JAGGED, TS_FORMAT_JAGGED},
      {"laplace2d", 220000, TS_FORMAT_JAGGED, TS_FORMAT_CSR, TS_FORMAT_JAGGED, TS_FORMAT_JAGGED},
      {"random", 110000, TS_FORMAT_CSR, TS_FORMAT_CSR, TS_FORMAT_JAGGED, TS_FORMAT_JAGGED},
      {"fem3", 54000, TS_FORMAT_JAGGED, TS_FORMAT_BCRS2, TS_FORMAT_BCRS2, TS_FORMAT_BCRS4},
      {"fem4", 40000, TS_FORMAT_BCRS4, TS_FORMAT_BCRS4, TS_FORMAT_BCRS4, TS_FORMAT_BCRS4},
      {"uneven", 110000, TS_FORMAT_CSR, TS_FORMAT_CSR, TS_FORMAT_JAGGED, TS_FORMAT_JAGGED},
      {"powerlaw", 120000, TS_FORMAT_CSR, TS_FORMAT_CSR, TS_FORMAT_JAGGED, TS_FORMAT_JAGGED},
      {"banded", 33000, TS_FORMAT_BCRS4, TS_FORMAT_BCRS4, TS_FORMAT_BCRS4, TS_FORMAT_BCRS4},
      {"denserow", 160000, TS_FORMAT_JAGGED, TS_FORMAT_CSR, TS_FORMAT_JAGGED, TS_FORMAT_JAGGED},
      {"delaunay", 160000, TS_FORMAT_SEGMENTS, TS_FORMAT_CSR, TS_FORMAT_JAGGED, TS_FORMAT_JAGGED},
      {"rmat", 40000, TS_FORMAT_CSR, TS_FORMAT_CSR, TS_FORMAT_JAGGED, TS_FORMAT_JAGGED},
  };
  for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
    test_context_label("%s", set[i].name);
    generated_matrix m;
    if (!CHECK_INT(generate_matrix(&m, set[i].name, set[i].rows), 0)) continue;
    const tsi_host_csr csr = {.rows = m.rows,
                              .columns = m.columns,
                              .row_offsets = m.row_offsets,
                              .column_indices = m.column_indices,
                              .values = m.values};
    expect(&device, &csr, TSI_LINEAR_BLOCKS, set[i].device, "bytes an entry");
    expect(&host, &csr, TSI_LINEAR_BLOCKS, set[i].host, "bytes an entry");
    expect(&textures, &csr, TSI_ONE_COMPONENT, set[i].textures, "fetches an entry");
    expect(&gpu_textures, &csr, TSI_ONE_COMPONENT, set[i].gpu_textures, "fetches an entry");
    expect(&textures, &csr, TSI_LINEAR_BLOCKS, TS_FORMAT_JAGGED, "for one component only");
    expect(&gpu_textures, &csr, TSI_LINEAR_BLOCKS, TS_FORMAT_JAGGED, "for one component only");
    generated_free(&m);
  }
}

/* Meshes as large as those of `texsolve bench paper`, for one component. On a GPU the time per iteration of
 * conjugate gradients decides. The comments give it in us for jagged, bcrs2 and bcrs4. */
static void meshes(void) {
  fill_tuning();
  static const struct {
    const char *name;
    int32_t rows;
    ts_format device, gpu, software;
  } set[] = {
      {"lscm", 1536, TS_FORMAT_BCRS2, TS_FORMAT_JAGGED, TS_FORMAT_BCRS2},  /* 36.2, 47.2, 50.1 */
      {"lscm", 6500, TS_FORMAT_BCRS2, TS_FORMAT_JAGGED, TS_FORMAT_BCRS2},  /* 44.0, 53.9, 62.6 */
      {"lscm", 25900, TS_FORMAT_BCRS2, TS_FORMAT_JAGGED, TS_FORMAT_BCRS2}, /* 57.9, 68.9, 62.6 */
      {"lscm", 103100, TS_FORMAT_BCRS2, TS_FORMAT_BCRS2, TS_FORMAT_BCRS2}, /* 149, 114, 118 */
      {"dsi", 2304, TS_FORMAT_BCRS2, TS_FORMAT_JAGGED, TS_FORMAT_BCRS2},   /* 31.5, 40.1, 41.3 */
      {"dsi", 9800, TS_FORMAT_BCRS2, TS_FORMAT_JAGGED, TS_FORMAT_BCRS2},   /* 46.9, 49.1, 50.5 */
      {"dsi", 38800, TS_FORMAT_BCRS2, TS_FORMAT_BCRS4, TS_FORMAT_BCRS2},   /* 116, 107, 83.1 */
      {"dsi", 154700, TS_FORMAT_BCRS2, TS_FORMAT_BCRS4, TS_FORMAT_BCRS2},  /* 338, 232, 203 */
  };
  for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
    test_context_label("%s, %d rows", set[i].name, set[i].rows);
    generated_matrix m;
    if (!CHECK_INT(generate_matrix(&m, set[i].name, set[i].rows), 0)) continue;
    const tsi_host_csr csr = {.rows = m.rows,
                              .columns = m.columns,
                              .row_offsets = m.row_offsets,
                              .column_indices = m.column_indices,
                              .values = m.values};
    const int few = set[i].gpu == TS_FORMAT_JAGGED;
    expect(&device, &csr, TSI_LINEAR_BLOCKS, set[i].device,
           m.row_offsets[m.rows] < 1 << 20 ? "few entries" : "bytes an entry");
    expect(&gpu_textures, &csr, TSI_ONE_COMPONENT, set[i].gpu,
           few ? "jagged: few entries; 2.0 fetches" : "fetches an entry");
    expect(&textures, &csr, TSI_ONE_COMPONENT, set[i].software, "fetches an entry");
    expect(&gpu_textures, &csr, TSI_SEVERAL_COMPONENTS, TS_FORMAT_JAGGED, "for one component only");
    generated_free(&m);
  }
}

/* The nodes of a grid, with `unknowns` rows each and a full block for each neighbour. The neighbours are to the
 * left and right, above and below, and with `diagonals` also at the four corners. */
static ref_matrix nodes(int32_t width, int32_t height, int32_t unknowns, int diagonals) {
  const int32_t rows = width * height * unknowns;
  ref_matrix m = {rows, rows, calloc((size_t)rows + 1, sizeof(int32_t)),
                  malloc((size_t)rows * 9 * (size_t)unknowns * sizeof(int32_t)), NULL};
  int32_t to = 0;
  for (int32_t i = 0; i < rows; i++) {
    const int32_t x = i / unknowns % width, y = i / unknowns / width;
    for (int32_t near = 0; near < 9; near++) {
      const int32_t u = x + near % 3 - 1, v = y + near / 3 - 1;
      if (u < 0 || v < 0 || u >= width || v >= height || (!diagonals && u != x && v != y)) continue;
      for (int32_t k = 0; k < unknowns; k++) m.indices[to++] = (v * width + u) * unknowns + k;
    }
    m.offsets[i + 1] = to;
  }
  return m;
}

/* The measurements that gave the cost of a byte of blocks on the CPU backend: one thread of an AMD
 * EPYC, in processor seconds. The comments give the speedup over csr. */
static void blocks(void) {
  fill_tuning();
  static const struct {
    int unknowns, diagonals;
    ts_format expected;
  } set[] = {
      {1, 0, TS_FORMAT_CSR},   /* bcrs2 0.59, bcrs4 0.44 */
      {2, 0, TS_FORMAT_BCRS2}, /* bcrs2 1.61, bcrs4 1.14 */
      {3, 0, TS_FORMAT_BCRS2}, /* bcrs2 1.51, bcrs4 1.43 */
      {4, 0, TS_FORMAT_BCRS4}, /* bcrs2 1.46, bcrs4 1.92 */
      {1, 1, TS_FORMAT_CSR},   /* bcrs2 0.58, bcrs4 0.39 */
      {2, 1, TS_FORMAT_BCRS2}, /* bcrs2 1.45, bcrs4 0.99 */
      {3, 1, TS_FORMAT_BCRS4}, /* bcrs2 1.23, bcrs4 1.51 */
  };
  for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
    test_context_label("%d unknowns, %d neighbours", set[i].unknowns, set[i].diagonals ? 8 : 4);
    ref_matrix m = nodes(40, 40, set[i].unknowns, set[i].diagonals);
    expect_choice(&host, &m, TSI_LINEAR_BLOCKS, set[i].expected, "bytes an entry");
    ref_free(&m);
  }
}

/* The estimate from a sample of the slices. Here the length of a grid line is a multiple of a slice's length,
 * and the slices at its ends need wider columns. The sample must not contain too many of them. */
static void samples(void) {
  ref_matrix m = nodes(1024, 512, 1, 0);
  const tsi_host_csr csr = {.rows = m.rows,
                            .columns = m.columns,
                            .row_offsets = m.offsets,
                            .column_indices = m.indices,
                            .values = m.values};
  ts_context context = {.caps.linear_spaces = 1, .caps.row_plans = 1, .tuning = tsi_tuning_cuda};
  tsi_slices slices;
  double weight;
  const double estimate = tsi_slices_reads(&context, &csr, &weight).bytes * csr.row_offsets[csr.rows];
  CHECK_CLOSE(weight, 1, 0.01);
  if (CHECK_INT(tsi_slices_create(&context, &csr, &slices), TS_OK)) {
    const double bytes = 4.0 * slices.entries + 4.0 * slices.words + 4.0 * slices.bases +
                         slices.count * (double)(TSI_SLICE_ROWS + sizeof *slices.slices);
    CHECK_CLOSE(estimate, bytes, 0.005 * bytes);
    tsi_slices_free(&context, &slices);
  }
  ref_free(&m);
}

TEST_MAIN_ON_HOST(CASES(choices, measured, meshes, blocks, samples))
