/* In an application's context every public call leaves the OpenGL state unchanged and works with any state.
 * Here all bindings are used, all tests and masks are set to prevent drawing, and all pixel transfers are
 * modified. */
#include <GL/glew.h>

#include <texsolve/gl.h>
#include <texsolve/mesh.h>

#include "application.h"
#include "gl_snapshot.h"
#include "helpers.h"
#include "mesh_samples.h"

enum { side = 48, used_units = 16 };

/* The application's objects. */
static unsigned textures[used_units], samplers[used_units], texture_3d, texture_1d, texture_array, texture_cube;
static unsigned framebuffers[2], colour[2], renderbuffer, buffers[6], vao, program;

static void make_objects(void) {
  glGenTextures(used_units, textures);
  glGenSamplers(used_units, samplers);
  for (int k = 0; k < used_units; k++) {
    glBindTexture(GL_TEXTURE_2D, textures[k]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glSamplerParameteri(samplers[k], GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR); /* spoils texel fetches */
    glSamplerParameteri(samplers[k], GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glSamplerParameteri(samplers[k], GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
  }
  glGenTextures(1, &texture_1d);
  glGenTextures(1, &texture_3d);
  glGenTextures(1, &texture_array);
  glGenTextures(1, &texture_cube);
  glGenTextures(2, colour);
  glGenFramebuffers(2, framebuffers);
  glGenRenderbuffers(1, &renderbuffer);
  glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, side, side);
  for (int k = 0; k < 2; k++) {
    glBindTexture(GL_TEXTURE_2D, colour[k]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, side, side, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[k]);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + (GLenum)k, GL_TEXTURE_2D, colour[k], 0);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, renderbuffer);
    const GLenum drawn[2] = {k ? GL_NONE : GL_COLOR_ATTACHMENT0, k ? GL_COLOR_ATTACHMENT1 : GL_NONE};
    glDrawBuffers(2, drawn);
    glReadBuffer(GL_COLOR_ATTACHMENT0 + (GLenum)k);
    CHECK_INT(glCheckFramebufferStatus(GL_FRAMEBUFFER), GL_FRAMEBUFFER_COMPLETE);
    glClearColor(0.25f, 0.5f, 0.75f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
  }
  glGenBuffers(6, buffers);
  for (int k = 0; k < 6; k++) {
    glBindBuffer(GL_ARRAY_BUFFER, buffers[k]);
    glBufferData(GL_ARRAY_BUFFER, 65536, NULL, GL_STATIC_DRAW);
  }
  glGenVertexArrays(1, &vao);
  glBindVertexArray(vao);
  glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 12, NULL);
  glVertexAttribPointer(2, 2, GL_FLOAT, GL_FALSE, 8, NULL);
  glEnableVertexAttribArray(0);
  glEnableVertexAttribArray(2);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
  program = glCreateProgram();
  static const char *const sources[] = {"#version 330 core\nvoid main() { gl_Position = vec4(0); }",
                                        "#version 330 core\nout vec4 c; void main() { c = vec4(1); }"};
  for (int k = 0; k < 2; k++) {
    const unsigned shader = glCreateShader(k ? GL_FRAGMENT_SHADER : GL_VERTEX_SHADER);
    glShaderSource(shader, 1, &sources[k], NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
  }
  glLinkProgram(program);
}

static void bind_everything(void) {
  for (int k = 0; k < used_units; k++) {
    glActiveTexture(GL_TEXTURE0 + (GLenum)k);
    glBindTexture(GL_TEXTURE_2D, textures[k]);
    glBindTexture(GL_TEXTURE_1D, texture_1d);
    glBindTexture(GL_TEXTURE_3D, texture_3d);
    glBindTexture(GL_TEXTURE_2D_ARRAY, texture_array);
    glBindTexture(GL_TEXTURE_CUBE_MAP, texture_cube);
    glBindSampler((GLuint)k, samplers[used_units - 1 - k]);
  }
  glActiveTexture(GL_TEXTURE5);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffers[0]);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[1]);
  glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
  glUseProgram(program);
  glBindVertexArray(vao);
  glBindBuffer(GL_ARRAY_BUFFER, buffers[2]);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, buffers[3]);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffers[4]);
  glBindBuffer(GL_UNIFORM_BUFFER, buffers[5]);
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffers[5]);
}

static void set_against_drawing(void) {
  static const GLenum enabled[] = {GL_BLEND,
                                   GL_SCISSOR_TEST,
                                   GL_DEPTH_TEST,
                                   GL_STENCIL_TEST,
                                   GL_CULL_FACE,
                                   GL_POLYGON_OFFSET_FILL,
                                   GL_POLYGON_OFFSET_LINE,
                                   GL_RASTERIZER_DISCARD,
                                   GL_FRAMEBUFFER_SRGB,
                                   GL_SAMPLE_COVERAGE,
                                   GL_SAMPLE_ALPHA_TO_COVERAGE,
                                   GL_SAMPLE_ALPHA_TO_ONE,
                                   GL_SAMPLE_MASK,
                                   GL_COLOR_LOGIC_OP,
                                   GL_LINE_SMOOTH,
                                   GL_POLYGON_SMOOTH,
                                   GL_PRIMITIVE_RESTART,
                                   GL_PROGRAM_POINT_SIZE,
                                   GL_DEPTH_CLAMP,
                                   GL_TEXTURE_CUBE_MAP_SEAMLESS,
                                   GL_CLIP_DISTANCE0,
                                   GL_CLIP_DISTANCE1};
  for (size_t i = 0; i < sizeof enabled / sizeof enabled[0]; i++) glEnable(enabled[i]);
  glDisable(GL_MULTISAMPLE);
  glDisable(GL_DITHER);
  glViewport(3, 5, 7, 9);
  glScissor(1, 2, 3, 4);
  glDepthRange(0.25, 0.75);
  glDepthFunc(GL_NEVER);
  glDepthMask(GL_FALSE);
  glStencilFunc(GL_NEVER, 3, 0x55);
  glStencilOp(GL_INCR, GL_DECR, GL_INVERT);
  glStencilMaskSeparate(GL_FRONT, 0x0f);
  glStencilMaskSeparate(GL_BACK, 0xf0);
  glBlendFuncSeparate(GL_ZERO, GL_ONE, GL_DST_ALPHA, GL_SRC_ALPHA);
  glBlendEquationSeparate(GL_MIN, GL_FUNC_REVERSE_SUBTRACT);
  glBlendColor(0.125f, 0.25f, 0.5f, 0.75f);
  glDisablei(GL_BLEND, 1);
  glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
  glColorMaski(1, GL_FALSE, GL_TRUE, GL_FALSE, GL_TRUE);
  glLogicOp(GL_XOR);
  glCullFace(GL_FRONT_AND_BACK);
  glFrontFace(GL_CW);
  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  glSampleMaski(0, 0);
  glSampleCoverage(0, GL_TRUE);
  glPointSize(7);
  glProvokingVertex(GL_FIRST_VERTEX_CONVENTION);
  glPrimitiveRestartIndex(1);
  glClampColor(GL_CLAMP_READ_COLOR, GL_TRUE);
  glClearColor(0.1f, 0.2f, 0.3f, 0.4f);
  glClearDepth(0.5);
  glClearStencil(9);
}

static void bend_transfers(void) {
  static const GLenum both[2][8] = {
      {GL_PACK_SWAP_BYTES, GL_PACK_LSB_FIRST, GL_PACK_ROW_LENGTH, GL_PACK_IMAGE_HEIGHT, GL_PACK_SKIP_ROWS,
       GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_IMAGES, GL_PACK_ALIGNMENT},
      {GL_UNPACK_SWAP_BYTES, GL_UNPACK_LSB_FIRST, GL_UNPACK_ROW_LENGTH, GL_UNPACK_IMAGE_HEIGHT,
       GL_UNPACK_SKIP_ROWS, GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_IMAGES, GL_UNPACK_ALIGNMENT}};
  static const int values[8] = {1, 1, 1031, 77, 3, 5, 2, 8};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 8; i++) glPixelStorei(both[k][i], values[i]);
}

static void set_unusual_state(void) {
  bind_everything();
  set_against_drawing();
  bend_transfers();
  CHECK_INT(glGetError(), GL_NO_ERROR);
}

/* The state of a new context, with nothing bound. */
static void set_plain_state(void) {
  static const GLenum disabled[] = {GL_BLEND,
                                    GL_SCISSOR_TEST,
                                    GL_DEPTH_TEST,
                                    GL_STENCIL_TEST,
                                    GL_CULL_FACE,
                                    GL_RASTERIZER_DISCARD,
                                    GL_FRAMEBUFFER_SRGB,
                                    GL_COLOR_LOGIC_OP,
                                    GL_SAMPLE_MASK,
                                    GL_SAMPLE_COVERAGE,
                                    GL_SAMPLE_ALPHA_TO_COVERAGE,
                                    GL_SAMPLE_ALPHA_TO_ONE,
                                    GL_PRIMITIVE_RESTART,
                                    GL_CLIP_DISTANCE0,
                                    GL_CLIP_DISTANCE1};
  for (size_t i = 0; i < sizeof disabled / sizeof disabled[0]; i++) glDisable(disabled[i]);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  for (int k = 0; k < used_units; k++) glBindSampler((GLuint)k, 0);
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
  static const GLenum stores[] = {GL_PACK_SWAP_BYTES,   GL_PACK_LSB_FIRST, GL_PACK_ROW_LENGTH,
                                  GL_PACK_IMAGE_HEIGHT, GL_PACK_SKIP_ROWS, GL_PACK_SKIP_PIXELS,
                                  GL_PACK_SKIP_IMAGES};
  for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) glPixelStorei(stores[i], 0);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  glUseProgram(0);
  glBindVertexArray(0);
}

/* The application's image still has its clear colour. */
static void check_pictures(void) {
  set_plain_state();
  for (int k = 0; k < 2; k++) {
    unsigned char pixels[side * side * 4];
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[k]);
    glReadPixels(0, 0, side, side, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    int changed = 0;
    for (int i = 0; i < side * side; i++) {
      const unsigned char *p = pixels + 4 * i;
      changed += abs(p[0] - 64) > 1 || abs(p[1] - 128) > 1 || abs(p[2] - 191) > 1 || p[3] != 255;
    }
    CHECK_INT(changed, 0);
  }
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

static void delete_objects(void) {
  glDeleteTextures(used_units, textures);
  glDeleteSamplers(used_units, samplers);
  const unsigned more[] = {texture_1d, texture_3d, texture_array, texture_cube, colour[0], colour[1]};
  glDeleteTextures(6, more);
  glDeleteFramebuffers(2, framebuffers);
  glDeleteRenderbuffers(1, &renderbuffer);
  glDeleteBuffers(6, buffers);
  glDeleteVertexArrays(1, &vao);
  glDeleteProgram(program);
}

/* ---- Every public call ---- */

static gl_snapshot before, after;

static void same_state(const char *call) {
  CHECK_INT(glGetError(), GL_NO_ERROR);
  gl_snapshot_save(&after);
  if (gl_snapshot_compare(&before, &after, call)) before = after; /* report it once */
}

#define CALL(expression)                                                                                       \
  do {                                                                                                         \
    expression;                                                                                                \
    same_state(#expression);                                                                                   \
  } while (0)
#define STEP(context, call)                                                                                    \
  do {                                                                                                         \
    CHECK_OK(context, call);                                                                                   \
    same_state(#call);                                                                                         \
  } while (0)

/* A progress function finds the application's state. */
static int look(const ts_progress *progress, void *user) {
  (void)progress;
  same_state("a progress function");
  ++*(int *)user;
  return 0;
}

/* With a flowing boundary, and a row that needs several passes. */
static void call_mesh_flow(ts_context *context, ts_format format) {
  mesh_sample m = mesh_cone(700, 0.5f);
  const ts_mesh_flow_desc desc = {.vertices = m.vertices,
                                  .triangles = m.triangles,
                                  .triangle_vertices = m.t,
                                  .format = format,
                                  .boundary = TS_MESH_BOUNDARY_FLOW};
  const ts_vector_desc three = {.components = 3};
  const size_t floats = 3 * (size_t)m.vertices;
  ts_mesh_flow *flow = NULL;
  ts_vector *x = NULL;
  STEP(context, ts_mesh_flow_create(context, &desc, &flow));
  STEP(context, ts_vector_create(ts_mesh_flow_get_space(flow), &three, &x));
  STEP(context, ts_vector_write(x, ts_host(m.x, floats)));
  STEP(context, ts_mesh_flow_assemble(flow, x, 1e-3));
  STEP(context, ts_mesh_flow_solve(flow, x, NULL));
  STEP(context, ts_mesh_flow_set_solver(flow, NULL));
  STEP(context, ts_mesh_flow_step(flow, x, 1e-3, NULL));
  ts_mesh_flow_info info;
  STEP(context, ts_mesh_flow_get_info(flow, &info));
  float *xs = malloc(floats * sizeof *xs);
  STEP(context, ts_vector_read(x, ts_host(xs, floats)));
  CHECK(mesh_area(&m, xs) < mesh_area(&m, m.x));
  free(xs);
  CALL(ts_vector_destroy(&x));
  CALL(ts_mesh_flow_destroy(&flow));
  mesh_free(&m);
}

/* In pairs, with a row that needs several passes, so that up to three textures are drawn to at once. */
static void call_with_doubles(ts_context *context, const ts_matrix *split, const ts_vector *ones) {
  const ts_vector_desc doubles = {.precision = TS_PRECISION_DOUBLE};
  ts_vector *b = NULL, *r = NULL;
  double found[700];
  STEP(context, ts_vector_create(ts_matrix_get_row_space(split), &doubles, &b));
  STEP(context, ts_vector_create(ts_matrix_get_row_space(split), &doubles, &r));
  STEP(context, ts_matrix_multiply(b, split, ones));
  STEP(context, ts_matrix_residual(r, b, split, ones));
  STEP(context, ts_vector_axpby(r, ts_constant(1.0 / 3), ones, ts_constant(1)));
  STEP(context, ts_vector_read(r, ts_host(found, 700)));
  for (int i = 0; i < 700; i++)
    if (!CHECK_CLOSE(found[i], 1.0 / 3, 1e-11)) break;
  CALL(ts_vector_destroy(&b));
  CALL(ts_vector_destroy(&r));
}

static void call_everything(ts_format format) {
  ref_matrix m = ref_dense_row(700, 5, 3), spd = ref_grid(23, 17);
  unsigned char constrained[23 * 17] = {1, 0, 1};
  float *bs = ref_values(3 * 391, 3, -1, 1), slot[8], xs[3 * 391];
  const int32_t n = 391;
  ts_context_desc desc = test_desc();
  ts_context *context = NULL;
  gl_snapshot_save(&before);
  STEP(NULL, ts_context_create(&desc, &context));
  if (!context) return;
  ts_context_info info;
  STEP(context, ts_context_get_info(context, &info));
  STEP(context, ts_context_finish(context));
  STEP(context, ts_gl_make_current(context));
  const ts_space_desc size = {.size = 777};
  const ts_vector_desc three = {.components = 3};
  const ts_scalars_desc two = {.count = 2};
  ts_space *space = NULL;
  STEP(context, ts_space_create(context, &size, &space));
  CALL(ts_space_destroy(&space));
  ts_matrix_desc matrix_desc = {0};
  matrix_desc.csr = ref_csr(&m);
  matrix_desc.format = format;
  ts_matrix *split = NULL, *matrix = NULL;
  STEP(context, ts_matrix_create(context, &matrix_desc, &split));
  matrix_desc.csr = ref_csr(&spd);
  matrix_desc.constrained = constrained;
  STEP(context, ts_matrix_create(context, &matrix_desc, &matrix));
  STEP(context, ts_matrix_set_values(matrix, &matrix_desc.csr));
  ts_vector *b = NULL, *x = NULL, *y = NULL, *p = NULL, *q = NULL;
  STEP(context, ts_vector_create(ts_matrix_get_row_space(matrix), &three, &b));
  STEP(context, ts_vector_create(ts_matrix_get_row_space(matrix), &three, &x));
  STEP(context, ts_vector_create(ts_matrix_get_row_space(matrix), &three, &y));
  STEP(context, ts_vector_create(ts_matrix_get_row_space(split), NULL, &p));
  STEP(context, ts_vector_create(ts_matrix_get_row_space(split), NULL, &q));
  STEP(context, ts_vector_write(b, ts_host(bs, (size_t)n * 3)));
  STEP(context, ts_vector_read(b, ts_host(xs, (size_t)n * 3)));
  CHECK(memcmp(xs, bs, sizeof xs) == 0);
  ts_scalars *scalars = NULL;
  STEP(context, ts_scalars_create(context, &two, &scalars));
  const float written[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  STEP(context, ts_scalars_write(scalars, 0, ts_host(written, 8)));
  STEP(context, ts_scalars_read(scalars, 0, ts_host(slot, 8)));
  CHECK(memcmp(slot, written, sizeof slot) == 0);
  STEP(context, ts_vector_fill(y, 2));
  STEP(context, ts_vector_copy(x, b));
  STEP(context, ts_vector_scale(x, ts_scaled(1, scalars, 0)));
  STEP(context, ts_vector_axpby(x, ts_constant(0), y, ts_constant(0)));
  STEP(context, ts_vector_multiply(y, y, b));
  STEP(context, ts_vector_reciprocal(y, y));
  STEP(context, ts_vector_dot(scalars, 0, b, b));
  STEP(context, ts_vector_norm(scalars, 1, b, TS_NORM_2));
  STEP(context, ts_vector_norm(scalars, 1, b, TS_NORM_INFINITY));
  STEP(context, ts_vector_sum(scalars, 1, y));
  STEP(context, ts_vector_max(scalars, 1, y));
  STEP(context, ts_scalars_read(scalars, 0, ts_host(slot, 4)));
  CHECK_CLOSE(slot[1], ref_dot(391, 3, 1, bs, bs, NULL), 0.01);
  STEP(context, ts_vector_fill(p, 1));
  STEP(context, ts_matrix_multiply(q, split, p));
  STEP(context, ts_matrix_residual(q, q, split, p));
  STEP(context, ts_matrix_diagonal(y, matrix));
  float residual[700];
  STEP(context, ts_vector_read(q, ts_host(residual, 700)));
  for (int i = 0; i < 700; i++)
    if (!CHECK_CLOSE(residual[i], 0, 1e-3)) break;
  ts_gl_info arithmetic;
  STEP(context, ts_gl_get_info(context, &arithmetic));
  if (strcmp(arithmetic.exact_sums, "none")) call_with_doubles(context, split, p);
  call_mesh_flow(context, format);
  ts_solver *cg = NULL;
  int looks = 0;
  const ts_solver_desc watched = {.progress = look, .progress_user = &looks};
  STEP(context, ts_solver_create(matrix, &watched, &cg));
  STEP(context, ts_solver_solve(cg, b, x, NULL));
  CHECK(looks > 0);
  STEP(context, ts_vector_read(x, ts_host(xs, (size_t)n * 3)));
  CHECK(ref_worst_residual(&spd, constrained, 3, xs, bs) <= 1e-4);
  ts_gl_texture where;
  int width, height;
  int32_t texels[2 * 391];
  unsigned index;
  STEP(context, ts_gl_vector_get_texture(x, &where));
  STEP(context, ts_gl_space_get_size(ts_matrix_get_row_space(matrix), &width, &height));
  STEP(context, ts_gl_space_get_texels(ts_matrix_get_row_space(matrix), texels, 2 * 391));
  STEP(context, ts_gl_space_get_index_texture(ts_matrix_get_row_space(matrix), &index));
  ts_vector *wrapped = NULL;
  CALL(CHECK_INT(ts_gl_vector_from_texture(ts_matrix_get_row_space(matrix), 3, textures[0], &wrapped),
                 TS_ERROR_INVALID_ARGUMENT));
  CALL(CHECK_INT(ts_matrix_multiply(x, matrix, x), TS_ERROR_INVALID_ARGUMENT));
  CALL(ts_solver_destroy(&cg));
  CALL(ts_vector_destroy(&b));
  CALL(ts_vector_destroy(&x));
  CALL(ts_vector_destroy(&y));
  CALL(ts_vector_destroy(&p));
  CALL(ts_vector_destroy(&q));
  CALL(ts_scalars_destroy(&scalars));
  CALL(ts_matrix_destroy(&split));
  CALL(ts_matrix_destroy(&matrix));
  CHECK_INT(context_info(context).bytes_device, 0);
  CALL(ts_context_destroy(&context));
  free(bs);
  ref_free(&m);
  ref_free(&spd);
}

static void unusual_state(void) {
  for (ts_format format = texture_format_after(TS_FORMAT_AUTO); format; format = texture_format_after(format)) {
    make_objects();
    set_unusual_state();
    test_context_label("unusual, %s", ts_format_name(format));
    call_everything(format);
    check_pictures();
    delete_objects();
  }
}

static void plain_state(void) {
  make_objects();
  set_plain_state();
  test_context_label("plain");
  call_everything(TS_FORMAT_JAGGED);
  check_pictures();
  delete_objects();
}

/* Between two calls the application changes all state, so the library must not rely on its own earlier
 * settings. */
static void state_changes_between_calls(void) {
  make_objects();
  set_plain_state();
  ts_context *context = test_open();
  ref_matrix m = ref_grid(23, 17);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *xs = ref_values(391, 3, -1, 1);
  double expected[391], size[391];
  ref_spmv(&m, NULL, 1, xs, expected, size);
  ts_vector *x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  ts_vector *y = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  for (int round = 0; round < 4; round++) {
    test_context_label("round %d", round);
    if (round % 2)
      set_plain_state();
    else
      set_unusual_state();
    CHECK_OK(context, ts_vector_write(x, ts_host(xs, 391)));
    if (round / 2)
      set_plain_state();
    else
      set_unusual_state();
    CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
    set_unusual_state();
    float *ys = read_vector(y);
    CHECK_VALUES(ys, expected, size, 391, 16);
    free(ys);
  }
  free(xs);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
  test_close(&context);
  check_pictures();
  delete_objects();
}

/* OpenGL keeps a deleted program while it is current, but the library's programs replace it. */
static void program_deleted_while_current(void) {
  make_objects();
  set_plain_state();
  glUseProgram(program);
  glDeleteProgram(program);
  program = 0;
  ts_context *context = test_open();
  CHECK_INT(glGetError(), GL_NO_ERROR);
  ts_space *space = make_space(context, 10);
  ts_vector *x = make_vector(space, 1, NULL);
  CHECK_OK(context, ts_vector_fill(x, 3));
  CHECK_INT(glGetError(), GL_NO_ERROR);
  GLint current = -1;
  glGetIntegerv(GL_CURRENT_PROGRAM, &current);
  CHECK_INT(current, 0);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
  test_close(&context);
  delete_objects();
}

TEST_MAIN(CASES(plain_state, unusual_state, state_changes_between_calls, program_deleted_while_current))
