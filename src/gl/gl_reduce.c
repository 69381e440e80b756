/* Reductions: a pyramid as in Bolz et al. 2003, section 3.1.3, with blocks of up to 16 x 16 texels a pass
 * instead of 2 x 2. Texels that belong to no index hold 0, the identity of the sum; the maximum masks them. */
#include <stdio.h>
#include <string.h>

#include "gl.h"
#include "gl_shader.h"

enum { log2_max_block = 4 };

/* One pass: blocks of (1 << log2_x) x (1 << log2_y) texels of a source of width x height. */
typedef struct level {
  int log2_x, log2_y, width, height;
} level;

static int ceil_log2(int n) {
  int bits = 0;
  while ((1 << bits) < n) bits++;
  return bits;
}

/* Of `passes` passes that together reduce 2^bits texels, the first takes the smaller blocks: it has the most
 * fragments, the last ones have few, which run one fetch after the other. */
static int share(int bits, int passes) {
  return passes == 1 ? bits : bits / passes;
}

static int plan(const tsi_tiling *t, level *levels) {
  int width = t->width, height = t->height, count = 0;
  const int bits = ceil_log2(width > height ? width : height);
  for (int passes = bits ? (bits + log2_max_block - 1) / log2_max_block : 1; passes > 0; passes--) {
    level *l = &levels[count++];
    *l = (level){share(ceil_log2(width), passes), share(ceil_log2(height), passes), width, height};
    width = (width + (1 << l->log2_x) - 1) >> l->log2_x;
    height = (height + (1 << l->log2_y) - 1) >> l->log2_y;
  }
  return count;
}

void gl_reduce_scratch_size(const tsi_tiling *t, int *width, int *height) {
  level levels[8];
  const int count = plan(t, levels);
  *width = *height = 1;
  int x = 0;
  for (int k = 1; k < count; k++) {
    x += levels[k].width;
    if (levels[k].height > *height) *height = levels[k].height;
  }
  if (x > *width) *width = x;
}

static ts_status get_program(const ts_vector *v, const level *l, const char *term, int is_max, int first,
                             const char *finish, const gl_program **program) {
  char defines[160];
  const int exact = (l->width & ((1 << l->log2_x) - 1)) == 0 && (l->height & ((1 << l->log2_y) - 1)) == 0;
  snprintf(defines, sizeof defines,
           "#define COMPONENTS %d\n#define BLOCK ivec2(%d,%d)\n#define TERM_%s\n%s%s%s%s", v->components,
           1 << l->log2_x, 1 << l->log2_y, first ? term : "PARTIAL", is_max ? "#define MAXIMUM\n" : "",
           exact ? "#define EXACT\n" : "", first && !strcmp(term, "MASKED") ? "#define MASK\n" : "", finish);
  return gl_program_get(v->context, "fullscreen.vert", "reduce.frag", defines, program);
}

/* A backend's scratch texture of at least this size. */
static ts_status get_scratch(ts_context *context, int which, int width, int height, gl_texture **texture) {
  gl_texture **scratch = &gl_of(context)->scratch[which];
  if (*scratch && ((*scratch)->width < width || (*scratch)->height < height)) {
    gl_texture_release(context, *scratch);
    *scratch = NULL;
  }
  if (!*scratch) TSI_TRY(gl_texture_create(context, GL_RGBA32F, width, height, "partial sums", scratch));
  *texture = *scratch;
  return TS_OK;
}

static ts_status reduce(ts_scalars *out, int index, const char *term, int is_max, const char *finish,
                        const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  ts_context *context = x->context;
  const gl_scalars *slots = gl_scalars_of(out);
  level levels[8];
  const int count = plan(&x->space->tiling, levels);
  /* Partial sums as the input of the next pass. */
  gl_vector partial_region = {0};
  ts_vector partial = *x;
  partial.impl = &partial_region;
  gl_pass pass = {.inputs = {x, y, w}};
  int scratch_x = 0;
  for (int k = 0; k < count; k++) {
    const level *l = &levels[k];
    const int last = k == count - 1;
    TSI_TRY(get_program(x, l, term, is_max, k == 0, last ? finish : "", &pass.program));
    pass.width = (l->width + (1 << l->log2_x) - 1) >> l->log2_x;
    pass.height = (l->height + (1 << l->log2_y) - 1) >> l->log2_y;
    if (last) {
      pass.target = slots->texture;
      pass.x = slots->x + index % slots->per_row;
      pass.y = slots->y + index / slots->per_row;
    } else if (slots->texture->scratch_x >= 0) {
      pass.target = slots->texture;
      pass.x = slots->texture->scratch_x + scratch_x;
      pass.y = slots->texture->scratch_y;
      scratch_x += pass.width;
    } else {
      TSI_TRY(get_scratch(context, k & 1, pass.width, pass.height, &pass.target));
      pass.x = pass.y = 0;
    }
    gl_tiling_parameters(&x->space->tiling, pass.parameters);
    pass.parameters[6] = l->width;
    pass.parameters[7] = l->height;
    TSI_TRY(gl_draw(context, &pass));
    partial_region = (gl_vector){pass.target, pass.x, pass.y};
    pass.inputs[0] = &partial;
    pass.inputs[1] = pass.inputs[2] = NULL;
  }
  return TS_OK;
}

ts_status gl_reduce(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y) {
  switch (kind) {
  case TSI_REDUCE_DOT:
    return reduce(out, index, "DOT", 0, "", x, y, NULL);
  case TSI_REDUCE_NORM2:
    return reduce(out, index, "DOT", 0, "#define SQUARE_ROOT\n", x, x, NULL);
  case TSI_REDUCE_SUM:
    return reduce(out, index, "SUM", 0, "", x, NULL, NULL);
  case TSI_REDUCE_MAX:
    return reduce(out, index, "MASKED", 1, "", x, NULL, NULL);
  case TSI_REDUCE_MAX_ABS:
    return reduce(out, index, "ABS", 1, "", x, NULL, NULL);
  }
  return TS_OK;
}

ts_status gl_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  return reduce(out, index, "DOT3", 0, "", x, y, w);
}
