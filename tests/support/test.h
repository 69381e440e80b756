/* The harness of the test suite: checks that report a place and values, and the backend under test.
 *
 * A test program is called as `test_x BACKEND [CASE...]` and exits with 0 (passed), 1 (failed) or 77 (skipped:
 * the backend has no device here). Backends: gl, gl-plain, gl-window, gl-current, gl-current-window, cpu,
 * cpu-plain, cuda, cuda-plain, cuda-uncached, check:gl, check:cpu, check:cuda, multi:cpu, multi:cpu+cpu+cpu,
 * multi:cuda+cuda, multi:cuda:0+cuda:1, mpi:cpu, mpi:cuda (under mpirun). A "plain" backend runs without
 * fused operations and texture barriers; "multi" ones have several parts; "current" ones run in a context that
 * the test itself opened, as an application does; "uncached": every matrix counts as larger than the device's
 * cache.
 *
 * TEXSOLVE_TEST_REQUIRE=gl,cpu,cuda,window turns the skip of such a backend into a failure. With
 * TEXSOLVE_TEST_BRIEF=1 long programs do everything that they test, but not in every combination. */
#ifndef TEST_H
#define TEST_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <texsolve/gl.h>
#include <texsolve/texsolve.h>

/* ---- The program: TEST_MAIN, or TEST_MAIN_ON_HOST if it is called without a backend, with groups of cases
 * ----
 *
 * A case is a function and has its name. */

typedef void test_case(void);

/* What the cases of a group run in. When the context is closed, no device memory may be in use, and none of
 * heap.h. */
typedef struct test_fixture {
  ts_context **context;               /* is opened before each case and closed after it */
  int rounds;                         /* how often a case runs, each time in a new context; 0: once */
  ts_context_desc (*desc)(int round); /* NULL: test_desc */
  int needs_pairs;                    /* vectors of two parts: a context without them runs no case */
  int (*setup)(int round);            /* in the open context; 0: the round has nothing to test */
  void (*teardown)(void);             /* after each setup, even if it returned 0 */
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
/* Cases that open their contexts themselves. */
#define CASES(...) CASES_WITH(NULL, __VA_ARGS__)
/* Cases in a new context each, which is the program's variable `context`. */
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
int test_is_gl(void);            /* an OpenGL backend, wrapped in checks or not */
int test_is_cpu(void);           /* the CPU backend, wrapped in checks or not */
int test_is_check(void);         /* wrapped in checks */
int test_is_ranks(void);         /* of several processes: each program runs as often */
int test_is_multi(void);         /* the same, or of several parts, which have no grids, meshes and fluids */
int test_is_application(void);   /* in a context of the test's own */

/* Each operation costs a multiple: within checks, which read all of its vectors back from a GPU, and under a
 * tool, for which TEXSOLVE_TEST_BRIEF is set. Every format, number of components, method and kernel is to be
 * used all the same, but not each with each other. */
int test_is_brief(void);

/* The descriptor that opens the backend under test, and a context opened with it. */
ts_context_desc test_desc(void);
/* What desc.gl of the last test_desc points to, to be changed. */
ts_gl_desc *test_gl(void);
ts_context *test_open(void);
int test_opened_warnings(void); /* warnings logged so far */

/* ts_context_create for the programs: of the backend under test it may be of several processes. */
ts_status test_context_create(const ts_context_desc *desc, ts_context **context);
#ifndef TEST_OF_CONTEXTS
#define ts_context_create test_context_create
#endif

/* Closes a context and checks that every byte of device memory had been given back before. */
void test_close(ts_context **context);

/* ---- Checks: a failure is printed and counted, and the case goes on; REQUIRE leaves the function. ---- */
void test_fail(const char *file, int line, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
int test_failures(void);

/* Names what is tested in the messages of failures until the next call; "" for nothing. */
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

/* A call succeeds; the context (or NULL) is asked why it did not. */
#define CHECK_OK(context, call) test_check_status(__FILE__, __LINE__, #call, call, TS_OK, context)
/* A call fails with this status, and ts_last_error() is one line that contains every given part. */
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
