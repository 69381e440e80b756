/* Incorrect drawing is an error, not a result. The test replaces OpenGL functions in the library, so that it
 * fails to set some states. Also tests pending errors of the application, and EGL's current API. */
#include <GL/glew.h>

#include <texsolve/gl.h>

#include "helpers.h"

#ifdef TEXSOLVE_HAVE_EGL
#include <EGL/egl.h>
#endif

enum { n = 300 };

static ts_context *context;
static ts_matrix *matrix;
static ts_vector *x, *y;
static ref_matrix m;

static void open_all(void) {
  m = ref_grid(20, 15);
  context = test_open();
  matrix = make_matrix(context, &m, TS_FORMAT_JAGGED);
  x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  y = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  CHECK_OK(context, ts_vector_fill(x, 3));
}

static void close_all(void) {
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_matrix_destroy(&matrix);
  test_close(&context);
  ref_free(&m);
}

/* ---- Forgotten states ---- */

static void GLAPIENTRY no_clip_control(GLenum origin, GLenum depth) {
  (void)origin, (void)depth;
}
static void GLAPIENTRY no_color_mask(GLuint k, GLboolean r, GLboolean g, GLboolean b, GLboolean a) {
  (void)k, (void)r, (void)g, (void)b, (void)a;
}
static void GLAPIENTRY no_disable(GLenum what, GLuint k) {
  (void)what, (void)k;
}
static void GLAPIENTRY no_condition(GLuint query, GLenum mode) {
  (void)query, (void)mode;
}
static void GLAPIENTRY no_end(void) {}

static GLuint query;

static void flip(int on) {
  glClipControl(on ? GL_UPPER_LEFT : GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
}
static void mask_blue(int on) {
  glColorMask(1, 1, !on, 1);
}
static void scissor(int on) {
  (on ? glEnable : glDisable)(GL_SCISSOR_TEST);
  glScissor(0, 0, on ? 2 : 96, on ? 2 : 64);
}
static void condition(int on) {
  if (on) {
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    glEndQuery(GL_SAMPLES_PASSED);
    glBeginConditionalRender(query, GL_QUERY_WAIT);
  } else {
    glEndConditionalRender();
    glDeleteQueries(1, &query);
  }
}

/* Replaces some OpenGL functions in the library. */
typedef struct forgotten {
  const char *name;
  void (*change)(int on);
  int needs_version;
} forgotten;

static const forgotten states[] = {{"clip control", flip, 45},
                                   {"colour mask", mask_blue, 0},
                                   {"scissor", scissor, 41},
                                   {"conditional rendering", condition, 0}};
enum { state_count = sizeof states / sizeof states[0] };

typedef struct functions {
  PFNGLCLIPCONTROLPROC clip_control;
  PFNGLCOLORMASKIPROC color_mask;
  PFNGLDISABLEIPROC disable;
  PFNGLBEGINCONDITIONALRENDERPROC begin;
  PFNGLENDCONDITIONALRENDERPROC end;
} functions;

static functions swap(functions new_ones) {
  const functions old = {__glewClipControl, __glewColorMaski, __glewDisablei, __glewBeginConditionalRender,
                         __glewEndConditionalRender};
  __glewClipControl = new_ones.clip_control;
  __glewColorMaski = new_ones.color_mask;
  __glewDisablei = new_ones.disable;
  __glewBeginConditionalRender = new_ones.begin;
  __glewEndConditionalRender = new_ones.end;
  return old;
}

static functions remove_functions(void) {
  return swap((functions){no_clip_control, no_color_mask, no_disable, no_condition, no_end});
}

static int is_possible(const forgotten *state) {
  GLint major = 0, minor = 0;
  glGetIntegerv(GL_MAJOR_VERSION, &major);
  glGetIntegerv(GL_MINOR_VERSION, &minor);
  return 10 * major + minor >= state->needs_version;
}

static const char said[] = "OpenGL did not draw as expected";

/* The next call that reads detects the fault. */
static void read_vector_fails(void) {
  float values[n];
  CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
  CHECK_FAILS(context, ts_vector_read(y, ts_host(values, n)), TS_ERROR_DEVICE, said);
}
static void read_slot_fails(void) {
  ts_scalars *slots = make_scalars(context, 1);
  float slot[4];
  CHECK_OK(context, ts_vector_dot(slots, 0, x, x));
  CHECK_FAILS(context, ts_scalars_read(slots, 0, ts_host(slot, 4)), TS_ERROR_DEVICE, said);
  ts_scalars_destroy(&slots);
}
static void solve_fails(void) {
  const ts_solver_desc desc = {.rtol = 1e-5};
  CHECK_FAILS(context, solve_vectors(matrix, x, y, &desc, NULL), TS_ERROR_DEVICE, said);
}
/* When the state is correct again, so are results, and the error is reported only once. */
static void results_are_right(void) {
  double expected[n], size[n];
  float *xs = read_vector(x);
  ref_spmv(&m, NULL, 1, xs, expected, size);
  CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
  float *ys = read_vector(y);
  CHECK_VALUES(ys, expected, size, n, 16);
  free(xs);
  free(ys);
}

/* Earlier proofs, which were correct, leave their values where the next one will be drawn. */
static void fill_with_proofs(void) {
  for (int k = 0; k < 40; k++) {
    glViewport(k, 0, 9, 9);
    CHECK_OK(context, ts_vector_fill(y, 1));
  }
  results_are_right();
}

static void forgotten_states(void) {
  static void (*const calls[])(void) = {read_vector_fails, read_slot_fails, solve_fails};
  open_all();
  const ts_solver_desc desc = {.rtol = 1e-5};
  CHECK_OK(context, solve_vectors(matrix, x, y, &desc, NULL));
  for (int k = 0; k < 3; k++)
    for (int s = 0; s < state_count; s++) {
      if (!is_possible(&states[s])) continue;
      test_context_label("%s, call %d", states[s].name, k);
      fill_with_proofs();
      states[s].change(1);
      const functions own = remove_functions();
      calls[k]();
      swap(own);
      states[s].change(0);
      results_are_right();
    }
  close_all();
}

/* The state is set during a single call that reads nothing, and the viewport changes too. */
static void forgotten_for_one_call(void) {
  open_all();
  for (int s = 0; s < state_count; s++) {
    if (!is_possible(&states[s])) continue;
    test_context_label("%s", states[s].name);
    fill_with_proofs();
    states[s].change(1);
    glViewport(s, s, 9, 9);
    const functions own = remove_functions();
    CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
    swap(own);
    states[s].change(0);
    float values[n];
    CHECK_FAILS(context, ts_vector_read(y, ts_host(values, n)), TS_ERROR_DEVICE, said);
    results_are_right();
  }
  close_all();
}

/* ---- Pending errors of the application ---- */

typedef struct heard {
  int count;
  char last[256];
} heard;

static void hear(ts_log_level level, const char *message, void *user) {
  heard *h = user;
  if (level != TS_LOG_LEVEL_WARNING || !strstr(message, "OpenGL error")) return;
  h->count++;
  snprintf(h->last, sizeof h->last, "%s", message);
}

static void make_invalid_enum(void) {
  glEnable(0xdead);
}
static void make_out_of_memory(void) {
  GLuint buffer;
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)1 << 60, NULL, GL_STATIC_DRAW);
  glDeleteBuffers(1, &buffer);
}

static void pending_errors(void) {
  static void (*const errors[])(void) = {make_invalid_enum, make_out_of_memory};
  static const char *const names[] = {"GL_INVALID_ENUM", "GL_OUT_OF_MEMORY"};
  for (int k = 0; k < 2; k++) {
    test_context_label("%s", names[k]);
    heard h = {0, ""};
    ts_context_desc desc = test_desc();
    desc.log = hear;
    desc.log_user = &h;
    errors[k]();
    CHECK_OK(NULL, ts_context_create(&desc, &context));
    CHECK_INT(h.count, 1);
    CHECK_CONTAINS(h.last, names[k]);
    CHECK_INT(glGetError(), GL_NO_ERROR);
    ts_space *space = make_space(context, n);
    errors[k]();
    ts_vector *v = make_vector(space, 1, NULL);
    CHECK_INT(h.count, 2);
    errors[k]();
    CHECK_OK(context, ts_vector_fill(v, 1));
    errors[k]();
    ts_vector_destroy(&v);
    CHECK_INT(h.count, 4);
    CHECK_INT(glGetError(), GL_NO_ERROR);
    ts_space_destroy(&space);
    CHECK_INT(h.count, 4);
    test_close(&context);
  }
}

/* ---- EGL's current API in the application's thread ---- */

static void api_of_egl(void) {
#ifdef TEXSOLVE_HAVE_EGL
  ts_gl_desc gl = {.platform = TS_GL_PLATFORM_EGL};
  ts_context_desc desc = test_desc();
  desc.gl = &gl;
  if (!eglBindAPI(EGL_OPENGL_ES_API)) return;
  const EGLContext current = eglGetCurrentContext();
  ts_context *own = NULL;
  CHECK_OK(NULL, ts_context_create(&desc, &own));
  CHECK_INT(eglQueryAPI(), EGL_OPENGL_ES_API);
  ts_space *space = make_space(own, n);
  ts_vector *v = make_vector(space, 1, NULL);
  CHECK_OK(own, ts_vector_fill(v, 2));
  CHECK_INT(eglQueryAPI(), EGL_OPENGL_ES_API);
  CHECK(eglGetCurrentContext() == current);
  ts_vector_destroy(&v);
  ts_space_destroy(&space);
  test_close(&own);
  CHECK_INT(eglQueryAPI(), EGL_OPENGL_ES_API);
  CHECK(eglGetCurrentContext() == current);
  eglBindAPI(EGL_OPENGL_API);
#endif
}

TEST_MAIN(CASES(forgotten_states, forgotten_for_one_call, pending_errors, api_of_egl))
