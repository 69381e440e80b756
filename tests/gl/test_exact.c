/* Each variant that keeps rounding errors (shaders/include/exact.glsl) gives the same numbers, but for what
 * compilers fuse. A driver needs one of them, so the others are forced by TEXSOLVE_GL_EXACT. */
#include "helpers.h"
#include "reference.h"
#include "test.h"

enum { count = 3000 };

typedef struct outcome {
  double sum[count], dot[4];
} outcome;

/* a x + y and x . y in two parts. */
static void compute(ts_context *context, const double *xs, const double *ys, outcome *found) {
  const ts_vector_desc desc = {.precision = TS_PRECISION_DOUBLE};
  ts_space *space = NULL;
  ts_vector *x = NULL, *y = NULL, *sum = NULL;
  ts_scalars *slot = NULL;
  REQUIRE_OK(context, ts_space_create(context, &(ts_space_desc){.size = count}, &space));
  CHECK_OK(context, ts_vector_create(space, &desc, &x));
  CHECK_OK(context, ts_vector_create(space, &desc, &y));
  CHECK_OK(context, ts_vector_create(space, &desc, &sum));
  CHECK_OK(context, ts_scalars_create(context, &(ts_scalars_desc){1, TS_PRECISION_DOUBLE, {0}}, &slot));
  CHECK_OK(context, ts_vector_write(x, ts_host(xs, count)));
  CHECK_OK(context, ts_vector_write(y, ts_host(ys, count)));
  CHECK_OK(context, ts_vector_copy(sum, y));
  CHECK_OK(context, ts_vector_axpby(sum, ts_constant(1 / 3.), x, ts_constant(1)));
  CHECK_OK(context, ts_vector_dot(slot, 0, x, y));
  CHECK_OK(context, ts_vector_read(sum, ts_host(found->sum, count)));
  CHECK_OK(context, ts_scalars_read(slot, 0, ts_host(found->dot, 4)));
  ts_scalars_destroy(&slot);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_vector_destroy(&sum);
  ts_space_destroy(&space);
}

/* Returns 0 if the driver lacks the variant. */
static int run(const char *variant, const double *xs, const double *ys, outcome *found) {
  setenv("TEXSOLVE_GL_EXACT", variant, 1);
  ts_context *context = test_open();
  unsetenv("TEXSOLVE_GL_EXACT");
  ts_gl_info info;
  if (!context || !CHECK_OK(context, ts_gl_get_info(context, &info))) return 0;
  const int is_there = strcmp(info.exact_sums, variant) == 0;
  test_context_label("%s", variant);
  CHECK(is_there || strcmp(info.exact_sums, "none") == 0);
  CHECK(is_there || strcmp(variant, "integer") != 0); /* which works with every compiler */
  if (is_there) compute(context, xs, ys, found);
  test_close(&context);
  return is_there;
}

static void variants(void) {
  static const char *const names[] = {"integer", "precise", "uniform", "texel"};
  static outcome expected, found;
  double *xs = ref_doubles(count, 1, -1, 1), *ys = ref_doubles(count, 2, -1, 1);
  double exact = 0;
  for (int i = 0; i < count; i++) exact += xs[i] * ys[i];
  int others = 0;
  if (run(names[0], xs, ys, &expected)) {
    for (int i = 0; i < count; i++) CHECK_CLOSE(expected.sum[i], xs[i] / 3 + ys[i], 0x1p-44);
    CHECK_CLOSE(expected.dot[0], exact, 0x1p-36);
    for (int k = 1; k < 4; k++) {
      if (!run(names[k], xs, ys, &found)) continue;
      others++;
      for (int i = 0; i < count; i++) CHECK_CLOSE(found.sum[i], expected.sum[i], 0x1p-46);
      CHECK_CLOSE(found.dot[0], expected.dot[0], 0x1p-38);
    }
  }
  CHECK(others > 0);
  free(xs);
  free(ys);
}

TEST_MAIN(CASES(variants))
