/* The passes of a sparse complementarity problem.
 *
 *   load      z of places from the vector
 *   renew     with factors, step by step: v = M_0^-1 H^T z
 *   sweep     step by step: solve    u_c = q_c + sum of M_ck z_k, or q_c + H_c v; the new z_c by its law
 *                           velocity with factors, v += G_c^T dz
 *   store     the vector from z of places
 *
 * A pass reads texels other than those it draws, or the texel at the same position, but in the same texture.
 * Without a texture barrier it draws into a separate texture, which is then copied. v accumulates rounding
 * errors, so it is recomputed periodically. */
#include <stdio.h>

#include "gl/core/gl_shader.h"
#include "gl_lcp_sparse.h"

enum { renewal = 16 /* sweeps before v is recomputed */ };

/* ---- Passes ---- */

/* A pass of a problem in single precision computes in pairs if the pass requests it. */
static ts_status gl_lcp_sparse_sweep_prepare(const ts_lcp *lcp, const gl_lcp_order *o, const char *fragment,
                                             const char *define, gl_pass *pass) {
  gl_backend *gl = gl_of(lcp->context);
  char pair[GL_PAIR_DEFINES] = "", defines[GL_PAIR_DEFINES + 128];
  pass->parts = gl_lcp_of(lcp)->parts;
  if (pass->parts > 1 || pass->pairs) gl_pass_pairs(pass, pair);
  snprintf(defines, sizeof defines, "%s#define COMPONENTS %d\n#define DIMENSION %d\n#define TEXELS %d\n%s%s%s",
           pair, pass->pairs ? 4 : 1, lcp->dimension, o->texels, o->v[0] ? "#define FACTORS\n" : "",
           pass->parts == 1 ? "#define SINGLE_ENTRIES\n" : "", define);
  TSI_TRY(gl_program_get(lcp->context, "core/fullscreen.vert", fragment, defines, &pass->program));
  gl_lcp_bind(gl, GL_UNIT_MATRIX, GL_UNIT_SLOT, o->blocks);
  gl_lcp_bind(gl, GL_UNIT_MATRIX + 1, GL_UNIT_SLOT + 1, o->diagonal);
  gl_bind(gl, GL_UNIT_MATRIX + 2, o->pointers->name);
  gl_bind(gl, GL_UNIT_MATRIX + 3, o->contacts->name);
  gl_bind(gl, GL_UNIT_MATRIX + 4, o->places->name);
  gl_tiling_parameters(&lcp->space->tiling, pass->parameters);
  pass->parameters[6] = o->log2_width;
  return TS_OK;
}

/* Draws a step's rectangle of `targets`, with `texels` texels per position. If `beside` is given, draws there
 * and copies. */
static ts_status draw(const ts_lcp *lcp, gl_texture *const targets[GL_LCP_PARTS],
                      gl_texture *const beside[GL_LCP_PARTS], gl_lcp_rectangle r, int texels, gl_pass *pass) {
  gl_backend *gl = gl_of(lcp->context);
  const int is_beside = beside[0] != NULL, x = texels * r.x;
  gl_texture *const *drawn = is_beside ? beside : targets;
  pass->target = drawn[0];
  if (targets[1]) pass->more_targets[0] = drawn[1];
  pass->x = is_beside ? 0 : x;
  pass->y = is_beside ? 0 : r.y;
  pass->width = texels * r.width;
  pass->height = r.height;
  pass->parameters[8] = x - pass->x;
  pass->parameters[9] = r.y - pass->y;
  TSI_TRY(gl_draw(lcp->context, pass));
  for (int part = 0; part < GL_LCP_PARTS && beside[part] && targets[part]; part++) {
    gl_bind_framebuffer(gl, beside[part]->framebuffer);
    gl_bind(gl, 0, targets[part]->name);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, x, r.y, 0, 0, pass->width, pass->height);
  }
  return TS_OK;
}

static ts_status load(const ts_lcp *lcp, const gl_lcp_order *o, const ts_vector *z) {
  gl_texture *const none[GL_LCP_PARTS] = {0};
  gl_pass pass = {.inputs = {z}};
  TSI_TRY(gl_lcp_sparse_sweep_prepare(lcp, o, "lcp/lcp_sparse_load.frag", "", &pass));
  return draw(lcp, o->z[0], none, (gl_lcp_rectangle){0, 0, o->width, o->height}, 1, &pass);
}

static ts_status store(ts_vector *out, const ts_lcp *lcp, const gl_lcp_order *o, int current) {
  gl_lcp_view z;
  gl_pass pass = {.inputs = {gl_lcp_look(&z, lcp, o->z[current])}};
  TSI_TRY(gl_lcp_sparse_sweep_prepare(lcp, o, "lcp/lcp_sparse_store.frag", "", &pass));
  return gl_draw_vector(out, &pass);
}

/* ---- Sweeps ---- */

/* Draws into z[next]. */
static ts_status gl_lcp_sparse_sweep_solve(const ts_lcp *lcp, const gl_lcp_order *o, const ts_vector *q,
                                           int step, int current, int next) {
  gl_texture *const none[GL_LCP_PARTS] = {0};
  gl_lcp_view inputs[2];
  gl_pass pass = {.inputs = {q, gl_lcp_look(&inputs[0], lcp, o->v[0] ? o->v : o->z[current]),
                             gl_lcp_look(&inputs[1], lcp, o->z[current])}};
  const int is_exact = lcp->dimension > 1 && lcp->local != TS_LCP_LOCAL_PROJECTION;
  TSI_TRY(gl_lcp_sparse_sweep_prepare(lcp, o, "lcp/lcp_sparse_solve.frag",
                                      is_exact ? "#define EXACT_LOCAL\n" : "", &pass));
  return draw(lcp, o->z[next], o->v[0] ? none : o->step, o->steps[step].contacts, 1, &pass);
}

/* Adds the effect of z[next] - z[current]. If these are the same texture, adds the effect of all of z. */
static ts_status add_velocity(const ts_lcp *lcp, const gl_lcp_order *o, gl_texture *const v[GL_LCP_PARTS],
                              int step, int current, int next) {
  gl_lcp_view inputs[3];
  gl_pass pass = {.inputs = {gl_lcp_look(&inputs[0], lcp, o->z[next]),
                             gl_lcp_look(&inputs[1], lcp, o->z[current]), gl_lcp_look(&inputs[2], lcp, v)},
                  .pairs = v[1] != NULL};
  TSI_TRY(gl_lcp_sparse_sweep_prepare(lcp, o, "lcp/lcp_sparse_velocity.frag", "", &pass));
  gl_lcp_bind(gl_of(lcp->context), GL_UNIT_MATRIX, GL_UNIT_SLOT, o->mass_blocks);
  gl_bind(gl_of(lcp->context), GL_UNIT_MATRIX + 3, o->incidences->name);
  pass.parameters[7] = current == next;
  return draw(lcp, v, o->step, o->steps[step].incidences, o->texels, &pass);
}

static ts_status renew(const ts_lcp *lcp, const gl_lcp_order *o, gl_texture *const v[GL_LCP_PARTS],
                       int current) {
  for (int step = 0; v[0] && step < o->count; step++) TSI_TRY(add_velocity(lcp, o, v, step, current, current));
  return TS_OK;
}

static ts_status sweep(const ts_lcp *lcp, const gl_lcp_order *o, const ts_vector *q, int *current) {
  const int next = o->v[0] ? !*current : *current;
  for (int step = 0; step < o->count; step++) {
    TSI_TRY(gl_lcp_sparse_sweep_solve(lcp, o, q, step, *current, next));
    if (o->v[0]) TSI_TRY(add_velocity(lcp, o, o->v, step, *current, next));
  }
  *current = next;
  return TS_OK;
}

ts_status gl_lcp_sweep_sparse(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme,
                              int sweeps) {
  gl_lcp_order *o;
  int current = 0;
  TSI_TRY(gl_lcp_order_of(lcp, scheme, &o));
  TSI_TRY(load(lcp, o, z));
  for (int k = 0; k < sweeps; k++) {
    if (k % renewal == 0) TSI_TRY(renew(lcp, o, o->v, current));
    TSI_TRY(sweep(lcp, o, q, &current));
  }
  TSI_TRY(store(z, lcp, o, current));
  return gl_check(lcp->context, "sweeps of a sparse complementarity problem");
}

ts_status gl_lcp_residual_sparse(ts_vector *map, const ts_lcp *lcp, const ts_vector *q, const ts_vector *z,
                                 int exact) {
  gl_lcp_order *o;
  TSI_TRY(gl_lcp_order_of(lcp, TS_LCP_SCHEME_COLOUR, &o));
  TSI_TRY(load(lcp, o, z));
  gl_texture *const *v = gl_lcp_is_exact(lcp, exact) && o->exact_v[0] ? o->exact_v : o->v;
  TSI_TRY(renew(lcp, o, v, 0));
  gl_lcp_view inputs[2];
  gl_pass pass = {
      .inputs = {q, gl_lcp_look(&inputs[0], lcp, v[0] ? v : o->z[0]), gl_lcp_look(&inputs[1], lcp, o->z[0])},
      .pairs = gl_lcp_is_exact(lcp, exact)};
  TSI_TRY(gl_lcp_sparse_sweep_prepare(lcp, o, "lcp/lcp_sparse_residual.frag", gl_lcp_map_define(lcp, exact),
                                      &pass));
  return gl_draw_vector(map, &pass);
}
