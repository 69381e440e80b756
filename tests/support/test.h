/* The harness of the test suite: checks that report a place and values, and the backend under test.
 *
 * A test program is called as `test_x BACKEND [CASE...]`. It exits with 0 (passed), 1 (failed) or 77 (skipped,
 * because the backend has no device here). Backends: gl, gl-plain, gl-window, gl-current, gl-current-window,
 * cpu, cpu-plain, cuda, cuda-plain, cuda-uncached, check:gl, check:cpu, check:cuda, multi:cpu,
 * multi:cpu+cpu+cpu, multi:cuda+cuda, multi:cuda:0+cuda:1, mpi:cpu, mpi:cuda (under mpirun). A "plain" backend
 * runs without fused operations and texture barriers. A "multi" backend has several parts. A "current" backend
 * runs in an OpenGL context that the test opened, as an application does. In an "uncached" backend every matrix
 * counts as larger than the device's cache.
 *
 * TEXSOLVE_TEST_REQUIRE=gl,cpu,cuda,window turns the skip of such a backend into a failure. With
 * TEXSOLVE_TEST_BRIEF=1 long programs test everything, but not in every combination. */
#ifndef TEST_H
#define TEST_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <texsolve/gl.h>
#include <texsolve/texsolve.h>

/* ---- The program: TEST_MAIN with groups of cases, or TEST_MAIN_ON_HOST if it needs no backend ----
 *
 * A case is a function, and its name is the name of the case. */

typedef void test_case(void);

/* The environment of the cases of a group. When the context is closed, no device memory and no memory of heap.h
 * may be in use. */
typedef struct test_fixture {
  ts_context **context;               /* opened before each case and closed after it */
  int rounds;                         /* how often a case runs, each time in a new context; 0: once */
  ts_context_desc (*desc)(int round); /* NULL: test_desc */
  int needs_pairs;                    /* vectors of two parts; without them no case runs */
  int (*setup)(int round);            /* in the open context; 0: the round has nothing to test */
  void (*teardown)(void);             /* called after each setup, even if it returned 0 */
} test_fixture;

typedef struct test_group {
  const test_fixture *fixture;
  const char *names; /* "first, second" */
  test_case *const *cases;
} test_group;

#define CASES_WITH(with, ...)                                                                                  \
  {                                                                                                            \
    .fixture = (with), .names = #__VA_ARGS__, .cases = (test_case *const[]) {                                  \
      __VA_ARGS__, NULL                                                                                        \
    }                                                                                                          \
  }
/* Cases that open their own contexts. */
#define CASES(...) CASES_WITH(NULL, __VA_ARGS__)
/* Each case runs in a new context, in the program's variable `context`. */
#define CASES_IN_CONTEXT(...) CASES_WITH(&(const test_fixture){.context = &context}, __VA_ARGS__)

enum {
  TEST_HOST_ONLY = 1 /* called without a backend */
};

int test_main(int argc, char **argv, const test_group *groups, unsigned flags);
#define TEST_MAIN(...) TEST_MAIN_WITH(0, __VA_ARGS__)
#define TEST_MAIN_ON_HOST(...) TEST_MAIN_WITH(TEST_HOST_ONLY, __VA_ARGS__)
#define TEST_MAIN_WITH(flags, ...)                                                                             \
  int main(int argc, char **argv) {                                                                            \
    return test_main(argc, argv, (const test_group[]){__VA_ARGS__, {.cases = NULL}}, flags);                   \
  }

/* ---- The backend under test ---- */
extern const char *test_backend; /* as given: "gl-plain" */
int test_is_gl(void);            /* an OpenGL backend, also inside the check backend */
int test_is_cpu(void);           /* the CPU backend, also inside the check backend */
int test_is_check(void);         /* the check backend */
int test_is_ranks(void);         /* of several processes, each running the program */
int test_is_multi(void);         /* of several processes or parts, without grids, meshes and fluids */
int test_is_application(void);   /* in an OpenGL context that the test opened */

/* True if operations are expensive: in the check backend, which reads all vectors back from a GPU, or under a
 * tool that sets TEXSOLVE_TEST_BRIEF. A brief run still uses every format, number of components, method and
 * kernel, but not every combination. */
int test_is_brief(void);

/* The descriptor of the backend under test, and a context opened with it. */
ts_context_desc test_desc(void);
/* The target of the last test_desc's desc.gl, for changes. */
ts_gl_desc *test_gl(void);
ts_context *test_open(void);
int test_opened_warnings(void); /* the number of warnings logged so far */

/* Test programs call this for ts_context_create, because the backend under test may consist of several
 * processes. */
ts_status test_context_create(const ts_context_desc *desc, ts_context **context);
#ifndef TEST_OF_CONTEXTS
#define ts_context_create test_context_create
#endif

/* Closes a context and checks that all device memory had been freed before. */
void test_close(ts_context **context);

/* ---- Checks: a failure is printed and counted, and the case continues. REQUIRE leaves the function. ---- */
void test_fail(const char *file, int line, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
int test_failures(void);

/* Adds a label to the messages of failures until the next call. "" removes it. */
void test_context_label(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

int test_check_int(const char *file, int line, const char *text, long long actual, long long expected);
int test_check_close(const char *file, int line, const char *text, double actual, double expected,
                     double tolerance);
int test_check_status(const char *file, int line, const char *text, ts_status actual, ts_status expected,
                      const ts_context *context);
int test_check_fails(const char *file, int line, const char *text, const ts_context *context, ts_status actual,
                     ts_status expected, const char *const *parts);
int test_check_contains(const char *file, int line, const char *text, const char *string, const char *part);

#define CHECK(condition) ((condition) ? 1 : (test_fail(__FILE__, __LINE__, "%s", #condition), 0))
#define CHECK_INT(actual, expected)                                                                            \
  test_check_int(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))
#define CHECK_CLOSE(actual, expected, tolerance)                                                               \
  test_check_close(__FILE__, __LINE__, #actual, actual, expected, tolerance)
#define CHECK_CONTAINS(string, part) test_check_contains(__FILE__, __LINE__, #string, string, part)

/* A call must succeed. If it fails, the message of the context (or of NULL) is printed. */
#define CHECK_OK(context, call) test_check_status(__FILE__, __LINE__, #call, call, TS_OK, context)
/* A call must fail with this status, and ts_last_error() must be one line that contains every given part. */
#define CHECK_FAILS(context, call, status, ...)                                                                \
  test_check_fails(__FILE__, __LINE__, #call, context, call, status, (const char *const[]){__VA_ARGS__, NULL})

#define REQUIRE(condition)                                                                                     \
  do {                                                                                                         \
    if (!CHECK(condition)) return;                                                                             \
  } while (0)
#define REQUIRE_OK(context, call)                                                                              \
  do {                                                                                                         \
    if (!CHECK_OK(context, call)) return;                                                                      \
  } while (0)

#endif
