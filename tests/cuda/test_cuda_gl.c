/* Vectors of the CUDA backend that OpenGL draws: the values a shader reads, the ownership of the vectors, and
 * the behaviour if OpenGL and CUDA do not share a device. */
#include <GL/glew.h>

#include <texsolve/cuda.h>
#include <texsolve/gl.h>

#include "application.h"
#include "helpers.h"

enum { size = 1000 };

static const GLenum formats[5] = {0, GL_R32F, GL_RG32F, GL_R32F, GL_RGBA32F};
static const int channels[5] = {0, 1, 2, 1, 4};

static ts_context *context;

static int shares(void) {
  const ts_status status = ts_cuda_gl_check(context);
  if (status == TS_OK) return 1;
  CHECK_INT(status, TS_ERROR_UNSUPPORTED);
  printf("  not shared: %s\n", ts_last_error(context));
  return 0;
}

/* Makes an application's OpenGL context current and shares the CUDA vectors with it. */
static int open_both(void) {
  context = test_open();
  if (!context) return 0;
  const char *why = application_open(0);
  if (why) printf("  no OpenGL: %s\n", why);
  if (!why && shares()) return 1;
  application_close();
  test_close(&context);
  return 0;
}

static void close_both(void) {
  test_close(&context);
  application_close();
}

static ts_vector *numbered(ts_space *space, int components, float first) {
  float values[4 * size];
  for (int k = 0; k < components * size; k++) values[k] = first + (float)k;
  return make_vector(space, components, values);
}

/* ---- The values that OpenGL reads ---- */

static unsigned compile(GLenum kind, const char *text) {
  GLint done = 0;
  const unsigned shader = glCreateShader(kind);
  glShaderSource(shader, 1, &text, NULL);
  glCompileShader(shader);
  glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
  CHECK(done);
  return shader;
}

static unsigned make_program(void) {
  const unsigned program = glCreateProgram();
  glAttachShader(program, compile(GL_VERTEX_SHADER, "#version 330 core\n"
                                                    "void main() {\n"
                                                    "  gl_Position = vec4(4.0 * float(gl_VertexID & 1) - 1.0,\n"
                                                    "                     2.0 * float(gl_VertexID & 2) - 1.0,\n"
                                                    "                     0.0, 1.0);\n"
                                                    "}\n"));
  glAttachShader(program, compile(GL_FRAGMENT_SHADER, "#version 330 core\n"
                                                      "uniform samplerBuffer data;\n"
                                                      "out vec4 result;\n"
                                                      "void main() {\n"
                                                      "  result = texelFetch(data, int(gl_FragCoord.x));\n"
                                                      "}\n"));
  glLinkProgram(program);
  return program;
}

/* Draws all texels of a buffer texture and reads the image. */
static void draw(const ts_cuda_gl_texture *texture, int components, float *texels) {
  const unsigned program = make_program();
  unsigned target, framebuffer, array;
  glGenTextures(1, &target);
  glBindTexture(GL_TEXTURE_2D, target);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, texture->texels, 1, 0, GL_RGBA, GL_FLOAT, NULL);
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
  glGenVertexArrays(1, &array);
  glBindVertexArray(array);
  glViewport(0, 0, texture->texels, 1);
  glUseProgram(program);
  glBindTexture(GL_TEXTURE_BUFFER, texture->texture);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  const GLenum layouts[5] = {0, GL_RED, GL_RG, GL_RED, GL_RGBA};
  glReadPixels(0, 0, texture->texels, 1, layouts[components], GL_FLOAT, texels);
  CHECK_INT(glGetError(), GL_NO_ERROR);
  glBindTexture(GL_TEXTURE_BUFFER, 0);
  glDeleteProgram(program);
  glDeleteVertexArrays(1, &array);
  glDeleteFramebuffers(1, &framebuffer);
  glDeleteTextures(1, &target);
}

static void check_drawn(ts_vector *v, float first) {
  const int components = ts_vector_get_components(v);
  float texels[4 * size];
  ts_cuda_gl_texture texture;
  REQUIRE_OK(context, ts_cuda_vector_get_gl_texture(v, &texture));
  CHECK_INT(texture.internal_format, formats[components]);
  CHECK_INT(texture.texels * channels[components], components * size);
  CHECK(glIsTexture(texture.texture) && glIsBuffer(texture.buffer));
  draw(&texture, components, texels);
  for (int k = 0; k < components * size; k++)
    if (!CHECK_CLOSE((double)texels[k], (double)first + k, 0)) break;
}

/* A vector keeps its values when it moves to shared memory, and later results can be drawn without a new
 * request. */
static void drawn(void) {
  if (!open_both()) return;
  ts_space *space = make_space(context, size);
  for (int components = 1; components <= 4; components++) {
    ts_vector *v = numbered(space, components, 5), *w = numbered(space, components, 100);
    ts_context_info before, after;
    CHECK_OK(context, ts_context_get_info(context, &before));
    check_drawn(v, 5);
    CHECK_OK(context, ts_context_get_info(context, &after));
    CHECK_INT(after.bytes_device, before.bytes_device);
    check_drawn(w, 100);
    check_drawn(v, 5);                       /* while the other one is lent too */
    CHECK_OK(context, ts_vector_copy(v, w)); /* takes both back */
    check_drawn(v, 100);
    float *values = read_vector(v);
    CHECK_CLOSE((double)values[components * size - 1], 100.0 + components * size - 1, 0);
    free(values);
    ts_cuda_gl_texture texture;
    CHECK_OK(context, ts_cuda_vector_get_gl_texture(w, &texture));
    ts_vector_destroy(&w);
    CHECK(!glIsTexture(texture.texture) && !glIsBuffer(texture.buffer));
    check_drawn(v, 100);
    CHECK_OK(context, ts_cuda_vector_get_gl_texture(v, &texture));
    CHECK_OK(context, ts_cuda_gl_release(context));
    CHECK(!glIsTexture(texture.texture) && !glIsBuffer(texture.buffer));
    values = read_vector(v);
    CHECK_CLOSE((double)values[components * size - 1], 100.0 + components * size - 1, 0);
    free(values);
    CHECK_OK(context, ts_context_get_info(context, &after));
    CHECK_INT(after.bytes_device, before.bytes_device / 2);
    check_drawn(v, 100);
    ts_vector_destroy(&v);
  }
  ts_space_destroy(&space);
  close_both();
}

/* Bindings are unchanged. */
static void state_stays(void) {
  if (!open_both()) return;
  ts_space *space = make_space(context, size);
  ts_vector *v = numbered(space, 1, 0);
  unsigned buffer, texture;
  GLint buffer_after = 0, texture_after = 0;
  ts_cuda_gl_texture shared;
  glGenBuffers(1, &buffer);
  glGenTextures(1, &texture);
  glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
  glBindTexture(GL_TEXTURE_BUFFER, texture);
  CHECK_OK(context, ts_cuda_vector_get_gl_texture(v, &shared));
  glGetIntegerv(GL_COPY_WRITE_BUFFER_BINDING, &buffer_after);
  glGetIntegerv(GL_TEXTURE_BINDING_BUFFER, &texture_after);
  CHECK_INT(buffer_after, buffer);
  CHECK_INT(texture_after, texture);
  CHECK_INT(glGetError(), GL_NO_ERROR);
  ts_vector_destroy(&v);
  glDeleteBuffers(1, &buffer);
  glDeleteTextures(1, &texture);
  ts_space_destroy(&space);
  close_both();
}

/* If the shared OpenGL context is not current, calls return an error instead of crashing. When it is current
 * again, they work. */
static void other_context(void) {
  if (!open_both()) return;
  ts_space *space = make_space(context, size);
  ts_vector *v = numbered(space, 2, 7);
  float values[2 * size];
  check_drawn(v, 7);
  application_release_current();
  CHECK_FAILS(context, ts_vector_read(v, ts_host(values, 2 * size)), TS_ERROR_DEVICE, "OpenGL context",
              "not current");
  CHECK_FAILS(context, ts_cuda_gl_check(context), TS_ERROR_UNSUPPORTED, "no OpenGL context is current");
  application_make_current();
  CHECK_OK(context, ts_vector_read(v, ts_host(values, 2 * size)));
  CHECK_CLOSE((double)values[9], 16, 0);
  check_drawn(v, 7);
  ts_vector_destroy(&v);
  ts_space_destroy(&space);
  close_both();
}

static void errors(void) {
  ts_space *space = make_space(context, size);
  ts_vector *v = numbered(space, 1, 0);
  ts_cuda_gl_texture texture;
  CHECK_FAILS(context, ts_cuda_gl_check(context), TS_ERROR_UNSUPPORTED, "OpenGL");
  CHECK_FAILS(context, ts_cuda_vector_get_gl_texture(v, &texture), TS_ERROR_UNSUPPORTED, "OpenGL");
  CHECK_FAILS(context, ts_cuda_vector_get_gl_texture(v, NULL), TS_ERROR_INVALID_ARGUMENT, "texture");
  CHECK_INT(ts_cuda_vector_get_gl_texture(NULL, &texture), TS_ERROR_INVALID_ARGUMENT);
  CHECK_INT(ts_cuda_gl_check(NULL), TS_ERROR_INVALID_ARGUMENT);
  CHECK_INT(ts_cuda_gl_release(NULL), TS_ERROR_INVALID_ARGUMENT);
  CHECK_OK(context, ts_cuda_gl_release(context)); /* no vector is shared */
  ts_vector_destroy(&v);
  ts_space_destroy(&space);
}

/* Objects of another backend. */
static void other_backend(void) {
  const ts_context_desc desc = {.backend = "cpu"};
  ts_context *cpu = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &cpu));
  ts_space *space = make_space(cpu, size);
  ts_vector *v = numbered(space, 1, 0);
  ts_cuda_gl_texture texture;
  CHECK_FAILS(cpu, ts_cuda_gl_check(cpu), TS_ERROR_UNSUPPORTED, "cpu");
  CHECK_FAILS(cpu, ts_cuda_vector_get_gl_texture(v, &texture), TS_ERROR_UNSUPPORTED, "cpu");
  CHECK_FAILS(cpu, ts_cuda_gl_release(cpu), TS_ERROR_UNSUPPORTED, "cpu");
  ts_vector_destroy(&v);
  ts_space_destroy(&space);
  ts_context_destroy(&cpu);
  REQUIRE_OK(NULL, ts_context_create(&(ts_context_desc){.backend = "multi:cpu+cpu"}, &cpu));
  CHECK_FAILS(cpu, ts_cuda_gl_check(cpu), TS_ERROR_UNSUPPORTED, "multi:cpu+cpu", "2 parts");
  ts_context_destroy(&cpu);
}

TEST_MAIN(CASES(drawn, state_stays, other_context, other_backend), CASES_IN_CONTEXT(errors))
