/* Helpers of these programs: checks that report a place and values, in standard C. */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nl.h"

static int failures;

static void check(int holds, const char *file, int line, const char *text) {
  if (holds) return;
  failures++;
  printf("%s:%d: %s: %s\n", file, line, text, nlGetErrorString());
}

static void check_close(double actual, double expected, double tolerance, const char *file, int line,
                        const char *text) {
  if (fabs(actual - expected) <= tolerance) return;
  failures++;
  printf("%s:%d: %s is %.12g, expected %.12g within %g: %s\n", file, line, text, actual, expected, tolerance,
         nlGetReport());
}

#define CHECK(condition) check((condition) != 0, __FILE__, __LINE__, #condition)
#define CHECK_CLOSE(actual, expected, tolerance)                                                               \
  check_close(actual, expected, tolerance, __FILE__, __LINE__, #actual)
/* The pending error must be this one, and its text must contain the given part. */
#define CHECK_ERROR(error, part)                                                                               \
  do {                                                                                                         \
    CHECK(nlGetError() == (error));                                                                            \
    CHECK(strstr(nlGetErrorString(), part) != NULL);                                                           \
  } while (0)

/* Prints a hash (FNV-1a) of the bits of all variables. scripts/fingerprint compares it. */
static void print_solution(void) {
  unsigned long long hash = 14695981039346656037u;
  NLint count = 0;
  nlGetIntegerv(NL_NB_VARIABLES, &count);
  for (NLint i = 0; i < count; i++) {
    const double value = nlGetVariable((NLuint)i);
    unsigned char bytes[sizeof value];
    memcpy(bytes, &value, sizeof value);
    for (size_t k = 0; k < sizeof value; k++) hash = (hash ^ bytes[k]) * 1099511628211u;
  }
  printf("solution %llu\n", hash);
}

/* Returns the result of nlSolve, and checks that NL_ERROR agrees with it. */
static int solve(void) {
  double error, threshold;
  const int solved = nlSolve() == NL_TRUE;
  nlGetDoublev(NL_ERROR, &error);
  nlGetDoublev(NL_THRESHOLD, &threshold);
  CHECK(!solved || error <= threshold);
  if (solved) print_solution();
  return solved;
}

/* Ends the program with 77 if the backend of TEXSOLVE_BACKEND has no device, unless TEXSOLVE_TEST_REQUIRE names
 * it. */
static void need_device(void) {
  const char *backend = getenv("TEXSOLVE_BACKEND"), *required = getenv("TEXSOLVE_TEST_REQUIRE");
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 1);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  nlAddIJCoefficient(0, 0, 1);
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  nlSetVariable(0, 1);
  nlSolve();
  if (nlGetError() == NL_DEVICE_ERROR) {
    const char *name = backend && strncmp(backend, "check:", 6) == 0 ? backend + 6 : backend;
    printf("skipped: %s\n", nlGetErrorString());
    exit(name && required && strstr(required, name) ? 1 : 77);
  }
  nlDeleteContext(nlGetCurrent());
}

static int report(void) {
  nlReleaseDevices();
  if (failures) printf("%d checks failed\n", failures);
  return failures != 0;
}

#endif
