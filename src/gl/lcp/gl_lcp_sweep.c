/* The passes of a dense complementarity problem. No pass reads what it draws into, but those of the scheme by
 * rows.
 *
 *   load     the quads of z from the vector
 *   start    the state, w = M z + q and z
 *   sweep    blocks: for each block its new z and how it changes, in pairs two passes, then all of the state;
 *            columns: for each unknown all of the state; rows: for each unknown its quad, without a state;
 *            with friction an unknown is a contact
 *   store    the vector from the quads, or from the state
 *
 * w takes up the rounding errors of what is added to it, so that it is computed again after some sweeps. */
#include <stdio.h>

#include "gl/core/gl_shader.h"
#include "gl_lcp_sparse.h"

enum {
  block_quads = 16, /* of 4 unknowns. Larger blocks have fewer passes, in which more is computed in sequence */
  kept_sweeps = 16  /* with one w */
};

/* ---- Passes ---- */

const ts_vector *gl_lcp_look(gl_lcp_view *v, const ts_lcp *lcp, gl_texture *const textures[GL_LCP_PARTS]) {
  v->places[0] = (gl_vector){textures[0], 0, 0};
  v->places[1] = (gl_vector){textures[1], 0, 0};
  v->low = (ts_vector){.context = lcp->context, .space = lcp->space, .components = 1, .impl = &v->places[1]};
  v->vector = v->low;
  v->vector.impl = &v->places[0];
  if (textures[1]) v->vector.low = &v->low;
  return &v->vector;
}

void gl_lcp_bind(gl_backend *gl, int unit, int low_unit, gl_texture *const textures[GL_LCP_PARTS]) {
  gl_bind(gl, unit, textures[0]->name);
  if (textures[1]) gl_bind(gl, low_unit, textures[1]->name);
}

/* `first` and `count` are p[7].y and z. */
static ts_status prepare(const ts_lcp *lcp, const char *fragment, const char *define, int first, int count,
                         gl_pass *pass) {
  gl_backend *gl = gl_of(lcp->context);
  const gl_lcp *impl = gl_lcp_of(lcp);
  char pair[GL_PAIR_DEFINES] = "", defines[GL_PAIR_DEFINES + 112];
  pass->parts = impl->parts;
  if (impl->parts > 1) gl_pass_pairs(pass, pair);
  snprintf(defines, sizeof defines,
           "%s#define COMPONENTS %d\n#define QUADS_OF_BLOCK %d\n#define DIMENSION %d\n%s", pair,
           impl->parts > 1 ? 4 : 1, block_quads, lcp->dimension, define);
  TSI_TRY(gl_program_get(lcp->context, "core/fullscreen.vert", fragment, defines, &pass->program));
  gl_lcp_bind(gl, GL_UNIT_MATRIX, GL_UNIT_SLOT, impl->matrix);
  gl_lcp_bind(gl, GL_UNIT_MATRIX + 1, GL_UNIT_SLOT + 1, impl->lower);
  if (impl->upper[0]) gl_lcp_bind(gl, GL_UNIT_MATRIX + 2, GL_UNIT_SLOT + 2, impl->upper);
  gl_tiling_parameters(&lcp->space->tiling, pass->parameters);
  pass->parameters[6] = lcp->size;
  pass->parameters[7] = impl->abreast;
  pass->parameters[8] = impl->quads;
  pass->parameters[9] = first;
  pass->parameters[10] = count;
  return TS_OK;
}

/* The same of a pass that solves unknowns, or contacts by their law. */
static ts_status prepare_solve(const ts_lcp *lcp, const char *unknowns, const char *contacts, int first,
                               int count, gl_pass *pass) {
  if (lcp->dimension == 1) return prepare(lcp, unknowns, "", first, count, pass);
  const int is_exact = lcp->local != TS_LCP_LOCAL_PROJECTION;
  return prepare(lcp, contacts, is_exact ? "#define EXACT_LOCAL\n" : "", first, count, pass);
}

/* Columns x .. x + width - 1 of a texture, of all problems. */
static ts_status draw(const ts_lcp *lcp, gl_texture *const targets[GL_LCP_PARTS], int x, int width,
                      gl_pass *pass) {
  pass->target = targets[0];
  if (targets[1]) pass->more_targets[0] = targets[1];
  pass->x = x;
  pass->width = width;
  pass->height = lcp->batch;
  return gl_draw(lcp->context, pass);
}

static ts_status load(const ts_lcp *lcp, const ts_vector *z) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  gl_pass pass = {.inputs = {z}};
  TSI_TRY(prepare(lcp, "lcp/lcp_load.frag", "", 0, 0, &pass));
  return draw(lcp, impl->z, 0, impl->quads, &pass);
}

/* Into state 0. */
static ts_status start(const ts_lcp *lcp, const ts_vector *q) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  gl_lcp_view z;
  gl_pass pass = {.inputs = {q, gl_lcp_look(&z, lcp, impl->z)}};
  TSI_TRY(prepare(lcp, "lcp/lcp_start.frag", "", 0, 0, &pass));
  return draw(lcp, impl->states[0], 0, gl_lcp_rows(impl), &pass);
}

static ts_status store(ts_vector *out, const ts_lcp *lcp, gl_texture *const from[GL_LCP_PARTS],
                       const char *define) {
  gl_lcp_view input;
  gl_pass pass = {.inputs = {gl_lcp_look(&input, lcp, from)}};
  TSI_TRY(prepare(lcp, "lcp/lcp_store.frag", define, 0, 0, &pass));
  return gl_draw_vector(out, &pass);
}

/* ---- Blocks ---- */

static ts_status solve_block(const ts_lcp *lcp, gl_texture *const state[GL_LCP_PARTS], int first, int count) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  gl_lcp_view inputs[2];
  gl_pass pass = {.inputs = {gl_lcp_look(&inputs[0], lcp, state)}};
  if (impl->parts == 1) {
    pass.more_targets[0] = impl->change[0];
    TSI_TRY(prepare_solve(lcp, "lcp/lcp_block.frag", "lcp/lcp_contact_block.frag", first, count, &pass));
    return draw(lcp, impl->z, first, count, &pass);
  }
  TSI_TRY(prepare_solve(lcp, "lcp/lcp_block_pair.frag", "lcp/lcp_contact_block.frag", first, count, &pass));
  TSI_TRY(draw(lcp, impl->z, first, count, &pass));
  pass = (gl_pass){.inputs = {gl_lcp_look(&inputs[0], lcp, state), gl_lcp_look(&inputs[1], lcp, impl->z)}};
  TSI_TRY(prepare(lcp, "lcp/lcp_change.frag", "", first, count, &pass));
  return draw(lcp, impl->change, first, count, &pass);
}

/* Rows from `row` on. */
static ts_status add_block(const ts_lcp *lcp, int current, int first, int count, int row) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  gl_lcp_view inputs[3];
  gl_pass pass = {.inputs = {gl_lcp_look(&inputs[0], lcp, impl->states[current]),
                             gl_lcp_look(&inputs[1], lcp, impl->z),
                             gl_lcp_look(&inputs[2], lcp, impl->change)}};
  TSI_TRY(prepare(lcp, "lcp/lcp_update.frag", "", first, count, &pass));
  return draw(lcp, impl->states[!current], row, gl_lcp_rows(impl) - row, &pass);
}

/* In the last sweep rows above a block are not read again. */
static ts_status sweep_blocks(const ts_lcp *lcp, int is_last, int *current) {
  const int quads = gl_lcp_of(lcp)->quads;
  for (int first = 0; first < quads; first += block_quads) {
    const int end = first + block_quads < quads ? first + block_quads : quads;
    TSI_TRY(solve_block(lcp, gl_lcp_of(lcp)->states[*current], first, end - first));
    if (is_last && end == quads) return TS_OK;
    TSI_TRY(add_block(lcp, *current, first, end - first, is_last ? gl_lcp_of(lcp)->quad_rows * end : 0));
    *current = !*current;
  }
  return TS_OK;
}

/* ---- Columns ---- */

static ts_status sweep_columns(const ts_lcp *lcp, int *current) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  for (int i = 0; i < lcp->size / lcp->dimension; i++) {
    gl_lcp_view input;
    gl_pass pass = {.inputs = {gl_lcp_look(&input, lcp, impl->states[*current])}};
    TSI_TRY(prepare_solve(lcp, "lcp/lcp_column.frag", "lcp/lcp_contact_column.frag", i, 0, &pass));
    TSI_TRY(draw(lcp, impl->states[!*current], 0, gl_lcp_rows(impl), &pass));
    *current = !*current;
  }
  return TS_OK;
}

/* ---- Rows ---- */

/* With a texture barrier draws into z, which it reads; without, beside it, and copies. */
static ts_status sweep_rows(const ts_lcp *lcp, const ts_vector *q) {
  gl_backend *gl = gl_of(lcp->context);
  const gl_lcp *impl = gl_lcp_of(lcp);
  for (int i = 0; i < lcp->size / lcp->dimension; i++) {
    gl_lcp_view z;
    gl_pass pass = {.inputs = {q, gl_lcp_look(&z, lcp, impl->z)}};
    const int quad = i * lcp->dimension / impl->quad_rows;
    TSI_TRY(prepare_solve(lcp, "lcp/lcp_row.frag", "lcp/lcp_contact_row.frag", i, 0, &pass));
    TSI_TRY(draw(lcp, impl->row[0] ? impl->row : impl->z, impl->row[0] ? 0 : quad, 1, &pass));
    for (int part = 0; part < impl->parts && impl->row[part]; part++) {
      gl_bind_framebuffer(gl, impl->row[part]->framebuffer);
      gl_bind(gl, 0, impl->z[part]->name);
      glCopyTexSubImage2D(GL_TEXTURE_2D, 0, quad, 0, 0, 0, 1, lcp->batch);
    }
  }
  return TS_OK;
}

/* ---- Operations ---- */

/* So many sweeps with one w, from the quads of z; then the vector. */
static ts_status sweep_kept(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme,
                            int sweeps) {
  int current = 0;
  if (scheme != TS_LCP_SCHEME_ROW) TSI_TRY(start(lcp, q));
  for (int k = 0; k < sweeps; k++) {
    if (scheme == TS_LCP_SCHEME_ROW)
      TSI_TRY(sweep_rows(lcp, q));
    else if (scheme == TS_LCP_SCHEME_COLUMN)
      TSI_TRY(sweep_columns(lcp, &current));
    else
      TSI_TRY(sweep_blocks(lcp, k == sweeps - 1, &current));
  }
  const gl_lcp *impl = gl_lcp_of(lcp);
  const int has_state = scheme == TS_LCP_SCHEME_COLUMN;
  return store(z, lcp, has_state ? impl->states[current] : impl->z, has_state ? "#define STATE\n" : "");
}

ts_status gl_lcp_sweep(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps) {
  if (lcp->storage == TS_LCP_STORAGE_SPARSE) return gl_lcp_sweep_sparse(z, lcp, q, scheme, sweeps);
  for (int done = 0; done < sweeps; done += kept_sweeps) {
    TSI_TRY(load(lcp, z));
    TSI_TRY(sweep_kept(z, lcp, q, scheme, sweeps - done < kept_sweeps ? sweeps - done : kept_sweeps));
  }
  return gl_check(lcp->context, "sweeps of a complementarity problem");
}

ts_status gl_lcp_residual(ts_vector *map, const ts_lcp *lcp, const ts_vector *q, const ts_vector *z) {
  if (lcp->storage == TS_LCP_STORAGE_SPARSE) return gl_lcp_residual_sparse(map, lcp, q, z);
  TSI_TRY(load(lcp, z));
  gl_lcp_view input;
  gl_pass pass = {.inputs = {q, gl_lcp_look(&input, lcp, gl_lcp_of(lcp)->z)}};
  if (lcp->dimension > 1) { /* every row of a contact needs the velocities of all */
    TSI_TRY(start(lcp, q));
    pass = (gl_pass){.inputs = {gl_lcp_look(&input, lcp, gl_lcp_of(lcp)->states[0])}};
  }
  TSI_TRY(prepare(lcp, lcp->dimension > 1 ? "lcp/lcp_contact_residual.frag" : "lcp/lcp_residual.frag", "", 0, 0,
                  &pass));
  return gl_draw_vector(map, &pass);
}
