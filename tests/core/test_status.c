/* Names and texts of statuses, reasons, formats and backends, and the behaviour of NULL handles. */
#include "helpers.h"

#include <texsolve/gl.h>

static void names(void) {
#define STATUS(name, value, text)                                                                              \
  CHECK_INT(name, value);                                                                                      \
  CHECK(strcmp(ts_status_name(name), #name) == 0);                                                             \
  CHECK(strcmp(ts_status_text(name), text) == 0);
  TS_STATUS_LIST(STATUS)
#undef STATUS
  CHECK_CONTAINS(ts_status_name((ts_status)77), "unknown status");
  CHECK_CONTAINS(ts_status_text((ts_status)-77), "unknown status");

#define REASON(name, value, text)                                                                              \
  CHECK_INT(name, value);                                                                                      \
  CHECK(strcmp(ts_reason_text(name), text) == 0);
  TS_REASON_LIST(REASON)
#undef REASON
  CHECK(ts_reason_text((ts_reason)99) != NULL);

#define FORMAT(name, value, text)                                                                              \
  CHECK(strcmp(ts_format_name(name), text) == 0);                                                              \
  CHECK_INT(ts_format_from_name(text), value);
  TS_FORMAT_LIST(FORMAT)
#undef FORMAT
  CHECK(ts_format_name((ts_format)99) == NULL);
  CHECK(ts_format_name((ts_format)-1) == NULL);
  CHECK_INT(ts_format_from_name("ellpack"), -1);
  CHECK_INT(ts_format_from_name(""), -1);
  CHECK_INT(ts_format_from_name(NULL), -1);

  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", TS_VERSION_MAJOR, TS_VERSION_MINOR, TS_VERSION_PATCH);
  CHECK(strcmp(ts_version(), version) == 0);
}

static void backends(void) {
  int count = 0, gl = 0, cpu = 0;
  for (const char *name; (name = ts_backend_name(count)) != NULL && count < 100; count++) {
    CHECK(name[0] != 0);
    gl += strcmp(name, "gl") == 0;
    cpu += strcmp(name, "cpu") == 0;
    for (int other = 0; other < count; other++) CHECK(strcmp(name, ts_backend_name(other)) != 0);
  }
  CHECK_INT(gl, 1);
  CHECK_INT(cpu, 1);
  CHECK(count < 100);
  CHECK(ts_backend_name(count) == NULL);
  CHECK(ts_backend_name(-1) == NULL);
  CHECK(ts_backend_name(1000000) == NULL);
}

/* Destroy functions accept NULL and a pointer to a NULL handle. */
static void null_destroy(void) {
#define DESTROY(type)                                                                                          \
  do {                                                                                                         \
    type *none = NULL;                                                                                         \
    type##_destroy(NULL);                                                                                      \
    type##_destroy(&none);                                                                                     \
    CHECK(none == NULL);                                                                                       \
  } while (0)
  DESTROY(ts_context);
  DESTROY(ts_space);
  DESTROY(ts_scalars);
  DESTROY(ts_vector);
  DESTROY(ts_matrix);
  DESTROY(ts_solver);
  DESTROY(ts_preconditioner);
#undef DESTROY
}

#define REFUSES(call) CHECK_FAILS(NULL, call, TS_ERROR_INVALID_ARGUMENT, "NULL")

static void null_arguments(void) {
  ts_context_info info;
  ts_space_desc space_desc = {.size = 4};
  ts_scalars_desc scalars_desc = {.count = 4};
  ts_matrix_desc matrix_desc = {0};
  ts_matrix_info matrix_info;
  ts_space *space = NULL;
  ts_vector *vector = NULL;
  ts_scalars *scalars = NULL;
  ts_matrix *matrix = NULL;
  ts_solver *cg = NULL;
  ts_csr csr;
  float value = 0;
  REFUSES(ts_context_create(NULL, NULL));
  REFUSES(ts_context_get_info(NULL, &info));
  REFUSES(ts_context_finish(NULL));
  REFUSES(ts_space_create(NULL, &space_desc, &space));
  REFUSES(ts_scalars_create(NULL, &scalars_desc, &scalars));
  REFUSES(ts_scalars_write(NULL, 0, ts_host(&value, 4)));
  REFUSES(ts_scalars_read(NULL, 0, ts_host(&value, 4)));
  REFUSES(ts_vector_create(NULL, NULL, &vector));
  REFUSES(ts_vector_write(NULL, ts_host(&value, 1)));
  REFUSES(ts_vector_read(NULL, ts_host(&value, 1)));
  REFUSES(ts_vector_fill(NULL, 1));
  REFUSES(ts_vector_copy(NULL, NULL));
  REFUSES(ts_vector_scale(NULL, ts_constant(1)));
  REFUSES(ts_vector_axpby(NULL, ts_constant(1), NULL, ts_constant(1)));
  REFUSES(ts_vector_multiply(NULL, NULL, NULL));
  REFUSES(ts_vector_reciprocal(NULL, NULL));
  REFUSES(ts_vector_dot(NULL, 0, NULL, NULL));
  REFUSES(ts_vector_norm(NULL, 0, NULL, TS_NORM_2));
  REFUSES(ts_vector_sum(NULL, 0, NULL));
  REFUSES(ts_vector_max(NULL, 0, NULL));
  REFUSES(ts_matrix_create(NULL, &matrix_desc, &matrix));
  REFUSES(ts_matrix_set_values(NULL, &csr));
  REFUSES(ts_matrix_get_info(NULL, &matrix_info));
  REFUSES(ts_matrix_get_host_copy(NULL, &csr));
  REFUSES(ts_matrix_multiply(NULL, NULL, NULL));
  REFUSES(ts_matrix_residual(NULL, NULL, NULL, NULL));
  REFUSES(ts_matrix_diagonal(NULL, NULL));
  REFUSES(ts_solver_create(NULL, NULL, &cg));
  REFUSES(ts_solver_solve(NULL, NULL, NULL, NULL));
  CHECK(!space && !vector && !scalars && !matrix && !cg);
  CHECK_INT(ts_space_get_size(NULL), 0);
  CHECK(ts_vector_get_space(NULL) == NULL);
  CHECK_INT(ts_vector_get_components(NULL), 0);
  CHECK(ts_matrix_get_row_space(NULL) == NULL);
  CHECK(ts_matrix_get_column_space(NULL) == NULL);
}

#if defined(TEXSOLVE_HAVE_GL)
static void null_arguments_gl(void) {
  ts_gl_texture texture;
  ts_vector *vector = NULL;
  unsigned name = 0;
  int width, height;
  int32_t texels[2];
  ts_gl_info info;
  REFUSES(ts_gl_get_info(NULL, &info));
  REFUSES(ts_gl_vector_get_texture(NULL, &texture));
  REFUSES(ts_gl_vector_from_texture(NULL, 1, 1, &vector));
  REFUSES(ts_gl_space_get_size(NULL, &width, &height));
  REFUSES(ts_gl_space_get_texels(NULL, texels, 2));
  REFUSES(ts_gl_space_get_index_texture(NULL, &name));
  REFUSES(ts_gl_make_current(NULL));
  REFUSES(ts_gl_release_current(NULL));
  CHECK(vector == NULL);
}
#endif

static void last_error(void) {
  CHECK(ts_last_error(NULL) != NULL);
  ts_context_create(NULL, NULL);
  CHECK(ts_last_error(NULL)[0] != 0);
  CHECK_CONTAINS(ts_last_error(NULL), "context");
}

static const test_group groups[] = {CASES(names, backends, null_destroy, null_arguments, last_error),
#if defined(TEXSOLVE_HAVE_GL)
                                    CASES(null_arguments_gl),
#endif
                                    {.cases = NULL}};
int main(int argc, char **argv) {
  return test_main(argc, argv, groups, TEST_HOST_ONLY);
}
