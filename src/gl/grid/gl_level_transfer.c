/* Transfers between two levels: restriction P = S^T / 4 and interpolation S. */
#include <stdio.h>

#include "gl_grid.h"

/* Up to this number of points, restriction and residual are one pass instead of two. It then computes 9
 * residuals per coarse point instead of 4. A pass costs 2 to 3 microseconds on a GPU. On llvmpipe it costs 75
 * microseconds, as long as about 100,000 fetches. The 5 extra residuals are about 60 fetches per coarse
 * point. */
enum { fused_points = 65 * 65 };

void gl_level_bind_weights(const tsi_level *fine, int first) {
  const gl_level *l = gl_level_of(fine);
  for (int k = 0; k < 2; k++)
    if (l->weights[first + k]) gl_bind(gl_of(fine->context), GL_UNIT_WEIGHTS + k, l->weights[first + k]->name);
}

/* With the two inputs b and x, the pass computes the residual of its rows as well. */
static ts_status restrict_field(tsi_level *coarse, const tsi_level *fine, const char *kind, gl_pass *pass) {
  const int bilinear = fine->interpolation == TS_INTERPOLATION_BILINEAR;
  char more[64];
  snprintf(more, sizeof more, "%s%s", kind, bilinear ? "#define BILINEAR\n" : "");
  if (pass->inputs[1])
    TSI_TRY(gl_level_pass_of_rows(fine, coarse, "grid/level_restrict.frag", more, pass));
  else
    TSI_TRY(gl_level_pass(fine, coarse, "grid/level_restrict.frag", more, pass));
  if (!bilinear) gl_level_bind_weights(fine, GL_POINT_SIDES);
  gl_bind(gl_of(fine->context), GL_UNIT_COARSE, gl_level_centre(coarse)->name);
  return gl_level_draw(coarse, &gl_level_of(coarse)->fields[GL_FIELD_B], pass);
}

/* `zero`: bits of the parities with residual 0, which were not computed. */
static ts_status restrict_packed(tsi_level *coarse, const tsi_level *fine, int zero, gl_pass *pass) {
  const int bilinear = fine->interpolation == TS_INTERPOLATION_BILINEAR;
  char more[64];
  snprintf(more, sizeof more, "#define ZERO %d\n%s", zero, bilinear ? "#define BILINEAR\n" : "");
  for (int parity = 0; parity < 4; parity++) {
    int part[4];
    if (!gl_level_parity_part(coarse, parity, part)) continue;
    TSI_TRY(gl_level_pass(fine, coarse, "grid/level_restrict_packed.frag", more, pass));
    if (!bilinear) gl_level_bind_weights(fine, GL_POINT_SIDES);
    gl_bind(gl_of(fine->context), GL_UNIT_COARSE, gl_level_centre(coarse)->name);
    pass->parameters[8] = parity & 1;
    pass->parameters[9] = parity >> 1;
    TSI_TRY(gl_level_draw_part(coarse, &gl_level_of(coarse)->fields[GL_FIELD_B], part, pass));
  }
  return TS_OK;
}

ts_status gl_level_restrict_residual(tsi_level *coarse, tsi_level *fine) {
  const gl_level *l = gl_level_of(fine);
  const int64_t points = (int64_t)fine->grid.width * fine->grid.height;
  if (!gl_level_has_four(fine) && points <= fused_points) {
    gl_pass pass = {.inputs = {&l->fields[GL_FIELD_B].vector, &l->fields[l->x].vector}};
    gl_level_bind(fine);
    return restrict_field(coarse, fine, "#define ROWS\n", &pass);
  }
  const int zero = l->zero_parities;
  int residual;
  TSI_TRY(gl_level_residual(fine, &residual));
  gl_pass pass = {.inputs = {&l->fields[residual].vector}};
  if (l->packed) return restrict_packed(coarse, fine, zero, &pass);
  return restrict_field(coarse, fine, "", &pass);
}

ts_status gl_level_restrict(tsi_level *coarse, tsi_level *fine) {
  gl_pass pass = {.inputs = {&gl_level_of(fine)->fields[GL_FIELD_B].vector}};
  gl_bind(gl_of(fine->context), GL_UNIT_STENCIL, gl_level_centre(fine)->name);
  return restrict_field(coarse, fine, "#define MASKED\n", &pass);
}

ts_status gl_level_inject(tsi_level *coarse, tsi_level *fine) {
  gl_level *l = gl_level_of(coarse);
  TSI_TRY(gl_level_gather(fine));
  gl_level_forget_parts(coarse);
  gl_pass pass = {.inputs = {&gl_level_x(fine)->vector}};
  TSI_TRY(gl_level_pass(fine, coarse, "grid/level_inject.frag", "", &pass));
  gl_bind(gl_of(coarse->context), GL_UNIT_COARSE, gl_level_centre(coarse)->name);
  l->border_is_stale = 1;
  return gl_level_draw(coarse, gl_level_x(coarse), &pass);
}

/* The parity of a point determines which texels and weights it needs. */
static ts_status prolong_packed(const tsi_level *fine, const tsi_level *coarse, gl_field *target,
                                const char *kind, gl_pass *pass) {
  for (int parity = 0; parity < 4; parity++) {
    int part[4];
    if (!gl_level_parity_part(fine, parity, part)) continue;
    TSI_TRY(gl_level_pass(fine, coarse, "grid/level_prolong_packed.frag", kind, pass));
    pass->parameters[8] = parity & 1;
    pass->parameters[9] = parity >> 1;
    pass->inputs[0] = &gl_level_x_of(fine, parity)->vector;
    TSI_TRY(gl_level_draw_part(fine, target, part, pass));
    pass->independent = 1;
  }
  return TS_OK;
}

ts_status gl_level_prolong(tsi_level *fine, tsi_level *coarse, int add) {
  gl_level *l = gl_level_of(fine);
  const int bilinear = fine->interpolation == TS_INTERPOLATION_BILINEAR;
  TSI_TRY(gl_level_gather(coarse));
  gl_field *x = gl_level_x(fine), *target = x;
  int next = l->x;
  /* Of x, only the texel at the same position is read. */
  if (!fine->context->caps.texture_barrier) {
    TSI_TRY(gl_level_next(fine, 0, &next));
    target = &l->fields[next];
  }
  gl_pass pass = {.inputs = {&x->vector, &gl_level_x(coarse)->vector}};
  char more[64];
  snprintf(more, sizeof more, "%s%s", add ? "#define ADD\n" : "", bilinear ? "#define BILINEAR\n" : "");
  if (!bilinear) gl_level_bind_weights(fine, GL_CELL_SIDES);
  gl_bind(gl_of(fine->context), GL_UNIT_STENCIL, gl_level_centre(fine)->name);
  if (gl_level_of(fine)->packed) {
    TSI_TRY(prolong_packed(fine, coarse, target, more, &pass));
  } else {
    TSI_TRY(gl_level_pass(fine, coarse, "grid/level_prolong.frag", more, &pass));
    TSI_TRY(gl_level_draw(fine, target, &pass));
  }
  if (target != x) gl_level_advance(fine, next);
  gl_level_forget_parts(fine);
  l->border_is_stale = 1;
  return TS_OK;
}
