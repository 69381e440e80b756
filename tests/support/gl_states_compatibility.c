/* States that exist only in the compatibility profile. */
#include <string.h>

#include "gl_states.h"

#include "gl/core/gl_features.h"

#define CHANGE(name, set, unset)                                                                               \
  static void name(int on) {                                                                                   \
    if (on) {                                                                                                  \
      set;                                                                                                     \
    } else {                                                                                                   \
      unset;                                                                                                   \
    }                                                                                                          \
  }
#define TRANSFER(name, token, value, usual)                                                                    \
  CHANGE(name, glPixelTransferf(token, value), glPixelTransferf(token, usual))

/* ---- Vertices, transformation, lighting ---- */
CHANGE(edge_flag, glEdgeFlag(GL_FALSE), glEdgeFlag(GL_TRUE))
CHANGE(client_arrays, glEnableClientState(GL_VERTEX_ARRAY);
       glEnableClientState(GL_EDGE_FLAG_ARRAY), glDisableClientState(GL_VERTEX_ARRAY);
       glDisableClientState(GL_EDGE_FLAG_ARRAY))
CHANGE(current_values, glColor4f(0, 0, 0, 0); glNormal3f(9, 9, 9);
       glMultiTexCoord4f(GL_TEXTURE0, 5, 5, 5, 5), glColor4f(1, 1, 1, 1); glNormal3f(0, 0, 1);
       glMultiTexCoord4f(GL_TEXTURE0, 0, 0, 0, 1))
CHANGE(raster_position, glWindowPos2i(7, 9), glWindowPos2i(0, 0))
CHANGE(lights, glEnable(GL_LIGHT0); glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 1), glDisable(GL_LIGHT0);
       glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 0))
CHANGE(fog, glFogi(GL_FOG_MODE, GL_LINEAR); glFogf(GL_FOG_END, 1e-6f), glFogi(GL_FOG_MODE, GL_EXP);
       glFogf(GL_FOG_END, 1))
CHANGE(flat, glShadeModel(GL_FLAT), glShadeModel(GL_SMOOTH))
CHANGE(matrix_mode, glMatrixMode(GL_TEXTURE), glMatrixMode(GL_MODELVIEW))
CHANGE(attributes, for (int k = 0; k < 16; k++) glPushAttrib(GL_ALL_ATTRIB_BITS),
       for (int k = 0; k < 16; k++) glPopAttrib())
CHANGE(client_attributes, for (int k = 0; k < 16; k++) glPushClientAttrib(GL_CLIENT_ALL_ATTRIB_BITS),
       for (int k = 0; k < 16; k++) glPopClientAttrib())

static void matrices(int on) {
  static const GLfloat zero[16];
  static const GLenum modes[] = {GL_TEXTURE, GL_PROJECTION, GL_MODELVIEW};
  for (int k = 0; k < 3; k++) {
    glMatrixMode(modes[k]);
    if (on)
      glLoadMatrixf(zero);
    else
      glLoadIdentity();
  }
}

/* Each plane clips everything. */
static void clip_planes(int on) {
  static const GLdouble nothing[4] = {0, 0, 0, -1}, usual[4];
  for (GLenum k = 0; k < 6; k++) {
    glClipPlane(GL_CLIP_PLANE0 + k, on ? nothing : usual);
    (on ? glEnable : glDisable)(GL_CLIP_PLANE0 + k);
  }
}

/* ---- Rasterization and fragments ---- */
CHANGE(stipple_lines, glLineStipple(3, 0x5555), glLineStipple(1, 0xffff))
CHANGE(coordinates, glTexEnvi(GL_POINT_SPRITE, GL_COORD_REPLACE, 1),
       glTexEnvi(GL_POINT_SPRITE, GL_COORD_REPLACE, 0))
CHANGE(polygon_sides, glPolygonMode(GL_FRONT, GL_LINE);
       glPolygonMode(GL_BACK, GL_POINT), glPolygonMode(GL_FRONT_AND_BACK, GL_FILL))
CHANGE(polygon_back, glPolygonMode(GL_BACK, GL_LINE), glPolygonMode(GL_FRONT_AND_BACK, GL_FILL))
CHANGE(clamp_vertex, glClampColor(GL_CLAMP_VERTEX_COLOR, GL_TRUE), glClampColor(GL_CLAMP_VERTEX_COLOR, GL_TRUE))
CHANGE(clamp_fragment, glClampColor(GL_CLAMP_FRAGMENT_COLOR, GL_TRUE),
       glClampColor(GL_CLAMP_FRAGMENT_COLOR, GL_FIXED_ONLY))
CHANGE(alpha, glAlphaFunc(GL_GREATER, 0.5f), glAlphaFunc(GL_ALWAYS, 0))
CHANGE(alpha_never, glAlphaFunc(GL_NEVER, 0), glAlphaFunc(GL_ALWAYS, 0))
CHANGE(textures, glEnable(GL_TEXTURE_2D); glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
       glTexEnvf(GL_TEXTURE_FILTER_CONTROL, GL_TEXTURE_LOD_BIAS, 3), glDisable(GL_TEXTURE_2D);
       glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_MODULATE);
       glTexEnvf(GL_TEXTURE_FILTER_CONTROL, GL_TEXTURE_LOD_BIAS, 0))

static void stipple_half(int on) {
  GLubyte pattern[128];
  memset(pattern, on ? 0x55 : 0xff, sizeof pattern);
  glPolygonStipple(pattern);
}

static void point_limits(int on) {
  static GLfloat usual;
  if (on) glGetFloatv(GL_POINT_SIZE_MAX, &usual);
  glPointParameterf(GL_POINT_SIZE_MAX, on ? 1 : usual);
}

static void attenuation(int on) {
  const GLfloat factors[3] = {on ? 0 : 1, 0, on ? 9 : 0};
  glPointParameterfv(GL_POINT_DISTANCE_ATTENUATION, factors);
}

/* ---- Transfers ---- */
TRANSFER(red_scale, GL_RED_SCALE, 0.5f, 1)
TRANSFER(green_scale, GL_GREEN_SCALE, 0.5f, 1)
TRANSFER(blue_scale, GL_BLUE_SCALE, 0.5f, 1)
TRANSFER(alpha_scale, GL_ALPHA_SCALE, 0.5f, 1)
TRANSFER(red_bias, GL_RED_BIAS, 0.3f, 0)
TRANSFER(green_bias, GL_GREEN_BIAS, 0.3f, 0)
TRANSFER(blue_bias, GL_BLUE_BIAS, 0.3f, 0)
TRANSFER(alpha_bias, GL_ALPHA_BIAS, 0.3f, 0)
TRANSFER(depth_scale, GL_DEPTH_SCALE, 0.5f, 1)
TRANSFER(index_shift, GL_INDEX_SHIFT, 3, 0)
TRANSFER(map_stencil, GL_MAP_STENCIL, 1, 0)
CHANGE(zoom, glPixelZoom(-2, 3), glPixelZoom(1, 1))

static void map_colour(int on) {
  static const GLfloat half[2] = {0.25f, 0.75f}, usual[1] = {0};
  glPixelTransferi(GL_MAP_COLOR, on);
  for (GLenum k = 0; k < 4; k++) glPixelMapfv(GL_PIXEL_MAP_R_TO_R + k, on ? 2 : 1, on ? half : usual);
}

/* ---- Imaging subset ---- */
TRANSFER(post_scale, GL_POST_COLOR_MATRIX_RED_SCALE, 0.5f, 1)
TRANSFER(post_bias, GL_POST_CONVOLUTION_RED_BIAS, 0.3f, 0)
static const GLfloat halves[2] = {0.5f, 0.5f};
CHANGE(colour_table, glColorTable(GL_COLOR_TABLE, GL_LUMINANCE, 2, GL_LUMINANCE, GL_FLOAT, halves), (void)0)
CHANGE(convolution,
       glConvolutionFilter2D(GL_CONVOLUTION_2D, GL_LUMINANCE, 1, 1, GL_LUMINANCE, GL_FLOAT, halves), (void)0)
CHANGE(histogram, glHistogram(GL_HISTOGRAM, 16, GL_RGBA, GL_TRUE), (void)0)
CHANGE(colour_matrix, glMatrixMode(GL_COLOR); glScalef(0.5f, 0.5f, 0.5f);
       glMatrixMode(GL_PROJECTION), glMatrixMode(GL_COLOR); glLoadIdentity(); glMatrixMode(GL_MODELVIEW))

/* ---- Modes in progress ---- */

static void select(int on) {
  static GLuint names[64];
  if (on) {
    glSelectBuffer(64, names);
    glRenderMode(GL_SELECT);
  } else {
    glRenderMode(GL_RENDER);
  }
}

static void feed_back(int on) {
  static GLfloat values[64];
  if (on) {
    glFeedbackBuffer(64, GL_2D, values);
    glRenderMode(GL_FEEDBACK);
  } else {
    glRenderMode(GL_RENDER);
  }
}

static GLuint list;

static void display_list(int on) {
  if (on) {
    list = glGenLists(1);
    glNewList(list, GL_COMPILE);
  } else {
    glEndList();
    glCallList(list);
    glDeleteLists(list, 1);
  }
}

static void primitive(int on) {
  if (on)
    glBegin(GL_TRIANGLES);
  else
    glEnd();
}

#define CASE(text, ...)                                                                                        \
  { .name = text, .needs = GL_HAS_COMPATIBILITY, __VA_ARGS__ }
#define IMAGING(text, ...)                                                                                     \
  { .name = text, .needs = GL_HAS_IMAGING, __VA_ARGS__ }

static const gl_state_case cases[] = {
    CASE("nothing", .change = NULL),
    CASE("an edge flag", .change = edge_flag),
    CASE("client arrays", .change = client_arrays),
    CASE("current values", .change = current_values),
    CASE("the raster position", .change = raster_position),
    CASE("GL_LIGHTING", .enable = GL_LIGHTING, .change = lights),
    CASE("GL_VERTEX_PROGRAM_TWO_SIDE", .enable = GL_VERTEX_PROGRAM_TWO_SIDE),
    CASE("GL_COLOR_MATERIAL", .enable = GL_COLOR_MATERIAL),
    CASE("GL_NORMALIZE", .enable = GL_NORMALIZE),
    CASE("GL_TEXTURE_GEN_S", .enable = GL_TEXTURE_GEN_S),
    CASE("GL_MAP2_VERTEX_3", .enable = GL_MAP2_VERTEX_3),
    CASE("GL_AUTO_NORMAL", .enable = GL_AUTO_NORMAL),
    CASE("GL_FOG", .enable = GL_FOG, .change = fog),
    CASE("GL_COLOR_SUM", .enable = GL_COLOR_SUM),
    CASE("GL_SHADE_MODEL", .change = flat),
    CASE("matrices", .change = matrices),
    CASE("GL_MATRIX_MODE", .change = matrix_mode),
    CASE("a full stack of attributes", .change = attributes),
    CASE("a full stack of client attributes", .change = client_attributes),
    CASE("GL_CLIP_PLANE0 to 5", .change = clip_planes),
    CASE("GL_POLYGON_STIPPLE", .enable = GL_POLYGON_STIPPLE, .change = stipple_half),
    CASE("GL_LINE_STIPPLE", .enable = GL_LINE_STIPPLE, .change = stipple_lines),
    CASE("GL_POINT_SMOOTH", .enable = GL_POINT_SMOOTH),
    CASE("GL_POINT_SPRITE", .enable = GL_POINT_SPRITE, .change = coordinates),
    CASE("GL_POINT_SIZE_MAX", .change = point_limits),
    CASE("GL_POINT_DISTANCE_ATTENUATION", .change = attenuation),
    CASE("GL_POLYGON_MODE, both sides", .change = polygon_sides),
    CASE("GL_POLYGON_MODE, back", .change = polygon_back),
    CASE("GL_CLAMP_VERTEX_COLOR", .change = clamp_vertex),
    CASE("GL_CLAMP_FRAGMENT_COLOR", .change = clamp_fragment),
    CASE("GL_ALPHA_TEST", .enable = GL_ALPHA_TEST, .change = alpha),
    CASE("GL_ALPHA_TEST, GL_NEVER", .enable = GL_ALPHA_TEST, .change = alpha_never),
    CASE("GL_INDEX_LOGIC_OP", .enable = GL_INDEX_LOGIC_OP),
    CASE("GL_TEXTURE_2D", .change = textures),
    CASE("GL_VERTEX_PROGRAM_ARB", .enable = GL_VERTEX_PROGRAM_ARB),
    CASE("GL_FRAGMENT_PROGRAM_ARB", .enable = GL_FRAGMENT_PROGRAM_ARB),
    CASE("GL_MAP_COLOR", .change = map_colour),
    CASE("GL_MAP_STENCIL", .change = map_stencil),
    CASE("GL_RED_SCALE", .change = red_scale),
    CASE("GL_GREEN_SCALE", .change = green_scale),
    CASE("GL_BLUE_SCALE", .change = blue_scale),
    CASE("GL_ALPHA_SCALE", .change = alpha_scale),
    CASE("GL_RED_BIAS", .change = red_bias),
    CASE("GL_GREEN_BIAS", .change = green_bias),
    CASE("GL_BLUE_BIAS", .change = blue_bias),
    CASE("GL_ALPHA_BIAS", .change = alpha_bias),
    CASE("GL_DEPTH_SCALE", .change = depth_scale),
    CASE("GL_INDEX_SHIFT", .change = index_shift),
    CASE("GL_ZOOM_X", .change = zoom),
    CASE("GL_SELECT", .change = select, .refusal = "GL_SELECT"),
    CASE("GL_FEEDBACK", .change = feed_back, .refusal = "GL_FEEDBACK"),
    CASE("a display list", .change = display_list, .refusal = "glEndList"),
    CASE("glBegin", .change = primitive, .refusal = "glEnd", .is_mute = 1),
    IMAGING("GL_POST_COLOR_MATRIX_RED_SCALE", .change = post_scale),
    IMAGING("GL_POST_CONVOLUTION_RED_BIAS", .change = post_bias),
    IMAGING("GL_COLOR_TABLE", .enable = GL_COLOR_TABLE, .change = colour_table),
    IMAGING("GL_CONVOLUTION_2D", .enable = GL_CONVOLUTION_2D, .change = convolution),
    IMAGING("GL_HISTOGRAM", .enable = GL_HISTOGRAM, .change = histogram),
    IMAGING("GL_COLOR_MATRIX", .change = colour_matrix),
};

const gl_state_list gl_states_compatibility = {cases, sizeof cases / sizeof cases[0]};
