/* Reductions by a pyramid, as in Bolz et al. 2003, section 3.1.3. A fragment reads up to 1024 texels instead of
 * 4, in quads of 2 x 2 that one gather fetches. Texels without an index hold 0, the identity of the sum; the
 * maximum masks them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gl.h"
#include "gl_shader.h"

/* One level. Every fragment reads block_x x block_y quads of 2 x 2 texels. The distance between its quads is
 * the size of the result, so neighbouring fragments fetch neighbouring texels. */
typedef struct level {
  int width, height;         /* of the source */
  int out_width, out_height; /* even except at the end, so that the next level reads whole quads */
  int block_x, block_y;
} level;

enum {
  max_levels = 8,
  shrink = 128,     /* maximum reduction of a later level: 32 quads per texel */
  few_quads = 64,   /* quads per fragment of the first level, with few fragments */
  many_quads = 256, /* quads per fragment with many fragments, which hide each other's fetch latency */
  least_quads = 8,
  many = 4096
};

static int divide_up(int a, int b) {
  return (a + b - 1) / b;
}

static level make_level(int width, int height, int out_width, int out_height) {
  return (level){
      width, height, out_width, out_height, divide_up(width, 2 * out_width), divide_up(height, 2 * out_height)};
}

/* Even sizes, in about the source's shape, for at least `texels` texels. */
static void shape_like(int width, int height, int texels, int *out_width, int *out_height) {
  int w = 2;
  while ((int64_t)w * w * height < (int64_t)texels * width) w += 2;
  if (w > (width + 1) / 2) w = (width + 1) / 2 + ((width + 1) / 2 & 1);
  const int h = divide_up(texels, w);
  *out_width = w;
  *out_height = h + (h & 1);
}

/* Uses the minimum number of levels down to end_width x end_height texels. The first level handles sizes that
 * do not divide evenly. */
static int gl_reduce_plan(const tsi_tiling *t, int end_width, int end_height, level *levels) {
  const int64_t quads = (int64_t)divide_up(t->width, 2) * divide_up(t->height, 2);
  const int64_t end = (int64_t)end_width * end_height;
  int later = 0;
  int64_t texels = end; /* produced by the first level */
  while (quads > texels * (texels >= many ? many_quads : few_quads)) {
    texels *= shrink;
    later++;
  }
  /* If the first level would have little work, the levels share the work evenly. */
  if (later > 0 && quads < texels * least_quads) texels = quads / least_quads > end ? quads / least_quads : end;
  const double factor = pow((double)texels / (double)end, 1.0 / (later > 0 ? later : 1));
  int width = t->width, height = t->height, count = 0;
  for (double left = (double)texels; later > 0; later--, left /= factor) {
    int out_width, out_height;
    shape_like(width, height, (int)(left + 0.5), &out_width, &out_height);
    levels[count++] = make_level(width, height, out_width, out_height);
    width = out_width;
    height = out_height;
  }
  levels[count++] = make_level(width, height, end_width, end_height);
  return count;
}

void gl_reduce_scratch_size(const tsi_tiling *t, int *width, int *height) {
  *width = *height = 1;
  for (int k = 0; k < 2; k++) { /* down to a texel and down to a block */
    level levels[max_levels];
    const int count =
        k ? gl_reduce_plan(t, GL_SLOT_WIDTH, GL_SLOT_HEIGHT, levels) : gl_reduce_plan(t, 1, 1, levels);
    int x = 0;
    for (int l = 0; l + 1 < count; l++) {
      x += levels[l].out_width;
      if (levels[l].out_height > *height) *height = levels[l].out_height;
    }
    if (x > *width) *width = x;
  }
}

/* `flags`: IS_SINGLE and IS_ROOT in the shader. `pair`: "" or the defines of a pass over pairs. */
static ts_status get_program(const ts_vector *v, const level *l, const char *term, int is_max, int flags,
                             int first, int last, const char *pair, const gl_program **program) {
  char defines[192 + GL_PAIR_DEFINES], sizes[64] = "";
  const char *channels = gl_channels_define(v);
  const int is_hardware = v->context->caps.is_hardware;
  if (is_hardware)
    snprintf(sizes, sizeof sizes, "#define BLOCK ivec2(%d, %d)\n#define FLAGS %d\n", l->block_x, l->block_y,
             flags);
  /* Later levels are small: in software, avoiding one more program is more important. */
  const int exact = (first || is_hardware) && l->block_x * l->out_width * 2 == l->width &&
                    l->block_y * l->out_height * 2 == l->height;
  snprintf(defines, sizeof defines, "%s#define COMPONENTS %d\n#define TERM_%s\n%s%s%s%s%s%s", pair,
           tsi_channels(v), term, sizes, is_max ? "#define MAXIMUM\n" : "", exact ? "#define EXACT\n" : "",
           (l->width | l->height) & 1 ? "#define ODD\n" : "", channels,
           last && *channels ? "#define LAST\n" : "");
  return gl_program_get(v->context, "core/fullscreen.vert",
                        *pair ? "core/reduce_pair.frag" : "core/reduce.frag", defines, program);
}

ts_status gl_scratch_get(ts_context *context, int which, int width, int height, gl_texture **texture) {
  gl_texture **scratch = &gl_of(context)->scratch[which];
  /* llvmpipe compiles a program again if a size becomes a power of two. */
  while (!context->caps.is_hardware && !(width & (width - 1))) width++;
  while (!context->caps.is_hardware && !(height & (height - 1))) height++;
  if (*scratch && ((*scratch)->width < width || (*scratch)->height < height)) {
    gl_texture_release(context, *scratch);
    *scratch = NULL;
  }
  if (!*scratch) TSI_TRY(gl_texture_create(context, GL_RGBA32F, width, height, "partial sums", scratch));
  *texture = *scratch;
  return TS_OK;
}

/* The operands and kind of a reduction. */
typedef struct reduction {
  const char *term, *later_term; /* of the first level; of the later levels */
  int is_max;
  int is_root;        /* take the square root of the result */
  int can_be_partial; /* the result may be a block of partial sums */
} reduction;

/* A reduction in progress. */
typedef struct running {
  const reduction *what;
  const gl_scalars *slots, *low_slots; /* low_slots is NULL if the slot has one part */
  int index;
  const ts_vector *inputs[3];
  int pairs;
  ts_vector partial, low_partial; /* partial sums, the input of the next level */
  gl_vector partial_region, low_region;
  int scratch_x; /* position of its next partial sums next to the slots */
} running;

/* Chooses the target of a level: the slot, room for partial sums next to it, or a scratch texture of the
 * backend. */
static ts_status choose_target(ts_context *context, running *sum, int last, int k, gl_pass *pass) {
  const gl_scalars *slots = sum->slots, *low_slots = sum->low_slots;
  if (last) {
    pass->target = slots->texture;
    if (low_slots) pass->more_targets[0] = low_slots->texture;
    gl_slot_place(slots, sum->index, &pass->x, &pass->y);
    if (slots->blocks) {
      pass->width = GL_SLOT_WIDTH;
      pass->height = GL_SLOT_HEIGHT;
    }
  } else if (slots->texture->scratch_x >= 0 && (!sum->pairs || low_slots)) {
    pass->target = slots->texture;
    if (low_slots) pass->more_targets[0] = low_slots->texture;
    pass->x = slots->texture->scratch_x + sum->scratch_x;
    pass->y = slots->texture->scratch_y;
    sum->scratch_x += pass->width;
  } else {
    TSI_TRY(gl_scratch_get(context, k & 1, pass->width, pass->height, &pass->target));
    if (sum->pairs)
      TSI_TRY(gl_scratch_get(context, 2 + (k & 1), pass->width, pass->height, &pass->more_targets[0]));
    pass->x = pass->y = 0;
  }
  return TS_OK;
}

static int ends_in_block(const running *sum) {
  return sum->slots->blocks && sum->what->can_be_partial;
}

static int plan_of(const running *sum, const tsi_tiling *t, level *levels) {
  return ends_in_block(sum) ? gl_reduce_plan(t, GL_SLOT_WIDTH, GL_SLOT_HEIGHT, levels)
                            : gl_reduce_plan(t, 1, 1, levels);
}

static ts_status draw_level(running *sum, const level *l, int k, int last, int independent) {
  const ts_vector *x = sum->inputs[0];
  gl_pass pass = {.inputs = {x, sum->inputs[1], sum->inputs[2]},
                  .width = l->out_width,
                  .height = l->out_height,
                  .independent = independent};
  const reduction *what = sum->what;
  const int is_single = last && sum->slots->blocks && !ends_in_block(sum);
  const int flags = is_single | (last && what->is_root) << 1;
  char pair[GL_PAIR_DEFINES] = "";
  if (sum->pairs) gl_pass_pairs(&pass, pair);
  TSI_TRY(get_program(x, l, k == 0 ? what->term : what->later_term, what->is_max, flags, k == 0, last, pair,
                      &pass.program));
  if (what->is_max) TSI_TRY(gl_bind_channels(x->space));
  TSI_TRY(choose_target(x->context, sum, last, k, &pass));
  gl_tiling_parameters(&x->space->tiling, pass.parameters);
  const int sizes[5] = {l->width, l->height, l->block_x, l->block_y, flags};
  memcpy(pass.parameters + 6, sizes, sizeof sizes);
  TSI_TRY(gl_draw(x->context, &pass));
  sum->partial = tsi_first_part(x);
  sum->partial_region = (gl_vector){pass.target, pass.x, pass.y};
  sum->partial.impl = &sum->partial_region;
  if (sum->pairs) {
    sum->low_partial = sum->partial;
    sum->low_region = (gl_vector){pass.more_targets[0], pass.x, pass.y};
    sum->low_partial.impl = &sum->low_region;
    sum->partial.low = &sum->low_partial;
  }
  sum->inputs[0] = &sum->partial;
  sum->inputs[1] = sum->inputs[2] = NULL;
  return TS_OK;
}

static running gl_reduce_start(ts_scalars *out, int index, const reduction *what, const ts_vector *x,
                               const ts_vector *y, const ts_vector *w) {
  const int pairs = x->low != NULL;
  return (running){.what = what,
                   .slots = gl_scalars_of(out),
                   .low_slots = pairs && out->low ? gl_scalars_of(out->low) : NULL,
                   .index = index,
                   .inputs = {x, y, w},
                   .pairs = pairs};
}

static ts_status reduce(ts_scalars *out, int index, const reduction *what, const ts_vector *x,
                        const ts_vector *y, const ts_vector *w) {
  running sum = gl_reduce_start(out, index, what, x, y, w);
  level levels[max_levels];
  const int count = plan_of(&sum, &x->space->tiling, levels);
  for (int k = 0; k < count; k++) TSI_TRY(draw_level(&sum, &levels[k], k, k == count - 1, 0));
  return TS_OK;
}

ts_status gl_reduce(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y) {
  static const reduction norm2 = {"SQUARE", "SUM", .is_root = 1};
  static const reduction sum = {"SUM", "SUM", .can_be_partial = 1};
  static const reduction max = {"MASKED", "SUM", .is_max = 1};
  static const reduction max_abs = {"ABS", "ABS", .is_max = 1};
  switch (kind) {
  case TSI_REDUCE_DOT:
    return gl_dots(out, &(tsi_dot){index, x, y, NULL}, 1);
  case TSI_REDUCE_NORM2:
    return reduce(out, index, &norm2, x, NULL, NULL);
  case TSI_REDUCE_SUM:
    return reduce(out, index, &sum, x, NULL, NULL);
  case TSI_REDUCE_MAX:
    return reduce(out, index, &max, x, NULL, NULL);
  case TSI_REDUCE_MAX_ABS:
    return reduce(out, index, &max_abs, x, NULL, NULL);
  }
  return TS_OK;
}

static running start_dot(ts_scalars *out, const tsi_dot *sum) {
  static const reduction dot = {"DOT", "SUM", .can_be_partial = 1};
  static const reduction square = {"SQUARE", "SUM", .can_be_partial = 1};
  static const reduction dot3 = {"DOT3", "SUM", .can_be_partial = 1};
  static const reduction square2 = {"SQUARE2", "SUM", .can_be_partial = 1};
  const ts_vector *x = sum->x, *y = sum->y, *w = sum->w;
  if (!w)
    return x == y ? gl_reduce_start(out, sum->index, &square, x, NULL, NULL)
                  : gl_reduce_start(out, sum->index, &dot, x, y, NULL);
  return x == y ? gl_reduce_start(out, sum->index, &square2, x, w, NULL)
                : gl_reduce_start(out, sum->index, &dot3, x, y, w);
}

ts_status gl_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  return gl_dots(out, &(tsi_dot){index, x, y, w}, 1);
}

/* Runs level by level, so that one level of all sums runs concurrently between two barriers. */
ts_status gl_dots(ts_scalars *out, const tsi_dot *sums, int count) {
  running all[TSI_MAX_DOTS];
  const gl_texture *slots = gl_scalars_of(out)->texture;
  const int together = slots->scratch_count >= count;
  level levels[max_levels];
  int level_count = 0;
  for (int s = 0; s < count; s++) {
    all[s] = start_dot(out, &sums[s]);
    all[s].scratch_x = together ? s * slots->scratch_width : 0;
    level_count = plan_of(&all[s], &sums[s].x->space->tiling, levels);
    for (int k = 0; k < level_count && !together; k++)
      TSI_TRY(draw_level(&all[s], &levels[k], k, k == level_count - 1, 0));
  }
  for (int k = 0; k < level_count && together; k++)
    for (int s = 0; s < count; s++) TSI_TRY(draw_level(&all[s], &levels[k], k, k == level_count - 1, s > 0));
  return TS_OK;
}
