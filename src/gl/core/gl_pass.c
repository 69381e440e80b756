/* Draws a pass: binds the target, makes earlier writes visible, sets all parameters in one call and draws. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gl.h"
#include "gl_shader.h"

void gl_bind(gl_backend *gl, int unit, GLuint texture) {
  if (gl->bound_texture[unit] == texture) return;
  glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
  gl_state_use_unit(gl, unit);
  glBindTexture(GL_TEXTURE_2D, texture);
  gl->bound_texture[unit] = texture;
  glActiveTexture(GL_TEXTURE0);
}

void gl_bind_framebuffer(gl_backend *gl, GLuint framebuffer) {
  if (gl->bound_framebuffer == framebuffer) return;
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  gl->bound_framebuffer = framebuffer;
}

/* The layout of p in shaders/include/parameters.glsl. Only passes over pairs have the members after `own`. */
typedef struct pass_parameters {
  GLint target[4];          /* x, y, width, height */
  GLint inputs[4][2];       /* x, y */
  GLint coefficients[2][4]; /* bits of the scale; texel of numerator and denominator, or -1; which are blocks */
  GLint own[12];
  GLint low_inputs[4][2];
  GLint low_scales[2];
  GLint low_slots, unused; /* bits of the slots that have a second part */
} pass_parameters;

enum { integers_a_row = 4, pair_rows = sizeof(pass_parameters) / (integers_a_row * sizeof(GLint)), rows = 8 };

/* The units of the slots' second parts. They are units of matrices, except that of the channels, because passes
 * over matrices have no slots. */
static const int low_slot_units[4] = {GL_UNIT_MATRIX, GL_UNIT_MATRIX + 1, GL_UNIT_MATRIX + 2,
                                      GL_UNIT_MATRIX + 4};

static GLint slot_texel(ts_slot slot) {
  if (!slot.scalars) return -1;
  int x, y;
  gl_slot_place(gl_scalars_of(slot.scalars), slot.index, &x, &y);
  return (GLint)((unsigned)x | (unsigned)y << 16);
}

/* Whether a pass has slots and all of them are in one texture. */
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

static int is_target(const gl_pass *pass, const gl_texture *texture) {
  int found = pass->target == texture;
  for (int k = 0; k < GL_TARGETS - 1; k++) found |= pass->more_targets[k] == texture;
  return found;
}

/* Binds an input or its second part. Returns whether the pass draws into its texture. */
static int bind_input(const ts_context *context, const gl_pass *pass, int unit, const ts_vector *input,
                      GLint place[2]) {
  const gl_vector *v = gl_vector_of(input);
  gl_bind(gl_of(context), unit, v->texture->name);
  place[0] = v->x;
  place[1] = v->y;
  return is_target(pass, v->texture);
}

/* Binds numerators and denominators, k of them before this one. */
static int bind_slot(const ts_context *context, const gl_pass *pass, int one, int k,
                     const ts_scalars *scalars) {
  const gl_texture *texture = gl_scalars_of(scalars)->texture;
  gl_bind(gl_of(context), one ? GL_UNIT_SLOT : GL_UNIT_SLOT + k, texture->name);
  int feedback = is_target(pass, texture);
  if (pass->pairs) { /* for a missing part, the shader fetches another texel and ignores it */
    const gl_texture *low = scalars->low ? gl_scalars_of(scalars->low)->texture : texture;
    gl_bind(gl_of(context), low_slot_units[one ? 0 : k], low->name);
    feedback |= is_target(pass, low);
  }
  return feedback;
}

/* WebGL refuses to draw if any sampler of the program has a texture of another type, or the target, even if the
 * shader does not read it. The texture of earlier passes is replaced for inputs and slots that this pass lacks.
 */
static void bind_nothing(gl_backend *gl, const gl_pass *pass, int unit) {
  if (!TSI_WEBGL || !(pass->program->units >> unit & 1)) return;
  if (gl->nothing) {
    gl_bind(gl, unit, gl->nothing);
    return;
  }
  glGenTextures(1, &gl->nothing);
  gl_bind(gl, unit, gl->nothing);
  glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, 1, 1, 0, GL_RGBA, GL_FLOAT, NULL);
  glActiveTexture(GL_TEXTURE0);
}

static void bind_no_slot(gl_backend *gl, const gl_pass *pass, int one, int k) {
  if (one) return;
  bind_nothing(gl, pass, GL_UNIT_SLOT + k);
  if (pass->pairs) bind_nothing(gl, pass, low_slot_units[k]);
}

/* Binds everything the pass reads. Returns whether that includes a texture it draws into. */
static int bind_inputs(const ts_context *context, const gl_pass *pass, pass_parameters *p) {
  gl_backend *gl = gl_of(context);
  const int one = !context->caps.is_hardware && has_one_slot_texture(pass);
  int feedback = 0;
  for (int i = 0; i < 4; i++) {
    const ts_vector *v = pass->inputs[i];
    if (!v) {
      bind_nothing(gl, pass, GL_UNIT_INPUT + i);
      continue;
    }
    feedback |= bind_input(context, pass, GL_UNIT_INPUT + i, v, p->inputs[i]);
    if (pass->pairs && v->low) feedback |= bind_input(context, pass, GL_UNIT_LOW + i, v->low, p->low_inputs[i]);
  }
  p->coefficients[0][3] = 2 * pass->coefficient_count << 2;
  for (int i = 0; i < pass->coefficient_count; i++) {
    const ts_coefficient *c = &pass->coefficients[i];
    const ts_slot slots[2] = {c->numerator, c->denominator};
    const float scale = (float)c->scale, low_scale = isfinite(scale) ? (float)(c->scale - (double)scale) : 0;
    memcpy(&p->coefficients[i][0], &scale, sizeof scale);
    memcpy(&p->low_scales[i], &low_scale, sizeof low_scale);
    for (int k = 0; k < 2; k++) {
      p->coefficients[i][1 + k] = slot_texel(slots[k]);
      if (!slots[k].scalars) bind_no_slot(gl, pass, one, 2 * i + k);
      if (!slots[k].scalars) continue;
      p->coefficients[i][3] |= gl_scalars_of(slots[k].scalars)->blocks << k;
      if (slots[k].scalars->low) p->low_slots |= 1 << (2 * i + k);
      feedback |= bind_slot(context, pass, one, 2 * i + k, slots[k].scalars);
    }
  }
  return feedback;
}

static int was_read_in_place(const gl_pass *pass) {
  int was = pass->target->read_in_place;
  for (int k = 0; k < GL_TARGETS - 1; k++) was |= pass->more_targets[k] && pass->more_targets[k]->read_in_place;
  return was;
}

static void set_read_in_place(const gl_pass *pass, int value) {
  pass->target->read_in_place = value;
  for (int k = 0; k < GL_TARGETS - 1; k++)
    if (pass->more_targets[k]) pass->more_targets[k]->read_in_place = value;
}

static ts_status gl_pass_prepare(ts_context *context, const gl_pass *pass) {
  gl_backend *gl = gl_of(context);
  pass_parameters p = {0};
  gl_texture *const targets[GL_TARGETS] = {pass->target, pass->more_targets[0], pass->more_targets[1]};
  GLuint framebuffer;
  TSI_TRY(gl_texture_framebuffer(context, targets, &framebuffer));
  gl_bind_framebuffer(gl, framebuffer);
  const int feedback = bind_inputs(context, pass, &p);
  /* Write-only passes need a barrier too: the previous pass may still be reading what this one overwrites. */
  if ((feedback || was_read_in_place(pass)) && gl->texture_barrier && !pass->independent) {
    gl->texture_barrier();
    set_read_in_place(pass, 0);
  }
  if (feedback) set_read_in_place(pass, 1);
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
  glUniform4iv(pass->program->parameters, pass->pairs ? pair_rows : rows, (const GLint *)&p);
  gl_viewport(gl, pass->x + pass->skipped, pass->y, pass->width, pass->height);
  return TS_OK;
}

static void draw(const ts_context *context, const gl_pass *pass) {
  const gl_matrix *m = pass->rectangles;
  if (!m) {
    glDrawArrays(GL_TRIANGLES, 0, 3);
    return;
  }
  glBindVertexArray(m->vao);
  if (m->as_points)
    glDrawArrays(GL_POINTS, 0, m->rectangle_count);
  else
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, m->rectangle_count);
  glBindVertexArray(gl_of(context)->empty_vao);
}

ts_status gl_draw(ts_context *context, const gl_pass *pass) {
  TSI_TRY(gl_state_draw(context));
  if (!pass->program->is_finished) TSI_TRY(gl_program_finish(context, pass->program));
  TSI_TRY(gl_pass_prepare(context, pass));
  if (pass->program->is_drawn) {
    draw(context, pass);
  } else {
    const double start = tsi_seconds();
    draw(context, pass);
    gl_program_drawn(context, pass->program, tsi_seconds() - start);
  }
  return TS_OK;
}

/* ---- Pairs ---- */

void gl_pass_pairs(gl_pass *pass, char *defines) {
  pass->pairs = 1;
  int length = snprintf(defines, GL_PAIR_DEFINES, "#define PAIR\n");
  for (int i = 0; i < 4 && pass->inputs[i]; i++)
    if (pass->inputs[i]->low)
      length += snprintf(defines + length, GL_PAIR_DEFINES - (size_t)length, "#define LOW%d\n", i);
}

/* ---- Drawing over a vector ---- */

static int reads(const gl_pass *pass, const gl_texture *texture) {
  for (int i = 0; i < 4 && pass->inputs[i]; i++) {
    const ts_vector *v = pass->inputs[i];
    if (gl_vector_of(v)->texture == texture) return 1;
    if (pass->pairs && v->low && gl_vector_of(v->low)->texture == texture) return 1;
  }
  return 0;
}

/* Other owners also refer to this texture. */
static int texture_stays(const gl_texture *texture) {
  return texture->application_owned || texture->references > 1;
}

static void set_region(gl_pass *pass, const tsi_tiling *t, gl_texture *const targets[GL_TARGETS], int x,
                       int y) {
  pass->target = targets[0];
  for (int k = 1; k < GL_TARGETS; k++) pass->more_targets[k - 1] = targets[k];
  pass->x = x;
  pass->y = y;
  pass->width = t->width;
  pass->height = t->height;
}

static int is_like(const gl_texture *t, GLenum format, int width, int height) {
  return t && t->format == format && t->width == width && t->height == height;
}

/* Puts `old` before the other spare textures, and takes the one that the caller needs from them, or NULL. Calls
 * that update vectors of several sizes in turn would otherwise create textures each time. Large ones are not
 * kept. */
static gl_texture *exchange_spare(ts_context *context, gl_texture *old, GLenum format, int width, int height) {
  enum { LARGEST = 1 << 20 }; /* texels */
  gl_texture **others = gl_of(context)->other_spares;
  int at = 0;
  while (at < GL_OTHER_SPARES && !is_like(others[at], format, width, height)) at++;
  gl_texture *found = at < GL_OTHER_SPARES ? others[at] : NULL;
  if (old && (int64_t)old->width * old->height > LARGEST) {
    gl_texture_release(context, old);
    old = NULL;
  }
  if (!old) {
    if (found) others[at] = NULL;
    return found;
  }
  if (!found) gl_texture_release(context, others[at = GL_OTHER_SPARES - 1]);
  for (int k = at; k > 0; k--) others[k] = others[k - 1];
  others[0] = old;
  return found;
}

/* A texture to draw a vector into, kept for later calls. */
static ts_status get_spare(ts_context *context, int which, GLenum format, int width, int height,
                           gl_texture **spare) {
  gl_texture **kept = &gl_of(context)->spare[which];
  if (!is_like(*kept, format, width, height)) *kept = exchange_spare(context, *kept, format, width, height);
  if (!*kept) TSI_TRY(gl_texture_create(context, format, width, height, "an in-place update", kept));
  *spare = *kept;
  return TS_OK;
}

/* The parts of a vector that a pass draws. */
typedef struct parts {
  int count;
  ts_vector *of[GL_TARGETS];
  int one_place; /* all parts have the same position */
  int are_read;
  int stay; /* one of the textures has to remain */
} parts;

static parts parts_of(ts_vector *out, const gl_pass *pass) {
  const gl_vector *first = gl_vector_of(out);
  parts p = {.count = pass->parts > 1 ? pass->parts : 1, .one_place = 1};
  for (int k = 0; k < p.count; k++, out = out->low) {
    const gl_vector *v = gl_vector_of(out);
    p.of[k] = out;
    p.one_place &= v->x == first->x && v->y == first->y;
    for (int other = 0; other < k; other++) p.one_place &= v->texture != gl_vector_of(p.of[other])->texture;
    p.are_read |= reads(pass, v->texture);
    p.stay |= texture_stays(v->texture);
  }
  p.stay |= !p.one_place;
  return p;
}

/* The spare textures have the size of the vector's textures, or the size of the vector if a texture must
 * remain. */
static ts_status draw_spare(const parts *p, gl_pass *pass) {
  ts_context *context = p->of[0]->context;
  const tsi_tiling *t = &p->of[0]->space->tiling;
  const gl_vector *v = gl_vector_of(p->of[0]);
  gl_texture *targets[GL_TARGETS] = {0};
  for (int k = 0; k < p->count; k++) {
    const gl_texture *like = gl_vector_of(p->of[k])->texture;
    TSI_TRY(get_spare(context, k, like->format, p->stay ? t->width : like->width,
                      p->stay ? t->height : like->height, &targets[k]));
  }
  set_region(pass, t, targets, p->stay ? 0 : v->x, p->stay ? 0 : v->y);
  return gl_draw(context, pass);
}

/* Moves the contents of the spare textures to the vector. */
static void move_spare(const parts *p) {
  gl_backend *gl = gl_of(p->of[0]->context);
  const tsi_tiling *t = &p->of[0]->space->tiling;
  for (int k = 0; k < p->count; k++) {
    gl_vector *v = gl_vector_of(p->of[k]);
    gl_texture *spare = gl->spare[k];
    if (p->stay) {
      gl_bind_framebuffer(gl, spare->framebuffer);
      gl_bind(gl, 0, v->texture->name);
      glCopyTexSubImage2D(GL_TEXTURE_2D, 0, v->x, v->y, 0, 0, t->width, t->height);
    } else {
      gl->spare[k] = v->texture;
      v->texture = spare;
    }
  }
}

ts_status gl_draw_vector(ts_vector *out, gl_pass *pass) {
  ts_context *context = out->context;
  const gl_vector *v = gl_vector_of(out);
  const parts p = parts_of(out, pass);
  if (p.one_place && (context->caps.texture_barrier || !p.are_read)) {
    gl_texture *targets[GL_TARGETS] = {0};
    for (int k = 0; k < p.count; k++) targets[k] = gl_vector_of(p.of[k])->texture;
    set_region(pass, &out->space->tiling, targets, v->x, v->y);
    return gl_draw(context, pass);
  }
  TSI_TRY(draw_spare(&p, pass));
  move_spare(&p);
  return TS_OK;
}
