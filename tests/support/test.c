#define TEST_OF_CONTEXTS
#include "test.h"

#include <stdarg.h>

#include "application.h"
#include "common/core/core.h"
#include "cuda_cache.h"
#include "heap.h"
#include "ranks.h"

#define SHOWN_FAILURES 25

typedef struct backend_variant {
  const char *argument, *backend, *need; /* `need`: its name in TEXSOLVE_TEST_REQUIRE */
  ts_gl_platform platform;
  int plain;    /* without fused operations and texture barriers */
  int uncached; /* matrices count as larger than the device's cache */
  int ranks;    /* of a job of mpirun */
} backend_variant;

#ifdef TEXSOLVE_HAVE_EGL
#define OWN TS_GL_PLATFORM_EGL
#else
#define OWN TS_GL_PLATFORM_AUTO /* a hidden window */
#endif

static const backend_variant variants[] = {
    {"gl", "gl", "gl", OWN, 0, 0, 0},
    {"gl-plain", "gl", "gl", OWN, 1, 0, 0},
    {"gl-window", "gl", "window", TS_GL_PLATFORM_WINDOW, 0, 0, 0},
    {"gl-current", "gl", "gl", TS_GL_PLATFORM_CURRENT, 0, 0, 0},
    {"gl-current-window", "gl", "window", TS_GL_PLATFORM_CURRENT, 0, 0, 0},
    {"cpu", "cpu", "cpu", TS_GL_PLATFORM_AUTO, 0, 0, 0},
    {"cpu-plain", "cpu", "cpu", TS_GL_PLATFORM_AUTO, 1, 0, 0},
    {"cuda", "cuda", "cuda", TS_GL_PLATFORM_AUTO, 0, 0, 0},
    {"cuda-plain", "cuda", "cuda", TS_GL_PLATFORM_AUTO, 1, 0, 0},
    {"cuda-uncached", "cuda", "cuda", TS_GL_PLATFORM_AUTO, 0, 1, 0},
    {"multi:cpu+cpu+cpu", "multi:cpu+cpu+cpu", "cpu", TS_GL_PLATFORM_AUTO, 0, 0, 0},
    {"multi:cpu", "multi:cpu", "cpu", TS_GL_PLATFORM_AUTO, 0, 0, 0},
    {"multi:cuda", "multi:cuda", "cuda", TS_GL_PLATFORM_AUTO, 0, 0, 0},
    {"multi:cuda+cuda", "multi:cuda+cuda", "cuda", TS_GL_PLATFORM_AUTO, 0, 0, 0},
    {"multi:cuda+cuda+cuda", "multi:cuda+cuda+cuda", "cuda", TS_GL_PLATFORM_AUTO, 0, 0, 0},
    {"multi:cuda:0+cuda:1", "multi:cuda:0+cuda:1", "cuda", TS_GL_PLATFORM_AUTO, 0, 0, 0},
    {"mpi:cpu", "cpu", "cpu", TS_GL_PLATFORM_AUTO, 0, 0, 1},
    {"mpi:cpu+cpu", "multi:cpu+cpu", "cpu", TS_GL_PLATFORM_AUTO, 0, 0, 1},
    {"mpi:cuda", "cuda", "cuda", TS_GL_PLATFORM_AUTO, 0, 0, 1},
    {"check:gl", "check:gl", "gl", OWN, 0, 0, 0},
    {"check:cpu", "check:cpu", "cpu", TS_GL_PLATFORM_AUTO, 0, 0, 0},
    {"check:cuda", "check:cuda", "cuda", TS_GL_PLATFORM_AUTO, 0, 0, 0},
};

const char *test_backend = "";

static const backend_variant *variant;
static char backend_name[32]; /* with the device's number if TEXSOLVE_TEST_DEVICE is set */
static const char *case_name = "";
static char label[160];
static int failures, warnings;

int test_is_gl(void) {
  return variant && strstr(variant->backend, "gl") != NULL;
}
int test_is_cpu(void) {
  return variant && strstr(variant->backend, "cpu") != NULL;
}
int test_is_check(void) {
  return variant && strncmp(variant->backend, "check:", 6) == 0;
}
int test_is_ranks(void) {
  return variant && variant->ranks;
}
int test_is_multi(void) {
  return variant && (variant->ranks || strncmp(variant->backend, "multi:", 6) == 0);
}
int test_is_brief(void) {
  const char *brief = getenv("TEXSOLVE_TEST_BRIEF");
  return (test_is_check() && !test_is_cpu()) || (brief && brief[0]);
}
int test_is_application(void) {
  return variant && variant->platform == TS_GL_PLATFORM_CURRENT;
}
int test_opened_warnings(void) {
  return warnings;
}
int test_failures(void) {
  return failures;
}

/* ---- Checks ---- */

void test_fail(const char *file, int line, const char *format, ...) {
  const char *slash = strrchr(file, '/');
  if (++failures > SHOWN_FAILURES) return;
  printf("%s:%d: [%s%s%s] ", slash ? slash + 1 : file, line, case_name, label[0] ? ": " : "", label);
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  if (failures == SHOWN_FAILURES) puts("(further failures are counted, not shown)");
  fflush(stdout);
}

void test_context_label(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(label, sizeof label, format, arguments);
  va_end(arguments);
}

int test_check_int(const char *file, int line, const char *text, long long actual, long long expected) {
  if (actual == expected) return 1;
  test_fail(file, line, "%s is %lld, expected %lld", text, actual, expected);
  return 0;
}

int test_check_close(const char *file, int line, const char *text, double actual, double expected,
                     double tolerance) {
  if (fabs(actual - expected) <= tolerance || actual == expected) return 1;
  test_fail(file, line, "%s is %.9g, expected %.9g within %.3g (off by %.3g)", text, actual, expected,
            tolerance, fabs(actual - expected));
  return 0;
}

int test_check_status(const char *file, int line, const char *text, ts_status actual, ts_status expected,
                      const ts_context *context) {
  if (actual == expected) return 1;
  test_fail(file, line, "%s returned %s, expected %s: \"%s\"", text, ts_status_name(actual),
            ts_status_name(expected), ts_last_error(context));
  return 0;
}

int test_check_contains(const char *file, int line, const char *text, const char *string, const char *part) {
  if (string && strstr(string, part)) return 1;
  test_fail(file, line, "%s is \"%s\", expected to contain \"%s\"", text, string ? string : "(null)", part);
  return 0;
}

int test_check_fails(const char *file, int line, const char *text, const ts_context *context, ts_status actual,
                     ts_status expected, const char *const *parts) {
  char message[1024];
  snprintf(message, sizeof message, "%s", ts_last_error(context));
  int passed = 1;
  if (actual != expected) {
    test_fail(file, line, "%s returned %s, expected %s: \"%s\"", text, ts_status_name(actual),
              ts_status_name(expected), message);
    passed = 0;
  }
  if (!message[0] || strchr(message, '\n')) {
    test_fail(file, line, "the message of %s is not one line: \"%s\"", text, message);
    passed = 0;
  }
  for (; *parts; parts++) passed &= test_check_contains(file, line, "the message", message, *parts);
  return passed;
}

/* ---- Contexts ---- */

static void receive_log(ts_log_level level, const char *message, void *user) {
  CHECK(user == &warnings);
  CHECK(message != NULL && message[0] != 0 && strchr(message, '\n') == NULL);
  CHECK(level >= TS_LOG_LEVEL_WARNING && level <= TS_LOG_LEVEL_DEBUG);
  if (level == TS_LOG_LEVEL_WARNING) warnings++;
}

static ts_gl_desc gl_desc;

ts_gl_desc *test_gl(void) {
  return &gl_desc;
}

ts_context_desc test_desc(void) {
  ts_context_desc desc = {0};
  gl_desc = (ts_gl_desc){.platform = variant->platform, .flags = variant->plain ? TS_GL_NO_TEXTURE_BARRIER : 0};
  desc.backend = backend_name;
  desc.gl = &gl_desc;
  desc.flags = variant->plain ? TS_CONTEXT_NO_FUSED_OPERATIONS : 0;
  desc.log = receive_log;
  desc.log_user = &warnings;
  desc.log_level = TS_LOG_LEVEL_DEBUG;
  return desc;
}

ts_status test_context_create(const ts_context_desc *desc, ts_context **context) {
  const int ranks = test_is_ranks() && desc && desc->backend == backend_name;
  return ranks ? ranks_open(desc, context) : ts_context_create(desc, context);
}

static ts_context *open_context(const ts_context_desc *desc) {
  ts_context *context = NULL;
  CHECK_OK(NULL, test_context_create(desc, &context));
#ifdef TEXSOLVE_HAVE_CUDA
  if (context && variant && variant->uncached) cuda_forget_cache(context);
#endif
  return context;
}

ts_context *test_open(void) {
  const ts_context_desc desc = test_desc();
  return open_context(&desc);
}

void test_close(ts_context **context) {
  if (*context) {
    ts_context_info info;
    if (CHECK_OK(*context, ts_context_get_info(*context, &info))) CHECK_INT(info.bytes_device, 0);
  }
  ts_context_destroy(context);
  CHECK(*context == NULL);
}

/* ---- The program ---- */

/* TEXSOLVE_TEST_DEVICE selects the EGL device of an OpenGL context without a window. (For CUDA,
 * CUDA_VISIBLE_DEVICES does the same.) */
static void choose_device(void) {
  const char *device = getenv("TEXSOLVE_TEST_DEVICE");
  const int used = device && device[0] && variant->platform == TS_GL_PLATFORM_EGL;
  snprintf(backend_name, sizeof backend_name, "%s%s%s", variant->backend, used ? ":" : "", used ? device : "");
}

static int is_required(const char *need) {
  const char *list = getenv("TEXSOLVE_TEST_REQUIRE");
  const size_t length = strlen(need);
  while (list && *list) {
    const size_t word = strcspn(list, ", ");
    if (word == length && strncmp(list, need, length) == 0) return 1;
    list += word;
    list += strspn(list, ", ");
  }
  return 0;
}

static int skip(const char *why) {
  printf("skipped: %s: %s\n", variant->argument, why);
  if (!is_required(variant->need)) return 77;
  printf("failed: TEXSOLVE_TEST_REQUIRE asks for \"%s\"\n", variant->need);
  return 1;
}

/* Opens and closes the backend once, to distinguish a missing device (skip) from a defect (failure). */
static int probe(void) {
  if (test_is_application()) {
    const char *why = application_open(strcmp(variant->need, "window") == 0);
    if (why) return skip(why);
  }
  ts_context *context = NULL;
  const ts_context_desc desc = test_desc();
  const ts_status status = test_context_create(&desc, &context);
  if (status == TS_ERROR_UNAVAILABLE) return skip(ts_last_error(NULL));
  if (status != TS_OK) {
    printf("failed: %s does not open: %s: %s\n", variant->argument, ts_status_name(status),
           ts_last_error(NULL));
    return 1;
  }
  test_close(&context);
  return failures ? 1 : 0;
}

static int usage(const char *program, const test_group *groups, unsigned flags) {
  printf("usage: %s %s[CASE...]\n", program, flags & TEST_HOST_ONLY ? "" : "BACKEND ");
  if (!(flags & TEST_HOST_ONLY)) {
    printf("backends:");
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) printf(" %s", variants[i].argument);
    printf("\n");
  }
  for (; groups->cases; groups++) printf("cases: %s\n", groups->names);
  return 1;
}

static int is_named(const char *name, char *const *names) {
  for (; *names; names++)
    if (strcmp(*names, name) == 0) return 1;
  return 0;
}

/* Returns 0 if the round had nothing to test. */
static int run_round(const test_fixture *f, int round, test_case *run) {
  const ts_context_desc desc = f->desc ? f->desc(round) : test_desc();
  ts_context *const context = *f->context = open_context(&desc);
  int runs = context && (!f->needs_pairs || context->caps.pairs);
  if (runs) {
    if (f->setup) runs = f->setup(round);
    if (runs) run();
    label[0] = 0;
    if (f->teardown) f->teardown();
  }
  test_close(f->context);
  CHECK_INT(memory.live, 0);
  return runs;
}

static int run_case(const test_fixture *f, test_case *run) {
  int runs = !f;
  if (!f) run();
  for (int round = 0; f && (round == 0 || round < f->rounds); round++) runs |= run_round(f, round, run);
  return runs;
}

typedef struct tally {
  int run, skipped, failed;
} tally;

static void run_group(const test_group *g, char *const *only, tally *t) {
  const char *next = g->names;
  for (int i = 0; g->cases[i]; i++) {
    char name[80];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(next, ","), next);
    next += strcspn(next, ",");
    next += strspn(next, ", ");
    if (*only && !is_named(name, only)) continue;
    const int before = failures;
    case_name = name;
    label[0] = 0;
    const int runs = run_case(g->fixture, g->cases[i]), fails = failures > before;
    t->run++;
    t->failed += fails;
    t->skipped += !runs && !fails;
    printf("%s %s\n", fails ? "FAILED" : runs ? "passed" : "skipped", name);
    fflush(stdout);
    case_name = "";
  }
}

int test_main(int argc, char **argv, const test_group *groups, unsigned flags) {
  char *const *only = argv + (argc > 0);
  if (!(flags & TEST_HOST_ONLY)) {
    for (size_t i = 0; argc > 1 && i < sizeof variants / sizeof variants[0]; i++)
      if (strcmp(argv[1], variants[i].argument) == 0) variant = &variants[i];
    if (!variant) return usage(argv[0], groups, flags);
    test_backend = variant->argument;
    choose_device();
    only++;
    const int result = probe();
    if (result) return result;
  }
  tally t = {0};
  for (const test_group *g = groups; g->cases; g++) run_group(g, only, &t);
  if (t.run == 0) return usage(argv[0], groups, flags);
  application_close();
  ranks_close(0);
  printf("%d of %d cases passed, %d skipped, %d failed checks\n", t.run - t.failed - t.skipped, t.run,
         t.skipped, failures);
  return failures ? 1 : 0;
}
