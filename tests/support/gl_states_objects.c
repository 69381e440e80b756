/* States that are objects or operations in progress: bindings, programs, transform feedback, queries,
 * errors. */
#include <stddef.h>

#include "gl_states.h"

#include "gl/core/gl_features.h"

/* ---- Bindings ---- */

static GLuint texture, sampler, framebuffer, renderbuffer, buffer, vao;

static void bind_textures(int on) {
  if (on) {
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  }
  for (GLenum unit = 32; unit-- > 0;) {
    glActiveTexture(GL_TEXTURE0 + unit);
    glBindTexture(GL_TEXTURE_2D, on ? texture : 0);
  }
  if (on) glActiveTexture(GL_TEXTURE9);
  if (!on) glDeleteTextures(1, &texture);
}

static void bind_samplers(int on) {
  if (on) {
    glGenSamplers(1, &sampler);
    glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glSamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glSamplerParameteri(sampler, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glSamplerParameterf(sampler, GL_TEXTURE_MIN_LOD, 3);
  }
  for (GLuint unit = 0; unit < 32; unit++) glBindSampler(unit, on ? sampler : 0);
  if (!on) glDeleteSamplers(1, &sampler);
}

static void bind_framebuffer(int on) {
  if (!on) {
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteRenderbuffers(1, &renderbuffer);
    return;
  }
  GLint samples = 0;
  glGetIntegerv(GL_MAX_SAMPLES, &samples);
  glGenFramebuffers(1, &framebuffer);
  glGenRenderbuffers(1, &renderbuffer);
  glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
  glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples < 4 ? 0 : 4, GL_RGBA8, 16, 16);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT2, GL_RENDERBUFFER, renderbuffer);
  glDrawBuffer(GL_COLOR_ATTACHMENT2);
  glReadBuffer(GL_NONE);
}

static void bind_buffers(int on) {
  static const GLenum targets[] = {GL_ARRAY_BUFFER,
                                   GL_PIXEL_PACK_BUFFER,
                                   GL_PIXEL_UNPACK_BUFFER,
                                   GL_UNIFORM_BUFFER,
                                   GL_TRANSFORM_FEEDBACK_BUFFER,
                                   GL_COPY_READ_BUFFER,
                                   GL_COPY_WRITE_BUFFER,
                                   GL_TEXTURE_BUFFER};
  if (on) {
    glGenBuffers(1, &buffer);
    for (size_t k = 0; k < sizeof targets / sizeof targets[0]; k++) glBindBuffer(targets[k], buffer);
    glBufferData(GL_ARRAY_BUFFER, 64, NULL, GL_STATIC_DRAW);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, buffer);
  } else {
    glDeleteBuffers(1, &buffer);
  }
}

static void bind_array(int on) {
  if (on) {
    glGenVertexArrays(1, &vao);
    glBindVertexArray(vao);
    glEnableVertexAttribArray(0); /* without a buffer */
  } else {
    glDeleteVertexArrays(1, &vao);
  }
}

/* ---- Programs ---- */

static const char plain_vertex[] =
    "#version 330 core\nout float f; void main() { gl_Position = vec4(0); f = 3.0; }";
static const char plain_fragment[] = "#version 330 core\nout vec4 c; void main() { c = vec4(1); }";
static const char chooser[] =
    "#version 330 core\n#extension GL_ARB_shader_subroutine : require\nsubroutine vec4 T(); subroutine(T) vec4 "
    "u() { return vec4(1); }\n"
    "subroutine(T) vec4 v() { return vec4(2); } subroutine uniform T s; subroutine uniform T t;\n"
    "out vec4 c; void main() { c = s() + t(); }";

static GLuint program, pipeline, stages[2];

static GLuint compile(GLenum type, const char *source) {
  const GLuint shader = glCreateShader(type);
  glShaderSource(shader, 1, &source, NULL);
  glCompileShader(shader);
  return shader;
}

static void use_program(int on, const char *fragment) {
  if (!on) {
    glUseProgram(0);
    glDeleteProgram(program);
    return;
  }
  static const char *const captured = "f";
  const GLuint shaders[2] = {compile(GL_VERTEX_SHADER, plain_vertex), compile(GL_FRAGMENT_SHADER, fragment)};
  program = glCreateProgram();
  for (int k = 0; k < 2; k++) {
    glAttachShader(program, shaders[k]);
    glDeleteShader(shaders[k]);
  }
  glTransformFeedbackVaryings(program, 1, &captured, GL_INTERLEAVED_ATTRIBS);
  glLinkProgram(program);
  glUseProgram(program);
}

static void choose(void) {
  static const GLuint chosen[2] = {1, 0};
  glUniformSubroutinesuiv(GL_FRAGMENT_SHADER, 2, chosen);
}

static int has_chosen(void) {
  GLuint chosen[2] = {7, 7};
  for (GLint k = 0; k < 2; k++) glGetUniformSubroutineuiv(GL_FRAGMENT_SHADER, k, &chosen[k]);
  return chosen[0] == 1 && chosen[1] == 0;
}

static void plain_program(int on) {
  use_program(on, plain_fragment);
}

static void subroutines(int on) {
  use_program(on, chooser);
  if (on) choose();
}

static void bind_pipeline(int on) {
  if (on) {
    const char *sources[2] = {plain_vertex, chooser};
    glGenProgramPipelines(1, &pipeline);
    for (int k = 0; k < 2; k++) {
      stages[k] = glCreateShaderProgramv(k ? GL_FRAGMENT_SHADER : GL_VERTEX_SHADER, 1, &sources[k]);
      glUseProgramStages(pipeline, k ? GL_FRAGMENT_SHADER_BIT : GL_VERTEX_SHADER_BIT, stages[k]);
    }
    glBindProgramPipeline(pipeline);
  } else {
    glBindProgramPipeline(0);
    glDeleteProgramPipelines(1, &pipeline);
    for (int k = 0; k < 2; k++) glDeleteProgram(stages[k]);
  }
}

static void pipeline_with_subroutines(int on) {
  bind_pipeline(on);
  if (on) choose();
}

/* ---- Transform feedback ---- */

static GLuint captured, captured_vao, written;

static void feedback(int on) {
  if (on) {
    plain_program(1);
    glGenVertexArrays(1, &captured_vao);
    glBindVertexArray(captured_vao);
    glGenBuffers(1, &captured);
    glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, captured);
    glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 64, NULL, GL_STATIC_READ);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, captured);
    glGenQueries(1, &written);
    glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, written);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 0, 2);
  } else {
    glEndTransformFeedback();
    glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
    glDeleteQueries(1, &written);
    glDeleteBuffers(1, &captured);
    glDeleteVertexArrays(1, &captured_vao);
    plain_program(0);
  }
}

/* True if transform feedback is still active, with three of the application's points and none of the
 * library's. */
static int goes_on(void) {
  GLuint count = 0;
  glDrawArrays(GL_POINTS, 0, 1);
  glEndTransformFeedback();
  glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
  glGetQueryObjectuiv(written, GL_QUERY_RESULT, &count);
  glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, written);
  glBeginTransformFeedback(GL_POINTS);
  glDrawArrays(GL_POINTS, 0, 2);
  return count == 3;
}

static void paused_feedback(int on) {
  if (on) {
    feedback(1);
    glPauseTransformFeedback();
  } else {
    glResumeTransformFeedback();
    feedback(0);
  }
}

/* ---- Queries ---- */

static GLuint query;

static void run_query(int on, GLenum target) {
  if (on) {
    glGenQueries(1, &query);
    glBeginQuery(target, query);
  } else {
    glEndQuery(target);
    glDeleteQueries(1, &query);
  }
}

/* True if the query has not counted anything of the library. */
static int counts_nothing(GLenum target) {
  GLuint count = 7;
  glEndQuery(target);
  glGetQueryObjectuiv(query, GL_QUERY_RESULT, &count);
  glBeginQuery(target, query);
  return count == 0;
}

#define QUERY(name, target)                                                                                    \
  static void name(int on) {                                                                                   \
    run_query(on, target);                                                                                     \
  }                                                                                                            \
  static int name##_counts_nothing(void) {                                                                     \
    return counts_nothing(target);                                                                             \
  }
QUERY(samples, GL_SAMPLES_PASSED)
QUERY(any_sample, GL_ANY_SAMPLES_PASSED)
QUERY(maybe_sample, GL_ANY_SAMPLES_PASSED_CONSERVATIVE)
QUERY(primitives, GL_PRIMITIVES_GENERATED)

static void time_elapsed(int on) {
  run_query(on, GL_TIME_ELAPSED);
}

static void condition(int on) {
  if (on) {
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    glEndQuery(GL_SAMPLES_PASSED);
    glBeginConditionalRender(query, GL_QUERY_WAIT);
  } else {
    glEndConditionalRender();
    glDeleteQueries(1, &query);
  }
}

static void debug_group(int on) {
  if (on)
    glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 1, -1, "application");
  else
    glPopDebugGroup();
}

static const gl_state_case cases[] = {
    {.name = "textures and the active unit", .change = bind_textures},
    {.name = "samplers", .change = bind_samplers},
    {.name = "a framebuffer object", .change = bind_framebuffer},
    {.name = "buffers", .change = bind_buffers},
    {.name = "a vertex array", .change = bind_array},
    {.name = "a program", .change = plain_program},
    {.name = "subroutines", .needs = GL_HAS_SUBROUTINES, .change = subroutines, .holds = has_chosen},
    {.name = "a pipeline",
     .needs = GL_HAS_PIPELINES | GL_HAS_SUBROUTINES,
     .change = pipeline_with_subroutines,
     .holds = has_chosen},
    {.name = "transform feedback", .needs = GL_HAS_FEEDBACK_PAUSE, .change = feedback, .holds = goes_on},
    {.name = "transform feedback that cannot pause",
     .lacks = GL_HAS_FEEDBACK_PAUSE,
     .change = feedback,
     .refusal = "transform feedback",
     .holds = goes_on},
    {.name = "transform feedback, paused", .needs = GL_HAS_FEEDBACK_PAUSE, .change = paused_feedback},
    {.name = "GL_SAMPLES_PASSED",
     .change = samples,
     .refusal = "GL_SAMPLES_PASSED",
     .holds = samples_counts_nothing},
    {.name = "GL_ANY_SAMPLES_PASSED",
     .change = any_sample,
     .refusal = "GL_ANY_SAMPLES_PASSED",
     .holds = any_sample_counts_nothing},
    {.name = "GL_ANY_SAMPLES_PASSED_CONSERVATIVE",
     .needs = GL_HAS_CONSERVATIVE_QUERY,
     .change = maybe_sample,
     .refusal = "GL_ANY_SAMPLES_PASSED_CONSERVATIVE",
     .holds = maybe_sample_counts_nothing},
    {.name = "GL_PRIMITIVES_GENERATED",
     .change = primitives,
     .refusal = "GL_PRIMITIVES_GENERATED",
     .holds = primitives_counts_nothing},
    {.name = "GL_TIME_ELAPSED", .change = time_elapsed},
    {.name = "conditional rendering", .change = condition, .refusal = "glEndConditionalRender"},
    {.name = "a debug group", .needs = GL_HAS_INTERFACE_QUERY, .change = debug_group},
};

const gl_state_list gl_states_objects = {cases, sizeof cases / sizeof cases[0]};
