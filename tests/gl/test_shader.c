/* Shaders from a directory: they replace the built-in ones. A broken one is reported with its file, its line
 * and the driver's message, and a missing one is replaced by the built-in one. */
#include "helpers.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TEXSOLVE_TEST_SHADERS
#error "TEXSOLVE_TEST_SHADERS is the shader directory of the source tree"
#endif

static char directory[512];

static const char *const rooms[] = {"core", "matrix", "krylov", "grid", "mesh", "fluid", "include"};
enum { room_count = sizeof rooms / sizeof rooms[0] };

static void path_of(char path[1200], const char *name) {
  snprintf(path, 1200, "%s/%s", directory, name);
}

static int make_directory(void) {
  char name[] = "/tmp/texsolve-shaders-XXXXXX";
  if (!CHECK(mkdtemp(name) != NULL)) return 0;
  snprintf(directory, sizeof directory, "%s", name);
  for (int k = 0; k < room_count; k++) {
    char path[1200];
    path_of(path, rooms[k]);
    mkdir(path, 0777);
  }
  return 1;
}

static void remove_directory(void) {
  for (int k = 0; k <= room_count; k++) {
    char folder[1200], path[1600];
    path_of(folder, k < room_count ? rooms[k] : "");
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing)) != NULL;) {
      snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
      if (entry->d_name[0] != '.') remove(path);
    }
    if (listing) closedir(listing);
    rmdir(folder);
  }
}

static char *read_file(const char *name) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", TEXSOLVE_TEST_SHADERS, name);
  FILE *file = fopen(path, "rb");
  if (!CHECK(file != NULL)) return NULL;
  char *text = calloc(1, 100000);
  CHECK(fread(text, 1, 99999, file) > 0);
  fclose(file);
  return text;
}

/* Writes a file in a subdirectory. */
static void write_file(const char *name, const char *text) {
  char path[1200];
  path_of(path, name);
  FILE *file = fopen(path, "wb");
  if (!CHECK(file != NULL)) return;
  fputs(text, file);
  fclose(file);
}

/* Uses all shaders. Returns the first failure. */
static ts_status use_everything(ts_context *context) {
  ref_matrix m = ref_dense_row(700, 3, 4), grid = ref_grid(9, 9);
  ts_status status = TS_OK;
  for (ts_format f = texture_format_after(TS_FORMAT_AUTO); f && status == TS_OK; f = texture_format_after(f))
    for (int k = 0; k < 2 && status == TS_OK; k++) {
      ts_matrix_desc desc = {0};
      desc.csr = ref_csr(k ? &m : &grid);
      desc.format = f;
      ts_matrix *matrix = NULL;
      ts_vector *x = NULL, *y = NULL;
      ts_scalars *scalars = NULL;
      ts_solver *cg = NULL;
      const ts_scalars_desc four = {.count = 4};
      status = ts_matrix_create(context, &desc, &matrix);
      if (status == TS_OK) status = ts_vector_create(ts_matrix_get_row_space(matrix), NULL, &x);
      if (status == TS_OK) status = ts_vector_create(ts_matrix_get_row_space(matrix), NULL, &y);
      if (status == TS_OK) status = ts_scalars_create(context, &four, &scalars);
      if (status == TS_OK) status = ts_vector_fill(x, 2);
      if (status == TS_OK) status = ts_matrix_multiply(y, matrix, x);
      if (status == TS_OK) status = ts_matrix_residual(y, y, matrix, x);
      if (status == TS_OK) status = ts_matrix_diagonal(y, matrix);
      if (status == TS_OK) status = ts_vector_reciprocal(y, x);
      if (status == TS_OK) status = ts_vector_multiply(y, x, y);
      if (status == TS_OK) status = ts_vector_axpby(y, ts_constant(1), x, ts_constant(1));
      if (status == TS_OK) status = ts_vector_dot(scalars, 0, x, y);
      if (status == TS_OK) status = ts_vector_norm(scalars, 1, x, TS_NORM_2);
      if (status == TS_OK) status = ts_vector_norm(scalars, 1, x, TS_NORM_INFINITY);
      if (status == TS_OK) status = ts_vector_sum(scalars, 2, y);
      if (status == TS_OK) status = ts_vector_max(scalars, 2, y);
      if (status == TS_OK && k == 0) status = ts_solver_create(matrix, NULL, &cg);
      if (status == TS_OK && k == 0) status = ts_vector_fill(y, 0);
      if (status == TS_OK && k == 0) status = ts_solver_solve(cg, x, y, NULL);
      if (status > 0) status = TS_OK; /* the accuracy of single precision does not matter here */
      char message[600];
      snprintf(message, sizeof message, "%s", ts_last_error(context));
      ts_solver_destroy(&cg);
      ts_vector_destroy(&x);
      ts_vector_destroy(&y);
      ts_scalars_destroy(&scalars);
      ts_matrix_destroy(&matrix);
      /* Destroying keeps the last error. */
      CHECK(strcmp(message, ts_last_error(context)) == 0);
    }
  ref_free(&m);
  ref_free(&grid);
  return status;
}

/* Opens with the directory and uses all shaders. Copies the failure's message. */
static ts_status use_shaders(char message[600], int by_environment) {
  ts_context_desc desc = test_desc();
  ts_context *context = NULL;
  if (by_environment)
    setenv("TEXSOLVE_SHADER_DIR", directory, 1);
  else
    test_gl()->shader_dir = directory;
  ts_status status = ts_context_create(&desc, &context);
  snprintf(message, 600, "%s", status ? ts_last_error(NULL) : "");
  unsetenv("TEXSOLVE_SHADER_DIR");
  if (status == TS_OK) {
    status = use_everything(context);
    snprintf(message, 600, "%s", status ? ts_last_error(context) : "");
    test_close(&context);
  }
  return status;
}

static void empty_directory(void) {
  char message[600];
  REQUIRE(make_directory());
  for (int k = 0; k < 2; k++) {
    CHECK_INT(use_shaders(message, k), TS_OK);
    CHECK(message[0] == 0);
  }
  remove_directory();
  CHECK_INT(use_shaders(message, 0), TS_OK); /* the directory does not exist */
}

static int is_shader(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && (!strcmp(dot, ".frag") || !strcmp(dot, ".vert"));
}

/* Each shader of a subdirectory in turn gets an error in a known line, and the message must name exactly that
 * file and line. Returns the number of shaders that are compiled here. */
static int break_shaders(const char *room) {
  char folder[600];
  snprintf(folder, sizeof folder, "%s/%s", TEXSOLVE_TEST_SHADERS, room);
  DIR *listing = opendir(folder);
  int used = 0;
  if (!CHECK(listing != NULL)) return 0;
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    if (!is_shader(entry->d_name)) continue;
    char name[300], message[600];
    snprintf(name, sizeof name, "%s/%s", room, entry->d_name);
    char *text = read_file(name);
    if (!text || !make_directory()) break;
    int lines = 1;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    if (strlen(text) && text[strlen(text) - 1] != '\n') strcat(text, "\n"), lines++;
    strcat(text, "int broken = this_is_not_declared;\n");
    write_file(name, text);
    test_context_label("%s", name);
    const ts_status status = use_shaders(message, used & 1);
    if (status != TS_OK) { /* some shaders are for another variant and are not compiled here */
      char place[330];
      snprintf(place, sizeof place, "%s:%d", name, lines);
      CHECK_INT(status, TS_ERROR_SHADER);
      CHECK_CONTAINS(message, place);
      CHECK_CONTAINS(message, "this_is_not_declared"); /* the driver's message */
      CHECK(strchr(message, '\n') == NULL);
      used++;
    }
    remove_directory();
    free(text);
  }
  test_context_label("%s", "");
  closedir(listing);
  return used;
}

static void broken_shaders(void) {
  int used = 0;
  for (int k = 0; k < room_count; k++)
    if (strcmp(rooms[k], "include")) used += break_shaders(rooms[k]);
  CHECK(used >= 4);
}

/* An error in an included file names that file, not the including one, and line numbers restart after it. */
static void broken_include(void) {
  DIR *listing = opendir(TEXSOLVE_TEST_SHADERS "/include");
  int used = 0;
  REQUIRE(listing);
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    if (!strstr(entry->d_name, ".glsl")) continue;
    char name[300], place[330], message[600];
    snprintf(name, sizeof name, "include/%s", entry->d_name);
    char *text = read_file(name);
    if (!text || !make_directory()) break;
    char *broken = malloc(strlen(text) + 100);
    strcpy(broken, "\n\nint broken = this_is_not_declared;\n"); /* in line 3 */
    strcat(broken, text);
    write_file(name, broken);
    test_context_label("%s", name);
    const ts_status status = use_shaders(message, 0);
    if (status != TS_OK) {
      snprintf(place, sizeof place, "%s:3", entry->d_name);
      CHECK_INT(status, TS_ERROR_SHADER);
      CHECK_CONTAINS(message, place);
      CHECK_CONTAINS(message, "this_is_not_declared");
      used++;
    }
    remove_directory();
    free(broken);
    free(text);
  }
  test_context_label("%s", "");
  closedir(listing);
  CHECK(used >= 1);
}

/* A valid shader in the directory is really used: a changed shader gives a changed result. */
static void shader_is_used(void) {
  char *text = read_file("core/axpby.frag");
  REQUIRE(text && make_directory());
  char *end = strrchr(text, '}');
  REQUIRE(end != NULL);
  /* Doubles the result of main. */
  strcpy(end, "  result *= 2.0;\n}\n");
  write_file("core/axpby.frag", text);
  ts_context_desc desc = test_desc();
  test_gl()->shader_dir = directory;
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  ts_space *space = make_space(context, 10);
  ts_vector *x = make_vector(space, 1, NULL);
  CHECK_OK(context, ts_vector_fill(x, 3));
  CHECK_OK(context, ts_vector_scale(x, ts_constant(5)));
  float *values = read_vector(x);
  CHECK_CLOSE(values[0], 30, 0);
  free(values), free(text);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
  test_close(&context);
  remove_directory();
}

/* After a broken shader the context still works without it. */
static void goes_on(void) {
  char *text = read_file("core/axpby.frag");
  REQUIRE(text && make_directory());
  write_file("core/axpby.frag", "this is no shader\n");
  ts_context_desc desc = test_desc();
  test_gl()->shader_dir = directory;
  ts_context *context = NULL;
  if (ts_context_create(&desc, &context) == TS_OK) {
    ts_space *space = make_space(context, 10);
    ts_vector *x = make_vector(space, 1, NULL);
    CHECK_OK(context, ts_vector_fill(x, 3));
    CHECK_FAILS(context, ts_vector_scale(x, ts_constant(5)), TS_ERROR_SHADER, "axpby.frag:1");
    CHECK_FAILS(context, ts_vector_scale(x, ts_constant(5)), TS_ERROR_SHADER, "axpby.frag:1");
    float *values = read_vector(x);
    CHECK_CLOSE(values[9], 3, 0);
    free(values);
    ts_vector_destroy(&x);
    ts_space_destroy(&space);
    test_close(&context);
  }
  free(text);
  remove_directory();
}

/* Writes include/exact.glsl with `from` replaced by `to`, and changes the text in memory too. */
static int edit_exact(char *text, const char *from, const char *to) {
  char *edited = calloc(1, 100000), *at = strstr(text, from);
  const int found = CHECK(edited && at);
  if (found) {
    sprintf(edited, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    strcpy(text, edited);
    write_file("include/exact.glsl", text);
  }
  free(edited);
  return found;
}

static void expect_exact_sums(const char *expected, const char *other) {
  char message[600];
  ts_context_desc desc = test_desc();
  ts_context *context = NULL;
  test_gl()->shader_dir = directory;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  const char *found = gl_info(context).exact_sums;
  if (strcmp(found, expected) && strcmp(found, other))
    test_fail(__FILE__, __LINE__, "exact sums by %s, expected %s or %s", found, expected, other);
  test_close(&context);
  CHECK_INT(use_shaders(message, 0), TS_OK); /* uses them with this method */
  CHECK_CONTAINS(message, "");
}

/* If the first method does not keep sums exact, the next one is used. If all of them fail, this is reported.
 * Mesa simplifies sums unless it is prevented, but other compilers may leave them unchanged. */
static void exact_sums(void) {
  char *text = read_file("include/exact.glsl");
  REQUIRE(text && make_directory());
  if (test_desc().flags & TS_CONTEXT_NO_FUSED_OPERATIONS) {
    expect_exact_sums("none", "none");
  } else {
    write_file("include/exact.glsl", text);
    expect_exact_sums("precise", "uniform");
    if (edit_exact(text, "precise result = value", "result = value")) expect_exact_sums("uniform", "precise");
    if (edit_exact(text, "#define ZERO p[7].w", "#define ZERO 0")) expect_exact_sums("texel", "precise");
    if (edit_exact(text, "#define ZERO texelFetch(exact_zero, ivec2(0), 0).x", "#define ZERO 0"))
      expect_exact_sums("integer", "precise"); /* the compiler may now simplify all sums of floats */
    char *integer = read_file("include/exact_integer.glsl"),
         *at = integer ? strstr(integer, "unit == 0") : NULL;
    if (CHECK(at)) {
      memcpy(at, "unit >= 0", 9); /* errors of sums are 0 */
      write_file("include/exact_integer.glsl", integer);
      expect_exact_sums("none", "precise");
    }
    free(integer);
  }
  free(text);
  remove_directory();
}

TEST_MAIN(CASES(empty_directory, broken_shaders, broken_include, shader_is_used, goes_on, exact_sums))
