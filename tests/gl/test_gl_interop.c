/* Vectors as textures: the location of a vector, vectors on the application's textures, the maps between rows
 * and texels, and drawing from a vector without a copy. The test calls OpenGL as an application would. */
#include <GL/glew.h>

#ifdef TEXSOLVE_HAVE_EGL
#include <EGL/egl.h>
#include <pthread.h>
#endif

#include <texsolve/gl.h>
#include <texsolve/operator.h>
#include <texsolve/solver.h>

#include "application.h"
#include "helpers.h"

static ts_context *context;
static ts_matrix *matrix;
static ref_matrix grid;
static const unsigned char constrained[20 * 15] = {[0] = 1, [7] = 1, [123] = 1, [299] = 1};
enum { unknowns = 20 * 15 };

static const GLenum formats[5] = {0, GL_R32F, GL_RG32F, GL_RGBA32F, GL_RGBA32F};
static const GLenum layouts[5] = {0, GL_RED, GL_RG, GL_RGBA, GL_RGBA};
static const int channels[5] = {0, 1, 2, 4, 4};

static void make_current(void) {
  if (test_is_application())
    application_make_current();
  else
    CHECK_OK(context, ts_gl_make_current(context));
}

/* scripts/test --drivers runs this with a driver that lacks them too. */
static void texture_barrier(void) {
  make_current();
  GLint major = 0, minor = 0;
  glGetIntegerv(GL_MAJOR_VERSION, &major);
  glGetIntegerv(GL_MINOR_VERSION, &minor);
  const int offered = 10 * major + minor >= 45 || application_lists("GL_ARB_texture_barrier") ||
                      application_lists("GL_NV_texture_barrier");
  const int refused = (test_desc().gl->flags & TS_GL_NO_TEXTURE_BARRIER) != 0;
  CHECK_INT(gl_info(context).texture_barrier, offered && !refused);
}

/* ---- The current context and its thread ---- */

#ifdef TEXSOLVE_HAVE_EGL

static ts_status status_in_thread;
static char message_in_thread[256];

/* Calls a function of the context in a new thread, which must not keep a context current. */
static void *call_in_thread(void *call) {
  ts_status (*const function)(ts_context *) = *(ts_status(**)(ts_context *))call;
  status_in_thread = function(context);
  snprintf(message_in_thread, sizeof message_in_thread, "%s", ts_last_error(context));
  if (status_in_thread == TS_OK) CHECK_OK(context, ts_gl_release_current(context));
  return NULL;
}

static ts_status run_in_thread(ts_status (*function)(ts_context *)) {
  pthread_t thread;
  status_in_thread = TS_ERROR_UNAVAILABLE;
  if (CHECK(pthread_create(&thread, NULL, call_in_thread, &function) == 0)) pthread_join(thread, NULL);
  return status_in_thread;
}

static void expect_elsewhere(ts_status (*function)(ts_context *)) {
  CHECK_INT(run_in_thread(function), TS_ERROR_DEVICE);
  CHECK_CONTAINS(message_in_thread, "current on another thread");
  CHECK_CONTAINS(message_in_thread, "ts_gl_release_current");
}

/* A context created by the library is current only within calls, unless the caller keeps it current. Then the
 * caller can pass it to another thread. */
static void threads(void) {
  if (test_desc().gl->platform != TS_GL_PLATFORM_EGL) return;
  for (int kept = 0; kept < 2; kept++) {
    test_context_label("%s", kept ? "TS_GL_KEEP_CURRENT" : "ts_gl_make_current");
    ts_context_desc desc = test_desc();
    if (kept) test_gl()->flags |= TS_GL_KEEP_CURRENT;
    REQUIRE_OK(NULL, ts_context_create(&desc, &context));
    CHECK((eglGetCurrentContext() != EGL_NO_CONTEXT) == kept);
    CHECK_OK(context, ts_context_finish(context));
    CHECK((eglGetCurrentContext() != EGL_NO_CONTEXT) == kept);
    if (!kept) {
      CHECK_INT(run_in_thread(ts_context_finish), TS_OK);
      CHECK_OK(context, ts_gl_make_current(context));
      expect_elsewhere(ts_gl_release_current);
    }
    CHECK(eglGetCurrentContext() != EGL_NO_CONTEXT);
    expect_elsewhere(ts_context_finish);
    expect_elsewhere(ts_gl_make_current);
    CHECK_OK(context, ts_gl_release_current(context));
    CHECK(eglGetCurrentContext() == EGL_NO_CONTEXT);
    CHECK_OK(context, ts_gl_release_current(context));
    CHECK_INT(run_in_thread(ts_context_finish), TS_OK);
    CHECK_INT(run_in_thread(ts_gl_make_current), TS_OK);
    CHECK_OK(context, ts_context_finish(context));
    CHECK((eglGetCurrentContext() != EGL_NO_CONTEXT) == kept);
    test_close(&context);
  }
}

/* The application's EGL context is current again after every call of a library with its own context. */
static void application_beside(void) {
  if (test_desc().gl->platform != TS_GL_PLATFORM_EGL) return;
  const char *why = application_open(0);
  if (why) printf("no context of an application: %s\n", why);
  REQUIRE(!why);
  const EGLContext own = eglGetCurrentContext();
  for (int kept = 0; kept < 2; kept++) {
    ts_context_desc desc = test_desc();
    if (kept) test_gl()->flags |= TS_GL_KEEP_CURRENT;
    REQUIRE_OK(NULL, ts_context_create(&desc, &context));
    CHECK(eglGetCurrentContext() == own);
    CHECK_OK(context, ts_context_finish(context));
    CHECK(eglGetCurrentContext() == own);
    CHECK_OK(context, ts_gl_release_current(context));
    CHECK(eglGetCurrentContext() == own);
    test_close(&context);
    CHECK(eglGetCurrentContext() == own);
  }
  application_close();
}

#endif

/* After release the context's state is restored, regardless of the caller's changes. */
static void released_state(void) {
  if (test_is_application()) return;
  ts_space *space = make_space(context, 300);
  ts_vector *x = make_vector(space, 1, NULL);
  make_current();
  glEnable(GL_SCISSOR_TEST);
  glScissor(0, 0, 1, 1);
  glBindVertexArray(0);
  CHECK_OK(context, ts_gl_release_current(context));
  CHECK_OK(context, ts_vector_fill(x, 3));
  float *values = read_vector(x);
  CHECK_CLOSE(values[299], 3, 0);
  free(values);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
}

/* All texels of level 0 of a texture. */
static float *download(unsigned texture, int components, int *width, int *height) {
  make_current();
  glBindTexture(GL_TEXTURE_2D, texture);
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, width);
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, height);
  float *texels = malloc(sizeof *texels * (size_t)*width * (size_t)*height * (size_t)channels[components]);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glGetTexImage(GL_TEXTURE_2D, 0, layouts[components], GL_FLOAT, texels);
  CHECK_INT(glGetError(), GL_NO_ERROR);
  glBindTexture(GL_TEXTURE_2D, 0);
  return texels;
}

static unsigned upload(int width, int height, GLenum format, GLenum layout, const float *texels) {
  unsigned texture;
  make_current();
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, width, height, 0, layout, GL_FLOAT, texels);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  glBindTexture(GL_TEXTURE_2D, 0);
  CHECK_INT(glGetError(), GL_NO_ERROR);
  return texture;
}

static void drop(unsigned texture) {
  make_current();
  glDeleteTextures(1, &texture);
}

/* The texel map is one to one and inside the vector, and all other texels hold 0. */
static void check_texture(ts_vector *vector, const float *expected) {
  const int components = ts_vector_get_components(vector), stride = channels[components];
  ts_gl_texture where;
  int width, height, space_width, space_height;
  int32_t texels[2 * unknowns];
  ts_space *space = ts_vector_get_space(vector);
  REQUIRE_OK(context, ts_gl_vector_get_texture(vector, &where));
  REQUIRE_OK(context, ts_gl_space_get_size(space, &space_width, &space_height));
  REQUIRE_OK(context, ts_gl_space_get_texels(space, texels, 2 * unknowns));
  CHECK_INT(where.width, space_width);
  CHECK_INT(where.height, space_height);
  CHECK_INT(where.internal_format, formats[components]);
  float *image = download(where.texture, components, &width, &height);
  CHECK(where.x >= 0 && where.y >= 0 && where.x + where.width <= width && where.y + where.height <= height);
  unsigned char *taken = calloc((size_t)(where.width * where.height), 1);
  for (int i = 0; i < unknowns; i++) {
    const int x = texels[2 * i], y = texels[2 * i + 1];
    if (!CHECK(x >= 0 && y >= 0 && x < where.width && y < where.height)) break;
    if (!CHECK(!taken[y * where.width + x])) break;
    taken[y * where.width + x] = 1;
    const float *texel =
        image + ((size_t)(where.y + y) * (size_t)width + (size_t)(where.x + x)) * (size_t)stride;
    if (!CHECK(memcmp(texel, expected + i * components, sizeof *texel * (size_t)components) == 0)) break;
  }
  for (int y = 0; y < where.height; y++)
    for (int x = 0; x < where.width; x++)
      for (int c = 0; c < stride && !taken[y * where.width + x]; c++)
        if (!CHECK(image[((size_t)(where.y + y) * (size_t)width + (size_t)(where.x + x)) * (size_t)stride +
                         (size_t)c] == 0)) {
          free(taken), free(image);
          return;
        }
  free(taken), free(image);
}

static void texture_of_a_vector(void) {
  for (int components = 1; components <= 4; components++) {
    test_context_label("%d components", components);
    const size_t count = (size_t)unknowns * (size_t)components;
    float *values = ref_values(count, 3, -1, 1);
    ts_vector *x = make_vector(ts_matrix_get_row_space(matrix), components, values);
    ts_vector *y = make_vector(ts_matrix_get_row_space(matrix), components, NULL);
    check_texture(x, values);
    /* A vector keeps its texture, and every operation changes it. */
    ts_gl_texture before, after;
    CHECK_OK(context, ts_gl_vector_get_texture(y, &before));
    for (int k = 0; k < 3; k++) { /* in place, where another texture might have replaced it */
      CHECK_OK(context, ts_vector_axpby(y, ts_constant(1), x, ts_constant(1)));
      CHECK_OK(context, ts_gl_vector_get_texture(y, &after));
      CHECK(memcmp(&before, &after, sizeof before) == 0);
    }
    CHECK_OK(context, ts_vector_copy(y, x));
    CHECK_OK(context, ts_vector_scale(y, ts_constant(-2)));
    for (size_t i = 0; i < count; i++) values[i] *= -2;
    check_texture(y, values);
    CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
    float *product = read_vector(y);
    check_texture(y, product);
    free(values), free(product);
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
  }
}

/* A vector on a texture of the application reads its content and writes to it. */
static void vector_on_a_texture(void) {
  ts_space *space = ts_matrix_get_row_space(matrix);
  int width, height, got_width, got_height;
  int32_t texels[2 * unknowns];
  CHECK_OK(context, ts_gl_space_get_size(space, &width, &height));
  CHECK_OK(context, ts_gl_space_get_texels(space, texels, 2 * unknowns));
  for (int components = 1; components <= 4; components++) {
    test_context_label("%d components", components);
    const size_t stride = (size_t)channels[components];
    float *values = ref_values((size_t)unknowns * (size_t)components, 5, -1, 1);
    float *image = calloc((size_t)width * (size_t)height * stride, sizeof *image);
    for (int i = 0; i < unknowns; i++)
      memcpy(image + ((size_t)texels[2 * i + 1] * (size_t)width + (size_t)texels[2 * i]) * stride,
             values + i * components, sizeof *image * (size_t)components);
    const unsigned texture = upload(width, height, formats[components], layouts[components], image);
    const size_t bytes = context_info(context).bytes_device;
    ts_vector *x = NULL;
    if (CHECK_OK(context, ts_gl_vector_from_texture(space, components, texture, &x))) {
      float *read = read_vector(x);
      CHECK(memcmp(read, values, sizeof *read * (size_t)unknowns * (size_t)components) == 0);
      free(read);
      ts_gl_texture where;
      CHECK_OK(context, ts_gl_vector_get_texture(x, &where));
      CHECK_INT(where.texture, texture);
      CHECK(where.x == 0 && where.y == 0);
      /* As an operand and as a result, also of itself. */
      ts_vector *y = make_vector(space, components, NULL);
      CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
      CHECK_OK(context, ts_vector_axpby(x, ts_constant(2), x, ts_constant(0.5f)));
      for (size_t i = 0; i < (size_t)unknowns * (size_t)components; i++) values[i] *= 2.5f;
      read = read_vector(x);
      for (size_t i = 0; i < (size_t)unknowns * (size_t)components; i++)
        if (!CHECK_CLOSE(read[i], values[i], 4 * EPSILON * fabs((double)values[i]))) break;
      check_texture(x, read);
      free(read);
      CHECK_OK(context, ts_vector_write(x, ts_host(values, (size_t)unknowns * (size_t)components)));
      ts_vector_destroy(&y);
      ts_vector_destroy(&x);
      /* The texture and its content outlive the vector. */
      float *left = download(texture, components, &got_width, &got_height);
      CHECK(got_width == width && got_height == height);
      CHECK(left[((size_t)texels[1] * (size_t)width + (size_t)texels[0]) * stride] == values[0]);
      free(left);
      CHECK(context_info(context).bytes_device <= bytes + (size_t)width * (size_t)height * 16);
    }
    drop(texture);
    free(values), free(image);
  }
}

static void refuse(ts_space *space, int components, unsigned texture, const char *part, const char *other) {
  ts_vector *x = (ts_vector *)(uintptr_t)1;
  CHECK_FAILS(context, ts_gl_vector_from_texture(space, components, texture, &x), TS_ERROR_INVALID_ARGUMENT,
              part, other);
  CHECK(x == NULL);
}

static void refused_textures(void) {
  ts_space *space = ts_matrix_get_row_space(matrix);
  int width, height;
  char need[64];
  CHECK_OK(context, ts_gl_space_get_size(space, &width, &height));
  snprintf(need, sizeof need, "%d x %d", width, height);
  refuse(space, 1, 0, "texture", "0");
  refuse(space, 1, 987654, "987654", "");
  refuse(space, 0, 1, "components", "0");
  refuse(space, 5, 1, "components", "5");
  unsigned texture = upload(width + 1, height, GL_R32F, GL_RED, NULL);
  test_context_label("wrong width");
  refuse(space, 1, texture, need, "");
  drop(texture);
  texture = upload(width, height * 2, GL_R32F, GL_RED, NULL);
  test_context_label("wrong height");
  refuse(space, 1, texture, need, "");
  drop(texture);
  texture = upload(width, height, GL_RGBA8, GL_RGBA, NULL);
  test_context_label("wrong format");
  refuse(space, 4, texture, "format", "");
  drop(texture);
  texture = upload(width, height, GL_R32F, GL_RED, NULL);
  static const struct {
    const char *name;
    GLenum token;
    GLint value, usual;
  } parameters[] = {{"GL_TEXTURE_BASE_LEVEL", GL_TEXTURE_BASE_LEVEL, 1, 0},
                    {"GL_TEXTURE_SWIZZLE_R", GL_TEXTURE_SWIZZLE_R, GL_GREEN, GL_RED},
                    {"GL_TEXTURE_SWIZZLE_G", GL_TEXTURE_SWIZZLE_G, GL_ZERO, GL_GREEN},
                    {"GL_TEXTURE_SWIZZLE_B", GL_TEXTURE_SWIZZLE_B, GL_RED, GL_BLUE},
                    {"GL_TEXTURE_SWIZZLE_A", GL_TEXTURE_SWIZZLE_A, GL_ONE, GL_ALPHA}};
  for (size_t k = 0; k < sizeof parameters / sizeof parameters[0]; k++) {
    test_context_label("%s", parameters[k].name);
    for (int on = 1; on >= 0; on--) {
      make_current();
      glBindTexture(GL_TEXTURE_2D, texture);
      glTexParameteri(GL_TEXTURE_2D, parameters[k].token, on ? parameters[k].value : parameters[k].usual);
      glBindTexture(GL_TEXTURE_2D, 0);
      if (on) refuse(space, 1, texture, parameters[k].name, "must be");
    }
  }
  test_context_label("format of other components");
  refuse(space, 3, texture, "format", "");
  ts_vector *x = NULL;
  CHECK_OK(context, ts_gl_vector_from_texture(space, 1, texture, &x));
  ts_vector_destroy(&x);
  CHECK_FAILS(context, ts_gl_vector_from_texture(space, 1, texture, NULL), TS_ERROR_INVALID_ARGUMENT, "vector");
  drop(texture);
  make_current();
  test_context_label("not a 2-D texture");
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_3D, texture);
  glTexImage3D(GL_TEXTURE_3D, 0, GL_R32F, width, height, 1, 0, GL_RED, GL_FLOAT, NULL);
  glBindTexture(GL_TEXTURE_3D, 0);
  refuse(space, 1, texture, "2D", "");
  drop(texture);
  make_current();
  CHECK_INT(glGetError(), GL_NO_ERROR); /* the library leaves no error behind */
}

/* The index texture gives an index for each texel, or -1 for padding. Green is 1 for constrained rows. */
static void index_texture(void) {
  ts_space *space = ts_matrix_get_row_space(matrix);
  int width, height, got_width, got_height, padding = 0;
  int32_t texels[2 * unknowns];
  unsigned texture = 0, again = 0;
  CHECK_OK(context, ts_gl_space_get_size(space, &width, &height));
  CHECK_OK(context, ts_gl_space_get_texels(space, texels, 2 * unknowns));
  REQUIRE_OK(context, ts_gl_space_get_index_texture(space, &texture));
  CHECK_OK(context, ts_gl_space_get_index_texture(space, &again));
  CHECK_INT(texture, again);
  make_current();
  glBindTexture(GL_TEXTURE_2D, texture);
  GLint format;
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &got_width);
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &got_height);
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_INTERNAL_FORMAT, &format);
  CHECK_INT(got_width, width);
  CHECK_INT(got_height, height);
  CHECK_INT(format, GL_RG32I);
  int32_t *image = malloc(sizeof *image * 2 * (size_t)width * (size_t)height);
  glGetTexImage(GL_TEXTURE_2D, 0, GL_RG_INTEGER, GL_INT, image);
  glBindTexture(GL_TEXTURE_2D, 0);
  CHECK_INT(glGetError(), GL_NO_ERROR);
  for (int i = 0; i < unknowns; i++) {
    const int32_t *texel = image + 2 * (texels[2 * i + 1] * width + texels[2 * i]);
    if (!CHECK_INT(texel[0], i) || !CHECK_INT(texel[1], constrained[i])) break;
  }
  for (int k = 0; k < width * height; k++) padding += image[2 * k] == -1;
  CHECK_INT(padding, width * height - unknowns);
  free(image);
}

static void refused_arguments(void) {
  ts_space *space = ts_matrix_get_row_space(matrix);
  int32_t texels[2 * unknowns];
  int width;
  CHECK_FAILS(context, ts_gl_space_get_texels(space, texels, unknowns), TS_ERROR_INVALID_ARGUMENT, "count",
              "300", "2 x 300");
  CHECK_FAILS(context, ts_gl_space_get_texels(space, NULL, 600), TS_ERROR_INVALID_ARGUMENT, "texels");
  CHECK_FAILS(context, ts_gl_space_get_size(space, &width, NULL), TS_ERROR_INVALID_ARGUMENT, "height");
  CHECK_FAILS(context, ts_gl_space_get_index_texture(space, NULL), TS_ERROR_INVALID_ARGUMENT, "texture");
  /* Objects of another backend. */
  const ts_context_desc desc = {.backend = "cpu"};
  ts_context *cpu = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &cpu));
  ts_space *host_space = make_space(cpu, unknowns);
  ts_vector *host = make_vector(host_space, 1, NULL), *none = NULL;
  ts_gl_texture where;
  unsigned texture;
  ts_gl_info info;
  CHECK_FAILS(cpu, ts_gl_get_info(cpu, &info), TS_ERROR_UNSUPPORTED, "cpu");
  CHECK_FAILS(cpu, ts_gl_vector_get_texture(host, &where), TS_ERROR_UNSUPPORTED, "cpu");
  CHECK_FAILS(cpu, ts_gl_vector_from_texture(host_space, 1, 1, &none), TS_ERROR_UNSUPPORTED, "cpu");
  CHECK_FAILS(cpu, ts_gl_space_get_size(host_space, &width, &width), TS_ERROR_UNSUPPORTED, "cpu");
  CHECK_FAILS(cpu, ts_gl_space_get_texels(host_space, texels, 600), TS_ERROR_UNSUPPORTED, "cpu");
  CHECK_FAILS(cpu, ts_gl_space_get_index_texture(host_space, &texture), TS_ERROR_UNSUPPORTED, "cpu");
  CHECK_FAILS(cpu, ts_gl_make_current(cpu), TS_ERROR_UNSUPPORTED, "cpu");
  CHECK_FAILS(cpu, ts_gl_release_current(cpu), TS_ERROR_UNSUPPORTED, "cpu");
  ts_vector_destroy(&host);
  ts_space_destroy(&host_space);
  test_close(&cpu);
}

/* ---- Drawing ---- */

static unsigned compile(const char *vertex, const char *fragment) {
  const char *const sources[] = {vertex, fragment};
  const unsigned program = glCreateProgram();
  for (int k = 0; k < 2; k++) {
    const unsigned shader = glCreateShader(k ? GL_FRAGMENT_SHADER : GL_VERTEX_SHADER);
    glShaderSource(shader, 1, &sources[k], NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
  }
  glLinkProgram(program);
  GLint linked;
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  CHECK(linked);
  return program;
}

/* A viewer draws one point per unknown with the solution as its colour. The texel is an attribute, the value is
 * fetched from the vector's texture, and no byte passes through the host. */
static void draw_a_solution(void) {
  ts_space *space = ts_matrix_get_row_space(matrix);
  int32_t texels[2 * unknowns];
  float *bs = ref_values(unknowns, 7, 0.25f, 1);
  ts_vector *b = make_vector(space, 1, bs), *x = make_vector(space, 1, NULL);
  ts_solver *cg = make_cg(matrix, NULL);
  ts_gl_texture where;
  CHECK_OK(context, ts_gl_vector_get_texture(x, &where));
  CHECK_OK(context, ts_gl_space_get_texels(space, texels, 2 * unknowns));
  CHECK_OK(context, ts_solver_solve(cg, b, x, NULL));
  make_current();
  unsigned program =
      compile("#version 330 core\nlayout(location = 0) in ivec2 texel; uniform sampler2D u; uniform ivec2 at;"
              "flat out float value; void main() { value = texelFetch(u, at + texel, 0).x;"
              "gl_Position = vec4((gl_VertexID + 0.5) / 150.0 - 1.0, 0, 0, 1); gl_PointSize = 1.0; }",
              "#version 330 core\nflat in float value; out vec4 colour; void main() { colour = vec4(value); }");
  unsigned vao, buffer, target, framebuffer;
  target = upload(unknowns, 1, GL_R32F, GL_RED, NULL);
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
  CHECK_INT(glCheckFramebufferStatus(GL_FRAMEBUFFER), GL_FRAMEBUFFER_COMPLETE);
  glGenVertexArrays(1, &vao);
  glBindVertexArray(vao);
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glBufferData(GL_ARRAY_BUFFER, sizeof texels, texels, GL_STATIC_DRAW);
  glEnableVertexAttribArray(0);
  glVertexAttribIPointer(0, 2, GL_INT, 0, NULL);
  glUseProgram(program);
  glUniform1i(glGetUniformLocation(program, "u"), 0);
  glUniform2i(glGetUniformLocation(program, "at"), where.x, where.y);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, where.texture);
  glViewport(0, 0, unknowns, 1);
  glDisable(GL_SCISSOR_TEST);
  glDisable(GL_BLEND);
  glColorMask(1, 1, 1, 1);
  glDrawArrays(GL_POINTS, 0, unknowns);
  float drawn[unknowns];
  glReadPixels(0, 0, unknowns, 1, GL_RED, GL_FLOAT, drawn);
  CHECK_INT(glGetError(), GL_NO_ERROR);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  glBindVertexArray(0);
  glUseProgram(0);
  glDeleteFramebuffers(1, &framebuffer);
  glDeleteVertexArrays(1, &vao);
  glDeleteBuffers(1, &buffer);
  glDeleteProgram(program);
  glDeleteTextures(1, &target);
  float *xs = read_vector(x);
  CHECK(memcmp(drawn, xs, sizeof drawn) == 0);
  CHECK(ref_relative_residual(&grid, constrained, 1, 0, drawn, bs) <= 1e-4);
  /* The library works after the application has used the context. */
  CHECK_OK(context, ts_vector_fill(x, 1));
  CHECK_OK(context, ts_matrix_multiply(b, matrix, x));
  free(xs), free(bs);
  ts_solver_destroy(&cg);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
}

/* A solve with the application's textures as right-hand side and solution. */
static void solve_in_textures(void) {
  ts_space *space = ts_matrix_get_row_space(matrix);
  int width, height;
  CHECK_OK(context, ts_gl_space_get_size(space, &width, &height));
  float *zeros = calloc((size_t)width * (size_t)height, sizeof *zeros), *bs = ref_values(unknowns, 8, -1, 1);
  const unsigned bt = upload(width, height, GL_R32F, GL_RED, zeros),
                 xt = upload(width, height, GL_R32F, GL_RED, zeros);
  ts_vector *b = NULL, *x = NULL;
  CHECK_OK(context, ts_gl_vector_from_texture(space, 1, bt, &b));
  CHECK_OK(context, ts_gl_vector_from_texture(space, 1, xt, &x));
  ts_solver *cg = make_cg(matrix, NULL);
  if (b && x && cg) {
    CHECK_OK(context, ts_vector_write(b, ts_host(bs, unknowns)));
    CHECK_OK(context, ts_solver_solve(cg, b, x, NULL));
    float *xs = read_vector(x);
    CHECK(ref_relative_residual(&grid, constrained, 1, 0, xs, bs) <= 1e-4);
    check_texture(x, xs);
    free(xs);
  }
  ts_solver_destroy(&cg);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  drop(bt);
  drop(xt);
  free(zeros), free(bs);
}

static int make_grid_matrix(int round) {
  (void)round;
  grid = ref_grid(20, 15);
  const ts_matrix_desc desc = {.csr = ref_csr(&grid), .constrained = constrained};
  return CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
}

/* y = 3 x, computed by the application with the textures. */
static ts_status triple(void *user, ts_vector *y, const ts_vector *x) {
  int *calls = user, width, height;
  ts_gl_texture from, to;
  ts_status status = ts_gl_vector_get_texture((ts_vector *)x, &from);
  if (status == TS_OK) status = ts_gl_vector_get_texture(y, &to);
  if (status < 0) return status;
  float *image = download(from.texture, 1, &width, &height);
  float *texels = malloc((size_t)to.width * (size_t)to.height * sizeof *texels);
  for (int j = 0; j < to.height; j++)
    for (int i = 0; i < to.width; i++) texels[j * to.width + i] = 3 * image[(from.y + j) * width + from.x + i];
  glBindTexture(GL_TEXTURE_2D, to.texture);
  glTexSubImage2D(GL_TEXTURE_2D, 0, to.x, to.y, to.width, to.height, GL_RED, GL_FLOAT, texels);
  glBindTexture(GL_TEXTURE_2D, 0);
  free(texels), free(image);
  ++*calls;
  return TS_OK;
}

/* An operator that works on textures. */
static void operator_in_textures(void) {
  ts_space *space = ts_matrix_get_row_space(matrix);
  int calls = 0;
  ts_matrix *A = NULL;
  const ts_operator_desc desc = {
      .apply = triple, .user = &calls, .symmetric = 1, .precision = TS_PRECISION_SINGLE};
  float *bs = ref_values(unknowns, 8, -1, 1);
  ts_vector *b = make_vector(space, 1, bs), *x = make_vector(space, 1, NULL);
  REQUIRE_OK(context, ts_operator_create(space, space, &desc, &A));
  static const ts_method methods[] = {TS_METHOD_CG, TS_METHOD_BICGSTAB, TS_METHOD_GMRES, TS_METHOD_IDR};
  for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
    const ts_solver_desc how = {
        .method = methods[k], .preconditioner_kind = TS_PRECONDITIONER_NONE, .zero_start = 1};
    test_context_label("%s", ts_method_name(methods[k]));
    CHECK_OK(context, solve_vectors(A, b, x, &how, NULL));
    float *xs = read_vector(x);
    for (int i = 0; i < unknowns; i++)
      if (!constrained[i] && !CHECK_CLOSE(xs[i], bs[i] / 3, 1e-5)) break;
    free(xs);
    CHECK_PADDING(x);
  }
  CHECK(calls > 3);
  free(bs);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&A);
}

static void drop_grid_matrix(void) {
  ts_matrix_destroy(&matrix);
  ref_free(&grid);
}

static const test_fixture fixture = {
    .context = &context, .setup = make_grid_matrix, .teardown = drop_grid_matrix};

static const test_group groups[] = {
#ifdef TEXSOLVE_HAVE_EGL
    CASES(threads, application_beside),
#endif
    CASES_IN_CONTEXT(texture_barrier, released_state),
    CASES_WITH(&fixture, texture_of_a_vector, vector_on_a_texture, refused_textures, index_texture,
               refused_arguments, draw_a_solution, solve_in_textures, operator_in_textures),
    {.cases = NULL}};
int main(int argc, char **argv) {
  return test_main(argc, argv, groups, 0);
}
