/* Differences of WebGL: contexts are lost, waits pause, and the library knows objects of the application in
 * JavaScript only. */
#include <emscripten.h>
#include <emscripten/html5.h>

#include "gl/webgl/webgl.h"
#include "helpers.h"
#include "reference.h"
#include "test.h"

static ts_context *context;

/* ---- A small solve ---- */

typedef struct small_solve {
  ts_matrix *A;
  ts_vector *b, *x;
  ts_solver *solver;
} small_solve;

static int open_solve(small_solve *s) {
  ref_matrix m = ref_grid(12, 9);
  float *bs = ref_values(108, 1, -1, 1);
  *s = (small_solve){.A = make_matrix(context, &m, TS_FORMAT_AUTO)};
  s->b = make_vector(ts_matrix_get_row_space(s->A), 1, bs);
  s->x = make_vector(ts_matrix_get_row_space(s->A), 1, NULL);
  free(bs);
  ref_free(&m);
  return s->A && CHECK_OK(context, ts_solver_create(s->A, &(ts_solver_desc){.rtol = 1e-5}, &s->solver));
}

static void close_solve(small_solve *s) {
  ts_solver_destroy(&s->solver);
  ts_vector_destroy(&s->b);
  ts_vector_destroy(&s->x);
  ts_matrix_destroy(&s->A);
}

static void check_solve(small_solve *s) {
  ts_result result;
  CHECK_OK(context, ts_vector_fill(s->x, 0));
  CHECK_OK(context, ts_solver_solve(s->solver, s->b, s->x, &result));
  CHECK(result.relative_residual <= 1e-5 && result.iterations > 5);
}

/* ---- A lost context ---- */

/* clang-format off */
EM_JS(void, lose, (int handle), { GL.contexts[handle].GLctx.getExtension('WEBGL_lose_context').loseContext(); });
/* clang-format on */

static void lost(void) {
  small_solve s, again;
  ts_scalars *scalars = NULL;
  float values[108] = {0};
  if (!open_solve(&s)) return;
  CHECK_OK(context, ts_scalars_create(context, &(ts_scalars_desc){.count = 4}, &scalars));
  check_solve(&s);
  lose(webgl_of(context)->handle);
  ts_matrix *A = NULL;
  ts_vector *v = NULL;
  ref_matrix m = ref_grid(12, 9);
  CHECK_FAILS(context, ts_solver_solve(s.solver, s.b, s.x, NULL), TS_ERROR_DEVICE, "lost", "new context");
  CHECK_FAILS(context, ts_vector_fill(s.x, 1), TS_ERROR_DEVICE, "lost");
  CHECK_FAILS(context, ts_vector_read(s.x, ts_host(values, 108)), TS_ERROR_DEVICE, "lost");
  CHECK_FAILS(context, ts_vector_write(s.x, ts_host(values, 108)), TS_ERROR_DEVICE, "lost");
  CHECK_FAILS(context, ts_vector_dot(scalars, 0, s.x, s.x), TS_ERROR_DEVICE, "lost");
  CHECK_FAILS(context, ts_scalars_read(scalars, 0, ts_host(values, 4)), TS_ERROR_DEVICE, "lost");
  CHECK_FAILS(context, ts_context_finish(context), TS_ERROR_DEVICE, "lost");
  CHECK_FAILS(context, ts_vector_create(ts_matrix_get_row_space(s.A), NULL, &v), TS_ERROR_DEVICE, "lost");
  const ts_matrix_desc desc = {.csr = ts_csr_make(m.rows, m.columns, ts_host(m.offsets, m.rows + 1),
                                                  ts_host(m.indices, m.offsets[m.rows]),
                                                  ts_host(m.values, m.offsets[m.rows]))};
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_DEVICE, "lost");
  ref_free(&m);
  close_solve(&s);
  ts_scalars_destroy(&scalars);
  test_close(&context);
  if (test_is_application()) return; /* which would have to make another context */
  context = test_open();
  if (context && open_solve(&again)) {
    check_solve(&again);
    close_solve(&again);
  }
}

/* The context is lost while a solve waits. */
static void lose_in_pause(void *data) {
  (void)data;
  lose(webgl_of(context)->handle);
}

static void lost_in_a_solve(void) {
  small_solve s;
  if (test_is_application() || !open_solve(&s)) return;
  check_solve(&s);
  tsi_webgl_set_pause(context, lose_in_pause, NULL);
  CHECK_FAILS(context, ts_solver_solve(s.solver, s.b, s.x, NULL), TS_ERROR_DEVICE, "lost");
  close_solve(&s);
}

/* ---- Pauses ---- */

static int pauses;

static void count_pauses(void *data) {
  CHECK(data == &pauses);
  CHECK(!gl_of(context)->entered);
  if (++pauses % 3 == 0) tsi_webgl_set_pause(context, NULL, NULL); /* in this task the fence would not signal */
}

static void paused(void) {
  small_solve s;
  if (!open_solve(&s)) return;
  pauses = 0;
  tsi_webgl_set_pause(context, count_pauses, &pauses);
  check_solve(&s);
  CHECK_INT(pauses, 3);
  check_solve(&s);
  CHECK_INT(pauses, 3);
  close_solve(&s);
}

/* ---- The application's state ---- */

/* Sets every state to an uncommon value, with objects that Emscripten does not know. */
/* clang-format off */
EM_JS(void, set_states, (void), {
  const gl = GLctx;
  const texture = () => {
    const t = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, t);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, 8, 8);
    return t;
  };
  for (let unit = 0; unit < 8; unit++) {
    gl.activeTexture(gl.TEXTURE0 + unit);
    texture();
    if (unit % 2) gl.bindSampler(unit, gl.createSampler());
  }
  gl.activeTexture(gl.TEXTURE3);
  for (const name of [gl.DRAW_FRAMEBUFFER, gl.READ_FRAMEBUFFER]) {
    gl.bindFramebuffer(name, gl.createFramebuffer());
    gl.framebufferTexture2D(name, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, gl.getParameter(gl.TEXTURE_BINDING_2D), 0);
  }
  for (const name of [gl.ARRAY_BUFFER, gl.PIXEL_PACK_BUFFER, gl.PIXEL_UNPACK_BUFFER]) {
    gl.bindBuffer(name, gl.createBuffer());
    gl.bufferData(name, 64, gl.STATIC_DRAW);
  }
  gl.bindVertexArray(gl.createVertexArray());
  const program = gl.createProgram();
  for (const [type, text] of [[gl.VERTEX_SHADER, 'void main() { gl_Position = vec4(0); }'], [gl.FRAGMENT_SHADER, 'void main() {}']]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, '#version 300 es\n' + text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  for (const name of [gl.BLEND, gl.CULL_FACE, gl.DEPTH_TEST, gl.DITHER, gl.POLYGON_OFFSET_FILL, gl.RASTERIZER_DISCARD,
                      gl.SAMPLE_ALPHA_TO_COVERAGE, gl.SAMPLE_COVERAGE, gl.SCISSOR_TEST, gl.STENCIL_TEST])
    gl.enable(name);
  gl.scissor(1, 2, 3, 4);
  gl.viewport(5, 6, 7, 8);
  gl.colorMask(true, false, true, false);
  gl.depthMask(false);
  gl.depthFunc(gl.NEVER);
  gl.stencilFunc(gl.NEVER, 1, 1);
  gl.blendFunc(gl.ZERO, gl.ZERO);
  gl.clearColor(0.1, 0.2, 0.3, 0.4);
  gl.cullFace(gl.FRONT_AND_BACK);
  for (const name of [gl.PACK_ROW_LENGTH, gl.PACK_SKIP_ROWS, gl.PACK_SKIP_PIXELS, gl.UNPACK_ROW_LENGTH,
                      gl.UNPACK_IMAGE_HEIGHT, gl.UNPACK_SKIP_ROWS, gl.UNPACK_SKIP_PIXELS, gl.UNPACK_SKIP_IMAGES])
    gl.pixelStorei(name, 3);
  gl.pixelStorei(gl.PACK_ALIGNMENT, 8);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true);
  gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true);
  gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
});
/* clang-format on */

/* Keeps a copy of all states if `compare` is 0, otherwise returns the number of states that differ from it. */
/* clang-format off */
EM_JS(int, look_at_states, (int compare), {
  const gl = GLctx, found = {};
  const names = [
    'VIEWPORT SCISSOR_BOX SCISSOR_TEST BLEND BLEND_SRC_RGB BLEND_DST_RGB BLEND_EQUATION_RGB CULL_FACE CULL_FACE_MODE',
    'FRONT_FACE DEPTH_TEST DEPTH_WRITEMASK DEPTH_FUNC STENCIL_TEST STENCIL_FUNC SAMPLE_ALPHA_TO_COVERAGE SAMPLE_COVERAGE',
    'POLYGON_OFFSET_FILL RASTERIZER_DISCARD DITHER COLOR_WRITEMASK COLOR_CLEAR_VALUE LINE_WIDTH ACTIVE_TEXTURE',
    'CURRENT_PROGRAM ARRAY_BUFFER_BINDING ELEMENT_ARRAY_BUFFER_BINDING PIXEL_PACK_BUFFER_BINDING',
    'PIXEL_UNPACK_BUFFER_BINDING UNIFORM_BUFFER_BINDING TRANSFORM_FEEDBACK_BINDING VERTEX_ARRAY_BINDING',
    'DRAW_FRAMEBUFFER_BINDING READ_FRAMEBUFFER_BINDING RENDERBUFFER_BINDING TEXTURE_BINDING_3D TEXTURE_BINDING_CUBE_MAP',
    'PACK_ROW_LENGTH PACK_SKIP_ROWS PACK_SKIP_PIXELS PACK_ALIGNMENT UNPACK_ROW_LENGTH UNPACK_IMAGE_HEIGHT',
    'UNPACK_SKIP_ROWS UNPACK_SKIP_PIXELS UNPACK_SKIP_IMAGES UNPACK_ALIGNMENT UNPACK_FLIP_Y_WEBGL',
    'UNPACK_PREMULTIPLY_ALPHA_WEBGL UNPACK_COLORSPACE_CONVERSION_WEBGL'
  ];
  for (const name of names.join(' ').split(' ')) found[name] = gl.getParameter(gl[name]);
  const unit = gl.getParameter(gl.ACTIVE_TEXTURE);
  for (let k = 0; k < 18; k++) {
    gl.activeTexture(gl.TEXTURE0 + k);
    found['texture ' + k] = gl.getParameter(gl.TEXTURE_BINDING_2D);
    found['sampler ' + k] = gl.getParameter(gl.SAMPLER_BINDING);
  }
  gl.activeTexture(unit);
  found.error = gl.getError();
  if (!compare) {
    Module.states = found;
    return Object.keys(found).length;
  }
  let different = 0;
  for (const name in found) {
    const a = Module.states[name], b = found[name];
    const same = a === b || (a && b && a.length && String(Array.from(a)) == String(Array.from(b)));
    if (same) continue;
    out('state ' + name + ' is ' + b + ', was ' + a);
    different++;
  }
  return different;
});
/* clang-format on */

static void check_states_in_pause(void *data) {
  (void)data;
  CHECK_INT(look_at_states(1), 0);
  tsi_webgl_set_pause(context, NULL, NULL);
}

static void states(void) {
  small_solve s;
  if (!test_is_application()) return;
  set_states();
  CHECK(look_at_states(0) > 60);
  if (!open_solve(&s)) return;
  CHECK_INT(look_at_states(1), 0);
  check_solve(&s);
  CHECK_INT(look_at_states(1), 0);
  tsi_webgl_set_pause(context, check_states_in_pause, NULL);
  check_solve(&s);
  CHECK_INT(look_at_states(1), 0);
  close_solve(&s);
  CHECK_INT(look_at_states(1), 0);
}

/* clang-format off */
EM_JS(void, delete_program, (void), { GLctx.deleteProgram(GLctx.getParameter(GLctx.CURRENT_PROGRAM)); });

EM_JS(int, has_program, (void), {
  if (GLctx.getError()) return -1;
  return GLctx.getParameter(GLctx.CURRENT_PROGRAM) ? 1 : 0;
});
/* clang-format on */

/* A program that the application deleted while in use ends with the next call. Then no program is current. */
static void deleted_program(void) {
  small_solve s;
  if (!test_is_application()) return;
  set_states();
  delete_program();
  CHECK_INT(has_program(), 1);
  if (!open_solve(&s)) return;
  check_solve(&s);
  CHECK_INT(has_program(), 0);
  check_solve(&s);
  CHECK_INT(has_program(), 0);
  close_solve(&s);
}

TEST_MAIN(CASES_IN_CONTEXT(paused, states, deleted_program, lost_in_a_solve, lost))
