/* How anything is drawn: bind the target, make earlier writes visible, set the parameters in one call, draw. */
#include <string.h>

#include "gl.h"
#include "gl_shader.h"

void gl_bind(gl_backend *gl, int unit, GLuint texture) {
  if (gl->bound_texture[unit] == texture) return;
  glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
  glBindTexture(GL_TEXTURE_2D, texture);
  gl->bound_texture[unit] = texture;
  glActiveTexture(GL_TEXTURE0);
}

void gl_bind_framebuffer(gl_backend *gl, GLuint framebuffer) {
  if (gl->bound_framebuffer == framebuffer) return;
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  gl->bound_framebuffer = framebuffer;
}

/* The layout of p in shaders/include/pass.glsl. */
typedef struct pass_parameters {
  GLint target[4];          /* x, y, width, height */
  GLint inputs[4][2];       /* x, y */
  GLint coefficients[2][4]; /* bits of the scale; texel of numerator and denominator or -1; which are blocks */
  GLint own[12];
} pass_parameters;

static GLint slot_texel(ts_slot slot) {
  if (!slot.scalars) return -1;
  int x, y;
  gl_slot_place(gl_scalars_of(slot.scalars), slot.index, &x, &y);
  return (GLint)((unsigned)x | (unsigned)y << 16);
}

/* Whether a pass has slots, and all of them lie in one texture. */
static int has_one_slot_texture(const gl_pass *pass) {
  GLuint name = 0;
  int count = 0;
  for (int i = 0; i < 2 * pass->coefficient_count; i++) {
    const ts_coefficient *c = &pass->coefficients[i / 2];
    const ts_scalars *scalars = i % 2 ? c->denominator.scalars : c->numerator.scalars;
    if (!scalars) continue;
    const GLuint next = gl_scalars_of(scalars)->texture->name;
    if (count++ && next != name) return 0;
    name = next;
  }
  return count > 0;
}

const char *gl_slots_define(const ts_context *context, const gl_pass *pass) {
  const int has_one = !context->caps.is_hardware && has_one_slot_texture(pass);
  return has_one ? "#define SLOTS\n#define ONE_TEXTURE\n" : "#define SLOTS\n";
}

/* Binds what the pass reads. Returns whether that includes the texture it draws into. */
static int bind_inputs(const ts_context *context, const gl_pass *pass, pass_parameters *p) {
  gl_backend *gl = gl_of(context);
  const int one = !context->caps.is_hardware && has_one_slot_texture(pass);
  int feedback = 0;
  for (int i = 0; i < 4 && pass->inputs[i]; i++) {
    const gl_vector *v = gl_vector_of(pass->inputs[i]);
    gl_bind(gl, GL_UNIT_INPUT + i, v->texture->name);
    feedback |= v->texture == pass->target;
    p->inputs[i][0] = v->x;
    p->inputs[i][1] = v->y;
  }
  p->coefficients[0][3] = 2 * pass->coefficient_count << 2;
  for (int i = 0; i < pass->coefficient_count; i++) {
    const ts_coefficient *c = &pass->coefficients[i];
    const ts_slot slots[2] = {c->numerator, c->denominator};
    const float scale = (float)c->scale;
    memcpy(&p->coefficients[i][0], &scale, sizeof scale);
    for (int k = 0; k < 2; k++) {
      p->coefficients[i][1 + k] = slot_texel(slots[k]);
      if (!slots[k].scalars) continue;
      const gl_texture *texture = gl_scalars_of(slots[k].scalars)->texture;
      p->coefficients[i][3] |= gl_scalars_of(slots[k].scalars)->blocks << k;
      gl_bind(gl, one ? GL_UNIT_SLOT : GL_UNIT_SLOT + 2 * i + k, texture->name);
      feedback |= texture == pass->target;
    }
  }
  return feedback;
}

static void prepare(ts_context *context, const gl_pass *pass) {
  gl_backend *gl = gl_of(context);
  pass_parameters p = {0};
  gl_bind_framebuffer(gl, pass->target->framebuffer);
  const int feedback = bind_inputs(context, pass, &p);
  /* Also where the pass only writes: the one before may still be reading what this one overwrites. */
  if ((feedback || pass->target->read_in_place) && gl->texture_barrier && !pass->independent) {
    gl->texture_barrier();
    pass->target->read_in_place = 0;
  }
  if (feedback) pass->target->read_in_place = 1;
  if (gl->exact_zero) gl_bind(gl, GL_UNIT_EXACT, gl->exact_zero);
  if (gl->bound_program != pass->program->name) {
    glUseProgram(pass->program->name);
    gl->bound_program = pass->program->name;
  }
  p.target[0] = pass->x;
  p.target[1] = pass->y;
  p.target[2] = pass->width;
  p.target[3] = pass->height;
  memcpy(p.own, pass->parameters, sizeof p.own);
  glUniform4iv(pass->program->parameters, sizeof p / (4 * sizeof(GLint)), (const GLint *)&p);
  glViewport(pass->x, pass->y, pass->width, pass->height);
}

ts_status gl_draw(ts_context *context, const gl_pass *pass) {
  prepare(context, pass);
  const gl_matrix *m = pass->rectangles;
  if (!m) {
    glDrawArrays(GL_TRIANGLES, 0, 3);
    return TS_OK;
  }
  glBindVertexArray(m->vao);
  if (m->as_points)
    glDrawArrays(GL_POINTS, 0, m->rectangle_count);
  else
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, m->rectangle_count);
  glBindVertexArray(gl_of(context)->empty_vao);
  return TS_OK;
}

/* ---- Drawing over a vector ---- */

static int reads(const gl_pass *pass, const gl_texture *texture) {
  for (int i = 0; i < 4 && pass->inputs[i]; i++)
    if (gl_vector_of(pass->inputs[i])->texture == texture) return 1;
  return 0;
}

/* Others know it too. */
static int texture_stays(const gl_texture *texture) {
  return texture->application_owned || texture->references > 1;
}

static void set_region(gl_pass *pass, const tsi_tiling *t, gl_texture *target, int x, int y) {
  pass->target = target;
  pass->x = x;
  pass->y = y;
  pass->width = t->width;
  pass->height = t->height;
}

/* A texture for what is drawn over `out`, kept for the next time: like the vector's own, or as large as the
 * vector where the texture has to stay. */
static ts_status get_spare(const ts_vector *out, int which, gl_texture **spare) {
  ts_context *context = out->context;
  const gl_texture *like = gl_vector_of(out)->texture;
  const int stays = texture_stays(like);
  const int width = stays ? out->space->tiling.width : like->width;
  const int height = stays ? out->space->tiling.height : like->height;
  gl_texture **kept = &gl_of(context)->spare[which];
  if (*kept && ((*kept)->format != like->format || (*kept)->width != width || (*kept)->height != height)) {
    gl_texture_release(context, *kept);
    *kept = NULL;
  }
  if (!*kept) TSI_TRY(gl_texture_create(context, like->format, width, height, "an in-place update", kept));
  *spare = *kept;
  return TS_OK;
}

/* A spare texture's contents become those of a vector. */
static void take_spare(ts_vector *out, int which) {
  gl_backend *gl = gl_of(out->context);
  gl_vector *v = gl_vector_of(out);
  gl_texture *spare = gl->spare[which];
  if (texture_stays(v->texture)) {
    const tsi_tiling *t = &out->space->tiling;
    gl_bind_framebuffer(gl, spare->framebuffer);
    gl_bind(gl, 0, v->texture->name);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, v->x, v->y, 0, 0, t->width, t->height);
  } else {
    gl->spare[which] = v->texture;
    v->texture = spare;
  }
}

static ts_status draw_spare(ts_vector *out, gl_pass *pass, int which) {
  const gl_vector *v = gl_vector_of(out);
  const int stays = texture_stays(v->texture);
  gl_texture *spare;
  TSI_TRY(get_spare(out, which, &spare));
  set_region(pass, &out->space->tiling, spare, stays ? 0 : v->x, stays ? 0 : v->y);
  return gl_draw(out->context, pass);
}

ts_status gl_draw_vector(ts_vector *out, gl_pass *pass) {
  ts_context *context = out->context;
  const gl_vector *v = gl_vector_of(out);
  if (context->caps.texture_barrier || !reads(pass, v->texture)) {
    set_region(pass, &out->space->tiling, v->texture, v->x, v->y);
    return gl_draw(context, pass);
  }
  TSI_TRY(draw_spare(out, pass, 0));
  take_spare(out, 0);
  return TS_OK;
}

ts_status gl_draw_beside(ts_vector *out, gl_pass *pass, int which) {
  return draw_spare(out, pass, 1 + which);
}

void gl_take_beside(ts_vector *out, int which) {
  take_spare(out, 1 + which);
}
