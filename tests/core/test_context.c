/* Opening a device: every field of the descriptor, what is refused, and the information about the context. */
#include <pthread.h>

#include "application.h"
#include "helpers.h"

static ts_context *context;

static const char *plain_name(void) { /* the backend's name without wrappers */
  return test_is_gl() ? "gl" : test_is_cpu() ? "cpu" : "cuda";
}

static void information(void) {
  CHECK_CONTAINS(ts_last_error(context), "");
  const ts_context_info info = context_info(context);
  const ts_context_desc desc = test_desc();
  const size_t named = strcspn(info.backend, " "); /* without the number of a device or of ranks */
  CHECK(strncmp(info.backend, desc.backend, named) == 0);
  CHECK(info.device && info.device[0]);
  CHECK(info.driver && info.driver[0]);
  CHECK(info.is_hardware == 0 || info.is_hardware == 1);
  CHECK_INT(info.bytes_device, 0);
  CHECK_INT(info.host_synchronisations, 0);
  if (test_is_gl()) {
    const ts_gl_info gl = gl_info(context);
    CHECK(gl.rectangle_width >= 4 && gl.rectangle_height >= 4);
    CHECK(gl.max_texture_size >= 1024); /* guaranteed by OpenGL 3.3 */
    CHECK_INT(info.threads, 0);
    if (desc.gl->flags & TS_GL_NO_TEXTURE_BARRIER) CHECK_INT(gl.texture_barrier, 0);
  } else {
    CHECK(test_is_cpu() ? info.threads >= 1 : info.threads == 0);
    CHECK_INT(info.is_hardware, 1);
  }
  CHECK_OK(context, ts_context_finish(context));
  CHECK_FAILS(context, ts_context_get_info(context, NULL), TS_ERROR_INVALID_ARGUMENT, "info");
}

static void refuse(const ts_context_desc *desc, ts_status status, const char *part, const char *other) {
  ts_context *none = (ts_context *)(uintptr_t)1;
  CHECK_FAILS(NULL, ts_context_create(desc, &none), status, part, other);
  CHECK(none == NULL);
}

static void unknown_backends(void) {
  static const char *const names[] = {
      "metal", "glx", "gl:x", "gl:-1", "check:", "check:metal", "cpu:abc", " gl", "GL"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    ts_context_desc desc = test_desc();
    desc.backend = names[i];
    test_context_label("%s", names[i]);
    refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "backend", names[i]);
  }
  ts_context_desc desc = test_desc();
  char longest[400];
  memset(longest, 'g', sizeof longest);
  longest[sizeof longest - 1] = 0;
  desc.backend = longest;
  test_context_label("a long name");
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "backend", "ggg");
}

static void numbered_name(char *name, size_t size, int device) {
  snprintf(name, size, "%s%s:%d", test_is_check() ? "check:" : "", plain_name(), device);
}

static void no_such_device(void) {
  if (test_is_cpu() || test_is_application()) return;
  ts_context_desc desc = test_desc();
  char name[32];
  numbered_name(name, sizeof name, 997);
  desc.backend = name;
  if (desc.gl->platform == TS_GL_PLATFORM_WINDOW) return; /* a window has only one device */
  refuse(&desc, TS_ERROR_UNAVAILABLE, "997", plain_name());
}

static void first_device(void) {
  if (test_is_cpu() || test_is_application()) return;
  ts_context_desc desc = test_desc();
  if (desc.gl->platform == TS_GL_PLATFORM_WINDOW) return;
  char name[32];
  numbered_name(name, sizeof name, 0);
  desc.backend = name;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  CHECK_CONTAINS(context_info(context).backend, plain_name());
  test_close(&context);
}

static void automatic(void) {
  ts_context_desc desc = test_desc();
  for (int k = 0; k < 3; k++) {
    desc.backend = k == 0 ? "auto" : NULL;
    test_context_label("auto %d", k);
    /* The last round passes no descriptor. */
    REQUIRE_OK(NULL, ts_context_create(k == 2 ? NULL : &desc, &context));
    const ts_context_info info = context_info(context);
    CHECK(!strcmp(info.backend, "cuda") || !strcmp(info.backend, "gl") || !strcmp(info.backend, "cpu"));
    CHECK_INT(info.is_hardware, 1); /* never a software rasterizer */
    test_close(&context);
  }
}

static int messages;
static void count_info(ts_log_level level, const char *message, void *user) {
  (void)user;
  if (level == TS_LOG_LEVEL_INFO && strstr(message, "backend ")) messages++;
}

static void automatic_logs_its_choice(void) {
  ts_context_desc desc = {0};
  desc.log = count_info;
  desc.log_level = TS_LOG_LEVEL_INFO;
  messages = 0;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  CHECK(messages > 0);
  test_close(&context);
}

static int lines_at_default;
static void count_lines(ts_log_level level, const char *message, void *user) {
  (void)message, (void)user;
  if (level != TS_LOG_LEVEL_WARNING) lines_at_default++;
}

static void log_level(void) {
  ts_context_desc desc = test_desc();
  desc.log = count_lines;
  desc.log_level = 0; /* warnings only */
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  test_close(&context);
  CHECK_INT(lines_at_default, 0);
  desc.log_level = (ts_log_level)17;
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "log_level", "17");
}

static void rectangles(void) {
  static const int refused[][2] = {{3, 4},  {4, 3}, {512, 4}, {4, 512}, {-4, 4},
                                   {4, -4}, {4, 0}, {0, 4},   {2, 4},   {1, 1}};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    ts_context_desc desc = test_desc();
    test_gl()->rectangle_width = refused[i][0];
    test_gl()->rectangle_height = refused[i][1];
    char shape[32];
    snprintf(shape, sizeof shape, "%d x %d", refused[i][0], refused[i][1]);
    test_context_label("%s", shape);
    refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "rectangle", shape);
  }
  static const int taken[][2] = {{4, 4}, {256, 256}, {4, 64}};
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
    ts_context_desc desc = test_desc();
    test_gl()->rectangle_width = taken[i][0];
    test_gl()->rectangle_height = taken[i][1];
    test_context_label("%d x %d", taken[i][0], taken[i][1]);
    CHECK_OK(NULL, ts_context_create(&desc, &context));
    if (context && test_is_gl()) {
      CHECK_INT(gl_info(context).rectangle_width, taken[i][0]);
      CHECK_INT(gl_info(context).rectangle_height, taken[i][1]);
    }
    test_close(&context);
  }
}

static void bad_fields(void) {
  ts_context_desc desc = test_desc();
  desc.threads = -3;
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "threads", "-3");
  desc = test_desc();
  test_gl()->max_texture_size = -1;
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "max_texture_size", "-1");
  desc = test_desc();
  desc.flags |= 1u << 30;
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "flags", "");
  desc = test_desc();
  test_gl()->platform = (ts_gl_platform)9;
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "gl.platform", "9");
}

static void *some_malloc(size_t bytes, void *user) {
  (void)user;
  return malloc(bytes);
}

static void half_an_allocator(void) {
  ts_context_desc desc = test_desc();
  desc.allocator.malloc_fn = some_malloc;
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "allocator", "");
}

static void threads(void) {
  if (!test_is_cpu()) return;
#ifdef TEXSOLVE_HAVE_THREADS
  const int most = 3;
#else
  const int most = 1; /* larger requests give one thread */
#endif
  for (int count = 1; count <= 3; count++) {
    ts_context_desc desc = test_desc();
    desc.threads = count;
    CHECK_OK(NULL, ts_context_create(&desc, &context));
    if (context) CHECK_INT(context_info(context).threads, count < most ? count : most);
    test_close(&context);
  }
}

static void texture_limit(void) {
  if (!test_is_gl()) return;
  ts_context_desc desc = test_desc();
  test_gl()->max_texture_size = 256;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  CHECK_INT(gl_info(context).max_texture_size, 256);
  test_close(&context);
  test_gl()->max_texture_size = 1 << 30; /* more than any device supports, so the device's limit applies */
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  CHECK(gl_info(context).max_texture_size < 1 << 30);
  test_close(&context);
}

/* OpenGL compiles each program once: a second use takes no time for compiling. */
static void shaders(void) {
  ts_space *space = make_space(context, 1000);
  ts_vector *x = make_vector(space, 1, NULL), *y = make_vector(space, 1, NULL);
  const double before = context_info(context).seconds_shaders;
  CHECK_OK(context, ts_vector_axpby(y, ts_constant(2), x, ts_constant(1)));
  const double after = context_info(context).seconds_shaders;
  CHECK(test_is_gl() ? after > before : after == 0);
  for (int k = 0; k < 3; k++) CHECK_OK(context, ts_vector_axpby(y, ts_constant(2), x, ts_constant(1)));
  CHECK(context_info(context).seconds_shaders == after);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_space_destroy(&space);
}

/* Only reading synchronises the host with the device. */
static void host_synchronisations(void) {
  ts_space *space = make_space(context, 1000);
  ts_vector *x = make_vector(space, 1, NULL), *y = make_vector(space, 1, NULL);
  ts_scalars *scalars = make_scalars(context, 2);
  const uint64_t before = context_info(context).host_synchronisations;
  CHECK_OK(context, ts_vector_fill(x, 2));
  CHECK_OK(context, ts_vector_dot(scalars, 0, x, x));
  CHECK_OK(context, ts_vector_axpby(y, ts_scaled(1, scalars, 0), x, ts_constant(0)));
  CHECK_OK(context, ts_vector_norm(scalars, 1, y, TS_NORM_INFINITY));
  CHECK_INT(context_info(context).host_synchronisations - before, 0);
  float values[8];
  CHECK_OK(context, ts_scalars_read(scalars, 0, ts_host(values, 8)));
  CHECK_INT(context_info(context).host_synchronisations - before, 1);
  CHECK_CLOSE(values[0], 4000, 0.01);
  CHECK_CLOSE(values[4], 8000, 0.02);
  float *read = read_vector(y);
  CHECK_INT(context_info(context).host_synchronisations - before, 2);
  free(read);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_scalars_destroy(&scalars);
  ts_space_destroy(&space);
}

/* A number that the backend uses is read back as it was set. Other numbers and bad values are refused by
 * name. */
static void tuning(void) {
  ts_tuning_entry entry, again;
  if (!context) return;
  int count = 0, has_interval = 0;
  for (; ts_context_get_tuning(context, count, &entry) == TS_OK; count++) {
    if (entry.value == 0) {
      CHECK_FAILS(context, ts_context_set_tuning(context, entry.name, 1), TS_ERROR_UNSUPPORTED, entry.name);
      continue;
    }
    CHECK_FAILS(context, ts_context_set_tuning(context, entry.name, 0), TS_ERROR_INVALID_ARGUMENT, entry.name);
    CHECK_FAILS(context, ts_context_set_tuning(context, entry.name, NAN), TS_ERROR_INVALID_ARGUMENT,
                entry.name);
    CHECK_FAILS(context, ts_context_set_tuning(context, entry.name, INFINITY), TS_ERROR_INVALID_ARGUMENT,
                entry.name);
    /* ghost_transfer selects one of four methods. The backend uses the last one, so twice its value would be
     * invalid. */
    const double other = strcmp(entry.name, "ghost_transfer") ? 2 * entry.value : 1;
    CHECK_OK(context, ts_context_set_tuning(context, entry.name, other));
    CHECK_OK(context, ts_context_get_tuning(context, count, &again));
    CHECK_CLOSE(again.value, other, 0);
    has_interval += !strcmp(entry.name, "check_interval");
  }
  CHECK_INT(has_interval, 1);
  CHECK_FAILS(context, ts_context_get_tuning(context, count, &entry), TS_ERROR_INVALID_ARGUMENT, "index");
  CHECK_FAILS(context, ts_context_get_tuning(context, -1, &entry), TS_ERROR_INVALID_ARGUMENT, "index");
  CHECK_FAILS(context, ts_context_get_tuning(context, 0, NULL), TS_ERROR_INVALID_ARGUMENT, "entry");
  CHECK_FAILS(context, ts_context_set_tuning(context, "blocks", 1), TS_ERROR_INVALID_ARGUMENT, "\"blocks\"");
  CHECK_FAILS(context, ts_context_set_tuning(context, NULL, 1), TS_ERROR_INVALID_ARGUMENT, "name");
  CHECK_FAILS(context, ts_context_set_tuning(context, "check_interval", 0.5), TS_ERROR_INVALID_ARGUMENT,
              "check_interval is 0.5");
}

/* Cheap blocks are chosen for a matrix of full blocks, and expensive ones are not. */
static void tuning_steers(void) {
  enum { nodes = 300, n = 4 * nodes };
  int32_t offsets[n + 1], *columns = malloc(4 * n * sizeof *columns);
  float *values = malloc(4 * n * sizeof *values);
  for (int32_t i = 0; i <= n; i++) offsets[i] = 4 * i;
  for (int32_t k = 0; k < 4 * n; k++) columns[k] = k / 16 * 4 + k % 4, values[k] = k / 4 == columns[k] ? 8 : 1;
  for (int dear = 0; dear < 2; dear++) {
    const ts_matrix_desc desc = {.csr = ts_host_csr(n, n, offsets, columns, values), .components = 1};
    ts_matrix *matrix = NULL;
    ts_matrix_info info;
    CHECK_OK(context, ts_context_set_tuning(context, "bcrs2_weight", dear ? 1e6 : 1e-6));
    CHECK_OK(context, ts_context_set_tuning(context, "bcrs4_weight", dear ? 1e6 : 1e-6));
    ts_context_set_tuning(context, "block_entries", 1); /* a small number of entries does not rule out blocks */
    ts_context_set_tuning(context, "many_entries", 1);
    CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
    CHECK_OK(context, ts_matrix_get_info(matrix, &info));
    if (test_is_multi()) /* the parts choose their formats */
      CHECK_INT(strstr(info.choice, "bcrs") != NULL, !dear);
    else
      CHECK_INT(info.blocks > 0, !dear);
    ts_matrix_destroy(&matrix);
  }
  free(columns), free(values);
}

/* An error message stays until the next call and is "" after a success. */
static void message_of_context(void) {
  const ts_space_desc desc = {.size = -5};
  ts_space *space = NULL;
  CHECK_FAILS(context, ts_space_create(context, &desc, &space), TS_ERROR_INVALID_ARGUMENT, "size", "-5");
  CHECK(ts_last_error(context)[0] != 0);
  CHECK_OK(context, ts_context_finish(context));
  CHECK(ts_last_error(context)[0] == 0);
}

/* Several contexts exist at the same time. */
static void two_contexts(void) {
  ts_context *one = test_open(), *two = test_open();
  REQUIRE(one && two);
  ts_space *space_one = make_space(one, 100), *space_two = make_space(two, 100);
  ts_vector *x = make_vector(space_one, 1, NULL), *y = make_vector(space_two, 1, NULL);
  for (int k = 0; k < 3; k++) {
    CHECK_OK(one, ts_vector_fill(x, (float)k + 1));
    CHECK_OK(two, ts_vector_fill(y, (float)k + 11));
    float *a = read_vector(x), *b = read_vector(y);
    CHECK_CLOSE(a[99], k + 1, 0);
    CHECK_CLOSE(b[99], k + 11, 0);
    free(a);
    free(b);
  }
  ts_vector_destroy(&y);
  ts_space_destroy(&space_two);
  test_close(&two);
  CHECK_OK(one, ts_vector_fill(x, 7));
  float *a = read_vector(x);
  CHECK_CLOSE(a[50], 7, 0);
  free(a);
  ts_vector_destroy(&x);
  ts_space_destroy(&space_one);
  test_close(&one);
}

/* Runs in the thread. The application's OpenGL context moves there together with the objects. */
static void *use_vector(void *user) {
  ts_vector *x = user;
  if (test_is_application()) application_make_current();
  if (CHECK_OK(context, ts_vector_scale(x, ts_constant(2)))) {
    float *values = read_vector(x);
    for (int i = 1; i < 100; i++) CHECK(values[i] == values[0]);
    free(values);
  }
  if (test_is_application()) application_release_current();
  return NULL;
}

/* Only one thread uses the context at a time, but not always the same one. */
static void threads_in_turn(void) {
  if (test_desc().gl->platform == TS_GL_PLATFORM_WINDOW || strstr(test_backend, "window")) return;
  ts_space *space = make_space(context, 100);
  ts_vector *x = make_vector(space, 1, NULL);
  CHECK_OK(context, ts_vector_fill(x, 1));
  for (int k = 0; k < 3; k++) {
    test_context_label("thread %d", k + 1);
    pthread_t thread;
    if (test_is_application()) application_release_current();
    if (k == 2) /* the main thread again */
      use_vector(x);
    else if (CHECK(pthread_create(&thread, NULL, use_vector, x) == 0))
      pthread_join(thread, NULL);
    if (test_is_application()) application_make_current();
  }
  float *values = read_vector(x);
  CHECK_CLOSE(values[99], 8, 0);
  free(values);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
}

/* The application's context must be current when the library is opened and in every call. */
static void not_current(void) {
  if (!test_is_application()) return;
  const ts_context_desc desc = test_desc();
  ts_space *space = make_space(context, 10);
  ts_vector *x = make_vector(space, 1, NULL);
  application_release_current();
  refuse(&desc, TS_ERROR_UNAVAILABLE, "TS_GL_PLATFORM_CURRENT", "current");
  CHECK_FAILS(context, ts_vector_fill(x, 1), TS_ERROR_DEVICE, "current");
  CHECK_FAILS(context, ts_context_finish(context), TS_ERROR_DEVICE, "current");
  application_make_current();
  CHECK_OK(context, ts_vector_fill(x, 5));
  float *values = read_vector(x);
  CHECK_CLOSE(values[9], 5, 0);
  free(values);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
}

static char *copy_of_environment(const char *name) {
  const char *value = getenv(name);
  char *copy = value ? malloc(strlen(value) + 1) : NULL;
  return copy ? strcpy(copy, value) : NULL;
}

/* A hidden window needs a display, and the message reports it. EGL does not need one. */
static void no_display(void) {
  static const char *const names[] = {"DISPLAY", "WAYLAND_DISPLAY"};
  char *values[2];
  if (!test_is_gl() || test_is_application()) return;
  for (int k = 0; k < 2; k++) {
    values[k] = copy_of_environment(names[k]);
    unsetenv(names[k]);
  }
  ts_context_desc desc = test_desc(), window = test_desc();
  window.backend = "gl"; /* the first device; windows are refused for others */
  test_gl()->platform = TS_GL_PLATFORM_WINDOW;
  refuse(&window, TS_ERROR_UNAVAILABLE, "GLFW", "");
  test_gl()->platform = TS_GL_PLATFORM_EGL;
#ifdef TEXSOLVE_HAVE_EGL
  CHECK_OK(NULL, ts_context_create(&desc, &context));
  test_close(&context);
#else
  refuse(&desc, TS_ERROR_UNAVAILABLE, "built without EGL", "");
#endif
  for (int k = 0; k < 2; k++) {
    if (values[k]) setenv(names[k], values[k], 1);
    free(values[k]);
  }
}

/* A hidden window would replace a current context that GLFW does not know, and could not restore it. */
static void foreign_context(void) {
  ts_context_desc desc = test_desc();
  if (desc.gl->platform != TS_GL_PLATFORM_WINDOW || application_open(0)) return;
  refuse(&desc, TS_ERROR_DEVICE, "TS_GL_PLATFORM_CURRENT", "GLFW");
  application_close();
}

TEST_MAIN(CASES(foreign_context, unknown_backends, no_such_device, first_device, automatic,
                automatic_logs_its_choice, log_level, rectangles, bad_fields, half_an_allocator, threads,
                texture_limit),
          CASES_IN_CONTEXT(shaders, information, host_synchronisations, tuning, tuning_steers,
                           message_of_context, threads_in_turn, not_current),
          CASES(two_contexts, no_display))
