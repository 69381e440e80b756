/* The layers that are drawn before the picture: the shadow map and the ambient openness. */
#include <GL/glew.h>

#include <math.h>
#include <string.h>

#include "contact_shaders.h"
#include "view_gl.h"
#include "view_parts.h"

/* ---- Sizes ---- */

static void destroy_layer(view_layer *layer) {
  glDeleteFramebuffers(1, &layer->framebuffer);
  glDeleteTextures(1, &layer->texture);
  *layer = (view_layer){0};
}

void view_destroy_layers(contact_view *view) {
  destroy_layer(&view->shadow);
  destroy_layer(&view->geometry);
  destroy_layer(&view->openness);
  destroy_layer(&view->between);
  glDeleteRenderbuffers(1, &view->geometry_depth);
  view->geometry_depth = 0;
  view->width = view->height = view->shadow_size = 0;
}

static void make_layer(view_layer *layer, GLenum attachment, GLint internal, GLenum format, int width,
                       int height) {
  layer->texture = view_gl_texture(attachment == GL_DEPTH_ATTACHMENT ? GL_LINEAR : GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, internal, width, height, 0, format, GL_FLOAT, NULL);
  glGenFramebuffers(1, &layer->framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, layer->framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, attachment, GL_TEXTURE_2D, layer->texture, 0);
}

static const char *make_shadow(contact_view *view) {
  static const float lit[] = {1, 1, 1, 1};
  view->shadow_size = view->is_software ? 1024 : 4096;
  make_layer(&view->shadow, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, view->shadow_size,
             view->shadow_size);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
  glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, lit);
  glDrawBuffer(GL_NONE);
  glReadBuffer(GL_NONE);
  return view_gl_check("the shadow's map");
}

const char *view_size_layers(contact_view *view, const contact_look *look, int width, int height) {
  const int scale = view_layer_scale(look);
  width = (width + scale - 1) / scale;
  height = (height + scale - 1) / scale;
  if (view->width == width && view->height == height) return NULL;
  view_destroy_layers(view);
  const char *why = make_shadow(view);
  make_layer(&view->geometry, GL_COLOR_ATTACHMENT0, GL_RGBA32F, GL_RGBA, width, height);
  glGenRenderbuffers(1, &view->geometry_depth);
  glBindRenderbuffer(GL_RENDERBUFFER, view->geometry_depth);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, width, height);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, view->geometry_depth);
  glBindRenderbuffer(GL_RENDERBUFFER, 0);
  make_layer(&view->openness, GL_COLOR_ATTACHMENT0, GL_RG32F, GL_RG, width, height);
  make_layer(&view->between, GL_COLOR_ATTACHMENT0, GL_RG32F, GL_RG, width, height);
  view->width = width;
  view->height = height;
  return why ? why : view_gl_check("layers of a picture of this size");
}

/* ---- The shadow ---- */

static void cross_product(const float a[3], const float b[3], float c[3]) {
  for (int k = 0; k < 3; k++) c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* The axes right, up and towards the sun. */
static void sun_axes(const float sun[3], float axes[3][3]) {
  const float up[] = {0, 0, 1};
  memcpy(axes[2], sun, sizeof axes[2]);
  cross_product(up, sun, axes[0]);
  const float length = sqrtf(axes[0][0] * axes[0][0] + axes[0][1] * axes[0][1] + axes[0][2] * axes[0][2]);
  for (int k = 0; k < 3; k++) axes[0][k] = length > 1e-6f ? axes[0][k] / length : (float)(k == 0);
  cross_product(axes[2], axes[0], axes[1]);
}

/* Bounds the bodies in the sun's axes. Bodies that are far away cast no shadow. */
static void bound_bodies(const world *w, const contact_look *look, float axes[3][3], float low[3],
                         float high[3]) {
  for (int k = 0; k < 3; k++) low[k] = 1e9f, high[k] = -1e9f;
  for (int i = 0; i < w->count; i++) {
    const body *b = &w->bodies[i];
    const double radius =
        b->shape == BODY_SPHERE ? b->half[0] : hypot(hypot(b->half[0], b->half[1]), b->half[2]);
    if (view_is_ground(b) || hypot(b->position[0], b->position[1]) > 2 * (double)look->reach) continue;
    for (int k = 0; k < 3; k++) {
      double at = 0;
      for (int j = 0; j < 3; j++) at += (double)axes[k][j] * b->position[j];
      low[k] = fminf(low[k], (float)(at - radius));
      high[k] = fmaxf(high[k], (float)(at + radius));
    }
  }
  for (int k = 0; k < 3; k++)
    if (!(low[k] < high[k])) low[k] = -1, high[k] = 1;
}

void view_aim_sun(contact_view *view, const world *w, const contact_look *look) {
  float axes[3][3], low[3], high[3];
  sun_axes(look->sun, axes);
  bound_bodies(w, look, axes, low, high);
  /* Leaves a border for the soft edges. */
  for (int k = 0; k < 2; k++) {
    const float border = 0.02f * (high[k] - low[k]);
    low[k] -= border;
    high[k] += border;
    view->shadow_width[k] = high[k] - low[k];
  }
  view->shadow_texel = fmaxf(view->shadow_width[0], view->shadow_width[1]) / (float)view->shadow_size;
  for (int k = 0; k < 3; k++) {
    const float scale = (k == 2 ? -2.0f : 2.0f) / (high[k] - low[k]);
    for (int j = 0; j < 3; j++) view->to_shadow[4 * j + k] = scale * axes[k][j];
    view->to_shadow[12 + k] = -scale * 0.5f * (high[k] + low[k]);
    view->to_shadow[4 * k + 3] = 0;
  }
  view->to_shadow[15] = 1;
}

const char *view_draw_shadow(contact_view *view, const contact_look *look) {
  unsigned program;
  const char *why = view_use_body(view, PASS_SHADOW, look, &program);
  if (why) return why;
  glBindFramebuffer(GL_FRAMEBUFFER, view->shadow.framebuffer);
  glViewport(0, 0, view->shadow_size, view->shadow_size);
  glClear(GL_DEPTH_BUFFER_BIT);
  glEnable(GL_POLYGON_OFFSET_FILL);
  glPolygonOffset(1.5f, 2);
  glUniformMatrix4fv(view_gl_uniform(program, "to_clip"), 1, GL_FALSE, view->to_shadow);
  view_draw_bodies(view);
  glDisable(GL_POLYGON_OFFSET_FILL);
  return NULL;
}

/* ---- Ambient openness ---- */

static void set_cameras(const contact_view *view, unsigned program) {
  glUniformMatrix4fv(view_gl_uniform(program, "to_clip"), 1, GL_FALSE, view->to_clip);
  glUniformMatrix4fv(view_gl_uniform(program, "to_eye"), 1, GL_FALSE, view->to_eye);
}

static const char *draw_geometry(contact_view *view, const camera *c, const contact_look *look) {
  static const float far_away[] = {0, 0, 1, 1e6f};
  unsigned program;
  glBindFramebuffer(GL_FRAMEBUFFER, view->geometry.framebuffer);
  glViewport(0, 0, view->width, view->height);
  glClearBufferfv(GL_COLOR, 0, far_away);
  glClear(GL_DEPTH_BUFFER_BIT);
  const char *why = view_use_ground(view, PASS_GEOMETRY, c, look, &program);
  if (why) return why;
  set_cameras(view, program);
  view_gl_draw_vertices(&view->empty_array, GL_TRIANGLE_STRIP, 4);
  why = view_use_body(view, PASS_GEOMETRY, look, &program);
  if (why) return why;
  set_cameras(view, program);
  view_draw_bodies(view);
  return NULL;
}

static const char *smooth(contact_view *view, const view_layer *from, const view_layer *to, int x, int y) {
  static const char *const samplers[] = {"openness", NULL};
  const char *why =
      view_gl_program("", VIEW_GL_SHADER(whole, vert), VIEW_GL_SHADER(smooth, frag), samplers, &view->smoother);
  if (why) return why;
  glBindFramebuffer(GL_FRAMEBUFFER, to->framebuffer);
  view_gl_bind(&from->texture, 1);
  glUniform2i(view_gl_uniform(view->smoother, "along"), x, y);
  view_gl_draw_vertices(&view->empty_array, GL_TRIANGLES, 3);
  return NULL;
}

const char *view_draw_openness(contact_view *view, const camera *c, const contact_look *look, int width,
                               int height) {
  static const char *const samplers[] = {"geometry", NULL};
  float projection[16];
  const char *why = draw_geometry(view, c, look);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_CULL_FACE);
  if (!why)
    why = view_gl_program(look->coarse ? "#define SAMPLES 12\n" : "#define SAMPLES 24\n",
                          VIEW_GL_SHADER(whole, vert), VIEW_GL_SHADER(occlusion, frag), samplers,
                          &view->occlusion[look->coarse]);
  if (why) return why;
  const unsigned program = view->occlusion[look->coarse];
  camera_projection_matrix(c, width, height, projection);
  glBindFramebuffer(GL_FRAMEBUFFER, view->openness.framebuffer);
  view_gl_bind(&view->geometry.texture, 1);
  glUniform2f(view_gl_uniform(program, "slope"), 1 / projection[0], 1 / projection[5]);
  glUniform1f(view_gl_uniform(program, "radius"), 2.5f * view->typical);
  view_gl_draw_vertices(&view->empty_array, GL_TRIANGLES, 3);
  why = smooth(view, &view->openness, &view->between, 1, 0);
  return why ? why : smooth(view, &view->between, &view->openness, 0, 1);
}
