/* The OpenGL backend: its table, and opening and closing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl_features.h"
#include "gl/grid/gl_grid.h"
#include "gl_shader.h"

/* ---- Device ---- */

static int is_software(const char *renderer) {
  static const char *const names[] = {"llvmpipe", "softpipe", "swrast", "SwiftShader", "Software Rasterizer"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strstr(renderer, names[i])) return 1;
  return 0;
}

ts_status gl_load_functions(ts_context *context) {
  glewExperimental = GL_TRUE;
  const GLenum error = glewInit();
  /* In a context that is not GLX's, GLEW loads everything and then misses a GLX display. */
  if (error != GLEW_OK && error != GLEW_ERROR_NO_GLX_DISPLAY)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE, "GLEW cannot load OpenGL: %s", glewGetErrorString(error));
  const int version = gl_features_get().version;
  for (int i = 0; i < 16 && glGetError() != GL_NO_ERROR; i++) continue; /* what these may leave behind */
  const char *name = (const char *)glGetString(GL_VERSION);
  if (version < 33)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "the context is OpenGL %.60s; texsolve needs 3.3",
                    name ? name : "of unknown version");
  return TS_OK;
}

static void fill_caps(ts_context *context) {
  tsi_caps *caps = &context->caps;
  const char *renderer = (const char *)glGetString(GL_RENDERER),
             *version = (const char *)glGetString(GL_VERSION);
  snprintf(caps->device, sizeof caps->device, "%s", renderer ? renderer : "unknown");
  snprintf(caps->driver, sizeof caps->driver, "OpenGL %s", version ? version : "unknown");
  caps->is_hardware = !is_software(caps->device);
  GLint size = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
  if (size > 32768) size = 32768; /* pointers hold 16 bits a coordinate */
  if (context->desc.max_texture_size && context->desc.max_texture_size < size)
    size = context->desc.max_texture_size;
  caps->max_texture_size = size;
  GLfloat points[2] = {0, 0};
  glGetFloatv(GL_POINT_SIZE_RANGE, points);
  gl_of(context)->max_point_size = (int)points[1];
  const int fused = !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS);
  const gl_features features = gl_features_get();
  gl_of(context)->texture_gather = features.texture_gather && fused;
  gl_of(context)->precise = features.gpu_shader5 && fused;
  caps->single_residuals = !gl_of(context)->precise;
  if (!(context->desc.flags & TS_CONTEXT_NO_TEXTURE_BARRIER))
    gl_of(context)->texture_barrier = features.texture_barrier;
  /* Measured by `texsolve bench limits`; see docs/results.md. */
  caps->rectangle_width = context->desc.rectangle_width ? context->desc.rectangle_width : 32;
  caps->rectangle_height = context->desc.rectangle_height ? context->desc.rectangle_height : 32;
  caps->formats =
      1u << TS_FORMAT_JAGGED | 1u << TS_FORMAT_SEGMENTS | 1u << TS_FORMAT_BCRS2 | 1u << TS_FORMAT_BCRS4;
  caps->grid_storages =
      1u << TS_GRID_STORAGE_PLAIN | 1u << TS_GRID_STORAGE_LAYERED | 1u << TS_GRID_STORAGE_PARITIES;
  caps->pointwise_storage = TS_GRID_STORAGE_LAYERED;
  caps->check_interval = 16;
  caps->check_overlap = 2;
  caps->texture_barrier = gl_of(context)->texture_barrier != NULL;
  caps->one_reduction_texels = caps->is_hardware && caps->texture_barrier ? 1 << 18 : 0;
}

static ts_status set_shader_dir(ts_context *context) {
  const char *dir = context->desc.shader_dir ? context->desc.shader_dir : getenv("TEXSOLVE_SHADER_DIR");
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
  gl_texture_release(context, gl->scratch[0]);
  gl_texture_release(context, gl->scratch[1]);
  gl_texture_release(context, gl->spare[0]);
  gl_texture_release(context, gl->spare[1]);
  gl->scratch[0] = gl->scratch[1] = gl->spare[0] = gl->spare[1] = NULL;
}

void gl_user_added(ts_context *context) {
  gl_of(context)->users++;
}

void gl_user_removed(ts_context *context) {
  if (--gl_of(context)->users == 0) release_helpers(context);
}

/* ---- Open and close ---- */

static ts_status open_platform(ts_context *context) {
  switch (context->desc.gl_platform) {
  case TS_GL_PLATFORM_CURRENT:
    return gl_current_open(context);
  case TS_GL_PLATFORM_WINDOW:
    return gl_window_open(context);
  default:
    return gl_egl_open(context);
  }
}

static ts_status enter(ts_context *context) {
  gl_backend *gl = gl_of(context);
  const ts_status status = gl->platform.enter(context);
  if (status < 0) return status;
  gl->entered = 1;
  if (gl->saved) gl_state_save(gl->saved);
  if (gl->saved || gl->lent) gl_state_set(gl);
  return TS_OK;
}

static void leave(ts_context *context) {
  gl_backend *gl = gl_of(context);
  if (!gl->entered) return;
  if (gl->saved) gl_state_restore(gl->saved);
  if (gl->lent) gl_state_lend(gl);
  gl->entered = 0;
  gl->platform.leave(context);
}

static void close_backend(ts_context *context) {
  gl_backend *gl = gl_of(context);
  enter(context);
  gl_programs_destroy(context);
  release_helpers(context);
  if (gl->entered) {
    gl_delete_vertex_array(gl, gl->empty_vao);
    gl_delete_sampler(gl, gl->nearest);
  }
  leave(context);
  gl_state_destroy(context);
  gl->platform.close(context);
  tsi_free(context, gl->shader_dir);
  tsi_free(context, gl);
  context->backend = NULL;
}

/* Keeps shaders' samples apart from how an application's textures are filtered. */
static void create_sampler(gl_backend *gl) {
  glGenSamplers(1, &gl->nearest);
  glSamplerParameteri(gl->nearest, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glSamplerParameteri(gl->nearest, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glSamplerParameteri(gl->nearest, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glSamplerParameteri(gl->nearest, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

/* With the context current for the first time. */
static ts_status prepare(ts_context *context) {
  gl_backend *gl = gl_of(context);
  TSI_TRY(gl_load_functions(context));
  fill_caps(context);
  TSI_TRY(set_shader_dir(context));
  if (context->desc.gl_platform == TS_GL_PLATFORM_CURRENT) TSI_TRY(gl_state_create(context));
  glGenVertexArrays(1, &gl->empty_vao);
  if (!context->caps.is_hardware && !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS)) {
    create_sampler(gl);
    gl->packs_parities = 1;
  }
  if (!gl->saved) gl_state_set(gl);
  return gl_check(context, "opening the context");
}

static ts_status open_backend(ts_context *context) {
  gl_backend *gl = tsi_calloc(context, 1, sizeof *gl);
  if (!gl) return tsi_out_of_memory(context, "the OpenGL backend", sizeof *gl);
  context->backend = gl;
  ts_status status = open_platform(context);
  if (status < 0) {
    tsi_free(context, gl);
    context->backend = NULL;
    return status;
  }
  status = gl->platform.enter(context);
  if (status == TS_OK) {
    status = prepare(context);
    gl->platform.leave(context);
  }
  if (status < 0) {
    char message[sizeof context->error];
    memcpy(message, context->error, sizeof message);
    gl_state_destroy(context);
    gl->platform.close(context);
    tsi_free(context, gl->shader_dir);
    tsi_free(context, gl);
    context->backend = NULL;
    memcpy(context->error, message, sizeof message);
  }
  return status;
}

static ts_status finish(ts_context *context) {
  glFinish();
  return gl_check(context, "finishing");
}

const tsi_ops tsi_gl_ops = {
    .open = open_backend,
    .close = close_backend,
    .finish = finish,
    .vector_create = gl_vector_create,
    .vector_destroy = gl_vector_destroy,
    .vector_write = gl_vector_write,
    .vector_read = gl_vector_read,
    .scalars_create = gl_scalars_create,
    .scalars_destroy = gl_scalars_destroy,
    .scalars_write = gl_scalars_write,
    .scalars_normalise = gl_scalars_normalise,
    .scalars_read_begin = gl_scalars_read_begin,
    .scalars_read_end = gl_scalars_read_end,
    .fill = gl_fill,
    .axpby = gl_axpby,
    .multiply = gl_multiply,
    .reciprocal = gl_reciprocal,
    .free_rows = gl_free_rows,
    .reduce = gl_reduce,
    .matrix_create = gl_matrix_create,
    .matrix_write = gl_matrix_write,
    .matrix_destroy = gl_matrix_destroy,
    .spmv = gl_spmv,
    .residual = gl_residual,
    .diagonal = gl_diagonal,
    /* optional */
    .enter = enter,
    .leave = leave,
    .space_destroy = gl_space_destroy,
    .group_create = gl_group_create,
    .dot3 = gl_dot3,
    .axpy2_dot = gl_axpy2_dot,
    .multiply_add = gl_multiply_add,
    .dots = gl_dots,
    .cg_update = gl_cg_update,
    /* meshes */
    .mesh_create = gl_mesh_create,
    .mesh_destroy = gl_mesh_destroy,
    .mesh_assemble = gl_mesh_assemble,
    .mesh_force = gl_mesh_force,
    /* grids */
    .stencil_create = gl_stencil_create,
    .stencil_write = gl_stencil_write,
    .stencil_read = gl_stencil_read,
    .stencil_residual = gl_stencil_residual,
    .add_to_pair = gl_add_to_pair,
    .level_create = gl_level_create,
    .level_destroy = gl_level_destroy,
    .level_prepare = gl_level_prepare,
    .level_coarsen = gl_level_coarsen,
    .level_read = gl_level_read,
    .level_set_inverse = gl_level_set_inverse,
    .level_coarse_solve = gl_level_coarse_solve,
    .level_load = gl_level_load,
    .level_store = gl_level_store,
    .level_clear = gl_level_clear,
    .level_smooth = gl_level_smooth,
    .level_restrict_residual = gl_level_restrict_residual,
    .level_restrict = gl_level_restrict,
    .level_inject = gl_level_inject,
    .level_prolong = gl_level_prolong,
    /* fluids */
    .fluid_advect = gl_fluid_advect,
    .fluid_correct = gl_fluid_correct,
    .fluid_vorticity = gl_fluid_vorticity,
    .fluid_forces = gl_fluid_forces,
    .fluid_stamp_velocity = gl_fluid_stamp_velocity,
    .fluid_stamp_dye = gl_fluid_stamp_dye,
    .fluid_boundary = gl_fluid_boundary,
    .fluid_divergence = gl_fluid_divergence,
    .fluid_project = gl_fluid_project,
    .fluid_split = gl_fluid_split,
    .fluid_merge = gl_fluid_merge,
    .fluid_transport = gl_fluid_transport,
    .fluid_particles = gl_fluid_particles,
    .fluid_speed = gl_fluid_speed,
};
