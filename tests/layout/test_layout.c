/* Tilings and layouts on the host, without a device. The test reads the packed arrays in double precision in
 * exactly the order of a fragment shader, and compares the result with the product from CSR. */
#include "helpers.h"
#include "unpacked.h"

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "common/layout/layout_build.h"

/* ---- A context without a backend ---- */

static ts_context *host_context(int rectangle_width, int rectangle_height, int max_texture_size) {
  static ts_context context;
  memset(&context, 0, sizeof context);
  context.caps.rectangle_width = rectangle_width;
  context.caps.rectangle_height = rectangle_height;
  context.caps.max_texture_size = max_texture_size;
  context.caps.linear_spaces = max_texture_size == 0;
  return &context;
}

static void free_tiling(ts_context *context, tsi_tiling *t) {
  tsi_free(context, t->positions);
  t->positions = NULL;
}

/* ---- Tilings ---- */

/* Every index has its own texel inside the texture, which is not the zero texel. Constrained indices are
 * outside the rectangles of rows, and lengths decrease with the position. */
static void check_tiling(const tsi_tiling *t, const int32_t *lengths, const unsigned char *constrained) {
  const int64_t area = (int64_t)1 << (t->log2_width + t->log2_height);
  const int64_t texels = (int64_t)t->width * t->height;
  unsigned char *taken = calloc((size_t)texels, 1);
  int32_t *at = malloc(sizeof *at * (size_t)texels);
  for (int64_t p = 0; p < texels; p++) at[p] = -1;
  int32_t constrained_count = 0;
  CHECK(t->zero_position >= 0 && t->zero_position < texels);
  CHECK_INT(t->width, t->rectangles_x << t->log2_width);
  CHECK_INT(t->free_rectangles, (t->free_count + area - 1) / area);
  for (int32_t i = 0; i < t->size; i++) {
    const int32_t p = tsi_position(t, i);
    const tsi_texel texel = tsi_texel_of_position(t, p);
    const int is_constrained = constrained && constrained[i];
    constrained_count += is_constrained;
    if (!CHECK(p >= 0 && p < texels) || !CHECK(p != t->zero_position) ||
        !CHECK(texel.x >= 0 && texel.x < t->width && texel.y >= 0 && texel.y < t->height))
      break;
    const int64_t number = tsi_texel_number(t, p);
    CHECK_INT(number, (int64_t)texel.y * t->width + texel.x);
    if (!CHECK(!taken[number])) break;
    taken[number] = 1;
    at[p] = i;
    if (!CHECK(is_constrained ? p >= t->free_rectangles * area : p < t->free_count)) break;
  }
  CHECK_INT(t->constrained_count, constrained_count);
  CHECK_INT(t->free_count, t->size - constrained_count);
  for (int32_t p = 1; lengths && p < t->free_count; p++) {
    if (!CHECK(at[p] >= 0 && at[p - 1] >= 0)) break;
    if (!CHECK(lengths[at[p - 1]] >= lengths[at[p]])) break;
    /* Rows of equal length keep their order, so that neighbours in the mesh stay neighbours in the texture. */
    if (lengths[at[p - 1]] == lengths[at[p]] && !CHECK(at[p - 1] < at[p])) break;
  }
  free(taken);
  free(at);
}

static void tilings(void) {
  static const int shapes[][2] = {{4, 4}, {16, 16}, {32, 8}, {4, 64}, {256, 256}};
  static const int32_t sizes[] = {1, 2, 15, 16, 17, 255, 256, 257, 1021, 4096, 65536, 65537, 100003};
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
      for (int kind = 0; kind < 5; kind++) {
        const int32_t size = sizes[n];
        ref_random r = {size + 77u};
        ts_context *context = host_context(shapes[s][0], shapes[s][1], 16384);
        int32_t *lengths = malloc(sizeof *lengths * (size_t)size);
        unsigned char *constrained = malloc((size_t)size);
        for (int32_t i = 0; i < size; i++) {
          lengths[i] = ref_below(&r, 9);
          constrained[i] = kind == 4 ? 1 : ref_below(&r, 3) == 0; /* 4: all are constrained */
        }
        const int sorted = kind == 1 || kind == 3, some = kind >= 2;
        tsi_tiling t;
        test_context_label("%d x %d, %d indices, kind %d", shapes[s][0], shapes[s][1], size, kind);
        if (CHECK_OK(context, tsi_tiling_create(context, size, sorted ? lengths : NULL,
                                                some ? constrained : NULL, &t))) {
          check_tiling(&t, sorted ? lengths : NULL, some ? constrained : NULL);
          free_tiling(context, &t);
        }
        free(lengths);
        free(constrained);
      }
}

static void tiling_limit(void) {
  ts_context *context = host_context(16, 16, 64); /* 64 x 64 texels: 4095 indices and the zero texel */
  tsi_tiling t;
  CHECK_OK(context, tsi_tiling_create(context, 4095, NULL, NULL, &t));
  CHECK(t.width <= 64 && t.height <= 64);
  check_tiling(&t, NULL, NULL);
  CHECK_FAILS(context, tsi_tiling_create(context, 4096, NULL, NULL, &t), TS_ERROR_LIMIT, "4096", "64");
  CHECK_FAILS(context, tsi_tiling_create(context, 2000000000, NULL, NULL, &t), TS_ERROR_LIMIT, "2000000000",
              "64");
  context = host_context(16, 16, 8); /* smaller than one rectangle */
  CHECK_FAILS(context, tsi_tiling_create(context, 1, NULL, NULL, &t), TS_ERROR_LIMIT, "8");
}

static void linear_tiling(void) {
  ts_context *context = host_context(1, 1, 0);
  tsi_tiling t;
  REQUIRE_OK(context, tsi_tiling_create(context, 1000, NULL, NULL, &t));
  CHECK(t.linear && t.width == 1000 && t.height == 1 && t.positions == NULL);
  for (int32_t i = 0; i < 1000; i++)
    if (!CHECK_INT(tsi_texel_number(&t, tsi_position(&t, i)), i)) break;
}

/* ---- Layouts ---- */

typedef struct laid_out {
  ts_context *context;
  tsi_tiling rows, columns_own;
  tsi_layout_input input;
  tsi_host_csr csr;
  tsi_layout *layout;
  tsi_packed packed;
  ts_matrix_info info;
} laid_out;

static void release(laid_out *l) {
  tsi_packed_free(l->context, &l->packed);
  tsi_layout_destroy(l->context, l->layout);
  free_tiling(l->context, &l->rows);
  free_tiling(l->context, &l->columns_own);
  tsi_csr_free(l->context, &l->csr);
}

/* The host's part of ts_matrix_create. */
static ts_status lay_out(laid_out *l, ts_context *context, const ref_matrix *m,
                         const unsigned char *constrained, ts_format format) {
  memset(l, 0, sizeof *l);
  l->context = context;
  const tsi_csr csr = {.rows = m->rows,
                       .columns = m->columns,
                       .row_offsets = m->offsets,
                       .column_indices = m->indices,
                       .values = m->values};
  int64_t duplicates = 0;
  ts_status status = tsi_csr_validate(context, &csr);
  if (status == TS_OK) status = tsi_csr_canonical(context, &csr, constrained, NULL, 0, &l->csr, &duplicates);
  if (status < 0) return status;
  CHECK_INT(duplicates, 0);
  const int square = m->rows == m->columns;
  l->input.csr = &l->csr;
  l->input.has_diagonal = square;
  l->input.max_texture_size = context->caps.max_texture_size;
  int32_t *lengths = malloc(sizeof *lengths * (size_t)m->rows);
  for (int32_t i = 0; i < m->rows; i++) lengths[i] = tsi_row_length(&l->input, i);
  status = tsi_tiling_create(context, m->rows, lengths, constrained, &l->rows);
  free(lengths);
  if (status == TS_OK && !square) status = tsi_tiling_create(context, m->columns, NULL, NULL, &l->columns_own);
  l->input.rows = &l->rows;
  l->input.columns = square ? &l->rows : &l->columns_own;
  if (status == TS_OK) status = tsi_layout_create(context, format, &l->input, &l->layout, &l->info);
  if (status == TS_OK) status = tsi_layout_pack(context, l->layout, &l->input, &l->packed);
  return status;
}

/* x in the order of texels. All texels without an index hold NaN, except the zero texel. */
static double *texels_of(const tsi_tiling *t, const float *x) {
  const size_t count = (size_t)t->width * (size_t)t->height;
  double *texels = malloc(sizeof *texels * count);
  for (size_t k = 0; k < count; k++) texels[k] = NAN;
  texels[tsi_texel_number(t, t->zero_position)] = 0;
  for (int32_t i = 0; i < t->size; i++) texels[tsi_texel_number(t, tsi_position(t, i))] = x[i];
  return texels;
}

static double *run_stages(const laid_out *l, const double *x) {
  double *sums = NULL;
  for (int s = 0; s < l->layout->stage_count; s++) {
    const tsi_stage *stage = &l->layout->stages[s];
    const tsi_stage *before = s ? &l->layout->stages[s - 1] : NULL;
    const int64_t texels = ((int64_t)1 << stage->log2_width) * stage->height;
    CHECK((int64_t)stage->count * stage->length <= texels);
    CHECK(stage->count <= ((int64_t)1 << stage->log2_sum_width) * stage->sum_height);
    CHECK(stage->height <= l->input.max_texture_size && 1 << stage->log2_width <= l->input.max_texture_size);
    double *next = calloc((size_t)stage->count, sizeof *next);
    for (int32_t t = 0; t < stage->count; t++)
      for (int32_t k = 0; k < stage->length; k++) {
        const tsi_entry e = l->packed.stages[s][(int64_t)k * stage->count + t];
        const int32_t px = (int32_t)(e.pointer & 0xffff), py = (int32_t)(e.pointer >> 16);
        if (before) {
          const int64_t source = ((int64_t)py << before->log2_sum_width) + px;
          if (CHECK(source < before->count)) next[t] += (double)e.value * sums[source];
        } else if (CHECK(px < l->input.columns->width && py < l->input.columns->height)) {
          next[t] += (double)e.value * x[(int64_t)py * l->input.columns->width + px];
        }
      }
    CHECK_CLOSE(next[stage->count - 1], 0, 0); /* padding points to it */
    free(sums);
    sums = next;
  }
  return sums;
}

static double fetch_sum(const laid_out *l, const double *sums, tsi_entry e) {
  const tsi_stage *last = &l->layout->stages[l->layout->stage_count - 1];
  const int64_t number = ((int64_t)(e.pointer >> 16) << last->log2_sum_width) + (e.pointer & 0xffff);
  return CHECK(number < last->count) ? e.value * sums[number] : 0;
}

/* Entry k of the row at (ix, iy) inside rectangle r. That row is texel `here` of the row space. */
static tsi_entry entry_of(const laid_out *l, const tsi_rectangle *r, int32_t ix, int32_t iy, int32_t k,
                          size_t here, int64_t *texel) {
  const int32_t w = 1 << l->rows.log2_width;
  const tsi_format *format = tsi_format_of(l->layout->format);
  int64_t x = r->x + (format->runs ? (int64_t)ix * (r->length + r->spill) + k : (int64_t)k * w + ix),
          y = r->y + iy;
  tsi_entry e = {NAN, 0};
  if (!CHECK(x >= 0 && x < l->layout->width && y >= 0 && y < l->layout->height)) return e;
  if (l->packed.starts) { /* the indirection texture must agree */
    const uint32_t start = l->packed.starts[here];
    CHECK_INT((start & 0xffff) + (uint32_t)k, x);
    CHECK_INT(start >> 16, y);
  }
  *texel = y * l->layout->width + x;
  if (format->pairs) return l->packed.entries[*texel];
  e.value = l->packed.values[*texel];
  e.pointer = l->packed.pointers[*texel];
  return e;
}

/* One fragment: the row at texel (px, py) of rectangle r. No stored entry may be read twice. */
static int shade(const laid_out *l, const tsi_rectangle *r, int32_t px, int32_t py, const double *x,
                 const double *sums, unsigned char *read, double *y) {
  const tsi_tiling *t = &l->rows;
  const size_t here = (size_t)py * (size_t)t->width + (size_t)px;
  const int32_t ix = px & ((1 << t->log2_width) - 1), iy = py & ((1 << t->log2_height) - 1);
  y[here] = 0;
  for (int32_t k = 0; k < r->length + r->spill; k++) {
    int64_t texel = 0;
    const tsi_entry e = entry_of(l, r, ix, iy, k, here, &texel);
    if (isnan(e.value) || !CHECK(!read[texel])) return 0;
    read[texel] = 1;
    if (k == r->length)
      y[here] += fetch_sum(l, sums, e);
    else
      y[here] +=
          (double)e.value * x[(int64_t)(e.pointer >> 16) * l->input.columns->width + (e.pointer & 0xffff)];
  }
  /* Padding rows have no diagonal, and a shader may not read their texels except as zero. */
  if (l->packed.diagonal && l->packed.diagonal[here] != 0)
    y[here] += (double)l->packed.diagonal[here] * x[here];
  return 1;
}

/* Draws every rectangle with rows. The texels after them are 0. */
static double *draw(const laid_out *l, const double *x) {
  const tsi_tiling *t = &l->rows;
  double *y = calloc((size_t)t->width * (size_t)t->height, sizeof *y), *sums = run_stages(l, x);
  unsigned char *read = calloc((size_t)l->layout->width * (size_t)l->layout->height, 1);
  const int32_t w = 1 << t->log2_width, h = 1 << t->log2_height;
  int good = 1;
  for (int32_t n = 0; n < t->free_rectangles && good; n++) {
    const tsi_rectangle *r = &l->layout->rectangles[n];
    const int32_t x0 = n % t->rectangles_x * w, y0 = n / t->rectangles_x * h;
    CHECK(r->length >= 0 && r->length <= TSI_MAX_LOOP && (r->spill == 0 || r->spill == 1));
    CHECK(n == 0 || r->length <= r[-1].length || r[-1].spill); /* rows are sorted by length */
    for (int32_t k = 0; k < w * h && good; k++) good = shade(l, r, x0 + k % w, y0 + k / w, x, sums, read, y);
  }
  free(read);
  free(sums);
  return y;
}

static void check_layout(ts_context *context, const ref_matrix *m, const unsigned char *constrained,
                         ts_format format) {
  laid_out l;
  if (CHECK_OK(context, lay_out(&l, context, m, constrained, format))) {
    float *x = ref_values((size_t)m->columns, 5, -1, 1);
    double *expected = malloc(sizeof *expected * (size_t)m->rows),
           *size = malloc(sizeof *size * (size_t)m->rows);
    ref_spmv(m, constrained, 1, x, expected, size);
    double *texels = texels_of(l.input.columns, x), *y = draw(&l, texels);
    CHECK(l.layout->width <= context->caps.max_texture_size &&
          l.layout->height <= context->caps.max_texture_size);
    int32_t longest = 0, split = 0;
    for (int32_t i = 0; i < m->rows; i++) {
      const double yi = y[tsi_texel_number(&l.rows, tsi_position(&l.rows, i))];
      if (!CHECK_CLOSE(yi, expected[i], 1e-12 * size[i])) break;
      if (l.csr.row_offsets[i + 1] - l.csr.row_offsets[i] > longest)
        longest = l.csr.row_offsets[i + 1] - l.csr.row_offsets[i];
    }
    for (int64_t p = 0; p < (int64_t)l.rows.width * l.rows.height; p++) /* padding of the result stays 0 */
      split += p >= l.rows.free_count && !(y[tsi_texel_number(&l.rows, (int32_t)p)] == 0);
    CHECK_INT(split, 0);
    CHECK((longest > TSI_MAX_LOOP + 1) <= (l.info.split_rows > 0));
    CHECK((l.info.split_rows > 0) == (l.layout->stage_count > 0));
    CHECK_INT(l.info.rectangles, l.rows.free_rectangles);
    CHECK(l.info.stored_entries >= l.csr.row_offsets[m->rows]);
    check_unpacked(context, l.layout, &l.input, &l.packed);
    free(x), free(expected), free(size), free(texels), free(y);
  }
  release(&l);
}

static void every_sample(void) {
  static const int shapes[][2] = {{16, 16}, {4, 4}, {32, 8}, {64, 64}};
  ref_sample sample;
  for (int n = 0; ref_get_sample(n, &sample); n++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      for (ts_format f = texture_format_after(TS_FORMAT_AUTO); f; f = texture_format_after(f)) {
        test_context_label("%s, %s, %d x %d", ts_format_name(f), sample.name, shapes[s][0], shapes[s][1]);
        check_layout(host_context(shapes[s][0], shapes[s][1], 4096), &sample.matrix, NULL, f);
      }
    }
    ref_free(&sample.matrix);
  }
}

static void constrained_rows(void) {
  const int32_t nx = 41, ny = 31;
  ref_matrix m = ref_grid(nx, ny);
  unsigned char *constrained = calloc((size_t)(nx * ny), 1);
  for (int kind = 0; kind < 3; kind++) {
    for (int32_t i = 0; i < nx * ny; i++)
      constrained[i] = kind == 0 ? i % nx == 0 || i % nx == nx - 1 || i < nx : kind == 1 ? 1 : i == nx * ny - 1;
    test_context_label("constrained rows, kind %d", kind);
    for (ts_format f = texture_format_after(TS_FORMAT_AUTO); f; f = texture_format_after(f))
      check_layout(host_context(16, 16, 4096), &m, constrained, f);
  }
  free(constrained);
  ref_free(&m);
}

/* Rows with more entries than one pass can process, in two and in three stages. */
static void split_rows(void) {
  ref_matrix wide = ref_dense(3, 20000, 31), square = ref_dense_row(40000, 39999, 32);
  for (ts_format format = texture_format_after(TS_FORMAT_AUTO); format; format = texture_format_after(format)) {
    test_context_label("3 rows of 20000");
    check_layout(host_context(16, 16, 4096), &wide, NULL, format);
    test_context_label("a row of 40000");
    check_layout(host_context(16, 16, 4096), &square, NULL, format);
    test_context_label("a row of 40000, small textures");
    check_layout(host_context(4, 4, 512), &square, NULL, format);
  }
  laid_out l;
  if (CHECK_OK(NULL, lay_out(&l, host_context(16, 16, 4096), &square, NULL, TS_FORMAT_JAGGED))) {
    CHECK_INT(l.info.split_rows, 1);
    CHECK(l.layout->stage_count >= 2);
    /* The dense row does not enlarge the storage of its neighbours. */
    CHECK(l.info.stored_entries < 4 * ref_nonzeros(&square));
  }
  release(&l);
  ref_free(&wide);
  ref_free(&square);
}

/* Matrices of meshes have little padding: stored entries compared with those of the matrix. */
static void padding(void) {
  struct {
    const char *name;
    ref_matrix matrix;
  } meshes[] = {{"grid", ref_grid(300, 300)},
                {"narrow grid", ref_grid(2000, 60)},
                {"mesh of valence 6", ref_torus_mesh(320, 250, 0, 1)},
                {"mesh of valences 4 to 9", ref_torus_mesh(320, 250, 200000, 2)},
                {"3-D Laplacian", ref_laplacian_3d(45)}};
  for (size_t n = 0; n < sizeof meshes / sizeof meshes[0]; n++) {
    for (ts_format format = texture_format_after(TS_FORMAT_AUTO); format; format = texture_format_after(format))
      for (int side = 16; side <= 32; side *= 2) {
        laid_out l;
        test_context_label("%s, %s, %d x %d", meshes[n].name, ts_format_name(format), side, side);
        ts_context *context = host_context(side, side, 16384);
        if (CHECK_OK(context, lay_out(&l, context, &meshes[n].matrix, NULL, format))) {
          const double nonzeros = (double)ref_nonzeros(&meshes[n].matrix);
          const double percent = 100.0 * ((double)l.info.stored_entries / nonzeros - 1);
          if (percent >= 10)
            test_fail(__FILE__, __LINE__, "padding is %.2f %% of %.0f entries; 10 %% is the most", percent,
                      nonzeros);
        }
        release(&l);
      }
    ref_free(&meshes[n].matrix);
  }
}

static void layout_limit(void) {
  ref_matrix m = ref_uneven_rows(3000, 3000, 400, 3);
  for (ts_format format = texture_format_after(TS_FORMAT_AUTO); format; format = texture_format_after(format)) {
    laid_out l;
    ts_context *context = host_context(16, 16, 128); /* 16384 texels; the matrix has about 300000 entries */
    CHECK_FAILS(context, lay_out(&l, context, &m, NULL, format), TS_ERROR_LIMIT, "128", "texel");
    release(&l);
  }
  ref_free(&m);
}

/* ---- Blocks ---- */

/* Counts the blocks that have an entry. */
static int32_t count_blocks(const tsi_host_csr *csr, int log2_size) {
  int32_t *last = malloc(((size_t)csr->columns + 1) * sizeof *last), count = 0;
  for (int32_t j = 0; j <= csr->columns; j++) last[j] = -1;
  for (int32_t i = 0; i < csr->rows; i++)
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++) {
      const int32_t block_column = csr->column_indices[e] >> log2_size;
      count += last[block_column] != i >> log2_size;
      last[block_column] = i >> log2_size;
    }
  free(last);
  return count;
}

/* The product from the packed blocks in sequence. x and y are extended to whole blocks. */
static void check_blocks(const ref_matrix *m, const unsigned char *constrained, ts_format format) {
  const int log2_size = format == TS_FORMAT_BCRS2 ? 1 : 2;
  const int32_t n = 1 << log2_size, block_rows = (m->rows + n - 1) / n,
                block_columns = (m->columns + n - 1) / n;
  laid_out l;
  if (CHECK_OK(NULL, lay_out(&l, host_context(1, 1, 0), m, constrained, format))) {
    const tsi_blocks *blocks = &l.layout->blocks;
    float *values = ref_values((size_t)m->columns, 5, -1, 1);
    double *expected = malloc(sizeof *expected * (size_t)m->rows),
           *size = malloc(sizeof *size * (size_t)m->rows);
    double *x = malloc(sizeof *x * (size_t)block_columns * (size_t)n),
           *y = calloc((size_t)block_rows * (size_t)n, sizeof *y);
    ref_spmv(m, constrained, 1, values, expected, size);
    for (int32_t j = 0; j < block_columns * n; j++) x[j] = j < m->columns ? values[j] : 1e30;
    CHECK_INT(blocks->log2_size, log2_size);
    CHECK_INT(blocks->block_rows, block_rows);
    CHECK_INT(blocks->offsets[0], 0);
    int64_t zeros = 0;
    for (int32_t i = 0; i < block_rows; i++)
      for (int32_t k = blocks->offsets[i]; k < blocks->offsets[i + 1]; k++) {
        const int32_t j = blocks->columns[k];
        const float *block = l.packed.block_values + (size_t)k * (size_t)(n * n);
        if (!CHECK(j >= 0 && j < block_columns && (k == blocks->offsets[i] || j > blocks->columns[k - 1])))
          break;
        for (int32_t e = 0; e < n * n; e++) {
          y[i * n + e / n] += (double)block[e] * x[j * n + e % n];
          zeros += block[e] == 0;
        }
      }
    for (int32_t i = 0; i < block_rows * n; i++)
      if (!CHECK_CLOSE(y[i], i < m->rows ? expected[i] : 0, i < m->rows ? 1e-12 * size[i] : 0)) break;
    const int32_t count = blocks->offsets[block_rows];
    CHECK_INT(count, count_blocks(&l.csr, log2_size));
    CHECK_INT(l.info.blocks, count);
    CHECK_INT(l.info.stored_entries, (int64_t)count * n * n);
    const int64_t entries = l.csr.row_offsets[m->rows];
    CHECK_CLOSE(l.info.fill_ratio, count ? (double)entries / (double)(count * (int64_t)n * n) : 1, 1e-12);
    CHECK(zeros >= (int64_t)count * n * n - entries); /* no entry is stored twice */
    free(values), free(expected), free(size), free(x), free(y);
  }
  release(&l);
}

static void blocks(void) {
  ref_sample sample;
  for (int k = 0; ref_get_sample(k, &sample); k++) {
    for (int f = TS_FORMAT_BCRS2; f <= TS_FORMAT_BCRS4; f++) {
      test_context_label("%s, %s", sample.name, ts_format_name((ts_format)f));
      check_blocks(&sample.matrix, NULL, (ts_format)f);
    }
    ref_free(&sample.matrix);
  }
  for (int32_t size = 1; size <= 9; size++) { /* all remainders; only the last blocks are partial */
    ref_matrix wide = ref_dense(size, 11 - size, (uint32_t)size), square = ref_grid(size, 7);
    unsigned char constrained[63];
    for (int32_t i = 0; i < square.rows; i++) constrained[i] = i % 3 == 0 || i == square.rows - 1 || i / 8 == 1;
    for (int f = TS_FORMAT_BCRS2; f <= TS_FORMAT_BCRS4; f++) {
      test_context_label("%d rows, %s", size, ts_format_name((ts_format)f));
      check_blocks(&wide, NULL, (ts_format)f);
      check_blocks(&square, constrained, (ts_format)f);
    }
    ref_free(&wide);
    ref_free(&square);
  }
}

/* Known fill ratios: a dense matrix fills all of its blocks, a diagonal matrix fills one entry per row. */
static void fill_ratios(void) {
  const struct {
    ref_matrix matrix;
    double bcrs2, bcrs4;
  } known[] = {
      {ref_dense(16, 24, 1), 1, 1}, {ref_diagonal(64, 1, 2), 0.5, 0.25}, {ref_diagonal(1, 1, 2), 0.25, 0.0625}};
  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    for (int f = TS_FORMAT_BCRS2; f <= TS_FORMAT_BCRS4; f++) {
      laid_out l;
      if (CHECK_OK(NULL, lay_out(&l, host_context(1, 1, 0), &known[k].matrix, NULL, (ts_format)f)))
        CHECK_CLOSE(l.info.fill_ratio, f == TS_FORMAT_BCRS2 ? known[k].bcrs2 : known[k].bcrs4, 0);
      release(&l);
    }
    ref_matrix m = known[k].matrix;
    ref_free(&m);
  }
}

/* The mesh that represents real ones: closed, symmetric, with varying valences from 4 to 9. */
static void mesh_is_as_promised(void) {
  ref_matrix m = ref_torus_mesh(40, 30, 8000, 4), t = ref_transpose(&m);
  int32_t seen[16] = {0};
  for (int32_t i = 0; i < m.rows; i++) {
    const int32_t valence = ref_row_length(&m, i) - 1;
    if (CHECK(valence >= 4 && valence <= 9)) seen[valence]++;
  }
  CHECK(seen[4] && seen[5] && seen[7] && seen[8]);
  CHECK_INT(ref_nonzeros(&m), 7 * m.rows); /* a torus has three times as many edges as vertices */
  CHECK(memcmp(m.indices, t.indices, sizeof(int32_t) * (size_t)ref_nonzeros(&m)) == 0);
  CHECK(memcmp(m.values, t.values, sizeof(float) * (size_t)ref_nonzeros(&m)) == 0);
  ref_free(&m);
  ref_free(&t);
}

TEST_MAIN_ON_HOST(CASES(tilings, tiling_limit, linear_tiling, every_sample, constrained_rows, split_rows,
                        padding, layout_limit, blocks, fill_ratios, mesh_is_as_promised))
