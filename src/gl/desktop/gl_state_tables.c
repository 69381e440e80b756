/* Every OpenGL state that affects the library's calls, and how the library treats it. */
/* clang-format off */
/* The library draws triangles and points into float textures without depth, stencil and samples. It clears such
 * textures, copies between them, and reads and writes texels and buffers. The list follows the state tables of
 * OpenGL 4.6 (core, chapter 23; compatibility, chapter 24).
 *
 *   restored: set for the library's calls and restored afterwards
 *   kept:     not changed by the library, and without effect on its calls
 *   refused:  OpenGL cannot restore it, so a call that draws fails and names it
 *
 * Current values, vertex arrays, buffers
 *   restored: GL_VERTEX_ARRAY_BINDING, and with it all attributes and client arrays; GL_ARRAY_BUFFER_BINDING;
 *             GL_PRIMITIVE_RESTART and GL_PRIMITIVE_RESTART_FIXED_INDEX (some drivers apply them without indices)
 *   kept:     current attributes, colours, normals, edge flags; GL_PRIMITIVE_RESTART_INDEX; GL_PATCH_VERTICES and
 *             the default tessellation levels; indexed, indirect and other bindings of buffers
 * Transformation
 *   restored: viewport 0; GL_CLIP_DISTANCE0 to 7, also known as GL_CLIP_PLANE0 to 7; GL_CLIP_ORIGIN,
 *             GL_CLIP_DEPTH_MODE; with the imaging subset, GL_COLOR_MATRIX through GL_MATRIX_MODE
 *   kept:     viewports 1 to 15 (glViewport sets them all, so viewport 0 is set by its index); depth ranges;
 *             GL_DEPTH_CLAMP (z is 0); other matrices, planes, lights, materials, fog, texture environments and
 *             evaluators, which shaders replace
 * Colouring
 *   restored: GL_CLAMP_READ_COLOR, GL_CLAMP_FRAGMENT_COLOR
 *   kept:     GL_CLAMP_VERTEX_COLOR, GL_SHADE_MODEL; GL_PROVOKING_VERTEX (flat outputs are equal at all vertices)
 * Rasterization
 *   restored: GL_RASTERIZER_DISCARD; GL_PROGRAM_POINT_SIZE, GL_POINT_SMOOTH, GL_POINT_SPRITE (on in a core profile);
 *             GL_POLYGON_SMOOTH, GL_POLYGON_STIPPLE, GL_POLYGON_MODE, GL_CULL_FACE
 *   kept:     all state of lines; limits, fading and attenuation of points, because the shader sets their size;
 *             GL_FRONT_FACE, GL_CULL_FACE_MODE, polygon offsets, the stipple pattern
 * Multisampling (targets without samples ignore it, but drivers have had bugs there)
 *   restored: GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_ALPHA_TO_ONE, GL_SAMPLE_COVERAGE, GL_SAMPLE_MASK,
 *             GL_SAMPLE_SHADING
 *   kept:     GL_MULTISAMPLE; values and masks
 * Textures and samplers
 *   restored: GL_ACTIVE_TEXTURE; GL_TEXTURE_BINDING_2D and GL_SAMPLER_BINDING of the units that a call uses
 *   kept:     other targets and units; GL_TEXTURE_CUBE_MAP_SEAMLESS; image units; the application's textures
 * Pixel operations
 *   restored: the scissor test of viewport 0; GL_STENCIL_TEST, GL_DEPTH_TEST, GL_ALPHA_TEST; GL_BLEND of draw
 *             buffers 0 to 2; GL_DITHER, GL_FRAMEBUFFER_SRGB, GL_COLOR_LOGIC_OP, GL_LOGIC_OP_MODE
 *   kept:     scissor boxes, other scissor tests, functions and values of tests and blending, GL_BLEND of other
 *             draw buffers, GL_INDEX_LOGIC_OP
 * Framebuffers
 *   restored: both bindings; GL_COLOR_WRITEMASK of draw buffers 0 to 2
 *   kept:     other masks, values for clearing (glClearBuffer has its own), the accumulation buffer; draw and read
 *             buffers, which belong to a framebuffer object
 * Pixels
 *   restored: GL_PACK_ and GL_UNPACK_ SWAP_BYTES to ALIGNMENT, GL_PACK_INVERT_MESA, both buffer bindings;
 *             GL_MAP_COLOR, GL_RED_SCALE to GL_ALPHA_BIAS; with the imaging subset, the switches of tables,
 *             convolutions, histogram and minimum, and the scales and biases after convolution and colour matrix
 *   kept:     GL_PACK_COMPRESSED_ and GL_UNPACK_COMPRESSED_ sizes, maps, zoom, everything for indices, depth and
 *             stencil
 * Programs
 *   restored: GL_CURRENT_PROGRAM, and the subroutines chosen in it or in the programs of the pipeline
 *   kept:     GL_PROGRAM_PIPELINE_BINDING, uniforms and their buffers, assembly programs
 * Transform feedback
 *   restored: paused and resumed; refused before OpenGL 4.0, which cannot pause it
 * Queries
 *   refused:  GL_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED and _CONSERVATIVE, GL_PRIMITIVES_GENERATED; conditional
 *             rendering
 *   kept:     GL_TIME_ELAPSED and pipeline statistics, which include the library's work
 * Compatibility only
 *   refused:  GL_RENDER_MODE other than GL_RENDER (hits and values recorded so far would be lost); a display list
 *             that is being compiled and a call between glBegin and glEnd, also by calls that do not draw
 * Hints, debug output and groups, compute, robustness
 *   kept:     all
 *
 * Extensions add more state. gl_proof.c detects a state that is missing here if it affects draws. */
/* clang-format on */
#include "gl/core/gl_features.h"
#include "gl/core/gl_state.h"

#define SWITCH(name, needs, wanted)                                                                            \
  { GL_ROW_SWITCH, name, needs, wanted }
#define STORE(name, needs, wanted)                                                                             \
  { GL_ROW_STORE, name, needs, wanted }
#define TRANSFER(name, needs, wanted)                                                                          \
  { GL_ROW_TRANSFER, name, needs, wanted }

/* For transfers, which also occur in calls that do not draw. */
static const gl_row transfer[] = {
    STORE(GL_PACK_SWAP_BYTES, 0, 0),
    STORE(GL_PACK_LSB_FIRST, 0, 0),
    STORE(GL_PACK_ROW_LENGTH, 0, 0),
    STORE(GL_PACK_IMAGE_HEIGHT, 0, 0),
    STORE(GL_PACK_SKIP_ROWS, 0, 0),
    STORE(GL_PACK_SKIP_PIXELS, 0, 0),
    STORE(GL_PACK_SKIP_IMAGES, 0, 0),
    STORE(GL_PACK_ALIGNMENT, 0, 4),
    STORE(GL_PACK_INVERT_MESA, GL_HAS_PACK_INVERT, 0),
    STORE(GL_UNPACK_SWAP_BYTES, 0, 0),
    STORE(GL_UNPACK_LSB_FIRST, 0, 0),
    STORE(GL_UNPACK_ROW_LENGTH, 0, 0),
    STORE(GL_UNPACK_IMAGE_HEIGHT, 0, 0),
    STORE(GL_UNPACK_SKIP_ROWS, 0, 0),
    STORE(GL_UNPACK_SKIP_PIXELS, 0, 0),
    STORE(GL_UNPACK_SKIP_IMAGES, 0, 0),
    STORE(GL_UNPACK_ALIGNMENT, 0, 4),
    {GL_ROW_CLAMP, GL_CLAMP_READ_COLOR, 0, GL_FIXED_ONLY},
    TRANSFER(GL_MAP_COLOR, GL_HAS_COMPATIBILITY, 0),
    TRANSFER(GL_RED_SCALE, GL_HAS_COMPATIBILITY, 1),
    TRANSFER(GL_GREEN_SCALE, GL_HAS_COMPATIBILITY, 1),
    TRANSFER(GL_BLUE_SCALE, GL_HAS_COMPATIBILITY, 1),
    TRANSFER(GL_ALPHA_SCALE, GL_HAS_COMPATIBILITY, 1),
    TRANSFER(GL_RED_BIAS, GL_HAS_COMPATIBILITY, 0),
    TRANSFER(GL_GREEN_BIAS, GL_HAS_COMPATIBILITY, 0),
    TRANSFER(GL_BLUE_BIAS, GL_HAS_COMPATIBILITY, 0),
    TRANSFER(GL_ALPHA_BIAS, GL_HAS_COMPATIBILITY, 0),
    SWITCH(GL_COLOR_TABLE, GL_HAS_IMAGING, 0),
    SWITCH(GL_POST_CONVOLUTION_COLOR_TABLE, GL_HAS_IMAGING, 0),
    SWITCH(GL_POST_COLOR_MATRIX_COLOR_TABLE, GL_HAS_IMAGING, 0),
    SWITCH(GL_CONVOLUTION_1D, GL_HAS_IMAGING, 0),
    SWITCH(GL_CONVOLUTION_2D, GL_HAS_IMAGING, 0),
    SWITCH(GL_SEPARABLE_2D, GL_HAS_IMAGING, 0),
    SWITCH(GL_HISTOGRAM, GL_HAS_IMAGING, 0),
    SWITCH(GL_MINMAX, GL_HAS_IMAGING, 0),
    TRANSFER(GL_POST_CONVOLUTION_RED_SCALE, GL_HAS_IMAGING, 1),
    TRANSFER(GL_POST_CONVOLUTION_GREEN_SCALE, GL_HAS_IMAGING, 1),
    TRANSFER(GL_POST_CONVOLUTION_BLUE_SCALE, GL_HAS_IMAGING, 1),
    TRANSFER(GL_POST_CONVOLUTION_ALPHA_SCALE, GL_HAS_IMAGING, 1),
    TRANSFER(GL_POST_CONVOLUTION_RED_BIAS, GL_HAS_IMAGING, 0),
    TRANSFER(GL_POST_CONVOLUTION_GREEN_BIAS, GL_HAS_IMAGING, 0),
    TRANSFER(GL_POST_CONVOLUTION_BLUE_BIAS, GL_HAS_IMAGING, 0),
    TRANSFER(GL_POST_CONVOLUTION_ALPHA_BIAS, GL_HAS_IMAGING, 0),
    TRANSFER(GL_POST_COLOR_MATRIX_RED_SCALE, GL_HAS_IMAGING, 1),
    TRANSFER(GL_POST_COLOR_MATRIX_GREEN_SCALE, GL_HAS_IMAGING, 1),
    TRANSFER(GL_POST_COLOR_MATRIX_BLUE_SCALE, GL_HAS_IMAGING, 1),
    TRANSFER(GL_POST_COLOR_MATRIX_ALPHA_SCALE, GL_HAS_IMAGING, 1),
    TRANSFER(GL_POST_COLOR_MATRIX_RED_BIAS, GL_HAS_IMAGING, 0),
    TRANSFER(GL_POST_COLOR_MATRIX_GREEN_BIAS, GL_HAS_IMAGING, 0),
    TRANSFER(GL_POST_COLOR_MATRIX_BLUE_BIAS, GL_HAS_IMAGING, 0),
    TRANSFER(GL_POST_COLOR_MATRIX_ALPHA_BIAS, GL_HAS_IMAGING, 0),
};

/* For draws and clears. One driver needs GL_COLOR_LOGIC_OP (gl_backend, compiles_once). */
static const gl_row drawing[] = {
    SWITCH(GL_PRIMITIVE_RESTART, 0, 0),
    SWITCH(GL_PRIMITIVE_RESTART_FIXED_INDEX, GL_HAS_FIXED_RESTART, 0),
    SWITCH(GL_CLIP_DISTANCE0, 0, 0),
    SWITCH(GL_CLIP_DISTANCE1, 0, 0),
    SWITCH(GL_CLIP_DISTANCE2, 0, 0),
    SWITCH(GL_CLIP_DISTANCE3, 0, 0),
    SWITCH(GL_CLIP_DISTANCE4, 0, 0),
    SWITCH(GL_CLIP_DISTANCE5, 0, 0),
    SWITCH(GL_CLIP_DISTANCE0 + 6, 0, 0),
    SWITCH(GL_CLIP_DISTANCE0 + 7, 0, 0),
    SWITCH(GL_RASTERIZER_DISCARD, 0, 0),
    SWITCH(GL_PROGRAM_POINT_SIZE, 0, 1),
    SWITCH(GL_POLYGON_SMOOTH, 0, 0),
    SWITCH(GL_CULL_FACE, 0, 0),
    SWITCH(GL_SAMPLE_ALPHA_TO_COVERAGE, 0, 0),
    SWITCH(GL_SAMPLE_ALPHA_TO_ONE, 0, 0),
    SWITCH(GL_SAMPLE_COVERAGE, 0, 0),
    SWITCH(GL_SAMPLE_MASK, 0, 0),
    SWITCH(GL_SAMPLE_SHADING, GL_HAS_SAMPLE_SHADING, 0),
    SWITCH(GL_STENCIL_TEST, 0, 0),
    SWITCH(GL_DEPTH_TEST, 0, 0),
    SWITCH(GL_DITHER, 0, 0),
    SWITCH(GL_FRAMEBUFFER_SRGB, 0, 0),
    SWITCH(GL_COLOR_LOGIC_OP, 0, 0),
    {GL_ROW_LOGIC_OP, GL_LOGIC_OP_MODE, 0, GL_COPY},
    SWITCH(GL_ALPHA_TEST, GL_HAS_COMPATIBILITY, 0),
    SWITCH(GL_POLYGON_STIPPLE, GL_HAS_COMPATIBILITY, 0),
    SWITCH(GL_POINT_SMOOTH, GL_HAS_COMPATIBILITY, 0),
    SWITCH(GL_POINT_SPRITE, GL_HAS_COMPATIBILITY, 1),
    {GL_ROW_CLAMP, GL_CLAMP_FRAGMENT_COLOR, GL_HAS_COMPATIBILITY, GL_FALSE},
};

const gl_table gl_transfer_rows = {transfer, sizeof transfer / sizeof transfer[0]};
const gl_table gl_drawing_rows = {drawing, sizeof drawing / sizeof drawing[0]};

_Static_assert(sizeof transfer / sizeof transfer[0] <= GL_MOST_ROWS, "gl_values has room for them");
_Static_assert(sizeof drawing / sizeof drawing[0] <= GL_MOST_ROWS, "gl_values has room for them");
