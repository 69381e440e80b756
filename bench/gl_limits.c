/* The limits of OpenGL on this device: fetches, writes, copies, multiply-adds and dependent passes.
 *
 * Two rules hold for all probes. Targets alternate, because a software rasterizer drops draws that a later
 * opaque draw into the same target covers. Loops have uniform counts and every value contributes to the result,
 * so that no compiler removes work. */
#include "gl_probe.h"

#include <string.h>

#include <texsolve/gl.h>

static GLuint vertex_array;

int gl_limits_begin(ts_context *context) {
  if (bench_check(ts_gl_make_current(context), context, "making the OpenGL context current")) return 1;
  return probe_begin(&vertex_array);
}

void gl_limits_end(void) {
  probe_end(&vertex_array);
}

static GLint uniform(GLuint program, const char *name) {
  return glGetUniformLocation(program, name);
}

/* Draws into two targets in turn. Reads `source`, or in ping-pong mode the previous target. */
typedef struct draws {
  GLuint program;
  probe_texture targets[2], source;
  int ping_pong;
} draws;

static int draws_run(void *user, long count) {
  draws *d = user;
  glUseProgram(d->program);
  glBindTexture(GL_TEXTURE_2D, d->source.texture);
  for (long i = 0; i < count; ++i) {
    if (d->ping_pong) glBindTexture(GL_TEXTURE_2D, d->targets[(i + 1) & 1].texture);
    probe_target(&d->targets[i & 1]);
    probe_draw();
  }
  glFinish();
  return 0;
}

static void draws_free(draws *d) {
  for (int i = 0; i < 2; ++i) probe_texture_destroy(&d->targets[i]);
  probe_texture_destroy(&d->source);
  glDeleteProgram(d->program);
}

static int draws_create(draws *d, probe_shader shader, const char *defines, limit_format target, int side) {
  memset(d, 0, sizeof *d);
  int failed = probe_program_create(&d->program, shader, defines);
  for (int i = 0; i < 2 && !failed; ++i) failed = probe_texture_create(&d->targets[i], target, side, side);
  if (failed)
    draws_free(d);
  else
    glUseProgram(d->program);
  return failed;
}

/* Measures, checks, frees. */
static int draws_measure(draws *d, int repeat, timing *t, const char *what) {
  const int failed = timing_measure(t, repeat, BENCH_BATCH_SECONDS, draws_run, d) || probe_failed(what);
  draws_free(d);
  return failed;
}

int gl_limits_fetch(limit_format format, fetch_pattern pattern, int side, int is_hardware, int repeat,
                    timing *t, double *rate) {
  static const char *const defines[LIMIT_FORMATS] = {
      [LIMIT_R32F] = "#define VALUE float\n#define SWIZZLE r\n#define TOTAL(v) (v)\n",
      [LIMIT_RG32F] = "#define VALUE vec2\n#define SWIZZLE rg\n#define TOTAL(v) (v.x + v.y)\n",
      [LIMIT_RGBA32F] = "#define VALUE vec4\n#define SWIZZLE rgba\n#define TOTAL(v) (v.x + v.y + v.z + v.w)\n",
      [LIMIT_RG32UI] =
          "#define UNSIGNED\n#define VALUE uvec2\n#define SWIZZLE rg\n#define TOTAL(v) (v.x + v.y)\n",
  };
  static const char quads_defines[] =
      "#extension GL_ARB_texture_gather : enable\n#define QUADS\n#define VALUE vec4\n"
      "#define TOTAL(v) (v.x + v.y + v.z + v.w)\n";
  const int quads = pattern == FETCH_QUADS;
  *rate = 0;
  if (quads && !probe_has_gathers()) return 0;
  const int target = is_hardware && !quads ? 1024 : 512;
  /* In a software rasterizer a fragment costs more than 16 fetches. */
  const int rounds = is_hardware ? 1 : 16;
  draws d;
  if (draws_create(&d, PROBE_FETCH, quads ? quads_defines : defines[format], LIMIT_R32F, target)) return 1;
  if (probe_texture_create(&d.source, format, side, side)) {
    draws_free(&d);
    return 1;
  }
  const int streamed = quads || pattern == FETCH_STREAMED;
  const int places = quads ? side / 2 : side; /* quads or texels per side */
  const int step = streamed ? places / 4 : 1;
  glUniform1i(uniform(d.program, "source"), 0);
  glUniform1i(uniform(d.program, "rounds"), rounds);
  glUniform1i(uniform(d.program, "step_texels"), step);
  /* Base and the three steps stay inside the texture. */
  glUniform1i(uniform(d.program, "mask"), streamed ? places / 4 - 1 : side / 2 - 1);
  glUniform2i(uniform(d.program, "shift"), 4, 4);
  if (draws_measure(&d, repeat, t, "texel fetches")) return 1;
  *rate = (quads ? 4 : 1) * 16.0 * rounds * target * target / t->fastest;
  return 0;
}

/* Large enough to exceed a cache, at most 128 MiB. */
static int target_side(limit_format format, int is_hardware) {
  if (!is_hardware) return 1024;
  return format == LIMIT_RGBA32F ? 2048 : 4096;
}

int gl_limits_write(limit_format format, int is_hardware, int repeat, timing *t, double *rate) {
  const int side = target_side(format, is_hardware);
  draws d;
  if (draws_create(&d, PROBE_FILL, "", format, side)) return 1;
  glUniform4f(uniform(d.program, "value"), 1.0f, 2.0f, 3.0f, 4.0f);
  if (draws_measure(&d, repeat, t, "render-target writes")) return 1;
  *rate = (double)side * side / t->fastest;
  return 0;
}

int gl_limits_copy(limit_format format, int is_hardware, int repeat, timing *t, double *rate) {
  const int side = target_side(format, is_hardware);
  draws d;
  if (draws_create(&d, PROBE_COPY, "", format, side)) return 1;
  glUniform1i(uniform(d.program, "source"), 0);
  d.ping_pong = 1;
  if (draws_measure(&d, repeat, t, "a copy")) return 1;
  *rate = 2.0 * limit_format_bytes[format] * side * side / t->fastest;
  return 0;
}

int gl_limits_multiply_add(int is_hardware, int repeat, timing *t, double *rate) {
  const int side = is_hardware ? 1024 : 256, rounds = is_hardware ? 32 : 8;
  draws d;
  if (draws_create(&d, PROBE_MULTIPLY_ADD, "", LIMIT_R32F, side)) return 1;
  glUniform1i(uniform(d.program, "rounds"), rounds);
  glUniform1f(uniform(d.program, "b"), 0.75f);
  glUniform1f(uniform(d.program, "c"), 0.1f);
  if (draws_measure(&d, repeat, t, "multiply-adds")) return 1;
  *rate = 2.0 * 192.0 * rounds * side * side / t->fastest;
  return 0;
}

/* ---- Dependent passes ---- */

enum { TINY = 16 }; /* texels per side */

typedef struct passes {
  pass_way way;
  GLuint program;
  GLint offset;
  probe_texture t[2];
  probe_barrier barrier;
  double last_value;
} passes;

static void one_pass(passes *p, long i) {
  const int to = (int)(i & 1), from = 1 - to;
  if (p->way == PASS_BARRIER) {
    p->barrier();
    glViewport(to * TINY, 0, TINY, TINY);
    glUniform2i(p->offset, to ? -TINY : TINY, 0);
  } else {
    glBindTexture(GL_TEXTURE_2D, p->t[from].texture);
    glBindFramebuffer(GL_FRAMEBUFFER, p->t[to].framebuffer);
  }
  probe_draw();
}

static int passes_run(void *user, long count) {
  passes *p = user;
  float value = 0;
  glUseProgram(p->program);
  for (long i = 0; i < count; ++i) {
    one_pass(p, i);
    if (p->way == PASS_READ_BACK) glReadPixels(0, 0, 1, 1, GL_RED, GL_FLOAT, &value);
  }
  glFinish();
  p->last_value = value;
  return 0;
}

static int passes_create(passes *p, pass_way way) {
  memset(p, 0, sizeof *p);
  p->way = way;
  const int columns = way == PASS_BARRIER ? 2 : 1;
  if (probe_program_create(&p->program, PROBE_STEP, "")) return 1;
  for (int i = 0; i < 2; ++i)
    if (probe_texture_create(&p->t[i], LIMIT_R32F, columns * TINY, TINY)) return 1;
  glUseProgram(p->program);
  glUniform1i(uniform(p->program, "source"), 0);
  p->offset = uniform(p->program, "offset");
  glUniform2i(p->offset, 0, 0);
  glViewport(0, 0, TINY, TINY);
  p->barrier = probe_texture_barrier();
  glBindFramebuffer(GL_FRAMEBUFFER, p->t[0].framebuffer);
  glBindTexture(GL_TEXTURE_2D, p->t[0].texture); /* regions read their own texture */
  return 0;
}

static void passes_free(passes *p) {
  for (int i = 0; i < 2; ++i) probe_texture_destroy(&p->t[i]);
  glDeleteProgram(p->program);
}

/* Each pass adds 1 to the previous pass's result. If the sum is too small, passes ran before their input was
 * complete, and their time is invalid. */
static int passes_sum_up(passes *p) {
  enum { COUNT = 200 };
  static const GLfloat zero[4] = {0, 0, 0, 0};
  float value = -1;
  const int last = (COUNT - 1) & 1;
  for (int i = 0; i < 2; ++i) {
    glBindFramebuffer(GL_FRAMEBUFFER, p->t[i].framebuffer);
    glClearBufferfv(GL_COLOR, 0, zero);
  }
  glBindFramebuffer(GL_FRAMEBUFFER, p->t[0].framebuffer);
  passes_run(p, COUNT);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, p->t[p->way == PASS_BARRIER ? 0 : last].framebuffer);
  glReadPixels(p->way == PASS_BARRIER ? last * TINY : 0, 0, 1, 1, GL_RED, GL_FLOAT, &value);
  return value == COUNT;
}

int gl_limits_pass(pass_way way, int repeat, timing *t, int *available) {
  *available = way != PASS_BARRIER || probe_texture_barrier() != NULL;
  if (!*available) return 0;
  passes p;
  int failed = passes_create(&p, way);
  if (!failed) failed = timing_measure(t, repeat, BENCH_BATCH_SECONDS, passes_run, &p);
  if (!failed && !passes_sum_up(&p)) {
    bench_error("dependent passes ran before their input was there");
    failed = 1;
  }
  if (!failed) failed = probe_failed("dependent passes");
  passes_free(&p);
  return failed;
}
