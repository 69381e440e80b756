/* Runs the examples of the headers' opening comments, as C and as C++, on one backend: test_examples BACKEND */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

static ts_context *context;
static const char *present = "set-up";

ts_status example_must(ts_status status, const char *function) {
  if (status == TS_OK) return status;
  const char *message = ts_last_error(context);
  printf("%s: %s: %s: %s\n", present, function, ts_status_name(status),
         *message ? message : ts_last_error(NULL));
  exit(1);
}

void example_number(double number, double expected) {
  if (fabs(number - expected) <= 1e-3 * fmax(fabs(expected), 1)) return;
  printf("%s: %g, and the comment says %g\n", present, number, expected);
  exit(1);
}

static void run(const char *name, example_fn *example) {
  const int offsets[] = {0, 2, 5, 7}, columns[] = {0, 1, 0, 1, 2, 1, 2};
  const double values[] = {2, -1, -1, 2, -1, -1, 2}, numbers[] = {1, 2, 3};
  const ts_matrix_desc desc = {.csr = ts_host_csr(3, 3, offsets, columns, values), .keep_host_copy = 1};
  ts_matrix *A;
  ts_vector *b, *x;
  example_must(ts_matrix_create(context, &desc, &A), "ts_matrix_create");
  example_must(ts_vector_create(ts_matrix_get_row_space(A), NULL, &b), "ts_vector_create");
  example_must(ts_vector_create(ts_matrix_get_row_space(A), NULL, &x), "ts_vector_create");
  example_must(ts_vector_write(b, ts_host(numbers, 3)), "ts_vector_write");
  present = name;
  example(context, A, b, x);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  ts_context_info info;
  example_must(ts_context_get_info(context, &info), "ts_context_get_info");
  if (info.bytes_device) printf("%s: %zu bytes of the device are left\n", name, info.bytes_device), exit(1);
}

int main(int argc, char **argv) {
  const ts_context_desc desc = {.backend = argc > 1 ? argv[1] : "cpu"};
  const ts_status status = ts_context_create(&desc, &context);
  if (status == TS_ERROR_UNAVAILABLE) return 77;
  example_must(status, "ts_context_create");
#define EXAMPLE_RUN(name)                                                                                      \
  run(#name ".h in C", example_##name##_c), run(#name ".h in C++", example_##name##_cxx);
  EXAMPLES(EXAMPLE_RUN)
  ts_context_destroy(&context);
  return 0;
}
