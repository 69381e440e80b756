/* Memory runs out at the first, second, third, ... allocation of texsolve-nl: each time there is an error, no
 * crash, and no false solution. Linked with the library's objects, so that their allocations are wrapped
 * here. */
#include "check.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);

static long countdown = -1; /* allocations that still succeed; negative: all */

static int fails(void) {
  return countdown >= 0 && countdown-- == 0 ? (countdown = 0, 1) : 0;
}
void *__wrap_malloc(size_t bytes) {
  return fails() ? NULL : __real_malloc(bytes);
}
void *__wrap_calloc(size_t count, size_t bytes) {
  return fails() ? NULL : __real_calloc(count, bytes);
}
void *__wrap_realloc(void *block, size_t bytes) {
  return fails() ? NULL : __real_realloc(block, bytes);
}

enum { N = 70 };

/* Many rows, so that arrays grow. Returns 1 if the system was solved. */
static int state_and_solve(int least_squares) {
  int solved;
  if (!nlNewContext()) return 0;
  nlSolverParameteri(NL_NB_VARIABLES, N);
  nlSolverParameteri(NL_LEAST_SQUARES, least_squares);
  nlSolverParameteri(NL_SYMMETRIC, !least_squares);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  for (NLuint i = 0; i < N; i++) {
    nlBegin(NL_ROW);
    nlCoefficient(i, 3);
    if (i > 0) nlCoefficient(i - 1, -1);
    nlRightHandSide(1);
    nlEnd(NL_ROW);
  }
  if (!least_squares) nlAddIRightHandSide(0, 1);
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  solved = solve();
  CHECK(solved ? nlGetError() == NL_NO_ERROR : nlGetError() == NL_OUT_OF_MEMORY);
  CHECK(solved || strstr(nlGetErrorString(), "memory") != NULL);
  if (solved && least_squares) CHECK_CLOSE(nlGetVariable(0), 1.0 / 3, 1e-5);
  nlDeleteContext(nlGetCurrent());
  return solved;
}

int main(void) {
  need_device();
  for (int least_squares = 0; least_squares < 2; least_squares++) {
    long n = 0;
    int solved = 0;
    for (; n < 100 && !solved; n++) {
      countdown = n;
      solved = state_and_solve(least_squares);
      nlGetError(); /* clears the error of nlNewContext */
    }
    CHECK(solved && n > 10);
    countdown = -1;
  }
  return report();
}
