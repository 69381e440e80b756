/* States that are numbers: those of the fixed stages of the pipeline and of pixel transfers. */
#include "gl_states.h"

#include "gl/core/gl_features.h"

void gl_state_case_set(const gl_state_case *state, int on) {
  if (state->enable && on) glEnable(state->enable);
  if (state->change) state->change(on);
  if (state->enable && !on) glDisable(state->enable);
}

/* Defines a function that sets a state, or restores its initial value. */
#define CHANGE(name, set, unset)                                                                               \
  static void name(int on) {                                                                                   \
    if (on) {                                                                                                  \
      set;                                                                                                     \
    } else {                                                                                                   \
      unset;                                                                                                   \
    }                                                                                                          \
  }
#define STORE(name, token, value, usual) CHANGE(name, glPixelStorei(token, value), glPixelStorei(token, usual))

/* ---- Vertices and transformation ---- */
CHANGE(restart_index, glPrimitiveRestartIndex(1), glPrimitiveRestartIndex(0))
CHANGE(patch_vertices, glPatchParameteri(GL_PATCH_VERTICES, 7), glPatchParameteri(GL_PATCH_VERTICES, 3))
CHANGE(current_attribute, glVertexAttrib4f(0, 5, 6, 7, 8), glVertexAttrib4f(0, 0, 0, 0, 1))
CHANGE(viewport, glViewport(3, 5, 7, 9), glViewport(0, 0, 96, 64))
CHANGE(depth_range, glDepthRange(1, 0.25), glDepthRange(0, 1))
CHANGE(clip_origin, glClipControl(GL_UPPER_LEFT, GL_NEGATIVE_ONE_TO_ONE),
       glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE))
CHANGE(clip_depth, glClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE),
       glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE))
CHANGE(clip_both, glClipControl(GL_UPPER_LEFT, GL_ZERO_TO_ONE),
       glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE))

static void viewports(int on) {
  for (GLuint i = 0; i < 16; i++) {
    const GLfloat k = (GLfloat)i;
    if (on)
      glViewportIndexedf(i, k + 0.25f, k, 20.5f + k, 31);
    else
      glViewportIndexedf(i, 0, 0, 96, 64);
  }
}

static void depth_ranges(int on) {
  for (GLuint i = 0; i < 16; i++) glDepthRangeIndexed(i, 0, on ? 1.0 / (2 + i) : 1);
}

static void clip_distances(int on) {
  for (GLenum i = 0; i < 8; i++) (on ? glEnable : glDisable)(GL_CLIP_DISTANCE0 + i);
}

/* ---- Rasterization and samples ---- */
CHANGE(point_size, glPointSize(7), glPointSize(1))
CHANGE(point_fade, glPointParameterf(GL_POINT_FADE_THRESHOLD_SIZE, 60),
       glPointParameterf(GL_POINT_FADE_THRESHOLD_SIZE, 1))
CHANGE(point_origin, glPointParameteri(GL_POINT_SPRITE_COORD_ORIGIN, GL_LOWER_LEFT),
       glPointParameteri(GL_POINT_SPRITE_COORD_ORIGIN, GL_UPPER_LEFT))
CHANGE(cull_both, glCullFace(GL_FRONT_AND_BACK), glCullFace(GL_BACK))
CHANGE(clockwise, glFrontFace(GL_CW), glFrontFace(GL_CCW))
CHANGE(polygon_line, glPolygonMode(GL_FRONT_AND_BACK, GL_LINE), glPolygonMode(GL_FRONT_AND_BACK, GL_FILL))
CHANGE(polygon_point, glPolygonMode(GL_FRONT_AND_BACK, GL_POINT), glPolygonMode(GL_FRONT_AND_BACK, GL_FILL))
CHANGE(polygon_offset, glPolygonOffset(1e9f, 1e9f), glPolygonOffset(0, 0))
CHANGE(provoking, glProvokingVertex(GL_FIRST_VERTEX_CONVENTION), glProvokingVertex(GL_LAST_VERTEX_CONVENTION))
CHANGE(multisample, glDisable(GL_MULTISAMPLE), glEnable(GL_MULTISAMPLE))
CHANGE(coverage, glSampleCoverage(0, GL_FALSE), glSampleCoverage(1, GL_FALSE))
CHANGE(sample_mask, glSampleMaski(0, 0), glSampleMaski(0, ~0u))
CHANGE(sample_shading, glMinSampleShading(1), glMinSampleShading(0))

/* ---- Pixel operations ---- */
CHANGE(scissor_box, glScissor(1, 2, 3, 4), glScissor(0, 0, 96, 64))
CHANGE(scissor_one, glEnablei(GL_SCISSOR_TEST, 0);
       glScissorIndexed(0, 1, 2, 3, 4), glDisablei(GL_SCISSOR_TEST, 0); glScissorIndexed(0, 0, 0, 96, 64))
CHANGE(scissor_third, glEnablei(GL_SCISSOR_TEST, 3);
       glScissorIndexed(3, 1, 2, 3, 4), glDisablei(GL_SCISSOR_TEST, 3); glScissorIndexed(3, 0, 0, 96, 64))
CHANGE(depth_never, glDepthFunc(GL_NEVER); glDepthMask(GL_FALSE), glDepthFunc(GL_LESS); glDepthMask(GL_TRUE))
CHANGE(blend_away, glBlendFunc(GL_ZERO, GL_ONE); glBlendEquation(GL_MIN);
       glBlendColor(1, 2, 3, 4), glBlendFunc(GL_ONE, GL_ZERO); glBlendEquation(GL_FUNC_ADD);
       glBlendColor(0, 0, 0, 0))
CHANGE(blend_first, glEnablei(GL_BLEND, 0); glBlendFunc(GL_ZERO, GL_ONE), glDisablei(GL_BLEND, 0);
       glBlendFunc(GL_ONE, GL_ZERO))
CHANGE(blend_others, glEnablei(GL_BLEND, 1); glEnablei(GL_BLEND, 7);
       glBlendFunc(GL_ZERO, GL_ONE), glDisablei(GL_BLEND, 1); glDisablei(GL_BLEND, 7);
       glBlendFunc(GL_ONE, GL_ZERO))
CHANGE(dither, glDisable(GL_DITHER), glEnable(GL_DITHER))
CHANGE(logic_xor, glLogicOp(GL_XOR), glLogicOp(GL_COPY))
CHANGE(mask_all, glColorMask(0, 0, 0, 0), glColorMask(1, 1, 1, 1))
CHANGE(mask_red, glColorMaski(0, 0, 1, 1, 1), glColorMaski(0, 1, 1, 1, 1))
CHANGE(mask_second, glColorMaski(1, 0, 1, 0, 1); glColorMaski(6, 0, 0, 0, 0), glColorMaski(1, 1, 1, 1, 1);
       glColorMaski(6, 1, 1, 1, 1))
CHANGE(clear_values, glClearColor(1, 2, 3, 4); glClearDepth(0.5); glClearStencil(9), glClearColor(0, 0, 0, 0);
       glClearDepth(1); glClearStencil(0))

/* The number of bits in the default masks depends on the driver. */
static void stencil_never(int on) {
  static GLint mask, written;
  if (on) {
    glGetIntegerv(GL_STENCIL_VALUE_MASK, &mask);
    glGetIntegerv(GL_STENCIL_WRITEMASK, &written);
  }
  glStencilFunc(on ? GL_NEVER : GL_ALWAYS, on ? 3 : 0, on ? 0x55 : (GLuint)mask);
  glStencilMask(on ? 0x0f : (GLuint)written);
}

/* ---- Transfers ---- */
STORE(pack_swap, GL_PACK_SWAP_BYTES, 1, 0)
STORE(pack_lsb, GL_PACK_LSB_FIRST, 1, 0)
STORE(pack_length, GL_PACK_ROW_LENGTH, 1031, 0)
STORE(pack_height, GL_PACK_IMAGE_HEIGHT, 77, 0)
STORE(pack_rows, GL_PACK_SKIP_ROWS, 3, 0)
STORE(pack_pixels, GL_PACK_SKIP_PIXELS, 5, 0)
STORE(pack_images, GL_PACK_SKIP_IMAGES, 2, 0)
STORE(pack_alignment, GL_PACK_ALIGNMENT, 8, 4)
STORE(pack_block, GL_PACK_COMPRESSED_BLOCK_WIDTH, 4, 0)
STORE(pack_invert, GL_PACK_INVERT_MESA, 1, 0)
STORE(unpack_swap, GL_UNPACK_SWAP_BYTES, 1, 0)
STORE(unpack_lsb, GL_UNPACK_LSB_FIRST, 1, 0)
STORE(unpack_length, GL_UNPACK_ROW_LENGTH, 1031, 0)
STORE(unpack_height, GL_UNPACK_IMAGE_HEIGHT, 77, 0)
STORE(unpack_rows, GL_UNPACK_SKIP_ROWS, 3, 0)
STORE(unpack_pixels, GL_UNPACK_SKIP_PIXELS, 5, 0)
STORE(unpack_images, GL_UNPACK_SKIP_IMAGES, 2, 0)
STORE(unpack_alignment, GL_UNPACK_ALIGNMENT, 8, 4)
STORE(unpack_block, GL_UNPACK_COMPRESSED_BLOCK_SIZE, 16, 0)
CHANGE(clamp_read, glClampColor(GL_CLAMP_READ_COLOR, GL_TRUE), glClampColor(GL_CLAMP_READ_COLOR, GL_FIXED_ONLY))
CHANGE(hint, glHint(GL_FRAGMENT_SHADER_DERIVATIVE_HINT, GL_FASTEST),
       glHint(GL_FRAGMENT_SHADER_DERIVATIVE_HINT, GL_DONT_CARE))

static const gl_state_case cases[] = {
    {.name = "nothing"},
    {.name = "GL_PRIMITIVE_RESTART", .enable = GL_PRIMITIVE_RESTART, .change = restart_index},
    {.name = "GL_PRIMITIVE_RESTART_FIXED_INDEX",
     .needs = GL_HAS_FIXED_RESTART,
     .enable = GL_PRIMITIVE_RESTART_FIXED_INDEX},
    {.name = "GL_PATCH_VERTICES", .needs = GL_HAS_TESSELLATION, .change = patch_vertices},
    {.name = "a current attribute", .change = current_attribute},
    {.name = "GL_VIEWPORT", .change = viewport},
    {.name = "viewports 0 to 15", .needs = GL_HAS_VIEWPORTS, .change = viewports},
    {.name = "GL_DEPTH_RANGE", .change = depth_range},
    {.name = "depth ranges 0 to 15", .needs = GL_HAS_VIEWPORTS, .change = depth_ranges},
    {.name = "GL_CLIP_ORIGIN", .needs = GL_HAS_CLIP_CONTROL, .change = clip_origin},
    {.name = "GL_CLIP_DEPTH_MODE", .needs = GL_HAS_CLIP_CONTROL, .change = clip_depth},
    {.name = "GL_CLIP_ORIGIN and GL_CLIP_DEPTH_MODE", .needs = GL_HAS_CLIP_CONTROL, .change = clip_both},
    {.name = "GL_CLIP_DISTANCE0 to 7", .change = clip_distances},
    {.name = "GL_DEPTH_CLAMP", .enable = GL_DEPTH_CLAMP},
    {.name = "GL_RASTERIZER_DISCARD", .enable = GL_RASTERIZER_DISCARD},
    {.name = "GL_PROGRAM_POINT_SIZE", .enable = GL_PROGRAM_POINT_SIZE},
    {.name = "GL_POINT_SIZE", .change = point_size},
    {.name = "GL_POINT_FADE_THRESHOLD_SIZE", .change = point_fade},
    {.name = "GL_POINT_SPRITE_COORD_ORIGIN", .change = point_origin},
    {.name = "GL_LINE_SMOOTH", .enable = GL_LINE_SMOOTH},
    {.name = "GL_CULL_FACE, both", .enable = GL_CULL_FACE, .change = cull_both},
    {.name = "GL_CULL_FACE, GL_CW", .enable = GL_CULL_FACE, .change = clockwise},
    {.name = "GL_POLYGON_MODE, lines", .change = polygon_line},
    {.name = "GL_POLYGON_MODE, points", .change = polygon_point},
    {.name = "GL_POLYGON_SMOOTH", .enable = GL_POLYGON_SMOOTH},
    {.name = "GL_POLYGON_OFFSET_FILL", .enable = GL_POLYGON_OFFSET_FILL, .change = polygon_offset},
    {.name = "GL_PROVOKING_VERTEX", .change = provoking},
    {.name = "GL_MULTISAMPLE", .change = multisample},
    {.name = "GL_SAMPLE_ALPHA_TO_COVERAGE", .enable = GL_SAMPLE_ALPHA_TO_COVERAGE},
    {.name = "GL_SAMPLE_ALPHA_TO_ONE", .enable = GL_SAMPLE_ALPHA_TO_ONE},
    {.name = "GL_SAMPLE_COVERAGE", .enable = GL_SAMPLE_COVERAGE, .change = coverage},
    {.name = "GL_SAMPLE_MASK", .enable = GL_SAMPLE_MASK, .change = sample_mask},
    {.name = "GL_SAMPLE_SHADING",
     .needs = GL_HAS_SAMPLE_SHADING,
     .enable = GL_SAMPLE_SHADING,
     .change = sample_shading},
    {.name = "GL_TEXTURE_CUBE_MAP_SEAMLESS", .enable = GL_TEXTURE_CUBE_MAP_SEAMLESS},
    {.name = "GL_SCISSOR_TEST", .enable = GL_SCISSOR_TEST, .change = scissor_box},
    {.name = "GL_SCISSOR_TEST of viewport 0", .needs = GL_HAS_VIEWPORTS, .change = scissor_one},
    {.name = "GL_SCISSOR_TEST of viewport 3", .needs = GL_HAS_VIEWPORTS, .change = scissor_third},
    {.name = "GL_DEPTH_TEST", .enable = GL_DEPTH_TEST, .change = depth_never},
    {.name = "GL_STENCIL_TEST", .enable = GL_STENCIL_TEST, .change = stencil_never},
    {.name = "GL_BLEND", .enable = GL_BLEND, .change = blend_away},
    {.name = "GL_BLEND of draw buffer 0", .change = blend_first},
    {.name = "GL_BLEND of draw buffers 1 and 7", .change = blend_others},
    {.name = "GL_DITHER", .change = dither},
    {.name = "GL_FRAMEBUFFER_SRGB", .enable = GL_FRAMEBUFFER_SRGB},
    {.name = "GL_COLOR_LOGIC_OP", .enable = GL_COLOR_LOGIC_OP, .change = logic_xor},
    {.name = "GL_COLOR_WRITEMASK", .change = mask_all},
    {.name = "GL_COLOR_WRITEMASK of draw buffer 0", .change = mask_red},
    {.name = "GL_COLOR_WRITEMASK of draw buffers 1 and 6", .change = mask_second},
    {.name = "values for clearing", .change = clear_values},
    {.name = "GL_PACK_SWAP_BYTES", .change = pack_swap},
    {.name = "GL_PACK_LSB_FIRST", .change = pack_lsb},
    {.name = "GL_PACK_ROW_LENGTH", .change = pack_length},
    {.name = "GL_PACK_IMAGE_HEIGHT", .change = pack_height},
    {.name = "GL_PACK_SKIP_ROWS", .change = pack_rows},
    {.name = "GL_PACK_SKIP_PIXELS", .change = pack_pixels},
    {.name = "GL_PACK_SKIP_IMAGES", .change = pack_images},
    {.name = "GL_PACK_ALIGNMENT", .change = pack_alignment},
    {.name = "GL_PACK_COMPRESSED_BLOCK_WIDTH", .needs = GL_HAS_INTERFACE_QUERY, .change = pack_block},
    {.name = "GL_PACK_INVERT_MESA", .needs = GL_HAS_PACK_INVERT, .change = pack_invert},
    {.name = "GL_UNPACK_SWAP_BYTES", .change = unpack_swap},
    {.name = "GL_UNPACK_LSB_FIRST", .change = unpack_lsb},
    {.name = "GL_UNPACK_ROW_LENGTH", .change = unpack_length},
    {.name = "GL_UNPACK_IMAGE_HEIGHT", .change = unpack_height},
    {.name = "GL_UNPACK_SKIP_ROWS", .change = unpack_rows},
    {.name = "GL_UNPACK_SKIP_PIXELS", .change = unpack_pixels},
    {.name = "GL_UNPACK_SKIP_IMAGES", .change = unpack_images},
    {.name = "GL_UNPACK_ALIGNMENT", .change = unpack_alignment},
    {.name = "GL_UNPACK_COMPRESSED_BLOCK_SIZE", .needs = GL_HAS_INTERFACE_QUERY, .change = unpack_block},
    {.name = "GL_CLAMP_READ_COLOR", .change = clamp_read},
    {.name = "a hint", .change = hint},
};

const gl_state_list gl_states_core = {cases, sizeof cases / sizeof cases[0]};
