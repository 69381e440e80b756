/* Reductions: a pyramid as in Bolz et al. 2003, section 3.1.3, with up to 512 texels a fragment instead of 4,
 * taken as quads that one gather fetches. Texels that belong to no index hold 0, the identity of the sum; the
 * maximum masks them. */
#include <stdio.h>
#include <string.h>

#include "gl.h"
#include "gl_shader.h"

/* One level: every fragment takes (1 << log2_x) x (1 << log2_y) quads of 2 x 2 texels, which lie as far apart
 * as the result is wide and high, so that neighbouring fragments fetch neighbouring texels. */
typedef struct level {
  int log2_x, log2_y;
  int width, height;         /* of the source */
  int out_width, out_height; /* even, so that the next level reads whole quads; 1 x 1 at the end */
} level;

enum {
  max_levels = 8,
  log2_quads = 5,      /* that a fragment takes: where there are few fragments, each is slow alone */
  log2_quads_many = 7, /* in a first level with many fragments, which hide each other's fetches */
  log2_quads_last = 6,
  log2_many = 12
};

static int half_up(int n, int bits) {
  return (n + (1 << bits) - 1) >> bits;
}

static int even(int n) {
  return n + (n & 1);
}

/* A level that takes 2^bits quads a fragment, shared between x and y so that the result gets about square. */
static level make_level(int width, int height, int bits) {
  level l = {.width = width, .height = height};
  for (int k = 0; k < bits; k++)
    if (half_up(width, l.log2_x) > half_up(height, l.log2_y))
      l.log2_x++;
    else
      l.log2_y++;
  l.out_width = even(half_up(width, l.log2_x + 1));
  l.out_height = even(half_up(height, l.log2_y + 1));
  return l;
}

/* Whether 2^bits quads are all there is; if so, l makes one texel of it. */
static int is_last(int width, int height, int bits, level *l) {
  *l = (level){.width = width, .height = height, .out_width = 1, .out_height = 1};
  while (2 << l->log2_x < width) l->log2_x++;
  while (2 << l->log2_y < height) l->log2_y++;
  return l->log2_x + l->log2_y <= bits;
}

/* As few levels as possible: one texel comes of 4 << log2_quads, and the first level takes what does not
 * divide. */
static int plan(const tsi_tiling *t, level *levels) {
  const int64_t quads = (int64_t)(t->width / 2) * (t->height / 2);
  int bits = 0, later = 0, first = 0;
  while ((int64_t)1 << bits < quads) bits++;
  for (later = 1;; later++) {
    first = bits > later * (log2_quads + 2) ? bits - later * (log2_quads + 2) : 0;
    if (first <= log2_quads || (first <= log2_quads_many && bits - first >= log2_many)) break;
  }
  int width = t->width, height = t->height, count = 0;
  for (bits = first; !is_last(width, height, log2_quads_last, &levels[count]); bits = log2_quads) {
    levels[count] = make_level(width, height, bits);
    width = levels[count].out_width;
    height = levels[count].out_height;
    count++;
  }
  return count + 1;
}

void gl_reduce_scratch_size(const tsi_tiling *t, int *width, int *height) {
  level levels[max_levels];
  const int count = plan(t, levels);
  *width = *height = 1;
  int x = 0;
  for (int k = 0; k + 1 < count; k++) {
    x += levels[k].out_width;
    if (levels[k].out_height > *height) *height = levels[k].out_height;
  }
  if (x > *width) *width = x;
}

static ts_status get_program(const ts_vector *v, const level *l, const char *term, int is_max,
                             const char *finish, const gl_program **program) {
  char defines[176];
  const int exact =
      l->out_width << (l->log2_x + 1) == l->width && l->out_height << (l->log2_y + 1) == l->height;
  snprintf(defines, sizeof defines,
           "%s#define COMPONENTS %d\n#define BLOCK ivec2(%d,%d)\n#define TERM_%s\n%s%s%s",
           gl_of(v->context)->texture_gather ? "#define GATHER\n" : "", v->components, 1 << l->log2_x,
           1 << l->log2_y, term, is_max ? "#define MAXIMUM\n" : "", exact ? "#define EXACT\n" : "", finish);
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
  level levels[max_levels];
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
    TSI_TRY(get_program(x, l, k == 0 ? term : "PARTIAL", is_max, last ? finish : "", &pass.program));
    pass.width = l->out_width;
    pass.height = l->out_height;
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
