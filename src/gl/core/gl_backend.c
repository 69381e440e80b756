/* The OpenGL backend: its table of operations, opening and closing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl_features.h"
#include "gl.h"
#include "gl_shader.h"

/* ---- Device ---- */

static int is_software(const char *renderer) {
  static const char *const names[] = {
      "llvmpipe",          "softpipe",           "swrast", "SwiftShader", "Software Rasterizer",
      "Software Renderer", "Basic Render Driver"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strstr(renderer, names[i])) return 1;
  return 0;
}

static void fill_caps(ts_context *context) {
  tsi_caps *caps = &context->caps;
  const char *renderer = gl_renderer(), *version = (const char *)glGetString(GL_VERSION);
  snprintf(caps->device, sizeof caps->device, "%s", renderer ? renderer : "unknown");
  snprintf(caps->driver, sizeof caps->driver, "OpenGL %s", version ? version : "unknown");
  caps->is_hardware = !is_software(caps->device);
  GLint size = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
  if (size > 32768) size = 32768; /* pointers have 16 bits per coordinate */
  if (context->gl.max_texture_size && context->gl.max_texture_size < size) size = context->gl.max_texture_size;
  caps->max_texture_size = size;
  GLfloat points[2] = {0, 0};
  glGetFloatv(GL_POINT_SIZE_RANGE, points);
  gl_of(context)->max_point_size = (int)points[1];
  const int fused = !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS);
  const gl_features features = gl_features_get();
  gl_of(context)->has = features.has;
  gl_of(context)->texture_gather = features.texture_gather && fused;
  gl_of(context)->subgroup_size = fused ? features.subgroup_size : 0;
  if (!(context->gl.flags & TS_GL_NO_TEXTURE_BARRIER))
    gl_of(context)->texture_barrier = features.texture_barrier;
  /* Measured by `texsolve bench limits`; see docs/notes/opengl.md. */
  caps->rectangle_width = context->gl.rectangle_width ? context->gl.rectangle_width : 32;
  caps->rectangle_height = context->gl.rectangle_height ? context->gl.rectangle_height : 32;
  caps->formats = 0 TSI_GL_FORMATS(TSI_FORMAT_BIT);
  caps->grid_storages =
      1u << TS_GRID_STORAGE_PLAIN | 1u << TS_GRID_STORAGE_LAYERED | 1u << TS_GRID_STORAGE_PARITIES;
  caps->pointwise_storage = TS_GRID_STORAGE_LAYERED;
  caps->texture_barrier = gl_of(context)->texture_barrier != NULL;
  context->tuning = caps->is_hardware ? tsi_tuning_gl : tsi_tuning_gl_software;
  if (!caps->texture_barrier) context->tuning.one_reduction_texels = 0;
}

static ts_status set_shader_dir(ts_context *context) {
  const char *dir = context->gl.shader_dir ? context->gl.shader_dir : getenv("TEXSOLVE_SHADER_DIR");
  if (!dir || !*dir) return TS_OK;
  gl_backend *gl = gl_of(context);
  gl->shader_dir = tsi_malloc(context, strlen(dir) + 1, 1);
  if (!gl->shader_dir) return tsi_out_of_memory(context, "the shader directory", strlen(dir) + 1);
  strcpy(gl->shader_dir, dir);
  return TS_OK;
}

/* ---- Helper textures ---- */

static void release_helpers(ts_context *context) {
  gl_backend *gl = gl_of(context);
  for (size_t i = 0; i < sizeof gl->scratch / sizeof gl->scratch[0]; i++) {
    gl_texture_release(context, gl->scratch[i]);
    gl->scratch[i] = NULL;
  }
  for (size_t i = 0; i < sizeof gl->spare / sizeof gl->spare[0]; i++) {
    gl_texture_release(context, gl->spare[i]);
    gl->spare[i] = NULL;
  }
  for (size_t i = 0; i < GL_OTHER_SPARES; i++) {
    gl_texture_release(context, gl->other_spares[i]);
    gl->other_spares[i] = NULL;
  }
}

void gl_user_added(ts_context *context) {
  gl_of(context)->users++;
}

/* The helpers of no user are released at the end of the call, since the call may measure the bytes of an
 * object by those of the context. After the loss of the context no call enters it. */
void gl_user_removed(ts_context *context) {
  gl_backend *gl = gl_of(context);
  if (--gl->users == 0 && !gl->entered) release_helpers(context);
}

/* ---- Open and close ---- */

ts_status gl_enter(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl->entered = 0;
  TSI_TRY(gl->platform.enter(context));
  gl->entered = 1; /* allows destroying objects even if the state prevents everything else */
  return gl_is_shared(gl) ? gl_state_enter(context) : TS_OK;
}

void gl_leave(ts_context *context) {
  gl_backend *gl = gl_of(context);
  if (!gl->entered) return;
  if (gl->users == 0) release_helpers(context);
  gl_state_leave(context);
  if (gl->lent) gl_state_lend(gl);
  gl->entered = 0;
  gl->platform.leave(context);
}

static int gl_stay(ts_context *context) {
  const gl_backend *gl = gl_of(context);
  if (gl->users == 0) release_helpers(context);
  return gl->entered && gl->is_set;
}

void gl_close(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl_enter(context);
  gl_programs_destroy(context);
  release_helpers(context);
  gl_proof_destroy(context);
  if (gl->entered) {
    glDeleteQueries(1, &gl->probe_query);
    gl_delete_vertex_array(gl, gl->empty_vao);
    gl_delete_sampler(gl, gl->nearest);
    gl_delete_texture(gl, gl->exact_zero);
    gl_delete_texture(gl, gl->nothing);
  }
  gl_leave(context);
  gl_state_destroy(context);
  gl->platform.close(context);
  tsi_free(context, gl->shader_dir);
  tsi_free(context, gl);
  context->backend = NULL;
}

/* A sampler object protects the shaders' samples from the filter settings of an application's textures. */
static void create_sampler(gl_backend *gl) {
  glGenSamplers(1, &gl->nearest);
  glSamplerParameteri(gl->nearest, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glSamplerParameteri(gl->nearest, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glSamplerParameteri(gl->nearest, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glSamplerParameteri(gl->nearest, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

/* Runs when the context is current for the first time. */
static ts_status gl_backend_prepare(ts_context *context) {
  gl_backend *gl = gl_of(context);
  const int is_shared = context->gl.platform == TS_GL_PLATFORM_CURRENT;
  if (is_shared) {
    gl_clear_errors(context, "the application left");
    TSI_TRY(gl_state_check(context));
  }
  TSI_TRY(gl_load_functions(context));
  fill_caps(context);
  if (is_shared) TSI_TRY(gl_state_check(context));
  TSI_TRY(set_shader_dir(context));
  if (is_shared) TSI_TRY(gl_state_create(context));
  glGenVertexArrays(1, &gl->empty_vao);
  if (!context->caps.is_hardware && !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS)) {
    create_sampler(gl);
    gl->packs_parities = 1;
    gl->compiles_once = !TSI_WEBGL && strstr(context->caps.device, "llvmpipe") != NULL;
  }
  if (!is_shared) {
    TSI_TRY(gl_state_enter(context));
    TSI_TRY(gl_state_draw(context));
  }
  return gl_check(context, "opening the context");
}

/* Draws for the first time. */
static ts_status find_exact(ts_context *context) {
  gl_backend *gl = gl_of(context);
  TSI_TRY(gl_enter(context));
  ts_status status = gl_state_draw(context);
  if (status == TS_OK && !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS))
    status = gl_exact_find(context);
  if (status == TS_OK) status = gl_proof_begin_read(context);
  if (status == TS_OK) status = gl_proof_end_read(context);
  gl_leave(context);
  TSI_TRY(status);
  context->caps.single_residuals = !gl->exact;
  context->caps.pairs = gl->exact != GL_EXACT_NONE;
  return TS_OK;
}

ts_status gl_open(ts_context *context) {
  gl_backend *gl = tsi_calloc(context, 1, sizeof *gl);
  if (!gl) return tsi_out_of_memory(context, "the OpenGL backend", sizeof *gl);
  context->backend = gl;
  ts_status status = gl_platform_open(context);
  if (status < 0) {
    tsi_free(context, gl);
    context->backend = NULL;
    return status;
  }
  status = gl->platform.enter(context);
  if (status == TS_OK) {
    status = gl_backend_prepare(context);
    gl->platform.leave(context);
  }
  if (status == TS_OK) status = find_exact(context);
  if (status < 0) {
    char message[sizeof context->error];
    memcpy(message, context->error, sizeof message);
    gl_close(context);
    memcpy(context->error, message, sizeof message);
  }
  return status;
}

ts_status gl_finish(ts_context *context) {
  glFinish();
  return gl_check(context, "finishing");
}

const tsi_ops tsi_gl_ops = {.stay = gl_stay,
                            .space_destroy = gl_space_destroy,
                            .arena_create = gl_arena_create,
                            .dot3 = gl_dot3,
                            .dots = gl_dots,
                            .axpy2_dot = gl_axpy2_dot,
                            .multiply_add = gl_multiply_add,
                            .cg = &gl_cg_ops,
                            .grid = &gl_grid_ops,
                            .mesh = &gl_mesh_ops,
                            .fluid = &gl_fluid_ops,
                            .lcp = &gl_lcp_ops,
                            TSI_CORE_OPERATIONS(TSI_ENTRY, TSI_ENTRY, TSI_OMIT, gl_)};
