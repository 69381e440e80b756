/* Every OpenGL state x a product and a solve, in core and compatibility contexts, with states that are set
 * before and after texsolve is opened. Results equal those of the host, and the application's state is
 * restored. A state that OpenGL cannot restore is refused by name, without side effects. */
#include <GL/glew.h>

#include <texsolve/gl.h>

#include "application.h"
#include "gl/core/gl_features.h"
#include "gl_snapshot.h"
#include "gl_states.h"
#include "helpers.h"

enum { nx = 23, ny = 17, n = nx * ny, most_formats = 8 };

/* The requests to the library, and the host's results. */
typedef struct fixture {
  ts_context *context;
  ref_matrix m;
  ts_matrix *matrices[most_formats];
  int count;
  ts_vector *x, *y[most_formats];
  float *xs;
  double expected[n], size[n];
} fixture;

/* With matrices in all formats, or only in the default format. */
static void create(fixture *f, int all) {
  f->context = test_open();
  if (f->context && !all) f->matrices[f->count++] = make_matrix(f->context, &f->m, TS_FORMAT_AUTO);
  for (ts_format format = texture_format_after(TS_FORMAT_AUTO); f->context && all && format;
       format = texture_format_after(format))
    f->matrices[f->count++] = make_matrix(f->context, &f->m, format);
  for (int k = 0; k < f->count; k++) f->y[k] = make_vector(ts_matrix_get_row_space(f->matrices[k]), 1, NULL);
}

static void destroy(fixture *f) {
  for (int k = 0; k < f->count; k++) {
    ts_vector_destroy(&f->y[k]);
    ts_matrix_destroy(&f->matrices[k]);
  }
  f->count = 0;
  test_close(&f->context);
}

static fixture begin(void) {
  fixture f = {.m = ref_grid(nx, ny), .xs = ref_values(n, 3, -2, 2)};
  ref_spmv(&f.m, NULL, 1, f.xs, f.expected, f.size);
  return f;
}

static void end(fixture *f) {
  free(f->xs);
  ref_free(&f->m);
}

static void multiply(const fixture *f, int k) {
  ts_vector *x = make_vector(ts_matrix_get_row_space(f->matrices[k]), 1, f->xs);
  if (!x) return;
  CHECK_OK(f->context, ts_matrix_multiply(f->y[k], f->matrices[k], x));
  float *ys = read_vector(f->y[k]);
  CHECK_VALUES(ys, f->expected, f->size, n, 16);
  free(ys);
  ts_vector_destroy(&x);
}

/* In pairs after single precision, or shorter in a brief run, because each pass is slow on some drivers. */
static void solve(const fixture *f) {
  const double rtol = test_is_brief() ? 0.02 : 1e-7;
  const ts_solver_desc desc = {.rtol = rtol,
                               .precision = test_is_brief() ? TS_PRECISION_SINGLE : TS_PRECISION_AUTO};
  ts_vector *b = make_vector(ts_matrix_get_row_space(f->matrices[0]), 1, f->xs);
  ts_vector *x = make_vector(ts_matrix_get_row_space(f->matrices[0]), 1, NULL);
  ts_result result = {0};
  CHECK_OK(f->context, solve_vectors(f->matrices[0], b, x, &desc, &result));
  float *xs = read_vector(x);
  CHECK(ref_worst_residual(&f->m, NULL, 1, xs, f->xs) <= 20 * rtol);
  CHECK(result.iterations > 0);
  free(xs);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
}

static void use(const fixture *f, int number) {
  for (int k = 0; k < f->count; k++)
    if (!test_is_brief() || k == number % f->count) multiply(f, k);
  if (f->count) solve(f);
}

/* Calls that draw fail and give the reason, and objects can be destroyed. */
static void be_refused(const fixture *f, ts_vector **spare, const char *why) {
  const ts_solver_desc desc = {.rtol = 1e-5};
  CHECK_FAILS(f->context, ts_matrix_multiply(f->y[0], f->matrices[0], f->x), TS_ERROR_DEVICE, why);
  CHECK_FAILS(f->context, solve_vectors(f->matrices[0], f->x, f->y[0], &desc, NULL), TS_ERROR_DEVICE, why);
  ts_vector_destroy(spare);
}

static void be_refused_to_open(const char *why) {
  ts_context *context = NULL;
  const ts_context_desc desc = test_desc();
  CHECK_FAILS(NULL, ts_context_create(&desc, &context), TS_ERROR_DEVICE, why);
  CHECK(context == NULL);
}

static gl_snapshot fresh, before, after;

/* Makes the calls with the state set, then checks the errors and the state after them. */
static void try_state(const gl_state_case *state, int number, fixture *f, int opens) {
  ts_vector *spare =
      opens || !state->refusal ? NULL : make_vector(ts_matrix_get_row_space(f->matrices[0]), 1, f->xs);
  gl_state_case_set(state, 1);
  if (!state->is_mute) {
    CHECK_INT(glGetError(), GL_NO_ERROR);
    gl_snapshot_save(&before);
  }
  if (state->refusal && opens)
    be_refused_to_open(state->refusal);
  else if (state->refusal)
    be_refused(f, &spare, state->refusal);
  else if (opens)
    create(f, 0);
  if (!state->refusal) use(f, number);
  if (opens) destroy(f);
  if (!state->is_mute) {
    CHECK_INT(glGetError(), GL_NO_ERROR);
    gl_snapshot_save(&after);
    gl_snapshot_compare(&before, &after, state->name);
    if (state->holds) CHECK(state->holds());
  }
  gl_state_case_set(state, 0);
  if (state->is_mute)
    while (glGetError() != GL_NO_ERROR) continue; /* all calls between glBegin and glEnd are errors */
  CHECK_INT(glGetError(), GL_NO_ERROR);
  gl_snapshot_save(&after); /* the table restores everything */
  gl_snapshot_compare(&fresh, &after, state->name);
}

static void try_list(const gl_state_list *list, unsigned has, int opens) {
  fixture f = begin();
  int skipped = 0;
  if (!opens) {
    create(&f, 1);
    f.x = f.context ? make_vector(ts_matrix_get_row_space(f.matrices[0]), 1, f.xs) : NULL;
  }
  gl_snapshot_save(&fresh);
  for (int i = 0; i < list->count && (opens || f.x); i++) {
    const gl_state_case *state = &list->cases[i];
    test_context_label("%s, %s opening", state->name, opens ? "before" : "after");
    if (state->needs & ~has || state->lacks & has) {
      skipped++;
      continue;
    }
    try_state(state, i, &f, opens);
    if (!opens) { /* the next call is right too */
      multiply(&f, i % f.count);
      gl_snapshot_save(&fresh);
    }
  }
  test_context_label("%s", "");
  ts_vector_destroy(&f.x);
  if (!opens) destroy(&f);
  end(&f);
  printf("%d states %s opening, %d that this context lacks\n", list->count - skipped,
         opens ? "before" : "after", skipped);
}

static void try_profile(const gl_state_list *const *lists) {
  const gl_features features = gl_features_get();
  printf("%s\n", (const char *)glGetString(GL_VERSION));
  for (int opens = 0; opens < 2; opens++)
    for (int k = 0; lists[k]; k++)
      if (!opens || k == 0 || !test_is_brief()) try_list(lists[k], features.has, opens);
}

static void core(void) {
  static const gl_state_list *const lists[] = {&gl_states_core, &gl_states_objects, NULL};
  try_profile(lists);
}

static void compatibility(void) {
  static const gl_state_list *const lists[] = {&gl_states_compatibility, &gl_states_core, &gl_states_objects,
                                               NULL};
  application_close();
  const char *why = application_open_compatibility();
  if (why) {
    printf("skipped: %s\n", why);
    return;
  }
  try_profile(lists);
}

TEST_MAIN(CASES(core, compatibility))
