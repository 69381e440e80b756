#include "gl_snapshot.h"

#include <GL/glew.h>

#include "gl/core/gl_features.h"
#include "test.h"

/* Size 0: the state is queried by glIsEnabled. */
typedef struct state_name {
  const char *name;
  GLenum token;
  int size;
  unsigned needs; /* GL_HAS_... */
} state_name;

#define STATE(token, size)                                                                                     \
  { #token, token, size, 0 }

static const state_name plain[] = {
    STATE(GL_DRAW_FRAMEBUFFER_BINDING, 1),
    STATE(GL_READ_FRAMEBUFFER_BINDING, 1),
    STATE(GL_RENDERBUFFER_BINDING, 1),
    STATE(GL_VIEWPORT, 4),
    STATE(GL_SCISSOR_BOX, 4),
    STATE(GL_DEPTH_RANGE, 2),
    STATE(GL_CURRENT_PROGRAM, 1),
    STATE(GL_ACTIVE_TEXTURE, 1),
    STATE(GL_VERTEX_ARRAY_BINDING, 1),
    STATE(GL_ARRAY_BUFFER_BINDING, 1),
    STATE(GL_ELEMENT_ARRAY_BUFFER_BINDING, 1),
    STATE(GL_PIXEL_PACK_BUFFER_BINDING, 1),
    STATE(GL_PIXEL_UNPACK_BUFFER_BINDING, 1),
    STATE(GL_UNIFORM_BUFFER_BINDING, 1),
    STATE(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 1),
    STATE(GL_BLEND, 0),
    STATE(GL_SCISSOR_TEST, 0),
    STATE(GL_DEPTH_TEST, 0),
    STATE(GL_STENCIL_TEST, 0),
    STATE(GL_CULL_FACE, 0),
    STATE(GL_POLYGON_OFFSET_FILL, 0),
    STATE(GL_POLYGON_OFFSET_LINE, 0),
    STATE(GL_RASTERIZER_DISCARD, 0),
    STATE(GL_FRAMEBUFFER_SRGB, 0),
    STATE(GL_MULTISAMPLE, 0),
    STATE(GL_SAMPLE_COVERAGE, 0),
    STATE(GL_SAMPLE_ALPHA_TO_COVERAGE, 0),
    STATE(GL_SAMPLE_ALPHA_TO_ONE, 0),
    STATE(GL_SAMPLE_MASK, 0),
    STATE(GL_COLOR_LOGIC_OP, 0),
    STATE(GL_DITHER, 0),
    STATE(GL_LINE_SMOOTH, 0),
    STATE(GL_POLYGON_SMOOTH, 0),
    STATE(GL_PRIMITIVE_RESTART, 0),
    STATE(GL_PROGRAM_POINT_SIZE, 0),
    STATE(GL_DEPTH_CLAMP, 0),
    STATE(GL_TEXTURE_CUBE_MAP_SEAMLESS, 0),
    STATE(GL_CLIP_DISTANCE0, 0),
    STATE(GL_CLIP_DISTANCE1, 0),
    STATE(GL_CLIP_DISTANCE2, 0),
    STATE(GL_CLIP_DISTANCE5, 0),
    {"GL_CLIP_DISTANCE6", GL_CLIP_DISTANCE0 + 6, 0, 0},
    {"GL_CLIP_DISTANCE7", GL_CLIP_DISTANCE0 + 7, 0, 0},
    STATE(GL_POINT_FADE_THRESHOLD_SIZE, 1),
    STATE(GL_POINT_SPRITE_COORD_ORIGIN, 1),
    STATE(GL_POLYGON_OFFSET_FACTOR, 1),
    STATE(GL_SAMPLE_COVERAGE_VALUE, 1),
    STATE(GL_DEPTH_CLAMP, 0),
    STATE(GL_DEPTH_WRITEMASK, 1),
    STATE(GL_STENCIL_WRITEMASK, 1),
    STATE(GL_STENCIL_BACK_WRITEMASK, 1),
    STATE(GL_STENCIL_FUNC, 1),
    STATE(GL_STENCIL_REF, 1),
    STATE(GL_STENCIL_VALUE_MASK, 1),
    STATE(GL_STENCIL_FAIL, 1),
    STATE(GL_DEPTH_FUNC, 1),
    STATE(GL_BLEND_SRC_RGB, 1),
    STATE(GL_BLEND_DST_RGB, 1),
    STATE(GL_BLEND_SRC_ALPHA, 1),
    STATE(GL_BLEND_DST_ALPHA, 1),
    STATE(GL_BLEND_EQUATION_RGB, 1),
    STATE(GL_BLEND_EQUATION_ALPHA, 1),
    STATE(GL_BLEND_COLOR, 4),
    STATE(GL_POLYGON_MODE, 1),
    STATE(GL_CULL_FACE_MODE, 1),
    STATE(GL_FRONT_FACE, 1),
    STATE(GL_LOGIC_OP_MODE, 1),
    STATE(GL_LINE_WIDTH, 1),
    STATE(GL_POINT_SIZE, 1),
    STATE(GL_PROVOKING_VERTEX, 1),
    STATE(GL_CLAMP_READ_COLOR, 1),
    STATE(GL_PRIMITIVE_RESTART_INDEX, 1),
    STATE(GL_COLOR_CLEAR_VALUE, 4),
    STATE(GL_DEPTH_CLEAR_VALUE, 1),
    STATE(GL_STENCIL_CLEAR_VALUE, 1),
    STATE(GL_PACK_SWAP_BYTES, 1),
    STATE(GL_PACK_LSB_FIRST, 1),
    STATE(GL_PACK_ROW_LENGTH, 1),
    STATE(GL_PACK_IMAGE_HEIGHT, 1),
    STATE(GL_PACK_SKIP_ROWS, 1),
    STATE(GL_PACK_SKIP_PIXELS, 1),
    STATE(GL_PACK_SKIP_IMAGES, 1),
    STATE(GL_PACK_ALIGNMENT, 1),
    STATE(GL_UNPACK_SWAP_BYTES, 1),
    STATE(GL_UNPACK_LSB_FIRST, 1),
    STATE(GL_UNPACK_ROW_LENGTH, 1),
    STATE(GL_UNPACK_IMAGE_HEIGHT, 1),
    STATE(GL_UNPACK_SKIP_ROWS, 1),
    STATE(GL_UNPACK_SKIP_PIXELS, 1),
    STATE(GL_UNPACK_SKIP_IMAGES, 1),
    STATE(GL_UNPACK_ALIGNMENT, 1),
    STATE(GL_READ_BUFFER, 1),
};

#define MORE(token, size, needs)                                                                               \
  { #token, token, size, needs }

/* States that only some contexts have. */
static const state_name more[] = {
    MORE(GL_PRIMITIVE_RESTART_FIXED_INDEX, 0, GL_HAS_FIXED_RESTART),
    MORE(GL_PATCH_VERTICES, 1, GL_HAS_TESSELLATION),
    MORE(GL_CLIP_ORIGIN, 1, GL_HAS_CLIP_CONTROL),
    MORE(GL_CLIP_DEPTH_MODE, 1, GL_HAS_CLIP_CONTROL),
    MORE(GL_SAMPLE_SHADING, 0, GL_HAS_SAMPLE_SHADING),
    MORE(GL_MIN_SAMPLE_SHADING_VALUE, 1, GL_HAS_SAMPLE_SHADING),
    MORE(GL_PROGRAM_PIPELINE_BINDING, 1, GL_HAS_PIPELINES),
    MORE(GL_TRANSFORM_FEEDBACK_BINDING, 1, GL_HAS_FEEDBACK_PAUSE),
    MORE(GL_TRANSFORM_FEEDBACK_ACTIVE, 1, GL_HAS_FEEDBACK_PAUSE),
    MORE(GL_TRANSFORM_FEEDBACK_PAUSED, 1, GL_HAS_FEEDBACK_PAUSE),
    MORE(GL_PACK_INVERT_MESA, 1, GL_HAS_PACK_INVERT),
    MORE(GL_DEBUG_GROUP_STACK_DEPTH, 1, GL_HAS_INTERFACE_QUERY),
    MORE(GL_PACK_COMPRESSED_BLOCK_WIDTH, 1, GL_HAS_INTERFACE_QUERY),
    MORE(GL_UNPACK_COMPRESSED_BLOCK_SIZE, 1, GL_HAS_INTERFACE_QUERY),
    MORE(GL_POLYGON_MODE, 2, GL_HAS_COMPATIBILITY),
    MORE(GL_ALPHA_TEST, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_ALPHA_TEST_FUNC, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_ALPHA_TEST_REF, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_POLYGON_STIPPLE, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_LINE_STIPPLE, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_POINT_SMOOTH, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_POINT_SPRITE, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_POINT_SIZE_MIN, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_POINT_SIZE_MAX, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_POINT_DISTANCE_ATTENUATION, 3, GL_HAS_COMPATIBILITY),
    MORE(GL_CLAMP_VERTEX_COLOR, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_CLAMP_FRAGMENT_COLOR, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_INDEX_LOGIC_OP, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_LIGHTING, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_LIGHT0, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_LIGHT_MODEL_TWO_SIDE, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_FOG, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_COLOR_SUM, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_COLOR_MATERIAL, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_NORMALIZE, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_SHADE_MODEL, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_EDGE_FLAG, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_VERTEX_ARRAY, 0, GL_HAS_COMPATIBILITY),
    MORE(GL_CURRENT_COLOR, 4, GL_HAS_COMPATIBILITY),
    MORE(GL_CURRENT_RASTER_POSITION, 4, GL_HAS_COMPATIBILITY),
    MORE(GL_MATRIX_MODE, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_MODELVIEW_MATRIX, 4, GL_HAS_COMPATIBILITY),
    MORE(GL_PROJECTION_MATRIX, 4, GL_HAS_COMPATIBILITY),
    MORE(GL_ATTRIB_STACK_DEPTH, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_CLIENT_ATTRIB_STACK_DEPTH, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_RENDER_MODE, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_LIST_INDEX, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_MAP_COLOR, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_MAP_STENCIL, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_RED_SCALE, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_GREEN_SCALE, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_BLUE_SCALE, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_ALPHA_SCALE, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_DEPTH_SCALE, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_RED_BIAS, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_GREEN_BIAS, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_BLUE_BIAS, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_ALPHA_BIAS, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_INDEX_SHIFT, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_ZOOM_X, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_ZOOM_Y, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_PIXEL_MAP_R_TO_R_SIZE, 1, GL_HAS_COMPATIBILITY),
    MORE(GL_COLOR_MATRIX, 4, GL_HAS_IMAGING),
    MORE(GL_COLOR_TABLE, 0, GL_HAS_IMAGING),
    MORE(GL_CONVOLUTION_2D, 0, GL_HAS_IMAGING),
    MORE(GL_HISTOGRAM, 0, GL_HAS_IMAGING),
    MORE(GL_POST_COLOR_MATRIX_RED_SCALE, 1, GL_HAS_IMAGING),
    MORE(GL_POST_CONVOLUTION_RED_BIAS, 1, GL_HAS_IMAGING),
};

static const state_name per_unit[] = {
    STATE(GL_TEXTURE_BINDING_1D, 1),       STATE(GL_TEXTURE_BINDING_2D, 1),
    STATE(GL_TEXTURE_BINDING_3D, 1),       STATE(GL_TEXTURE_BINDING_CUBE_MAP, 1),
    STATE(GL_TEXTURE_BINDING_2D_ARRAY, 1), STATE(GL_TEXTURE_BINDING_RECTANGLE, 1),
    STATE(GL_TEXTURE_BINDING_BUFFER, 1),   STATE(GL_SAMPLER_BINDING, 1),
};

static gl_value *append(gl_snapshot *s, const char *name, int index) {
  static gl_value overflow;
  gl_value *value = s->count < GL_SNAPSHOT_ROOM ? &s->values[s->count++] : &overflow;
  memset(value, 0, sizeof *value);
  value->name = name;
  value->index = index;
  return value;
}

static void save(gl_snapshot *s, const state_name *state, int index) {
  gl_value *value = append(s, state->name, index);
  if (state->size == 0) {
    value->values[0] = glIsEnabled(state->token);
    return;
  }
  GLdouble got[16] = {0}; /* some implementations write more values than the core profile documents */
  glGetDoublev(state->token, got);
  for (int k = 0; k < state->size; k++) value->values[k] = got[k];
}

static void save_viewport(gl_snapshot *s, GLuint i) {
  GLfloat viewport[4];
  GLdouble depths[2];
  GLint box[4];
  glGetFloati_v(GL_VIEWPORT, i, viewport);
  glGetDoublei_v(GL_DEPTH_RANGE, i, depths);
  glGetIntegeri_v(GL_SCISSOR_BOX, i, box);
  gl_value *value = append(s, "viewport", (int)i), *more_values = append(s, "depth range", (int)i),
           *scissor = append(s, "scissor box", (int)i);
  for (int k = 0; k < 4; k++) {
    value->values[k] = (double)viewport[k];
    scissor->values[k] = box[k];
  }
  for (int k = 0; k < 2; k++) more_values->values[k] = depths[k];
  append(s, "GL_SCISSOR_TEST", (int)i)->values[0] = glIsEnabledi(GL_SCISSOR_TEST, i);
}

void gl_snapshot_save(gl_snapshot *s) {
  const unsigned has = gl_features_get().has;
  s->count = 0;
  for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) save(s, &plain[i], -1);
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
    if (!(more[i].needs & ~has)) save(s, &more[i], -1);
  for (GLuint i = 0; has & GL_HAS_VIEWPORTS && i < 16; i++) save_viewport(s, i);
  GLint active, units, buffers;
  glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
  glGetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &units);
  glGetIntegerv(GL_MAX_DRAW_BUFFERS, &buffers);
  for (GLint unit = 0; unit < units && unit < 48; unit++) {
    glActiveTexture((GLenum)(GL_TEXTURE0 + unit));
    for (size_t i = 0; i < sizeof per_unit / sizeof per_unit[0]; i++) save(s, &per_unit[i], unit);
  }
  glActiveTexture((GLenum)active);
  for (GLint k = 0; k < buffers && k < 8; k++) {
    GLint buffer;
    GLboolean mask[4];
    glGetIntegerv((GLenum)(GL_DRAW_BUFFER0 + k), &buffer);
    append(s, "GL_DRAW_BUFFER", k)->values[0] = buffer;
    append(s, "GL_BLEND of a draw buffer", k)->values[0] = glIsEnabledi(GL_BLEND, (GLuint)k);
    glGetBooleani_v(GL_COLOR_WRITEMASK, (GLuint)k, mask);
    gl_value *value = append(s, "GL_COLOR_WRITEMASK", k);
    for (int c = 0; c < 4; c++) value->values[c] = mask[c];
  }
  GLint word;
  glGetIntegeri_v(GL_SAMPLE_MASK_VALUE, 0, &word);
  append(s, "GL_SAMPLE_MASK_VALUE", 0)->values[0] = word;
  /* The application's vertex array is bound, so these attributes belong to it. */
  for (GLuint k = 0; k < 4; k++) {
    GLint enabled = 0, buffer = 0, size = 0;
    glGetVertexAttribiv(k, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &enabled);
    glGetVertexAttribiv(k, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, &buffer);
    glGetVertexAttribiv(k, GL_VERTEX_ATTRIB_ARRAY_SIZE, &size);
    gl_value *value = append(s, "vertex attribute", (int)k);
    value->values[0] = enabled, value->values[1] = buffer, value->values[2] = size;
  }
  CHECK(s->count < GL_SNAPSHOT_ROOM);
  CHECK_INT(glGetError(), GL_NO_ERROR);
}

int gl_snapshot_compare(const gl_snapshot *before, const gl_snapshot *after, const char *call) {
  int different = 0;
  CHECK_INT(after->count, before->count);
  for (int i = 0; i < before->count && i < after->count; i++) {
    const gl_value *a = &before->values[i], *b = &after->values[i];
    if (memcmp(a->values, b->values, sizeof a->values) == 0) continue;
    different++;
    test_fail(__FILE__, __LINE__, "%s changed %s [%d] from %g %g %g %g to %g %g %g %g", call, a->name, a->index,
              a->values[0], a->values[1], a->values[2], a->values[3], b->values[0], b->values[1], b->values[2],
              b->values[3]);
  }
  return different;
}
