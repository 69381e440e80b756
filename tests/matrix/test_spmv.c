/* Matrix-vector product, residual and diagonal in every format of the backend, compared with double
 * precision. */
#include "helpers.h"

static ts_context *context;
static ts_format formats[8];
static int format_count;

/* The tolerance allows one rounding per entry, and a few more for different orders of summation. */
static double tolerance_of(const ref_matrix *m) {
  const int32_t longest = ref_longest_row(m);
  return 6 + (longest < 64 ? longest : 64) * 0.25 + sqrt((double)longest);
}

/* A vector of NaN. It shows if an output is read, or if a part of it is not written. */
static ts_vector *poisoned(ts_space *space, int components) {
  ts_vector *v = make_vector(space, components, NULL);
  if (v) {
    const size_t count = vector_count(v);
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++) values[i] = NAN;
    CHECK_OK(context, ts_vector_write(v, ts_host(values, count)));
    free(values);
  }
  return v;
}

typedef struct problem {
  const ref_matrix *m;
  const unsigned char *constrained;
  ts_matrix *matrix;
  int components;
  float *xs, *bs;
  double *product, *size;
} problem;

static void open_problem(problem *p, const ref_matrix *m, const unsigned char *constrained, ts_matrix *matrix,
                         int components) {
  const size_t rows = (size_t)m->rows * (size_t)components, columns = (size_t)m->columns * (size_t)components;
  const problem fresh = {m,
                         constrained,
                         matrix,
                         components,
                         ref_values(columns, 21, -1, 1),
                         ref_values(rows, 22, -1, 1),
                         malloc(rows * sizeof(double)),
                         malloc(rows * sizeof(double))};
  *p = fresh;
  ref_spmv(m, constrained, components, p->xs, p->product, p->size);
}

static void close_problem(problem *p) {
  free(p->xs), free(p->bs), free(p->product), free(p->size);
}

static void check_multiply(problem *p) {
  const size_t rows = (size_t)p->m->rows * (size_t)p->components;
  ts_vector *x = make_vector(ts_matrix_get_column_space(p->matrix), p->components, p->xs);
  ts_vector *y = poisoned(ts_matrix_get_row_space(p->matrix), p->components);
  CHECK_OK(context, ts_matrix_multiply(y, p->matrix, x));
  float *ys = read_vector(y), *xs = read_vector(x);
  CHECK_VALUES(ys, p->product, p->size, rows, tolerance_of(p->m));
  CHECK_PADDING(y);
  CHECK(memcmp(xs, p->xs, (size_t)p->m->columns * (size_t)p->components * sizeof *xs) == 0);
  /* The same product over the first result has the same bits. */
  CHECK_OK(context, ts_matrix_multiply(y, p->matrix, x));
  float *again = read_vector(y);
  CHECK(memcmp(ys, again, rows * sizeof *ys) == 0);
  free(again), free(ys), free(xs);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
}

/* r = b - A x into a separate vector, and over b. */
static void check_residual(problem *p) {
  const size_t rows = (size_t)p->m->rows * (size_t)p->components;
  ts_vector *x = make_vector(ts_matrix_get_column_space(p->matrix), p->components, p->xs);
  ts_vector *b = make_vector(ts_matrix_get_row_space(p->matrix), p->components, p->bs);
  ts_vector *r = poisoned(ts_matrix_get_row_space(p->matrix), p->components);
  double *expected = malloc(rows * sizeof *expected), *size = malloc(rows * sizeof *size);
  for (size_t i = 0; i < rows; i++) {
    const int is_constrained = p->constrained && p->constrained[i / (size_t)p->components];
    expected[i] = is_constrained ? 0 : p->bs[i] - p->product[i];
    size[i] = is_constrained ? 0 : fabs((double)p->bs[i]) + p->size[i];
  }
  CHECK_OK(context, ts_matrix_residual(r, b, p->matrix, x));
  float *rs = read_vector(r), *bs = read_vector(b);
  CHECK_VALUES(rs, expected, size, rows, tolerance_of(p->m));
  CHECK(memcmp(bs, p->bs, rows * sizeof *bs) == 0);
  CHECK_PADDING(r);
  free(rs), free(bs);
  CHECK_OK(context, ts_matrix_residual(b, b, p->matrix, x));
  rs = read_vector(b);
  CHECK_VALUES(rs, expected, size, rows, tolerance_of(p->m));
  CHECK_PADDING(b);
  free(rs), free(expected), free(size);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_vector_destroy(&r);
}

/* If a square matrix has one space, b may be x: r = x - A x. */
static void check_residual_of_itself(problem *p) {
  if (p->m->rows != p->m->columns) return;
  const size_t rows = (size_t)p->m->rows * (size_t)p->components;
  ts_vector *x = make_vector(ts_matrix_get_row_space(p->matrix), p->components, p->xs);
  ts_vector *r = poisoned(ts_matrix_get_row_space(p->matrix), p->components);
  double *expected = malloc(rows * sizeof *expected), *size = malloc(rows * sizeof *size);
  for (size_t i = 0; i < rows; i++) {
    const int is_constrained = p->constrained && p->constrained[i / (size_t)p->components];
    expected[i] = is_constrained ? 0 : p->xs[i] - p->product[i];
    size[i] = is_constrained ? 0 : fabs((double)p->xs[i]) + p->size[i];
  }
  CHECK_OK(context, ts_matrix_residual(r, x, p->matrix, x));
  float *rs = read_vector(r);
  CHECK_VALUES(rs, expected, size, rows, tolerance_of(p->m));
  free(rs), free(expected), free(size);
  ts_vector_destroy(&x);
  ts_vector_destroy(&r);
}

static void check_diagonal(problem *p) {
  if (p->m->rows != p->m->columns) return;
  ts_vector *d = poisoned(ts_matrix_get_row_space(p->matrix), p->components);
  CHECK_OK(context, ts_matrix_diagonal(d, p->matrix));
  float *ds = read_vector(d);
  for (int32_t i = 0; i < p->m->rows; i++) {
    float expected = 0;
    for (int32_t k = p->m->offsets[i]; k < p->m->offsets[i + 1]; k++)
      if (p->m->indices[k] == i && !(p->constrained && p->constrained[i])) expected = p->m->values[k];
    int right = 1;
    for (int c = 0; c < p->components; c++)
      right &= ds[(size_t)i * (size_t)p->components + (size_t)c] == expected;
    if (!CHECK(right)) break;
  }
  CHECK_PADDING(d);
  free(ds);
  ts_vector_destroy(&d);
}

static void check_all(const ref_matrix *m, const unsigned char *constrained, ts_matrix *matrix,
                      int components) {
  problem p;
  open_problem(&p, m, constrained, matrix, components);
  check_multiply(&p);
  check_residual(&p);
  check_residual_of_itself(&p);
  check_diagonal(&p);
  close_problem(&p);
}

static void check_info(const ref_matrix *m, const ts_matrix *matrix, ts_format format, int spd) {
  const ts_matrix_info info = matrix_info(matrix);
  CHECK_INT(info.rows, m->rows);
  CHECK_INT(info.columns, m->columns);
  CHECK_INT(info.nonzeros, ref_nonzeros(m));
  CHECK_INT(info.duplicates, 0);
  CHECK(info.stored_entries >= info.nonzeros);
  CHECK(info.bytes_device > 0 || test_is_ranks()); /* a rank may have no rows */
  CHECK(info.bytes_device <= context_info(context).bytes_device);
  CHECK(format == TS_FORMAT_AUTO ? info.format != TS_FORMAT_AUTO : info.format == format);
  CHECK_INT(info.constrained_rows, 0);
  CHECK_INT(info.longest_row, ref_longest_row(m));
  CHECK(info.seconds_layout >= 0 && info.seconds_upload >= 0);
  if (info.format == TS_FORMAT_BCRS2 || info.format == TS_FORMAT_BCRS4) {
    const int size = info.format == TS_FORMAT_BCRS2 ? 2 : 4;
    CHECK(info.blocks <= info.nonzeros && (info.blocks > 0) == (info.nonzeros > 0));
    CHECK_CLOSE(info.fill_ratio, info.blocks ? (double)info.nonzeros / (size * size * (double)info.blocks) : 1,
                1e-12);
  } else {
    CHECK_INT(info.blocks, 0);
    CHECK_CLOSE(info.fill_ratio, 1, 0);
  }
  if (!test_is_gl())
    CHECK_INT(info.rectangles, 0);
  else
    CHECK(info.rectangles > 0 && info.loops > 0 && info.loops <= info.rectangles);
  if (spd) {
    CHECK_INT(info.symmetric, 1);
    CHECK_INT(info.unsymmetric_row, -1);
    CHECK_INT(info.zero_diagonal_row, -1);
  }
}

static void samples(void) {
  ref_sample sample;
  for (int n = 0; ref_get_sample(n, &sample); n++) {
    for (int f = 0; f < format_count; f++) {
      test_context_label("%s, %s", sample.name, ts_format_name(formats[f]));
      ts_matrix *matrix = make_matrix(context, &sample.matrix, formats[f]);
      if (!matrix) continue;
      check_info(&sample.matrix, matrix, formats[f], sample.spd);
      for (int components = 1; components <= most_components(formats[f]); components++) {
        if (test_is_brief() && components != 1 + (n + f) % most_components(formats[f])) continue;
        test_context_label("%s, %s, %d components", sample.name, ts_format_name(formats[f]), components);
        check_all(&sample.matrix, NULL, matrix, components);
      }
      ts_matrix_destroy(&matrix);
    }
    ref_free(&sample.matrix);
  }
}

static void constrained(void) {
  const int32_t nx = 33, ny = 27, n = nx * ny;
  ref_matrix m = ref_grid(nx, ny);
  unsigned char *flags = calloc((size_t)n, 1);
  for (int kind = 0; kind < 3; kind++) {
    int count = 0;
    for (int32_t i = 0; i < n; i++) {
      flags[i] = kind == 0 ? i % nx == 0 || i < nx || i >= n - nx : kind == 1 ? 1 : i == 17;
      count += flags[i];
    }
    for (int f = 0; f < format_count; f++) {
      ts_matrix_desc desc = {0};
      desc.csr = ref_csr(&m);
      desc.format = formats[f];
      desc.constrained = flags;
      ts_matrix *matrix = NULL;
      test_context_label("kind %d, %s", kind, ts_format_name(formats[f]));
      if (!CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) continue;
      CHECK_INT(matrix_info(matrix).constrained_rows, count);
      CHECK_INT(matrix_info(matrix).symmetric, 1);
      CHECK_INT(matrix_info(matrix).zero_diagonal_row, -1);
      for (int components = 1; components <= most_components(formats[f]); components += 3) {
        if (test_is_brief() && most_components(formats[f]) > 1 && (components / 4 + kind + f) % 2) continue;
        check_all(&m, flags, matrix, components);
      }
      ts_matrix_destroy(&matrix);
    }
  }
  free(flags);
  ref_free(&m);
}

/* New values in the existing layout; a matrix that receives its values later; a different pattern, which is
 * refused. */
static void set_values(void) {
  ref_sample sample;
  for (int n = 0; ref_get_sample(n, &sample); n++) {
    ref_matrix *m = &sample.matrix;
    for (int f = 0; f < format_count; f++) {
      if (test_is_brief() && (n + f) % 4) continue;
      test_context_label("%s, %s", sample.name, ts_format_name(formats[f]));
      ts_matrix_desc desc = {0};
      desc.csr = ref_csr(m);
      desc.csr.values = (ts_array){0};
      desc.format = formats[f];
      ts_matrix *matrix = NULL;
      if (!CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) continue;
      float *kept = malloc(sizeof *kept * ((size_t)ref_nonzeros(m) + 1));
      memcpy(kept, m->values, sizeof *kept * (size_t)ref_nonzeros(m));
      memset(m->values, 0, sizeof *kept * (size_t)ref_nonzeros(m));
      check_all(m, NULL, matrix, 1);
      memcpy(m->values, kept, sizeof *kept * (size_t)ref_nonzeros(m));
      for (int round = 0; round < 2; round++) {
        const ts_csr csr = ref_csr(m);
        const size_t bytes = context_info(context).bytes_device;
        CHECK_OK(context, ts_matrix_set_values(matrix, &csr));
        CHECK_INT(context_info(context).bytes_device, bytes);
        check_all(m, NULL, matrix, round ? most_components(formats[f]) : 1);
        for (int64_t k = 0; k < ref_nonzeros(m); k++) m->values[k] *= -0.5f;
      }
      memcpy(m->values, kept, sizeof *kept * (size_t)ref_nonzeros(m));
      free(kept);
      ts_matrix_destroy(&matrix);
    }
    ref_free(m);
  }
}

/* If one component is requested, textures use blocks, but not over an existing space without blocks. Other
 * numbers of components work too. The matrix is full, and large enough for blocks on a GPU. */
static void components(void) {
  ref_matrix m = ref_dense(730, 730, 2);
  ts_space *space = make_space(context, 730);
  for (int promised = 0; promised <= 4; promised++) {
    for (int given = 0; given < 2; given++) {
      test_context_label("%d components, %s space", promised, given ? "given" : "new");
      const ts_matrix_desc desc = {
          .csr = ref_csr(&m), .components = promised, .row_space = given ? space : NULL};
      ts_matrix *matrix = NULL;
      if (!CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) continue;
      const ts_matrix_info info = matrix_info(matrix);
      if (test_is_gl()) CHECK_INT(info.blocks > 0, promised == 1 && !given);
      check_all(&m, NULL, matrix, promised ? promised : most_components(info.format));
      ts_matrix_destroy(&matrix);
    }
  }
  ts_space_destroy(&space);
  ref_free(&m);
}

/* Entries in any order with duplicates, which are summed. */
static void unsorted(void) {
  const int32_t offsets[] = {0, 4, 4, 9, 11}, indices[] = {3, 0, 3, 1, 2, 0, 2, 2, 1, 3, 0};
  const float values[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  const float xs[] = {1, 10, 100, 1000};
  const double product[] = {5 * 1000 + 2 + 80, 0, 208 * 100 + 32 + 2560, 512 * 1000 + 1024};
  for (int f = 0; f < format_count; f++) {
    test_context_label("%s", ts_format_name(formats[f]));
    const ts_matrix_desc desc = {
        .csr = ts_host_csr(4, 4, offsets, indices, values), .format = formats[f], .keep_host_copy = 1};
    ts_matrix *matrix = NULL;
    const int warnings = test_opened_warnings();
    if (!CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) continue;
    CHECK_INT(test_opened_warnings(), warnings); /* the interface defines duplicates as their sum */
    const ts_matrix_info info = matrix_info(matrix);
    CHECK_INT(info.nonzeros, 8);
    CHECK_INT(info.duplicates, 3);
    CHECK_INT(info.symmetric, 0);
    CHECK_INT(info.zero_diagonal_row, 1);
    ts_vector *x = make_vector(ts_matrix_get_column_space(matrix), 1, xs);
    ts_vector *y = poisoned(ts_matrix_get_row_space(matrix), 1);
    CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
    float *ys = read_vector(y);
    CHECK_VALUES(ys, product, NULL, 4, 4);
    free(ys);
    ts_csr copy;
    CHECK_OK(context, ts_matrix_get_host_copy(matrix, &copy));
    const int32_t merged_offsets[] = {0, 3, 3, 6, 8}, merged_indices[] = {0, 1, 3, 0, 1, 2, 0, 3};
    const float merged_values[] = {2, 8, 5, 32, 256, 208, 1024, 512};
    CHECK(memcmp(copy.row_offsets.data, merged_offsets, sizeof merged_offsets) == 0);
    CHECK(memcmp(copy.column_indices.data, merged_indices, sizeof merged_indices) == 0);
    CHECK(memcmp(copy.values.data, merged_values, sizeof merged_values) == 0);
    /* New values in the same order, so the duplicates must go to the same places. */
    float doubled[11];
    for (int k = 0; k < 11; k++) doubled[k] = 2 * values[k];
    const ts_csr more = ts_host_csr(4, 4, offsets, indices, doubled);
    CHECK_OK(context, ts_matrix_set_values(matrix, &more));
    CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
    ys = read_vector(y);
    const double twice[] = {2 * product[0], 0, 2 * product[2], 2 * product[3]};
    CHECK_VALUES(ys, twice, NULL, 4, 4);
    CHECK_OK(context, ts_matrix_get_host_copy(matrix, &copy));
    CHECK_CLOSE(((const float *)copy.values.data)[2], 10, 0);
    free(ys);
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
    ts_matrix_destroy(&matrix);
  }
}

/* Duplicates in double precision are summed first and then rounded. */
static void double_values(void) {
  const int32_t offsets[] = {0, 3, 4}, indices[] = {1, 0, 1, 1};
  const double values[] = {1 + ldexp(1, -30), 1.0 / 3, -1, 0.1};
  const float rounded[] = {(float)(1.0 / 3), ldexpf(1, -30), 0.1f};
  for (int f = 0; f < format_count; f++) {
    test_context_label("%s", ts_format_name(formats[f]));
    const ts_csr csr = ts_host_csr(2, 2, offsets, indices, values);
    const ts_matrix_desc desc = {.csr = csr, .format = formats[f], .keep_host_copy = 1};
    ts_matrix *matrix = NULL;
    if (!CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) continue;
    ts_csr copy;
    CHECK_OK(context, ts_matrix_get_host_copy(matrix, &copy));
    CHECK(memcmp(copy.values.data, rounded, sizeof rounded) == 0);
    CHECK(copy.values.type == TS_TYPE_FLOAT && copy.values.read_only);
    double twice[4];
    for (int k = 0; k < 4; k++) twice[k] = 2 * values[k];
    ts_csr more = csr;
    more.values = HOST(twice);
    CHECK_OK(context, ts_matrix_set_values(matrix, &more));
    const float xs[] = {3, 1};
    ts_vector *x = make_vector(ts_matrix_get_column_space(matrix), 1, xs);
    ts_vector *y = poisoned(ts_matrix_get_row_space(matrix), 1);
    CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
    float *ys = read_vector(y);
    const double product[] = {2, 0.2};
    CHECK_VALUES(ys, product, NULL, 2, 4);
    free(ys);
    twice[0] = INFINITY;
    CHECK_FAILS(context, ts_matrix_set_values(matrix, &more), TS_ERROR_INVALID_ARGUMENT, "values[0]",
                "row 0, column 1");
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
    ts_matrix_destroy(&matrix);
  }
}

/* The arrays of the host copy are passed back as new values: all arrays, all except the values, only the
 * columns, or only the offsets. The matrix was created from unordered rows with a duplicate, which the copy
 * does not have. */
static void host_copies(void) {
  const int32_t offsets[] = {0, 3, 4, 6}, indices[] = {2, 0, 2, 1, 1, 2}, own_offsets[] = {0, 2, 3, 5},
                own_columns[] = {0, 2, 1, 1, 2};
  const float values[] = {1, 2, 4, 8, 16, 32}, xs[] = {1, 10, 100};
  for (int f = 0; f < 2 * format_count; f++) {
    const int in_order = f % 2;
    const ts_matrix_desc desc = {
        .csr = ts_host_csr(3, 3, in_order ? own_offsets : offsets, in_order ? own_columns : indices, values),
        .format = formats[f / 2],
        .keep_host_copy = 1};
    test_context_label("%s, in order %d", ts_format_name(desc.format), in_order);
    ts_matrix *matrix = NULL;
    ts_csr copy;
    if (!CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) continue;
    if (!CHECK_OK(context, ts_matrix_get_host_copy(matrix, &copy))) continue;
    ts_vector *x = make_vector(ts_matrix_get_column_space(matrix), 1, xs);
    ts_vector *y = poisoned(ts_matrix_get_row_space(matrix), 1);
    for (int way = 0; way < 5; way++) {
      const float scale = (float)(way + 1), mine[] = {2 * scale, 5 * scale, 8 * scale, 16 * scale, 32 * scale};
      const float *const expected = way == 4 ? copy.values.data : mine;
      ts_csr changed = copy;
      if (way < 4) changed.values = HOST(mine);
      if (way == 1) changed.row_offsets = HOST(own_offsets);
      if (way == 2) changed.column_indices = HOST(own_columns);
      CHECK_OK(context, ts_matrix_set_values(matrix, &changed));
      CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
      const double product[] = {(double)(expected[0] + 100 * expected[1]), (double)(10 * expected[2]),
                                (double)(10 * expected[3] + 100 * expected[4])};
      float *ys = read_vector(y);
      CHECK_VALUES(ys, product, NULL, 3, 4);
      free(ys);
      /* The borrowed copy is still valid and has the new values. */
      CHECK(memcmp(copy.row_offsets.data, own_offsets, sizeof own_offsets) == 0);
      CHECK(memcmp(copy.column_indices.data, own_columns, sizeof own_columns) == 0);
      CHECK(memcmp(copy.values.data, expected, 5 * sizeof *expected) == 0);
    }
    /* Without an array of values all entries become 0, also in the copy. */
    CHECK_OK(context, ts_matrix_set_values(matrix, &(ts_csr){.rows = 3,
                                                             .columns = 3,
                                                             .row_offsets = copy.row_offsets,
                                                             .column_indices = copy.column_indices}));
    for (int k = 0; k < 5; k++) CHECK(((const float *)copy.values.data)[k] == 0);
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
    ts_matrix_destroy(&matrix);
  }
}

/* Two matrices on the same spaces: A maps columns to rows, and its transpose maps rows to columns. */
static void shared_spaces(void) {
  ref_matrix m = ref_uneven_rows(700, 450, 60, 4), t = ref_transpose(&m);
  for (int f = 0; f < format_count; f++) {
    test_context_label("%s", ts_format_name(formats[f]));
    ts_matrix *A = make_matrix(context, &m, formats[f]), *At = NULL;
    if (!A) continue;
    ts_matrix_desc desc = {0};
    desc.csr = ref_csr(&t);
    desc.format = formats[f];
    desc.row_space = ts_matrix_get_column_space(A);
    desc.column_space = ts_matrix_get_row_space(A);
    if (CHECK_OK(context, ts_matrix_create(context, &desc, &At))) {
      CHECK(ts_matrix_get_row_space(At) == ts_matrix_get_column_space(A));
      ts_matrix_destroy(&A); /* its spaces continue to exist */
      check_all(&t, NULL, At, 1);
      if (most_components(formats[f]) > 1) check_all(&t, NULL, At, 3);
    }
    ts_matrix_destroy(&A);
    ts_matrix_destroy(&At);
  }
  /* A square matrix on two different spaces stores its diagonal with the other entries. */
  ref_matrix square = ref_grid(20, 20);
  ts_space *rows = make_space(context, 400), *columns = make_space(context, 400);
  for (int f = 0; f < format_count; f++)
    for (int kind = 0; kind < 2; kind++) {
      ts_matrix_desc desc = {0};
      desc.csr = ref_csr(&square);
      desc.format = formats[f];
      desc.row_space = kind ? rows : NULL;
      desc.column_space = columns;
      ts_matrix *matrix = NULL;
      test_context_label("square on two spaces, %s, kind %d", ts_format_name(formats[f]), kind);
      if (most_components(formats[f]) == 1) { /* blocks need a space with blocks in textures */
        CHECK_FAILS(context, ts_matrix_create(context, &desc, &matrix), TS_ERROR_INCOMPATIBLE,
                    kind ? "row_space" : "column_space", "1 indices per texel", ts_format_name(formats[f]));
        continue;
      }
      if (!CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) continue;
      problem p;
      open_problem(&p, &square, NULL, matrix, 2);
      check_multiply(&p);
      check_residual(&p);
      close_problem(&p);
      ts_vector *d = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
      CHECK_FAILS(context, ts_matrix_diagonal(d, matrix), TS_ERROR_INVALID_ARGUMENT, "400");
      ts_vector_destroy(&d);
      ts_matrix_destroy(&matrix);
    }
  ts_space_destroy(&rows);
  ts_space_destroy(&columns);
  ref_free(&m);
  ref_free(&t);
  ref_free(&square);
}

/* log2 of the rows and columns that a format stores together. */
static int log2_block_of(ts_format format) {
  return format == TS_FORMAT_BCRS2 ? 1 : format == TS_FORMAT_BCRS4 ? 2 : 0;
}

/* A NaN in x reaches exactly the rows that use it, or rows in a block that uses it. */
static void not_numbers(void) {
  ref_matrix m = ref_grid(30, 30);
  float *xs = ref_values(900, 3, -1, 1);
  xs[455] = NAN;
  for (int f = 0; f < format_count; f++) {
    test_context_label("%s", ts_format_name(formats[f]));
    ts_matrix *matrix = make_matrix(context, &m, formats[f]);
    if (!matrix) continue;
    ts_vector *x = make_vector(ts_matrix_get_column_space(matrix), 1, xs);
    ts_vector *y = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
    CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
    float *ys = read_vector(y);
    const int shift = log2_block_of(matrix_info(matrix).format);
    unsigned char uses[900] = {0};
    for (int32_t i = 0; i < m.rows; i++)
      for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++)
        uses[i >> shift] |= m.indices[k] >> shift == 455 >> shift;
    for (int32_t i = 0; i < m.rows; i++)
      if (!CHECK((isnan(ys[i]) != 0) == uses[i >> shift])) break;
    CHECK_PADDING(y);
    free(ys);
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
    ts_matrix_destroy(&matrix);
  }
  free(xs);
  ref_free(&m);
}

/* Operations on vectors over a matrix's space. A texel may hold several rows, some rows are constrained, and
 * the last block may be partial. */
static void vectors_over_rows(void) {
  const int32_t sizes[] = {1, 2, 3, 5, 1021, 4099};
  for (int f = 0; f < format_count; f++)
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
      for (int with_constrained = 0; with_constrained < 2; with_constrained++) {
        const int32_t size = sizes[n];
        test_context_label("%s, %d rows, constrained %d", ts_format_name(formats[f]), size, with_constrained);
        ref_matrix m = ref_diagonal(size, 1, 2);
        unsigned char *flags = calloc((size_t)size, 1);
        for (int32_t i = 0; i < size; i++) flags[i] = i % 3 == 1 || (i / 4) % 5 == 2;
        ts_matrix_desc desc = {0};
        desc.csr = ref_csr(&m);
        desc.format = formats[f];
        desc.constrained = with_constrained ? flags : NULL;
        ts_matrix *matrix = NULL;
        if (CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) {
          ts_space *space = ts_matrix_get_row_space(matrix);
          float *xs = ref_values((size_t)size, 8, -2, -1), slots[4 * 4];
          double sum = 0, square = 0, most = -2;
          for (int32_t i = 0; i < size; i++) {
            sum += (double)xs[i], square += (double)xs[i] * (double)xs[i];
            if ((double)xs[i] > most) most = (double)xs[i];
          }
          ts_vector *x = make_vector(space, 1, xs), *y = poisoned(space, 1);
          ts_scalars *s = NULL;
          CHECK_OK(context, ts_scalars_create(context, &(ts_scalars_desc){.count = 4}, &s));
          CHECK_OK(context, ts_vector_sum(s, 0, x));
          CHECK_OK(context, ts_vector_max(s, 1, x)); /* all are negative, so padding must not win */
          CHECK_OK(context, ts_vector_norm(s, 2, x, TS_NORM_2));
          CHECK_OK(context, ts_vector_fill(y, 3));
          CHECK_PADDING(y);
          CHECK_OK(context, ts_vector_sum(s, 3, y));
          CHECK_OK(context, ts_scalars_read(s, 0, ts_host(slots, 16)));
          CHECK_CLOSE((double)slots[0], sum, 1e-5 * fabs(sum));
          CHECK_CLOSE((double)slots[4], most, 0);
          CHECK_CLOSE((double)slots[8], sqrt(square), 1e-5 * sqrt(square));
          CHECK_CLOSE((double)slots[12], 3.0 * size, 1e-5 * size);
          for (int k = 0; k < 16; k++) CHECK(k % 4 == 0 || slots[k] == 0);
          /* A coefficient from a slot applies to every row. */
          CHECK_OK(context,
                   ts_vector_axpby(y, ts_scaled(2, s, 1), x, ts_quotient(1, (ts_slot){s, 1}, (ts_slot){s, 1})));
          CHECK_PADDING(y);
          float *ys = read_vector(y);
          for (int32_t i = 0; i < size; i++)
            if (!CHECK_CLOSE((double)ys[i], 2 * most * (double)xs[i] + 3, 1e-5)) break;
          CHECK_OK(context, ts_vector_reciprocal(y, x));
          CHECK_PADDING(y);
          free(ys), free(xs);
          ts_scalars_destroy(&s);
          ts_vector_destroy(&x);
          ts_vector_destroy(&y);
        }
        ts_matrix_destroy(&matrix);
        free(flags);
        ref_free(&m);
      }
}

static int find_formats(int round) {
  (void)round;
  format_count = list_formats(context, formats);
  return 1;
}

static const test_fixture fixture = {.context = &context, .setup = find_formats};

/* The same tests with rectangles and textures so small that every limit is reached. */
static void small_textures(void) {
  if (!test_is_gl()) return;
  ts_context_desc desc = test_desc();
  test_gl()->rectangle_width = 4;
  test_gl()->rectangle_height = 8;
  test_gl()->max_texture_size = 256;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  format_count = list_formats(context, formats);
  for (int f = 0; f < format_count; f++) {
    /* Blocks are not full here and need more space. */
    const int blocks = log2_block_of(formats[f]) > 0;
    ref_matrix dense = ref_dense(2, blocks ? 4000 : 9000, 5), row = ref_dense_row(blocks ? 3000 : 6000, 5, 6);
    test_context_label("small textures, %s", ts_format_name(formats[f]));
    ts_matrix *matrix = make_matrix(context, &dense, formats[f]);
    if (matrix) check_all(&dense, NULL, matrix, most_components(formats[f]) > 1 ? 3 : 1);
    ts_matrix_destroy(&matrix);
    matrix = make_matrix(context, &row, formats[f]);
    if (matrix) check_all(&row, NULL, matrix, most_components(formats[f]) > 1 ? 2 : 1);
    ts_matrix_destroy(&matrix);
    ref_free(&dense);
    ref_free(&row);
  }
  test_close(&context);
}

TEST_MAIN(CASES_WITH(&fixture, samples, constrained, set_values, components, unsorted, double_values,
                     host_copies, shared_spaces, not_numbers, vectors_over_rows),
          CASES(small_textures))
