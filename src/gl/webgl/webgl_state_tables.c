/* Every state of WebGL 2 that affects the library's calls, and how the library treats it. */
/* clang-format off */
/* The list follows the state tables of OpenGL ES 3.0 (chapter 6.2) and the differences of WebGL. As on the desktop
 * (gl_state_tables.c), a state is restored, kept or refused.
 *
 *   restored: vertex array, array buffer; viewport, scissor test; GL_RASTERIZER_DISCARD, GL_CULL_FACE;
 *             GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_COVERAGE; GL_ACTIVE_TEXTURE, and texture and sampler of the units that
 *             a call uses; GL_STENCIL_TEST, GL_DEPTH_TEST, GL_BLEND, GL_DITHER, GL_COLOR_WRITEMASK; both framebuffers;
 *             GL_PACK_ and GL_UNPACK_ parameters, those of WebGL (UNPACK_FLIP_Y_WEBGL, ...), both pixel buffers; the program;
 *             transform feedback, which is paused
 *   kept:     current attributes; polygon offset, line width, GL_FRONT_FACE, GL_CULL_FACE_MODE; values of tests, blending
 *             and clearing; other targets and units; renderbuffer; uniform and other indexed buffers; hints
 *   refused:  queries of GL_ANY_SAMPLES_PASSED and _CONSERVATIVE, which would count the library's samples
 */
/* clang-format on */
#include "gl/core/gl_state.h"

enum { FLIP_Y = 0x9240, PREMULTIPLY_ALPHA = 0x9241, COLORSPACE_CONVERSION = 0x9243 };

#define SWITCH(name, wanted)                                                                                   \
  { GL_ROW_SWITCH, name, 0, wanted }
#define STORE(name, wanted)                                                                                    \
  { GL_ROW_STORE, name, 0, wanted }

static const gl_row transfer[] = {
    STORE(GL_PACK_ROW_LENGTH, 0),
    STORE(GL_PACK_SKIP_ROWS, 0),
    STORE(GL_PACK_SKIP_PIXELS, 0),
    STORE(GL_PACK_ALIGNMENT, 4),
    STORE(GL_UNPACK_ROW_LENGTH, 0),
    STORE(GL_UNPACK_IMAGE_HEIGHT, 0),
    STORE(GL_UNPACK_SKIP_ROWS, 0),
    STORE(GL_UNPACK_SKIP_PIXELS, 0),
    STORE(GL_UNPACK_SKIP_IMAGES, 0),
    STORE(GL_UNPACK_ALIGNMENT, 4),
    STORE(FLIP_Y, 0),
    STORE(PREMULTIPLY_ALPHA, 0),
    STORE(COLORSPACE_CONVERSION, 0),
};

static const gl_row drawing[] = {
    SWITCH(GL_RASTERIZER_DISCARD, 0),
    SWITCH(GL_CULL_FACE, 0),
    SWITCH(GL_SAMPLE_ALPHA_TO_COVERAGE, 0),
    SWITCH(GL_SAMPLE_COVERAGE, 0),
    SWITCH(GL_STENCIL_TEST, 0),
    SWITCH(GL_DEPTH_TEST, 0),
    SWITCH(GL_BLEND, 0),
    SWITCH(GL_DITHER, 0),
};

const gl_table gl_transfer_rows = {transfer, sizeof transfer / sizeof transfer[0]};
const gl_table gl_drawing_rows = {drawing, sizeof drawing / sizeof drawing[0]};

_Static_assert(sizeof transfer / sizeof transfer[0] <= GL_MOST_ROWS, "gl_values has room for them");
_Static_assert(sizeof drawing / sizeof drawing[0] <= GL_MOST_ROWS, "gl_values has room for them");
