/* Runs before the first draw of a call in a context that an application shares. Refuses, by name, any state
 * that prevents drawing and cannot be restored. Saves the program and the state that is lost when it
 * changes. */
#include "gl/core/gl_features.h"
#include "gl/core/gl_state.h"

/* ---- Refused ---- */

typedef struct query_target {
  GLenum target;
  unsigned needs;
  const char *name;
} query_target;

/* Refuses queries that would count the library's samples and triangles. OpenGL cannot interrupt a query. */
static ts_status refuse_queries(ts_context *context) {
  static const query_target targets[] = {
      {GL_SAMPLES_PASSED, 0, "GL_SAMPLES_PASSED"},
      {GL_ANY_SAMPLES_PASSED, 0, "GL_ANY_SAMPLES_PASSED"},
      {GL_ANY_SAMPLES_PASSED_CONSERVATIVE, GL_HAS_CONSERVATIVE_QUERY, "GL_ANY_SAMPLES_PASSED_CONSERVATIVE"},
      {GL_PRIMITIVES_GENERATED, 0, "GL_PRIMITIVES_GENERATED"},
  };
  const gl_backend *gl = gl_of(context);
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
    const query_target *t = &targets[i];
    GLint active = 0;
    if (t->needs & ~gl->has) continue;
    glGetQueryiv(t->target, GL_CURRENT_QUERY, &active);
    if (active)
      return tsi_fail(context, TS_ERROR_DEVICE,
                      "the application's query %d of %s is active and would count what the library draws; it "
                      "must end first (glEndQuery)",
                      active, t->name);
  }
  return TS_OK;
}

/* OpenGL cannot report whether the application renders conditionally, but nested conditional rendering
 * fails. */
static ts_status refuse_condition(ts_context *context) {
  gl_backend *gl = gl_of(context);
  if (!gl->probe_query) {
    glGenQueries(1, &gl->probe_query);
    glBeginQuery(GL_ANY_SAMPLES_PASSED, gl->probe_query);
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    TSI_TRY(gl_check(context, "a query"));
  }
  glBeginConditionalRender(gl->probe_query, GL_QUERY_NO_WAIT);
  if (glGetError() != GL_NO_ERROR)
    return tsi_fail(context, TS_ERROR_DEVICE,
                    "the application renders conditionally, which would drop what the library draws; it must "
                    "end first (glEndConditionalRender)");
  glEndConditionalRender();
  return TS_OK;
}

static ts_status fail_feedback(ts_context *context, const char *why) {
  return tsi_fail(context, TS_ERROR_DEVICE,
                  "the application's transform feedback is active, and %s; it must end first "
                  "(glEndTransformFeedback)",
                  why);
}

static int feedback_is_active(void) {
  GLboolean is_active = GL_FALSE, is_paused = GL_FALSE;
  glGetBooleanv(GL_TRANSFORM_FEEDBACK_ACTIVE, &is_active);
  if (is_active) glGetBooleanv(GL_TRANSFORM_FEEDBACK_PAUSED, &is_paused);
  return is_active && !is_paused;
}

/* Contexts that cannot pause transform feedback cannot query it either, but then programs cannot change. Leaves
 * no program current. */
static ts_status refuse_endless_feedback(ts_context *context) {
  if (gl_of(context)->has & GL_HAS_FEEDBACK_PAUSE) return TS_OK;
  glUseProgram(0);
  return glGetError() == GL_NO_ERROR ? TS_OK : fail_feedback(context, "this OpenGL cannot pause it");
}

/* In an application's context, feedback is paused instead. */
static ts_status refuse_feedback(ts_context *context) {
  const gl_backend *gl = gl_of(context);
  if (gl->saved) return TS_OK;
  if (gl->has & GL_HAS_FEEDBACK_PAUSE && feedback_is_active())
    return fail_feedback(context, "the library's own context does not pause it");
  return refuse_endless_feedback(context);
}

static ts_status refuse_mode(ts_context *context) {
  GLint mode = GL_RENDER;
  if (gl_of(context)->has & GL_HAS_COMPATIBILITY) glGetIntegerv(GL_RENDER_MODE, &mode);
  if (mode == GL_RENDER) return TS_OK;
  return tsi_fail(context, TS_ERROR_DEVICE,
                  "the application's render mode is %s, in which nothing is drawn; it must be GL_RENDER",
                  mode == GL_SELECT ? "GL_SELECT" : "GL_FEEDBACK");
}

ts_status gl_state_refuse(ts_context *context) {
  TSI_TRY(gl_check(context, "the call's first draw"));
  TSI_TRY(refuse_mode(context));
  TSI_TRY(refuse_queries(context));
  TSI_TRY(refuse_feedback(context));
  return gl_of(context)->has & GL_HAS_NO_ERROR ? TS_OK : refuse_condition(context);
}

/* ---- Subroutines, which are lost when the program changes ---- */

typedef struct stage {
  GLenum type, uniforms;
  unsigned needs;
} stage;

static const stage stages[GL_STAGES] = {
    {GL_VERTEX_SHADER, GL_VERTEX_SUBROUTINE_UNIFORM, 0},
    {GL_TESS_CONTROL_SHADER, GL_TESS_CONTROL_SUBROUTINE_UNIFORM, GL_HAS_TESSELLATION},
    {GL_TESS_EVALUATION_SHADER, GL_TESS_EVALUATION_SUBROUTINE_UNIFORM, GL_HAS_TESSELLATION},
    {GL_GEOMETRY_SHADER, GL_GEOMETRY_SUBROUTINE_UNIFORM, 0},
    {GL_FRAGMENT_SHADER, GL_FRAGMENT_SUBROUTINE_UNIFORM, 0},
    {GL_COMPUTE_SHADER, GL_COMPUTE_SUBROUTINE_UNIFORM, GL_HAS_COMPUTE}};

/* The number of subroutines that a stage has selected, in the program or otherwise in the pipeline. Some
 * drivers record an error for a missing stage, so this asks for the stage first if possible. */
static GLint count_subroutines(const gl_backend *gl, const gl_values *v, const stage *s) {
  GLint program = v->program, uniforms = 1, count = 0;
  if (s->needs & ~gl->has) return 0;
  if (!program) glGetProgramPipelineiv((GLuint)v->pipeline, s->type, &program);
  if (!program) return 0;
  if (gl->has & GL_HAS_INTERFACE_QUERY)
    glGetProgramInterfaceiv((GLuint)program, s->uniforms, GL_ACTIVE_RESOURCES, &uniforms);
  if (glGetError() == GL_NO_ERROR && !uniforms) return 0;
  glGetProgramStageiv((GLuint)program, s->type, GL_ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS, &count);
  return glGetError() == GL_NO_ERROR ? count : 0;
}

static ts_status save_subroutines(ts_context *context) {
  const gl_backend *gl = gl_of(context);
  gl_state *s = gl->saved;
  size_t total = 0;
  for (int k = 0; k < GL_STAGES; k++) {
    s->subroutine_counts[k] = count_subroutines(gl, &s->values, &stages[k]);
    total += (size_t)s->subroutine_counts[k];
  }
  tsi_free(context, s->subroutines);
  s->subroutines = NULL;
  if (!total) return TS_OK;
  s->subroutines = tsi_calloc(context, total, sizeof *s->subroutines);
  if (!s->subroutines)
    return tsi_out_of_memory(context, "the application's subroutines", total * sizeof *s->subroutines);
  GLuint *next = s->subroutines;
  for (int k = 0; k < GL_STAGES; k++)
    for (GLint location = 0; location < s->subroutine_counts[k]; location++)
      glGetUniformSubroutineuiv(stages[k].type, location, next++);
  return TS_OK;
}

static void restore_subroutines(const gl_state *s) {
  const GLuint *next = s->subroutines;
  for (int k = 0; next && k < GL_STAGES; k++) {
    if (s->subroutine_counts[k]) glUniformSubroutinesuiv(stages[k].type, s->subroutine_counts[k], next);
    next += s->subroutine_counts[k];
  }
}

/* ---- The program ---- */

ts_status gl_state_save_program(ts_context *context) {
  const gl_backend *gl = gl_of(context);
  gl_state *s = gl->saved;
  gl_values *v = &s->values;
  glGetIntegerv(GL_CURRENT_PROGRAM, &v->program);
  v->pipeline = 0;
  if (gl->has & GL_HAS_PIPELINES) glGetIntegerv(GL_PROGRAM_PIPELINE_BINDING, &v->pipeline);
  if (gl->has & GL_HAS_SUBROUTINES && (v->program || v->pipeline)) TSI_TRY(save_subroutines(context));
  TSI_TRY(refuse_endless_feedback(context));
  s->is_feedback_paused = gl->has & GL_HAS_FEEDBACK_PAUSE && feedback_is_active();
  if (s->is_feedback_paused) glPauseTransformFeedback();
  return TS_OK;
}

void gl_state_restore_program(ts_context *context) {
  gl_state *s = gl_of(context)->saved;
  const GLuint program = (GLuint)s->values.program;
  /* A program that was deleted while current ceases to exist when another one replaces it. */
  glUseProgram(glIsProgram(program) ? program : 0);
  restore_subroutines(s);
  tsi_free(context, s->subroutines);
  s->subroutines = NULL;
  if (s->is_feedback_paused) glResumeTransformFeedback();
  s->is_feedback_paused = 0;
}
