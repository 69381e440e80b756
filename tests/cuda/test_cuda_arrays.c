/* Arrays in CUDA memory: vectors, matrices and solutions have the bits of the same arrays on the host. The
 * library copies nothing to the host unless the log reports it. The library waits for the application's stream,
 * and vice versa. */
#include <time.h>

#include <cuda_runtime_api.h>
#include <texsolve/amg.h>
#include <texsolve/cuda.h>
#include <texsolve/preconditioner.h>

#include "heap.h"
#include "helpers.h"

static ts_context *context;
static char logged[4096]; /* lines about copies to the host since the case began */

#define CHECK_CUDA(call) CHECK_INT(call, cudaSuccess)

static void keep_log(ts_log_level level, const char *message, void *user) {
  (void)level, (void)user;
  if (strstr(message, "copied to the host")) snprintf(logged, sizeof logged, "%s", message);
}

static ts_context_desc logging_desc(int round) {
  ts_context_desc desc = test_desc();
  (void)round;
  desc.log = keep_log;
  desc.log_user = NULL;
  desc.log_level = TS_LOG_LEVEL_INFO;
  logged[0] = 0;
  return desc;
}

static size_t bytes_of(const ts_array *array) {
  return array->count * (array->type == TS_TYPE_FLOAT || array->type == TS_TYPE_INT32 ? 4 : 8);
}

/* The same array on the device, to be used in `stream`. */
static ts_array to_device_on(ts_array host, struct CUstream_st *stream) {
  ts_array device = ts_array_on_cuda(host, stream);
  if (!host.data) return host;
  CHECK_CUDA(cudaMalloc(&device.data, bytes_of(&host) + 1)); /* valid even without numbers */
  CHECK_CUDA(cudaMemcpyAsync(device.data, host.data, bytes_of(&host), cudaMemcpyHostToDevice, stream));
  return device;
}

static ts_array to_device(ts_array host) {
  return to_device_on(host, NULL);
}

static void free_device(ts_array *array) {
  if (array->data && array->memory == TS_MEMORY_CUDA) CHECK_CUDA(cudaFree(array->data));
  array->data = NULL;
}

static uint64_t waits(void) {
  return context_info(context).host_synchronisations;
}

/* ---- Vectors ---- */

enum { size = 1003, samples = 7 };

/* Doubles of one kind: floats; any; very large; very small; of all sizes; 0; some not finite. */
static double *sample_of(int sample, size_t count) {
  double *values = ref_doubles(count, 11, -1, 1);
  for (size_t k = 0; k < count; k++) switch (sample) {
    case 0:
      values[k] = (double)(float)values[k];
      break;
    case 2:
      values[k] *= 1e200;
      break;
    case 3:
      values[k] *= 1e-310;
      break;
    case 4:
      values[k] = ldexp(values[k], (int)(k % 150) - 75);
      break;
    case 5:
      values[k] = k % 2 ? 0.0 : -0.0;
      break;
    case 6:
      values[k] = k == 5 ? NAN : k == 700 ? INFINITY : values[k];
      break;
    default:
      break;
    }
  return values;
}

static ts_vector *make_of(ts_space *space, int components, ts_precision precision) {
  const ts_vector_desc desc = {.components = components, .precision = precision};
  ts_vector *v = NULL;
  CHECK_OK(context, ts_vector_create(space, &desc, &v));
  return v;
}

/* Reads v as `type` through the device and through the host: both give the same bits or the same error. */
static void compare_reads(const ts_vector *v, ts_type type) {
  const size_t count = vector_count(v);
  double *expected = calloc(count, sizeof *expected), *found = calloc(count, sizeof *found);
  char error[512];
  const ts_status status = ts_vector_read(v, ts_array_make(expected, count, type, 0));
  snprintf(error, sizeof error, "%s", ts_last_error(context));
  ts_array device = to_device(ts_array_make(found, count, type, 0));
  const uint64_t before = waits();
  CHECK_INT(ts_vector_read(v, device), status);
  if (status < 0) CHECK_CONTAINS(ts_last_error(context), error);
  if (type == TS_TYPE_DOUBLE) CHECK_INT(waits(), before);
  CHECK_CUDA(cudaMemcpy(found, device.data, bytes_of(&device), cudaMemcpyDeviceToHost));
  if (status == TS_OK) CHECK(memcmp(expected, found, bytes_of(&device)) == 0);
  free_device(&device);
  free(expected), free(found);
}

static void write_both(ts_space *space, int components, ts_precision precision, ts_array host) {
  ts_vector *expected = make_of(space, components, precision), *found = make_of(space, components, precision);
  ts_array device = to_device(host);
  char error[512];
  const ts_status status = ts_vector_write(expected, host);
  snprintf(error, sizeof error, "%s", ts_last_error(context));
  const uint64_t before = waits();
  CHECK_INT(ts_vector_write(found, device), status);
  CHECK_INT(waits(), before + (host.type == TS_TYPE_DOUBLE));
  if (status < 0) CHECK_CONTAINS(ts_last_error(context), error);
  double *a = read_doubles(expected), *b = read_doubles(found);
  CHECK(memcmp(a, b, host.count * sizeof *a) == 0);
  compare_reads(found, TS_TYPE_DOUBLE);
  compare_reads(found, TS_TYPE_FLOAT);
  free(a), free(b);
  free_device(&device);
  ts_vector_destroy(&expected);
  ts_vector_destroy(&found);
}

static void vectors(void) {
  static const ts_precision precisions[] = {TS_PRECISION_AUTO, TS_PRECISION_SINGLE, TS_PRECISION_DOUBLE};
  ts_space *space = make_space(context, size);
  for (int components = 1; components <= 4; components++)
    for (int p = 0; p < 3; p++)
      for (int s = 0; s < samples; s++) {
        const size_t count = (size_t)size * (size_t)components;
        double *values = sample_of(s, count);
        float *floats = malloc(count * sizeof *floats);
        for (size_t k = 0; k < count; k++) floats[k] = (float)values[k];
        test_context_label("%d components, %s, sample %d", components, ts_precision_name(precisions[p]), s);
        write_both(space, components, precisions[p], ts_host(values, count));
        write_both(space, components, precisions[p], ts_host(floats, count));
        free(values), free(floats);
      }
  CHECK(logged[0] == 0);
  ts_space_destroy(&space);
}

/* ---- Streams ---- */

static void CUDART_CB sleep_a_while(void *user) {
  (void)user;
  nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

/* The library waits for the earlier work of the stream, and later work of the stream waits for the library. */
static void order_of_streams(void) {
  ts_space *space = make_space(context, size);
  ts_vector *x = make_vector(space, 1, NULL);
  float *values = ref_values(size, 3, -1, 1), *locked = NULL;
  cudaStream_t mine;
  struct CUstream_st *own = NULL;
  CHECK_CUDA(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
  CHECK_CUDA(cudaMallocHost((void **)&locked, size * sizeof *locked));
  CHECK_OK(context, ts_cuda_get_stream(context, &own));
  for (int k = 0; k < size; k++) locked[k] = 0;
  ts_array device = to_device(ts_host(locked, size));
  device.stream = mine;
  memcpy(locked, values, size * sizeof *values);
  CHECK_CUDA(cudaDeviceSynchronize());
  /* The library's stream waits for the copy, and the next operation waits for the library's stream. */
  CHECK_CUDA(cudaLaunchHostFunc(mine, sleep_a_while, NULL));
  CHECK_CUDA(cudaMemcpyAsync(device.data, locked, size * sizeof *locked, cudaMemcpyHostToDevice, mine));
  CHECK_CUDA(cudaLaunchHostFunc(own, sleep_a_while, NULL));
  CHECK_CUDA(cudaLaunchHostFunc(own, sleep_a_while, NULL));
  CHECK_OK(context, ts_vector_write(x, device));
  CHECK_CUDA(cudaMemsetAsync(device.data, 0, size * sizeof *locked, mine));
  float *found = read_vector(x);
  CHECK(memcmp(found, values, size * sizeof *found) == 0);
  /* A result is ready for later work of the stream. */
  CHECK_CUDA(cudaLaunchHostFunc(own, sleep_a_while, NULL));
  CHECK_OK(context, ts_vector_read(x, device));
  CHECK_CUDA(cudaMemcpyAsync(locked, device.data, size * sizeof *locked, cudaMemcpyDeviceToHost, mine));
  CHECK_CUDA(cudaStreamSynchronize(mine));
  CHECK(memcmp(locked, values, size * sizeof *found) == 0);
  free_device(&device);
  CHECK_CUDA(cudaFreeHost(locked));
  CHECK_CUDA(cudaStreamDestroy(mine));
  free(values), free(found);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
}

static void memory_of_all_kinds(void) {
  ts_space *space = make_space(context, size);
  ts_vector *x = make_vector(space, 1, NULL);
  float *values = ref_values(size, 3, -1, 1), *managed = NULL, *locked = NULL;
  CHECK_CUDA(cudaMallocManaged((void **)&managed, size * sizeof *managed, cudaMemAttachGlobal));
  CHECK_CUDA(cudaMallocHost((void **)&locked, size * sizeof *locked));
  memcpy(managed, values, size * sizeof *values);
  CHECK_OK(context, ts_vector_write(x, ts_cuda(managed, size, NULL)));
  CHECK_OK(context, ts_vector_read(x, ts_cuda(locked, size, NULL)));
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(memcmp(locked, values, size * sizeof *values) == 0);
  CHECK_CUDA(cudaFree(managed));
  CHECK_CUDA(cudaFreeHost(locked));
  free(values);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
}

static void refused_arrays(void) {
  ts_space *space = make_space(context, size);
  ts_vector *x = make_vector(space, 1, NULL), *y = NULL;
  float *host = calloc(size + 1, sizeof *host);
  ts_array device = to_device(ts_host(host, size + 1));
  float *pointer = device.data;
  int devices = 0;
  CHECK_FAILS(context, ts_vector_write(x, ts_cuda(host, size, NULL)), TS_ERROR_INVALID_ARGUMENT, "values",
              "of the host", "TS_MEMORY_CUDA");
  CHECK_FAILS(context, ts_vector_read(x, ts_host(pointer, size)), TS_ERROR_INVALID_ARGUMENT, "values",
              "TS_MEMORY_HOST");
  CHECK_FAILS(context, ts_vector_write(x, device), TS_ERROR_INVALID_ARGUMENT, "values", "1004", "1003");
  CHECK_FAILS(context, ts_vector_write(x, ts_cuda((float *)((char *)pointer + 2), size, NULL)),
              TS_ERROR_INVALID_ARGUMENT, "values", "aligned");
  CHECK_FAILS(context, ts_vector_read(x, ts_cuda((const float *)pointer, size, NULL)),
              TS_ERROR_INVALID_ARGUMENT, "values", "pointer to const");
  CHECK_FAILS(context, ts_cuda_vector_from_array(space, 1, ts_cuda(pointer + 1, size, NULL), &y),
              TS_ERROR_INVALID_ARGUMENT, "array", "16 bytes");
  CHECK_FAILS(context, ts_cuda_vector_from_array(space, 1, device, &y), TS_ERROR_INVALID_ARGUMENT, "array has",
              "1004");
  CHECK_FAILS(context, ts_cuda_vector_from_array(space, 1, ts_host(host, size), &y), TS_ERROR_INVALID_ARGUMENT,
              "array is in host memory");
  CHECK_FAILS(context, ts_cuda_vector_from_array(space, 5, device, &y), TS_ERROR_INVALID_ARGUMENT,
              "components is 5");
  CHECK(y == NULL);
  CHECK_CUDA(cudaGetDeviceCount(&devices));
  if (devices > 1) {
    cudaStream_t elsewhere;
    float *far = NULL;
    CHECK_CUDA(cudaSetDevice(1));
    CHECK_CUDA(cudaStreamCreate(&elsewhere));
    CHECK_CUDA(cudaMalloc((void **)&far, size * sizeof *far));
    CHECK_CUDA(cudaSetDevice(0));
    CHECK_FAILS(context, ts_vector_write(x, ts_cuda(pointer, size, elsewhere)), TS_ERROR_INVALID_ARGUMENT,
                "values.stream", "device 0");
    CHECK_FAILS(context, ts_vector_write(x, ts_cuda(far, size, NULL)), TS_ERROR_INVALID_ARGUMENT, "values",
                "device 1");
    CHECK_CUDA(cudaStreamDestroy(elsewhere));
    CHECK_CUDA(cudaFree(far));
  }
  free_device(&device);
  free(host);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
}

static void another_backend(void) {
  ts_context *cpu = NULL;
  float *pointer = NULL;
  CHECK_CUDA(cudaMalloc((void **)&pointer, 5 * sizeof *pointer));
  REQUIRE_OK(NULL, ts_context_create(&(ts_context_desc){.backend = "cpu"}, &cpu));
  ts_space *space = make_space(cpu, 5);
  ts_vector *x = make_vector(space, 1, NULL);
  CHECK_FAILS(cpu, ts_vector_write(x, ts_cuda(pointer, 5, NULL)), TS_ERROR_UNSUPPORTED, "values", "cpu");
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
  ts_context_destroy(&cpu);
  CHECK_CUDA(cudaFree(pointer));
}

/* ---- Matrices ---- */

/* A matrix with values and integers of the types under test. */
typedef struct given {
  ts_csr host, device;
  void *numbers[3];
} given;

static ts_array integers(const int32_t *from, size_t count, ts_type type, void **memory) {
  int64_t *wide = malloc(count * sizeof *wide + 1);
  if (type == TS_TYPE_INT32) memcpy(wide, from, count * sizeof *from);
  for (size_t k = 0; type == TS_TYPE_INT64 && k < count; k++) wide[k] = from[k];
  return ts_array_make(*memory = wide, count, type, 1);
}

/* Doubles have a part that floats cannot represent. */
static ts_array values_of(const float *from, size_t count, ts_type type, double factor, void **memory) {
  double *doubles = malloc(count * sizeof *doubles + 1);
  float *floats = (float *)doubles;
  for (size_t k = 0; k < count; k++)
    if (type == TS_TYPE_DOUBLE)
      doubles[k] = (double)from[k] * factor * (1 + 1e-9 * (double)(k % 3));
    else
      floats[k] = (float)((double)from[k] * factor);
  return ts_array_make(*memory = doubles, count, type, 1);
}

static given make_given(const ref_matrix *m, ts_type integer, ts_type real, double factor) {
  given g = {0};
  const size_t entries = (size_t)ref_nonzeros(m);
  g.host = (ts_csr){.rows = m->rows, .columns = m->columns};
  g.host.row_offsets = integers(m->offsets, (size_t)m->rows + 1, integer, &g.numbers[0]);
  g.host.column_indices = integers(m->indices, entries, integer, &g.numbers[1]);
  if (real) g.host.values = values_of(m->values, entries, real, factor, &g.numbers[2]);
  g.device = ts_csr_make(m->rows, m->columns, to_device(g.host.row_offsets), to_device(g.host.column_indices),
                         to_device(g.host.values));
  return g;
}

static void free_given(given *g) {
  free_device(&g->device.row_offsets);
  free_device(&g->device.column_indices);
  free_device(&g->device.values);
  for (int k = 0; k < 3; k++) free(g->numbers[k]);
}

static void compare_infos(const ts_matrix *a, const ts_matrix *b) {
  const ts_matrix_info x = matrix_info(a), y = matrix_info(b);
  CHECK_INT(y.rows, x.rows);
  CHECK_INT(y.columns, x.columns);
  CHECK_INT(y.nonzeros, x.nonzeros);
  CHECK_INT(y.duplicates, x.duplicates);
  CHECK_INT(y.stored_entries, x.stored_entries);
  CHECK_INT(y.format, x.format);
  CHECK_INT(y.longest_row, x.longest_row);
  CHECK_INT(y.symmetric, x.symmetric);
  CHECK_INT(y.unsymmetric_row, x.unsymmetric_row);
  CHECK_INT(y.unsymmetric_column, x.unsymmetric_column);
  CHECK_INT(y.zero_diagonal_row, x.zero_diagonal_row);
  CHECK(y.bytes_low_order == x.bytes_low_order);
}

static double *product(const ts_matrix *A, int residual) {
  ts_space *rows = ts_matrix_get_row_space(A), *columns = ts_matrix_get_column_space(A);
  const ts_vector_desc desc = {.precision = TS_PRECISION_DOUBLE};
  double *values = ref_doubles((size_t)ts_space_get_size(columns), 5, -1, 1), *found;
  ts_vector *x = NULL, *y = NULL;
  CHECK_OK(context, ts_vector_create(columns, &desc, &x));
  CHECK_OK(context, ts_vector_create(rows, &desc, &y));
  CHECK_OK(context, ts_vector_write(x, ts_host(values, (size_t)ts_space_get_size(columns))));
  CHECK_OK(context, ts_vector_fill(y, 0.1));
  CHECK_OK(context, residual ? ts_matrix_residual(y, y, A, x) : ts_matrix_multiply(y, A, x));
  found = read_doubles(y);
  free(values);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  return found;
}

static void compare_matrices(const ts_matrix *a, const ts_matrix *b) {
  const size_t rows = (size_t)ts_space_get_size(ts_matrix_get_row_space(a));
  for (int residual = 0; residual < 2; residual++) {
    double *x = product(a, residual), *y = product(b, residual);
    CHECK(memcmp(x, y, rows * sizeof *x) == 0);
    free(x), free(y);
  }
  ts_vector *x = make_vector(ts_matrix_get_column_space(a), 1, NULL),
            *y = make_vector(ts_matrix_get_row_space(a), 1, NULL),
            *u = make_vector(ts_matrix_get_column_space(b), 1, NULL),
            *v = make_vector(ts_matrix_get_row_space(b), 1, NULL);
  CHECK_OK(context, ts_vector_fill(x, 0.3));
  CHECK_OK(context, ts_vector_fill(u, 0.3));
  CHECK_OK(context, ts_matrix_multiply(y, a, x));
  CHECK_OK(context, ts_matrix_multiply(v, b, u));
  float *p = read_vector(y), *q = read_vector(v);
  CHECK(memcmp(p, q, rows * sizeof *p) == 0);
  free(p), free(q);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_vector_destroy(&u);
  ts_vector_destroy(&v);
}

static ts_matrix *create(const ts_csr *csr, ts_format format, ts_precision precision) {
  const ts_matrix_desc desc = {.csr = *csr, .format = format, .precision = precision};
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &A));
  return A;
}

static void create_as(const given *g, ts_format format, ts_precision precision) {
  ts_matrix *expected = create(&g->host, format, precision);
  const size_t before = context_info(context).bytes_device;
  const uint64_t waited = waits();
  ts_matrix *found = create(&g->device, format, precision);
  if (found && expected) {
    CHECK(waits() - waited <= (format == TS_FORMAT_CSR ? 7 : 12));
    compare_infos(expected, found);
    compare_matrices(expected, found);
    const ts_matrix_info info = matrix_info(found);
    CHECK_INT(info.format, format);
    CHECK(info.bytes_device > 0 && info.bytes_device <= context_info(context).bytes_device - before);
  }
  ts_matrix_destroy(&expected);
  ts_matrix_destroy(&found);
}

/* Auto does not choose blocks for arrays on the device, because that would need a copy on the host. */
static void create_by_choice(const given *g) {
  ts_matrix *A = create(&g->device, TS_FORMAT_AUTO, TS_PRECISION_AUTO);
  if (!A) return;
  const ts_matrix_info info = matrix_info(A);
  CHECK(info.format == TS_FORMAT_CSR || info.format == TS_FORMAT_JAGGED);
  CHECK(!strncmp(info.choice, ts_format_name(info.format), strlen(ts_format_name(info.format))));
  ts_matrix_destroy(&A);
}

static void create_both(const ref_matrix *m, ts_type integer, ts_type real, double factor,
                        ts_precision precision) {
  given g = make_given(m, integer, real, factor);
  create_as(&g, TS_FORMAT_CSR, precision);
  create_as(&g, TS_FORMAT_JAGGED, precision);
  create_by_choice(&g);
  free_given(&g);
}

static void matrices(void) {
  static const ts_type types[][2] = {{TS_TYPE_INT32, TS_TYPE_DOUBLE}, /* as in CuPy */
                                     {TS_TYPE_INT64, TS_TYPE_FLOAT},  /* as in PyTorch */
                                     {TS_TYPE_INT64, TS_TYPE_DOUBLE},
                                     {TS_TYPE_INT32, TS_TYPE_NONE}};
  ref_sample sample;
  for (int i = 0; ref_get_sample(i, &sample); i++) {
    for (int t = 0; t < 4; t++) {
      test_context_label("%s, types %d and %d", sample.name, types[t][0], types[t][1]);
      create_both(&sample.matrix, types[t][0], types[t][1], 1, TS_PRECISION_AUTO);
    }
    create_both(&sample.matrix, TS_TYPE_INT32, TS_TYPE_DOUBLE, 1e200, TS_PRECISION_AUTO);
    create_both(&sample.matrix, TS_TYPE_INT32, TS_TYPE_DOUBLE, 1e-250, TS_PRECISION_SINGLE);
    create_both(&sample.matrix, TS_TYPE_INT64, TS_TYPE_FLOAT, 1e-36, TS_PRECISION_AUTO);
    ref_free(&sample.matrix);
  }
  CHECK(logged[0] == 0);
}

/* Rows in several pieces, several rows per piece, empty rows, and more than 512 rows per row block. */
static void plans_of_rows(void) {
  ref_matrix all[] = {ref_dense_row(5000, 3, 1),           ref_hubs(6000, 4000, 2), ref_grid(400, 300),
                      ref_uneven_rows(3000, 2000, 900, 3), ref_gaps(9000, 4000, 4), ref_arrow(3000)};
  CHECK_OK(context, ts_context_set_tuning(context, "many_entries", 1));
  CHECK_OK(context, ts_context_set_tuning(context, "csr_blocks_entries", 1));
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    test_context_label("matrix %zu", i);
    create_both(&all[i], TS_TYPE_INT32, TS_TYPE_DOUBLE, 1, TS_PRECISION_AUTO);
    ref_free(&all[i]);
  }
  CHECK(logged[0] == 0);
}

/* A symmetric pattern with missing, changed and zero entries. Device and host must report the same entry. */
static void unsymmetric_entries(void) {
  ref_random r = {9};
  for (int round = 0; round < 60; round++) {
    ref_matrix m = ref_random_spd(40, 6, (uint64_t)round);
    int32_t to = 0;
    for (int32_t i = 0, e = 0; i < m.rows; i++) {
      for (; e < m.offsets[i + 1]; e++) {
        const int32_t what = ref_below(&r, round % 2 ? 40 : 400);
        if (what == 0) continue;
        m.indices[to] = m.indices[e];
        m.values[to++] = what == 1 ? 0 : what == 2 ? 2 * m.values[e] : m.values[e];
      }
      m.offsets[i + 1] = -to; /* negative until e has passed it */
    }
    for (int32_t i = 1; i <= m.rows; i++) m.offsets[i] = abs(m.offsets[i]);
    test_context_label("round %d", round);
    create_both(&m, TS_TYPE_INT32, TS_TYPE_FLOAT, 1, TS_PRECISION_AUTO);
    ref_free(&m);
  }
}

static void replaced_values(void) {
  ref_matrix m = ref_grid(30, 20);
  given old = make_given(&m, TS_TYPE_INT32, TS_TYPE_DOUBLE, 1),
        new = make_given(&m, TS_TYPE_INT64, TS_TYPE_DOUBLE, 1e60);
  m.indices[1]++; /* a different pattern */
  given other = make_given(&m, TS_TYPE_INT32, TS_TYPE_FLOAT, 1);
  ts_matrix *expected = create(&new.host, TS_FORMAT_CSR, TS_PRECISION_AUTO);
  ts_matrix *of_device = create(&old.device, TS_FORMAT_CSR, TS_PRECISION_AUTO),
            *of_host = create(&old.host, TS_FORMAT_CSR, TS_PRECISION_AUTO);
  CHECK_OK(context, ts_matrix_set_values(of_device, &new.device));
  compare_infos(expected, of_device);
  compare_matrices(expected, of_device);
  CHECK_OK(context, ts_matrix_set_values(of_host, &new.device));
  compare_matrices(expected, of_host);
  CHECK_FAILS(context, ts_matrix_set_values(of_device, &other.device), TS_ERROR_INCOMPATIBLE, "column indices");
  CHECK_FAILS(context, ts_matrix_set_values(of_device, &other.host), TS_ERROR_INCOMPATIBLE, "column indices");
  compare_matrices(expected, of_device);
  CHECK(logged[0] == 0);
  /* From the host, without low-order parts. */
  given floats = {0};
  m.indices[1]--;
  floats = make_given(&m, TS_TYPE_INT64, TS_TYPE_FLOAT, 3);
  ts_matrix_destroy(&expected);
  expected = create(&floats.host, TS_FORMAT_CSR, TS_PRECISION_AUTO);
  CHECK_OK(context, ts_matrix_set_values(of_device, &floats.host));
  compare_matrices(expected, of_device);
  CHECK_OK(context, ts_matrix_set_values(of_device, &new.host));
  CHECK_OK(context, ts_matrix_set_values(of_device, &floats.device));
  compare_infos(expected, of_device);
  compare_matrices(expected, of_device);
  ts_matrix_destroy(&expected);
  ts_matrix_destroy(&of_device);
  ts_matrix_destroy(&of_host);
  free_given(&old), free_given(&new), free_given(&other), free_given(&floats);
  ref_free(&m);
}

/* ---- Entries in any order ---- */

typedef struct list {
  ts_triplets host, device;
  void *numbers[3];
  int32_t *rows, *columns;
  float *values;
} list;

static list make_list(int32_t rows, int32_t columns, int32_t entries, ts_type integer, ts_type real) {
  list l = {0};
  ref_random r = {(uint64_t)entries};
  l.rows = malloc((size_t)entries * sizeof *l.rows);
  l.columns = malloc((size_t)entries * sizeof *l.columns);
  l.values = ref_values((size_t)entries, 8, -1, 1);
  for (int32_t k = 0; k < entries; k++) {
    l.rows[k] = ref_below(&r, rows);
    l.columns[k] = k % 5 ? ref_below(&r, columns) : (l.rows[k] * 7) % columns;
  }
  l.host = (ts_triplets){.rows = rows, .columns = columns};
  l.host.row_indices = integers(l.rows, (size_t)entries, integer, &l.numbers[0]);
  l.host.column_indices = integers(l.columns, (size_t)entries, integer, &l.numbers[1]);
  l.host.values = values_of(l.values, (size_t)entries, real, 1e30, &l.numbers[2]);
  l.device = l.host;
  l.device.row_indices = to_device(l.host.row_indices);
  l.device.column_indices = to_device(l.host.column_indices);
  l.device.values = to_device(l.host.values);
  return l;
}

static void free_list(list *l) {
  free_device(&l->device.row_indices);
  free_device(&l->device.column_indices);
  free_device(&l->device.values);
  for (int k = 0; k < 3; k++) free(l->numbers[k]);
  free(l->rows), free(l->columns), free(l->values);
}

static ts_matrix *create_of_list(const ts_triplets *triplets, ts_format format) {
  const ts_matrix_desc desc = {.triplets = triplets, .format = format};
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &A));
  return A;
}

static void triplets(void) {
  static const int32_t sizes[][3] = {
      {1, 1, 9}, {50, 50, 400}, {300, 70, 5000}, {70000, 300, 3000}, {9, 9, 9000}};
  for (int s = 0; s < 5; s++)
    for (int t = 0; t < 2; t++) {
      test_context_label("size %d, type %d", s, t);
      const ts_type integer = t ? TS_TYPE_INT64 : TS_TYPE_INT32, real = t ? TS_TYPE_FLOAT : TS_TYPE_DOUBLE;
      list l = make_list(sizes[s][0], sizes[s][1], sizes[s][2], integer, real);
      ts_matrix *expected = create_of_list(&l.host, TS_FORMAT_CSR),
                *found = create_of_list(&l.device, TS_FORMAT_AUTO);
      compare_infos(expected, found);
      compare_matrices(expected, found);
      /* New values for the same list, from the device and from the host. */
      for (int32_t k = 0; k < sizes[s][2]; k++) l.values[k] *= -3;
      void *numbers;
      ts_triplets host = l.host, device = l.device;
      host.values = values_of(l.values, (size_t)sizes[s][2], TS_TYPE_DOUBLE, 1, &numbers);
      device.values = to_device(host.values);
      CHECK_OK(context, ts_matrix_set_triplets(expected, &host));
      CHECK_OK(context, ts_matrix_set_triplets(found, &device));
      compare_infos(expected, found);
      compare_matrices(expected, found);
      CHECK_OK(context, ts_matrix_set_triplets(found, &l.device));
      CHECK_OK(context, ts_matrix_set_triplets(found, &host));
      compare_matrices(expected, found);
      free_device(&device.values);
      free(numbers);
      free_list(&l);
      ts_matrix_destroy(&expected);
      ts_matrix_destroy(&found);
    }
  CHECK(logged[0] == 0);
}

/* Columns in descending order, each of them twice. */
static void unsorted_rows(void) {
  ref_matrix m = ref_random_dominant(500, 8, 3), twice = {m.rows, m.columns, NULL, NULL, NULL};
  const size_t entries = 2 * (size_t)ref_nonzeros(&m);
  twice.offsets = malloc(((size_t)m.rows + 1) * sizeof *twice.offsets);
  twice.indices = malloc(entries * sizeof *twice.indices);
  twice.values = malloc(entries * sizeof *twice.values);
  for (int32_t i = 0; i <= m.rows; i++) twice.offsets[i] = 2 * m.offsets[i];
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t k = 0; k < twice.offsets[i + 1] - twice.offsets[i]; k++) {
      const int32_t from = m.offsets[i + 1] - 1 - k / 2;
      twice.indices[twice.offsets[i] + k] = m.indices[from];
      twice.values[twice.offsets[i] + k] = m.values[from] / (float)(1 + k % 2);
    }
  create_both(&twice, TS_TYPE_INT32, TS_TYPE_DOUBLE, 1, TS_PRECISION_AUTO);
  create_both(&twice, TS_TYPE_INT64, TS_TYPE_FLOAT, 1, TS_PRECISION_AUTO);
  given g = make_given(&twice, TS_TYPE_INT32, TS_TYPE_DOUBLE, 2);
  ts_matrix *expected = create(&g.host, TS_FORMAT_CSR, TS_PRECISION_AUTO),
            *found = create(&g.device, TS_FORMAT_CSR, TS_PRECISION_AUTO);
  CHECK_OK(context, ts_matrix_set_values(found, &g.host));
  CHECK_OK(context, ts_matrix_set_values(found, &g.device));
  compare_matrices(expected, found);
  CHECK(logged[0] == 0);
  ts_matrix_destroy(&expected);
  ts_matrix_destroy(&found);
  free_given(&g);
  ref_free(&m), ref_free(&twice);
}

/* ---- Errors, and copies through the host ---- */

/* Device and host give the same message. */
static void refuse_both(const given *g) {
  ts_matrix_desc desc = {.csr = g->host};
  ts_matrix *A = NULL;
  char error[512];
  const ts_status status = ts_matrix_create(context, &desc, &A);
  snprintf(error, sizeof error, "%s", ts_last_error(context));
  CHECK(status < 0 && error[0]);
  desc.csr = g->device;
  logged[0] = 0;
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), status, error);
  CHECK_CONTAINS(logged, "an error");
  CHECK(A == NULL);
}

enum { FAULTS = 9 };

static void spoil(ref_matrix *m, float *values, int fault) {
  const int32_t entries = m->offsets[m->rows];
  switch (fault) {
  case 0:
    m->indices[17] = m->columns;
    break;
  case 1:
    m->indices[entries - 1] = -1;
    break;
  case 2:
    values[23] = NAN;
    break;
  case 3:
    values[entries - 2] = INFINITY;
    break;
  case 4:
    m->offsets[5] = m->offsets[6] + 1;
    break;
  case 5:
    m->offsets[0] = 1;
    break;
  case 6:
    m->offsets[m->rows]--;
    break;
  case 7:
    m->offsets[m->rows] = -4;
    break;
  default:
    m->offsets[7] = INT32_MAX;
    break;
  }
}

static void faulty_matrices(void) {
  for (int fault = 0; fault < FAULTS; fault++)
    for (int wide = 0; wide < 2; wide++) {
      ref_matrix m = ref_grid(12, 10);
      const int32_t last = m.offsets[m.rows];
      spoil(&m, m.values, fault);
      const int32_t spoiled = m.offsets[m.rows];
      m.offsets[m.rows] = last; /* it gives the number of entries of the arrays */
      given g = make_given(&m, wide ? TS_TYPE_INT64 : TS_TYPE_INT32, wide ? TS_TYPE_DOUBLE : TS_TYPE_FLOAT, 1);
      m.offsets[m.rows] = spoiled;
      free_device(&g.device.row_offsets);
      free(g.numbers[0]);
      g.host.row_offsets = integers(m.offsets, (size_t)m.rows + 1, g.host.row_offsets.type, &g.numbers[0]);
      g.device.row_offsets = to_device(g.host.row_offsets);
      test_context_label("fault %d, wide %d", fault, wide);
      refuse_both(&g);
      free_given(&g);
      ref_free(&m);
    }
}

static void faulty_triplets(void) {
  list l = make_list(20, 30, 100, TS_TYPE_INT64, TS_TYPE_DOUBLE);
  ts_matrix_desc desc = {.triplets = &l.device};
  ts_matrix *A = NULL;
  const int64_t bad = 20, far = (int64_t)1 << 40;
  CHECK_CUDA(cudaMemcpy((int64_t *)l.device.row_indices.data + 40, &bad, sizeof bad, cudaMemcpyHostToDevice));
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_INVALID_ARGUMENT,
              "row_indices[40] is 20");
  CHECK_CUDA(cudaMemcpy((int64_t *)l.device.row_indices.data + 40, &far, sizeof far, cudaMemcpyHostToDevice));
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_LIMIT, "row_indices[40]");
  const ts_array values = l.device.values;
  l.device.values = ts_array_on_cuda(l.host.values, NULL);
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_INVALID_ARGUMENT, "values",
              "of the host");
  l.device.values = l.host.values;
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_INVALID_ARGUMENT,
              "values is in host memory", "column_indices in CUDA memory");
  l.device.row_indices.count--;
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_INVALID_ARGUMENT,
              "values is in host memory");
  l.device.values = values;
  free_list(&l);
}

static void through_the_host(void) {
  ref_matrix m = ref_grid(20, 15);
  given g = make_given(&m, TS_TYPE_INT64, TS_TYPE_FLOAT, 1);
  unsigned char *flags = calloc((size_t)m.rows, 1);
  flags[3] = 1;
  const ts_matrix_desc descs[] = {{.csr = g.device, .keep_host_copy = 1},
                                  {.csr = g.device, .format = TS_FORMAT_BCRS2},
                                  {.csr = g.device, .constrained = flags}};
  static const char *const reasons[] = {"keep_host_copy", "neither csr nor jagged", "constrained"};
  for (int k = 0; k < 3; k++) {
    ts_matrix_desc on_host = descs[k];
    on_host.csr = g.host;
    ts_matrix *found = NULL, *expected = NULL;
    logged[0] = 0;
    REQUIRE_OK(context, ts_matrix_create(context, &descs[k], &found));
    CHECK_CONTAINS(logged, reasons[k]);
    REQUIRE_OK(context, ts_matrix_create(context, &on_host, &expected));
    CHECK_INT(matrix_info(found).format, matrix_info(expected).format);
    compare_matrices(expected, found);
    logged[0] = 0;
    CHECK_OK(context, ts_matrix_set_values(found, &g.device));
    CHECK(logged[0] != 0);
    ts_matrix_destroy(&found);
    ts_matrix_destroy(&expected);
  }
  logged[0] = 0;
  const ts_matrix_desc without = {.csr = g.device, .keep_host_copy = -1};
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &without, &A));
  CHECK(logged[0] == 0);
  ts_matrix_destroy(&A);
  free(flags);
  free_given(&g);
  ref_free(&m);
}

static void no_entries(void) {
  int32_t zeros[6] = {0}, *pointer = NULL;
  ts_array offsets = to_device(ts_host(zeros, 6));
  CHECK_CUDA(cudaMalloc((void **)&pointer, sizeof *pointer));
  const ts_triplets none = {.rows = 5,
                            .columns = 7,
                            .row_indices = ts_cuda(pointer, 0, NULL),
                            .column_indices = ts_cuda(pointer, 0, NULL)};
  const ts_csr csr =
      ts_csr_make(5, 7, offsets, ts_cuda(pointer, 0, NULL), ts_array_make(NULL, 0, TS_TYPE_NONE, 0));
  ts_matrix *A = create(&csr, TS_FORMAT_AUTO, TS_PRECISION_AUTO), *B = create_of_list(&none, TS_FORMAT_AUTO);
  for (int k = 0; k < 2; k++) {
    double *y = product(k ? A : B, 0);
    CHECK_INT(matrix_info(k ? A : B).nonzeros, 0);
    for (int i = 0; i < 5; i++) CHECK_CLOSE(y[i], 0, 0);
    free(y);
  }
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&B);
  free_device(&offsets);
  CHECK_CUDA(cudaFree(pointer));
}

/* Also with new values. */
static void create_with_little_memory(const ts_matrix_desc *desc, const ts_triplets *list) {
  ts_status status = TS_ERROR_OUT_OF_DEVICE_MEMORY;
  int failures = 0;
  for (size_t limit = 64; limit < 4000000 && status < 0; limit += limit / 4) {
    ts_context_desc limited = test_desc();
    ts_context *little = NULL;
    ts_matrix *A = NULL;
    limited.max_device_bytes = limit;
    REQUIRE_OK(NULL, ts_context_create(&limited, &little));
    status = ts_matrix_create(little, desc, &A);
    if (status == TS_OK) status = list ? ts_matrix_set_triplets(A, list) : ts_matrix_set_values(A, &desc->csr);
    if (status < 0) CHECK_INT(status, TS_ERROR_OUT_OF_DEVICE_MEMORY);
    failures += status < 0;
    ts_matrix_destroy(&A);
    test_close(&little); /* it checks that all memory was freed */
  }
  CHECK_INT(status, TS_OK);
  CHECK(failures > 10);
}

static void memory_that_runs_out(void) {
  ref_matrix m = ref_dense_row(3000, 3, 1);
  given g = make_given(&m, TS_TYPE_INT64, TS_TYPE_DOUBLE, 1);
  list l = make_list(300, 300, 5000, TS_TYPE_INT32, TS_TYPE_DOUBLE);
  const ts_matrix_desc of_csr = {.csr = g.device}, of_list = {.triplets = &l.device};
  const ts_context_desc desc = heap_desc();
  ts_context *other = NULL;
  ts_matrix *A = NULL, *B = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &other));
  FAIL_EACH_CREATION(other, A, ts_matrix_create(other, &of_csr, &A));
  FAIL_EACH_CREATION(other, B, ts_matrix_create(other, &of_list, &B));
  FAIL_EACH_USE(other, ts_matrix_set_values(A, &g.device));
  FAIL_EACH_USE(other, ts_matrix_set_triplets(B, &l.device));
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&B);
  test_close(&other);
  CHECK_INT(memory.live, 0);
  if (!test_is_check()) {
    create_with_little_memory(&of_csr, NULL);
    create_with_little_memory(&of_list, &l.device);
  }
  free_given(&g);
  free_list(&l);
  ref_free(&m);
}

/* ---- Solves ---- */

static ts_status solve_on(ts_matrix *A, ts_array b, ts_array x, ts_result *result) {
  const ts_solver_desc desc = {.rtol = 1e-10};
  return ts_solve(A, b, x, &desc, result);
}

/* x0 is a solution, on the host or on the device. */
static void solve_from(ts_matrix *A, ts_array b, ts_array x0, ts_array x) {
  const ts_solver_desc desc = {.rtol = 1e-10};
  ts_solver *solver = NULL;
  ts_result result = {.iterations = -1};
  REQUIRE_OK(context, ts_solver_create(A, &desc, &solver));
  CHECK_OK(context, ts_solver_solve_arrays(solver, b, x0, x, &result));
  CHECK_INT(result.iterations, 0);
  ts_solver_destroy(&solver);
}

static void columns_of_arrays(void) {
  ref_matrix m = ref_grid(25, 25);
  given g = make_given(&m, TS_TYPE_INT32, TS_TYPE_DOUBLE, 1);
  ts_matrix *expected = create(&g.host, TS_FORMAT_CSR, TS_PRECISION_AUTO),
            *found = create(&g.device, TS_FORMAT_CSR, TS_PRECISION_AUTO);
  for (int columns = 1; columns <= 9; columns += columns == 1 ? 3 : 5) {
    const size_t count = (size_t)m.rows * (size_t)columns;
    double *b = ref_doubles(count, 6, -1, 1), *x = calloc(count, sizeof *x), *y = calloc(count, sizeof *y);
    ts_array device_b = to_device(ts_host(b, count)), device_x = to_device(ts_host(y, count));
    ts_result on_host, on_device;
    test_context_label("%d columns", columns);
    CHECK_OK(context, solve_on(expected, ts_host(b, count), ts_host(x, count), &on_host));
    CHECK_OK(context, solve_on(found, device_b, device_x, &on_device));
    CHECK_INT(on_device.iterations, on_host.iterations);
    CHECK_CUDA(cudaMemcpy(y, device_x.data, count * sizeof *y, cudaMemcpyDeviceToHost));
    CHECK(memcmp(x, y, count * sizeof *x) == 0);
    /* b on the host, x on the device */
    CHECK_CUDA(cudaMemset(device_x.data, 0, count * sizeof *y));
    CHECK_OK(context, solve_on(found, ts_host(b, count), device_x, NULL));
    CHECK_CUDA(cudaMemcpy(y, device_x.data, count * sizeof *y, cudaMemcpyDeviceToHost));
    CHECK(memcmp(x, y, count * sizeof *x) == 0);
    solve_from(found, device_b, ts_host((const double *)x, count), device_x);
    solve_from(found, device_b, device_x, device_x);
    free_device(&device_b), free_device(&device_x);
    free(b), free(x), free(y);
  }
  CHECK(logged[0] == 0);
  ts_matrix_destroy(&expected);
  ts_matrix_destroy(&found);
  free_given(&g);
  ref_free(&m);
}

/* The set-up on the device needs no host copy. The set-up on the host reads the entries back. */
static void amg_of_device_matrix(void) {
  ref_matrix m = ref_grid(120, 100);
  given g = make_given(&m, TS_TYPE_INT32, TS_TYPE_DOUBLE, 1);
  ts_matrix *A = create(&g.device, TS_FORMAT_CSR, TS_PRECISION_AUTO), *B = NULL;
  const ts_matrix_desc desc = {.csr = g.host, .format = TS_FORMAT_CSR, .keep_host_copy = 1};
  const ts_preconditioner_desc amg = {.kind = TS_PRECONDITIONER_AMG};
  ts_preconditioner *M = NULL, *N = NULL;
  ts_amg_info found, expected;
  CHECK_OK(context, ts_matrix_create(context, &desc, &B));
  REQUIRE_OK(context, ts_preconditioner_create(A, &amg, &M));
  REQUIRE_OK(context, ts_preconditioner_create(B, &amg, &N));
  CHECK_OK(context, ts_preconditioner_get_amg_info(M, &found));
  CHECK_OK(context, ts_preconditioner_get_amg_info(N, &expected));
  CHECK_INT(found.levels, expected.levels);
  CHECK(found.levels > 1);
  CHECK_CLOSE(found.operator_complexity, expected.operator_complexity, 0);
  CHECK(logged[0] == 0);
  ts_preconditioner_destroy(&M);
  ts_preconditioner_destroy(&N);
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&B);
  free_given(&g);
  ref_free(&m);
}

/* ---- Vectors in the application's memory ---- */

static void doubles_beside_a_vector(void) {
  for (int components = 1; components <= 4; components++) {
    ts_space *space = make_space(context, size);
    const size_t count = (size_t)size * (size_t)components;
    double *values = ref_doubles(count, 4, -1, 1), *found = malloc(count * sizeof *found);
    values[0] = 1e-60, values[1] = 1e300, values[2] = -0.0;
    ts_array device = to_device(ts_host(values, count)), array = {0};
    ts_vector *x = NULL, *y = make_of(space, components, TS_PRECISION_DOUBLE);
    struct CUstream_st *stream = NULL;
    test_context_label("%d components", components);
    CHECK_OK(context, ts_cuda_get_stream(context, &stream));
    REQUIRE_OK(context, ts_cuda_vector_from_array(space, components, device, &x));
    CHECK_OK(context, ts_cuda_vector_get_array(x, &array));
    CHECK(array.data == device.data && array.type == TS_TYPE_DOUBLE && array.stream == stream);
    CHECK_INT(array.count, count);
    const uint64_t before = waits();
    CHECK_OK(context, ts_vector_copy(y, x));
    CHECK_OK(context, ts_vector_axpby(y, ts_constant(0), x, ts_constant(3)));
    CHECK_INT(waits(), before);
    CHECK_OK(context, ts_context_finish(context));
    CHECK_CUDA(cudaMemcpy(found, device.data, count * sizeof *found, cudaMemcpyDeviceToHost));
    CHECK(memcmp(found, values, count * sizeof *found) == 0); /* no call has changed the memory */
    /* Writes of the application on the context's stream change the vector, and vice versa. */
    for (size_t k = 0; k < count; k++) values[k] = (double)k + 1e-9;
    CHECK_CUDA(cudaMemcpyAsync(device.data, values, count * sizeof *values, cudaMemcpyHostToDevice, stream));
    double *read = read_doubles(x);
    CHECK(memcmp(read, values, count * sizeof *values) == 0);
    CHECK_OK(context, ts_vector_scale(x, ts_constant(-2)));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK_CUDA(cudaMemcpy(found, device.data, count * sizeof *found, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < count; k++)
      if (!CHECK_CLOSE(found[k], -2 * values[k], 1e-13 * values[k])) break;
    ts_vector_destroy(&x);
    CHECK_OK(context, ts_vector_fill(y, 1));
    free(values), free(found), free(read);
    free_device(&device);
    ts_vector_destroy(&y);
    ts_space_destroy(&space);
  }
}

static void solve_in_own_memory(void) {
  ref_matrix m = ref_grid(25, 25);
  given g = make_given(&m, TS_TYPE_INT32, TS_TYPE_DOUBLE, 1);
  ts_matrix *A = create(&g.device, TS_FORMAT_CSR, TS_PRECISION_AUTO);
  ts_space *space = ts_matrix_get_row_space(A);
  const size_t count = (size_t)m.rows;
  double *b = ref_doubles(count, 6, -1, 1), *x = calloc(count, sizeof *x);
  ts_array device_b = to_device(ts_host(b, count)), device_x = to_device(ts_host(x, count));
  ts_vector *vb = NULL, *vx = NULL;
  const ts_solver_desc desc = {.rtol = 1e-12};
  REQUIRE_OK(context, ts_cuda_vector_from_array(space, 1, device_b, &vb));
  REQUIRE_OK(context, ts_cuda_vector_from_array(space, 1, device_x, &vx));
  CHECK_OK(context, solve_vectors(A, vb, vx, &desc, NULL));
  CHECK_OK(context, ts_context_finish(context));
  CHECK_CUDA(cudaMemcpy(x, device_x.data, count * sizeof *x, cudaMemcpyDeviceToHost));
  const double *values = g.numbers[2];
  double worst = 0, norm = 0;
  for (int32_t i = 0; i < m.rows; i++) {
    ref_sum sum = {b[i], 0};
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++)
      ref_add_product(&sum, -values[e], x[m.indices[e]]);
    worst = fmax(worst, fabs(sum.value + sum.low));
    norm = fmax(norm, fabs(b[i]));
  }
  CHECK(worst < 1e-10 * norm);
  ts_vector_destroy(&vb);
  ts_vector_destroy(&vx);
  ts_matrix_destroy(&A);
  free_device(&device_b), free_device(&device_x);
  free(b), free(x);
  free_given(&g);
  ref_free(&m);
}

static const test_fixture logging = {.context = &context, .desc = logging_desc};

TEST_MAIN(CASES_WITH(&logging, vectors, order_of_streams, memory_of_all_kinds, refused_arrays, another_backend,
                     matrices, plans_of_rows, unsymmetric_entries, replaced_values, triplets, unsorted_rows,
                     faulty_matrices, faulty_triplets, through_the_host, no_entries, memory_that_runs_out,
                     columns_of_arrays, amg_of_device_matrix, doubles_beside_a_vector, solve_in_own_memory))
