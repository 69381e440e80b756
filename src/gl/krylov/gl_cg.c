/* The vector updates of an iteration of single-reduction conjugate gradients. */
#include <stdio.h>
#include <string.h>

#include "common/krylov/cg_operations.h"
#include "gl/core/gl.h"
#include "gl/core/gl_shader.h"

TSI_CG_OPERATIONS(TSI_PROTOTYPE, TSI_OMIT, gl_cg_)

/* Three independent draws: each writes one vector and reads none that another draw writes. */
ts_status gl_cg_update(const tsi_cg_update *u) {
  ts_context *context = u->e->context;
  const ts_slot delta = {u->slots, u->delta}, dq = {u->slots, u->dq}, qmq = {u->slots, u->qmq};
  const struct {
    ts_vector *out;
    const ts_vector *inputs[4];
    int is_direction, sign;
  } updates[3] = {{u->e, {u->e, u->d, NULL, NULL}, 0, 1},
                  {u->r_new, {u->r, u->q, NULL, NULL}, 0, -1},
                  {u->d_new, {u->r, u->q, u->d, u->m}, 1, -1}};
  gl_pass pass = {.coefficient_count = 2, .coefficients = {ts_quotient(1, delta, dq), ts_quotient(1, qmq, dq)}};
  char defines[160];
  snprintf(defines, sizeof defines, "%s#define ONE_REDUCTION\n#define COMPONENTS %d\n%s%s",
           gl_slots_define(context, &pass), tsi_channels(u->e), u->m ? "#define SCALED\n" : "",
           gl_channels_define(u->e));
  TSI_TRY(gl_program_get(context, "core/fullscreen.vert", "krylov/cg_update.frag", defines, &pass.program));
  for (int k = 0; k < 3; k++) {
    memcpy(pass.inputs, updates[k].inputs, sizeof pass.inputs);
    pass.parameters[0] = updates[k].is_direction;
    pass.parameters[1] = updates[k].sign;
    pass.independent = k > 0;
    TSI_TRY(gl_draw_vector(updates[k].out, &pass));
  }
  return TS_OK;
}

const tsi_cg_ops gl_cg_ops = {TSI_CG_OPERATIONS(TSI_ENTRY, TSI_OMIT, gl_cg_)};
