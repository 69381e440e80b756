#include "gl_snapshot.h"

#include <GL/glew.h>

#include "test.h"

/* Size 0 marks what glIsEnabled tells. */
typedef struct state_name {
  const char *name;
  GLenum token;
  int size;
} state_name;

#define STATE(token, size)                                                                                     \
  { #token, token, size }

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

static void take(gl_snapshot *s, const state_name *state, int index) {
  gl_value *value = append(s, state->name, index);
  if (state->size == 0) {
    value->values[0] = glIsEnabled(state->token);
    return;
  }
  GLdouble got[16] = {0}; /* some implementations write more values than the core profile says */
  glGetDoublev(state->token, got);
  for (int k = 0; k < state->size; k++) value->values[k] = got[k];
}

void gl_snapshot_take(gl_snapshot *s) {
  s->count = 0;
  for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) take(s, &plain[i], -1);
  GLint active, units, buffers;
  glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
  glGetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &units);
  glGetIntegerv(GL_MAX_DRAW_BUFFERS, &buffers);
  for (GLint unit = 0; unit < units && unit < 48; unit++) {
    glActiveTexture((GLenum)(GL_TEXTURE0 + unit));
    for (size_t i = 0; i < sizeof per_unit / sizeof per_unit[0]; i++) take(s, &per_unit[i], unit);
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
  /* The application's vertex array is bound, so these are its own. */
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
