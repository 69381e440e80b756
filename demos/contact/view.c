#include <GL/glew.h>

#include "view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact_shaders.h"
#include "view_gl.h"
#include "view_parts.h"

const char *contact_view_create(contact_view **made) {
  contact_view *view = *made = calloc(1, sizeof *view);
  if (!view) return "out of memory";
  const char *renderer = (const char *)glGetString(GL_RENDERER);
  view->is_software = renderer && (strstr(renderer, "llvmpipe") || strstr(renderer, "softpipe"));
  const char *why = view_build_bodies(view);
  if (!why) why = view_build_arrows(view);
  if (why) contact_view_destroy(made);
  return why;
}

void contact_view_destroy(contact_view **made) {
  contact_view *view = *made;
  if (!view) return;
  const unsigned programs[] = {view->backdrop, view->occlusion[0], view->occlusion[1], view->smoother,
                               view->arrow};
  glUseProgram(0); /* a program that is deleted while in use cannot be used again */
  for (int pass = 0; pass < PASSES; pass++)
    for (int coarse = 0; coarse < 2; coarse++) {
      glDeleteProgram(view->body[coarse][pass]);
      glDeleteProgram(view->ground[coarse][pass]);
    }
  for (int k = 0; k < 5; k++) glDeleteProgram(programs[k]);
  view_destroy_crowd(&view->blocks);
  view_destroy_crowd(&view->balls);
  view_destroy_crowd(&view->arrows);
  view_destroy_layers(view);
  glDeleteVertexArrays(1, &view->empty_array);
  free(view);
  *made = NULL;
}

int contact_view_is_coarse(const contact_view *view, contact_shading wanted) {
  return wanted == CONTACT_SHADING_AUTO ? view->is_software : wanted == CONTACT_SHADING_COARSE;
}

int view_layer_scale(const contact_look *look) {
  return look->coarse ? 4 : look->fine ? 1 : 2;
}

/* ---- Programs ---- */

static void multiply(const float a[16], const float b[16], float product[16]) {
  for (int column = 0; column < 4; column++)
    for (int row = 0; row < 4; row++) {
      float sum = 0;
      for (int k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      product[4 * column + row] = sum;
    }
}

static const char *const light_samplers[] = {"shadow_map", "openness", NULL};

/* Compiles a program if necessary and uses it. PASS and TAPS are defined in both sources, and the fragment
 * shader of the picture includes light.glsl. */
static const char *use_program(contact_view *view, view_pass pass, const contact_look *look,
                               view_gl_source vertex, view_gl_source fragment, unsigned *program) {
  char defines[60], text[sizeof light_glsl + sizeof body_frag + sizeof ground_frag];
  if (pass == PASS_PICTURE) {
    snprintf(text, sizeof text, "%s#line 1\n%s", light_glsl, fragment.text);
    fragment.text = text;
  }
  snprintf(defines, sizeof defines, "#define PASS %d\n#define TAPS %d\n", (int)pass,
           look->coarse        ? 2
           : view->is_software ? 4
                               : 6);
  return view_gl_program(defines, vertex, fragment, light_samplers, program);
}

const char *view_use_body(contact_view *view, view_pass pass, const contact_look *look, unsigned *program) {
  const view_gl_source fragment[PASSES] = {VIEW_GL_SHADER(depth, frag), VIEW_GL_SHADER(geometry, frag),
                                           VIEW_GL_SHADER(body, frag)};
  unsigned *made = &view->body[look->coarse][pass];
  const char *why = use_program(view, pass, look, VIEW_GL_SHADER(body, vert), fragment[pass], made);
  *program = *made;
  return why;
}

static void set_light(const contact_view *view, unsigned program, const camera *c, const contact_look *look,
                      int width, int height) {
  float eye[3], direction[3], half[16], matrix[16];
  const unsigned textures[] = {view->shadow.texture, view->openness.texture};
  const float soft = fmaxf(0.02f * view->typical, 0.9f * view->shadow_texel);
  camera_ray(c, 0, 0, width, height, eye, direction);
  memset(half, 0, sizeof half);
  half[0] = half[5] = half[10] = half[12] = half[13] = half[14] = 0.5f;
  half[15] = 1;
  multiply(half, view->to_shadow, matrix);
  view_gl_bind(textures, 2);
  glUniformMatrix4fv(view_gl_uniform(program, "to_clip"), 1, GL_FALSE, view->to_clip);
  glUniformMatrix4fv(view_gl_uniform(program, "to_shadow"), 1, GL_FALSE, matrix);
  glUniform3fv(view_gl_uniform(program, "sun"), 1, look->sun);
  glUniform3fv(view_gl_uniform(program, "viewer"), 1, eye);
  glUniform2f(view_gl_uniform(program, "shadow_step"), soft / view->shadow_width[0],
              soft / view->shadow_width[1]);
  glUniform1f(view_gl_uniform(program, "shadow_lift"), 1.5f * view->shadow_texel + 0.5f * soft);
  glUniform1f(view_gl_uniform(program, "coarse"), (float)view_layer_scale(look));
  glUniform2f(view_gl_uniform(program, "pixels"), (float)width, (float)height);
}

/* ---- Drawing ---- */

const char *view_use_ground(contact_view *view, view_pass pass, const camera *c, const contact_look *look,
                            unsigned *program) {
  unsigned *made = &view->ground[look->coarse][pass];
  const char *why =
      use_program(view, pass, look, VIEW_GL_SHADER(ground, vert),
                  pass == PASS_GEOMETRY ? VIEW_GL_SHADER(geometry, frag) : VIEW_GL_SHADER(ground, frag), made);
  if (why) return why;
  *program = *made;
  glUniform2f(view_gl_uniform(*program, "middle"), c->target[0], c->target[1]);
  glUniform1f(view_gl_uniform(*program, "reach"), 2.2f * look->reach);
  return NULL;
}

/* Fills the depth buffer first, so that hidden fragments are not shaded. */
static const char *draw_depths(contact_view *view, const contact_look *look) {
  unsigned program;
  const char *why = view_use_body(view, PASS_SHADOW, look, &program);
  if (why) return why;
  glUniformMatrix4fv(view_gl_uniform(program, "to_clip"), 1, GL_FALSE, view->to_clip);
  glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
  glEnable(GL_CULL_FACE);
  view_draw_bodies(view);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glDepthFunc(GL_LEQUAL);
  return NULL;
}

static const char *draw_bodies(contact_view *view, const camera *c, const contact_look *look, int width,
                               int height) {
  unsigned program;
  const char *why = view_use_body(view, PASS_PICTURE, look, &program);
  if (why) return why;
  set_light(view, program, c, look, width, height);
  glUniform1f(view_gl_uniform(program, "pale"), look->forces ? 0.72f : 0);
  glEnable(GL_CULL_FACE);
  view_draw_bodies(view);
  glDisable(GL_CULL_FACE);
  return NULL;
}

static const char *draw_arrows(contact_view *view, const contact_look *look) {
  if (!view->arrows.count) return NULL;
  const char *why =
      view_gl_program("", VIEW_GL_SHADER(arrow, vert), VIEW_GL_SHADER(arrow, frag), NULL, &view->arrow);
  if (why) return why;
  glClear(GL_DEPTH_BUFFER_BIT);
  glUniformMatrix4fv(view_gl_uniform(view->arrow, "to_clip"), 1, GL_FALSE, view->to_clip);
  glUniform3fv(view_gl_uniform(view->arrow, "sun"), 1, look->sun);
  view_draw_crowd(&view->arrows);
  return NULL;
}

static const char *draw_picture(contact_view *view, const camera *c, const contact_look *look, int width,
                                int height) {
  unsigned program;
  glViewport(0, 0, width, height);
  glClear(GL_DEPTH_BUFFER_BIT);
  const char *why = use_program(view, PASS_PICTURE, look, VIEW_GL_SHADER(whole, vert),
                                VIEW_GL_SHADER(backdrop, frag), &view->backdrop);
  if (why) return why;
  glUniform2f(view_gl_uniform(view->backdrop, "pixels"), (float)width, (float)height);
  view_gl_draw_vertices(&view->empty_array, GL_TRIANGLES, 3);
  glEnable(GL_DEPTH_TEST);
  why = look->coarse ? draw_depths(view, look) : NULL;
  if (!why) why = draw_bodies(view, c, look, width, height);
  glDepthFunc(GL_LESS);
  if (!why) why = view_use_ground(view, PASS_PICTURE, c, look, &program);
  if (!why) {
    set_light(view, program, c, look, width, height);
    glUniform1f(view_gl_uniform(program, "grid"), look->reach < 12 ? 0.5f : look->reach < 40 ? 1 : 5);
    view_gl_draw_vertices(&view->empty_array, GL_TRIANGLE_STRIP, 4);
    why = draw_arrows(view, look);
  }
  glDisable(GL_DEPTH_TEST);
  return why;
}

const char *contact_view_draw(contact_view *view, const world *w, const camera *c, const contact_look *look,
                              int width, int height) {
  GLint target;
  float projection[16];
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &target);
  view_gl_plain_state();
  camera_view_matrix(c, view->to_eye);
  camera_projection_matrix(c, width, height, projection);
  multiply(projection, view->to_eye, view->to_clip);
  const char *why = view_size_layers(view, look, width, height);
  if (!why) why = view_update_bodies(view, w);
  if (!why) why = view_update_forces(view, w, look);
  view_aim_sun(view, w, look);
  glClearDepth(1);
  glEnable(GL_DEPTH_TEST);
  glEnable(GL_CULL_FACE);
  if (!why) why = view_draw_shadow(view, look);
  if (!why) why = view_draw_openness(view, c, look, width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)target);
  if (!why) why = draw_picture(view, c, look, width, height);
  return why ? why : view_gl_check("drawing the bodies");
}

/* ---- Pictures ---- */

typedef struct scenery {
  contact_view *view;
  const world *w;
  const camera *c;
  const contact_look *look;
} scenery;

static const char *draw_scenery(void *user, int width, int height) {
  const scenery *s = user;
  return contact_view_draw(s->view, s->w, s->c, s->look, width, height);
}

const char *contact_view_picture(contact_view *view, const world *w, const camera *c, const contact_look *look,
                                 int width, int height, unsigned char *rgb) {
  scenery s = {view, w, c, look};
  return view_gl_picture(draw_scenery, &s, look->coarse ? 0 : VIEW_GL_SAMPLES, width, height, rgb);
}
