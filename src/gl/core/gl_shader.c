/* Loads, expands and compiles shaders. Files contain no #version; this file prepends it and the defines. It
 * expands #include "name" with #line directives, so that errors refer to the original file and line. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl/grid/gl_grid.h"
#include "gl_shader.h"

enum { max_files = 24, max_depth = 8 };

/* The text to compile and the files it was built from: source string number -> name. */
typedef struct source {
  ts_context *context;
  char *text;
  size_t length, room;
  char names[max_files][64];
  int files;
} source;

static ts_status append(source *s, const char *text, size_t length) {
  if (s->length + length + 1 > s->room) {
    const size_t room = 2 * (s->length + length + 1);
    char *larger = tsi_malloc(s->context, room, 1);
    if (!larger) return tsi_out_of_memory(s->context, "a shader", room);
    if (s->length) memcpy(larger, s->text, s->length);
    tsi_free(s->context, s->text);
    s->text = larger;
    s->room = room;
  }
  memcpy(s->text + s->length, text, length);
  s->length += length;
  s->text[s->length] = 0;
  return TS_OK;
}

/* ---- Finding a file ---- */

static ts_status read_stream(ts_context *context, FILE *file, char **text) {
  size_t room = 4096, length = 0;
  *text = tsi_malloc(context, room, 1);
  while (*text) {
    length += fread(*text + length, 1, room - length - 1, file);
    if (length < room - 1) break;
    char *larger = tsi_malloc(context, 2 * room, 1);
    if (larger) memcpy(larger, *text, length);
    tsi_free(context, *text);
    *text = larger;
    room *= 2;
  }
  if (!*text) return tsi_out_of_memory(context, "a shader", room);
  (*text)[length] = 0;
  return TS_OK;
}

/* `*owned` receives a text to free, or NULL if the text is built in. */
static ts_status find_file(ts_context *context, const char *name, const char **text, char **owned) {
  const char *dir = gl_of(context)->shader_dir;
  *owned = NULL;
  if (dir) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "rb");
    if (file) {
      const ts_status status = read_stream(context, file, owned);
      fclose(file);
      *text = *owned;
      return status;
    }
  }
  for (const gl_embedded_shader *e = gl_embedded_shaders; e->name; e++)
    if (!strcmp(e->name, name)) {
      *text = e->source;
      return TS_OK;
    }
  return tsi_fail(context, TS_ERROR_SHADER, "shader %s does not exist", name);
}

/* ---- Expanding #include ---- */

static ts_status expand(source *s, const char *name, int depth);

/* If `line` is #include "name", copies the name. */
static int is_include(const char *line, char *name, size_t size) {
  while (*line == ' ' || *line == '\t') line++;
  if (strncmp(line, "#include", 8)) return 0;
  const char *open = strchr(line, '"');
  const char *end = strchr(line, '\n');
  const char *close = open ? strchr(open + 1, '"') : NULL;
  if (!open || !close || (end && close > end) || (size_t)(close - open) > size) return 0;
  memcpy(name, open + 1, (size_t)(close - open - 1));
  name[close - open - 1] = 0;
  return 1;
}

/* Detects the end of a preprocessor branch. A skipped branch may contain an #include, and its #line directives
 * then have no effect. */
static int ends_branch(const char *line) {
  while (*line == ' ' || *line == '\t') line++;
  return !strncmp(line, "#endif", 6) || !strncmp(line, "#else", 5) || !strncmp(line, "#elif", 5);
}

/* Some drivers omit the source string number from their messages (Mesa prints 0). All drivers print line
 * numbers, so every file has its own range of lines. */
enum { lines_a_file = 10000 };

static ts_status append_line_directive(source *s, int line, int file) {
  char text[48];
  const int length = snprintf(text, sizeof text, "#line %d %d\n", file * lines_a_file + line, file);
  return append(s, text, (size_t)length);
}

static ts_status expand_text(source *s, const char *text, int file, int depth) {
  TSI_TRY(append_line_directive(s, 1, file));
  int line = 1;
  while (*text) {
    const char *end = strchr(text, '\n');
    const size_t length = end ? (size_t)(end - text) + 1 : strlen(text);
    char name[64];
    if (is_include(text, name, sizeof name)) {
      TSI_TRY(expand(s, name, depth + 1));
      TSI_TRY(append_line_directive(s, line + 1, file));
    } else {
      TSI_TRY(append(s, text, length));
      if (end && ends_branch(text)) TSI_TRY(append_line_directive(s, line + 1, file));
    }
    text += length;
    line++;
  }
  return append(s, "\n", 1);
}

static ts_status expand(source *s, const char *name, int depth) {
  if (depth > max_depth || s->files == max_files)
    return tsi_fail(s->context, TS_ERROR_SHADER, "%s: #include \"%s\" is nested too deeply", s->names[0], name);
  const int file = s->files++;
  snprintf(s->names[file], sizeof s->names[file], "%s", name);
  const char *text;
  char *owned;
  TSI_TRY(find_file(s->context, name, &text, &owned));
  const ts_status status = expand_text(s, text, file, depth);
  tsi_free(s->context, owned);
  return status;
}

/* ---- Compiling ---- */

/* Drivers write "0:12(5): error: ...", "0(12) : error ..." or "ERROR: 0:12: ...". The second number is the
 * line. The message follows the next colon and space. */
static void explain(const source *s, const char *log, char *out, size_t size) {
  const char *p = log;
  while (*p && !isdigit((unsigned char)*p)) p++;
  char *end = (char *)p;
  strtol(p, &end, 10);
  long line = 0;
  if (end > p && (*end == ':' || *end == '(')) line = strtol(end + 1, &end, 10);
  const long file = line / lines_a_file;
  const char *colon = line > 0 ? strstr(end, ": ") : NULL;
  const char *const from = colon ? colon + 2 : log;
  /* One line of the driver's message. */
  char words[320];
  size_t n = 0;
  for (const char *c = from; *c && *c != '\n' && n + 1 < sizeof words; c++) words[n++] = *c;
  words[n] = 0;
  if (line > 0 && file < s->files)
    snprintf(out, size, "%s:%ld: the driver says: %s", s->names[file], line % lines_a_file, words);
  else
    snprintf(out, size, "%s: the driver says: %s", s->names[0], words);
}

/* With `asks`, waits for the compiler and explains an error. */
static ts_status compile(ts_context *context, GLenum stage, const char *name, const char *defines, int asks,
                         GLuint *shader) {
  source s = {.context = context};
#if TSI_WEBGL
  static const char version[] = "#version 300 es\nprecision highp float;\nprecision highp int;\n"
                                "precision highp sampler2D;\nprecision highp isampler2D;\n"
                                "precision highp usampler2D;\n";
#else
  static const char version[] = "#version 330 core\n";
#endif
  /* For shaders that do not include exact.glsl, which enables the same extension. */
  static const char extensions[] =
      "#if defined(PAIR) && EXACT_BY == 1\n#extension GL_ARB_gpu_shader5 : enable\n#endif\n";
  ts_status status = append(&s, version, sizeof version - 1);
  if (status == TS_OK && gl_of(context)->texture_gather) status = append(&s, "#define GATHER\n", 15);
  if (status == TS_OK && gl_of(context)->nearest) status = append(&s, "#define NEAREST\n", 16);
  if (status == TS_OK && !context->caps.is_hardware) status = append(&s, "#define PLAIN_LOOP\n", 19);
  if (status == TS_OK) {
    char exact[48];
    const int length = snprintf(exact, sizeof exact, "#define EXACT_BY %d\n%s", gl_of(context)->exact,
                                gl_of(context)->exact_fma ? "#define EXACT_FMA\n" : "");
    status = append(&s, exact, (size_t)length);
  }
  if (status == TS_OK) status = append(&s, defines, strlen(defines));
  if (status == TS_OK) status = append(&s, extensions, sizeof extensions - 1);
  if (status == TS_OK) status = expand(&s, name, 0);
  if (status == TS_OK) {
    *shader = glCreateShader(stage);
    const GLchar *text = s.text;
    glShaderSource(*shader, 1, &text, NULL);
    glCompileShader(*shader);
    GLint ok = 1;
    if (asks) glGetShaderiv(*shader, GL_COMPILE_STATUS, &ok);
    if (!ok) {
      char log[2048] = "", message[480];
      glGetShaderInfoLog(*shader, sizeof log, NULL, log);
      explain(&s, log, message, sizeof message);
      glDeleteShader(*shader);
      *shader = 0;
      status = tsi_fail(context, TS_ERROR_SHADER, "%s", message);
    }
  }
  tsi_free(context, s.text);
  return status;
}

/* Returns the bits of the units of inputs and slots. */
static unsigned set_samplers(GLuint program) {
  static const struct {
    const char *name;
    int unit;
  } samplers[] = {
      {"input0", GL_UNIT_INPUT},
      {"input1", GL_UNIT_INPUT + 1},
      {"input2", GL_UNIT_INPUT + 2},
      {"input3", GL_UNIT_INPUT + 3},
      {"slot0", GL_UNIT_SLOT},
      {"slot1", GL_UNIT_SLOT + 1},
      {"slot2", GL_UNIT_SLOT + 2},
      {"slot3", GL_UNIT_SLOT + 3},
      {"low0", GL_UNIT_LOW},
      {"low1", GL_UNIT_LOW + 1},
      {"low2", GL_UNIT_LOW + 2},
      {"low3", GL_UNIT_LOW + 3},
      {"low_slot0", GL_UNIT_MATRIX}, /* low_slot_units in gl_pass.c */
      {"low_slot1", GL_UNIT_MATRIX + 1},
      {"low_slot2", GL_UNIT_MATRIX + 2},
      {"low_slot3", GL_UNIT_MATRIX + 4},
      {"entries", GL_UNIT_MATRIX},
      {"channels", GL_UNIT_CHANNELS},
      {"diagonal", GL_UNIT_MATRIX + 1},
      {"pointers", GL_UNIT_MATRIX + 2},
      {"values", GL_UNIT_MATRIX + 2},
      {"starts", GL_UNIT_MATRIX + 3},
      {"sums", GL_UNIT_MATRIX + 4},
      {"low_sums", GL_UNIT_LOW_SUMS},
      {"lowest_sums", GL_UNIT_LOW_SUMS + 1},
      {"lower_bounds", GL_UNIT_MATRIX + 1},
      {"upper_bounds", GL_UNIT_MATRIX + 2},
      {"low_entries", GL_UNIT_SLOT}, /* for passes without slots */
      {"low_lower_bounds", GL_UNIT_SLOT + 1},
      {"low_upper_bounds", GL_UNIT_SLOT + 2},
      {"low_diagonal", GL_UNIT_SLOT + 1},
      {"contacts", GL_UNIT_MATRIX + 3},
      {"incidences", GL_UNIT_MATRIX + 3},
      {"places", GL_UNIT_MATRIX + 4},
      {"corners", GL_UNIT_CORNERS},
      {"exact_zero", GL_UNIT_EXACT},
      {"stencil_centre", GL_UNIT_STENCIL},
      {"stencil_sides", GL_UNIT_STENCIL + 1},
      {"stencil_corners", GL_UNIT_STENCIL + 2},
      {"x_row", GL_UNIT_ROW},
      {"x_column", GL_UNIT_COLUMN},
      {"x_corners", GL_UNIT_AT_CORNERS},
      {"weights0", GL_UNIT_WEIGHTS},
      {"weights1", GL_UNIT_WEIGHTS + 1},
      {"coarse_centre", GL_UNIT_COARSE},
      {"inverse", GL_UNIT_COARSE},
      {"layer0", GL_UNIT_LAYERS},
      {"layer1", GL_UNIT_LAYERS + 1},
      {"layer2", GL_UNIT_LAYERS + 2},
      {"layer3", GL_UNIT_LAYERS + 3},
      {"layer5", GL_UNIT_LAYERS + 5},
      {"layer6", GL_UNIT_LAYERS + 6},
      {"layer7", GL_UNIT_LAYERS + 7},
      {"layer8", GL_UNIT_LAYERS + 8},
  };
  unsigned units = 0;
  glUseProgram(program);
  for (size_t i = 0; i < sizeof samplers / sizeof samplers[0]; i++) {
    const GLint location = glGetUniformLocation(program, samplers[i].name);
    if (location < 0) continue;
    glUniform1i(location, samplers[i].unit);
    if (!strncmp(samplers[i].name, "input", 5) || strstr(samplers[i].name, "slot"))
      units |= 1u << samplers[i].unit;
  }
  return units;
}

/* Joins the lines of a log without the warnings, which could otherwise hide the errors. */
static void gather_errors(char *log, char *words, size_t size) {
  size_t used = 0;
  words[0] = 0;
  for (char *line = log, *next; line && used < size; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    if (!*line || strstr(line, "warning")) continue;
    const int count = snprintf(words + used, size - used, "%s%s", used ? " " : "", line);
    used += count > 0 ? (size_t)count : 0;
  }
  if (used == 0) snprintf(words, size, "no reason");
}

static ts_status link_program(ts_context *context, const char *vertex, const char *fragment,
                              const char *defines, int asks, GLuint *program) {
  GLuint v = 0, f = 0;
  TSI_TRY(compile(context, GL_VERTEX_SHADER, vertex, defines, asks, &v));
  const ts_status status = compile(context, GL_FRAGMENT_SHADER, fragment, defines, asks, &f);
  if (status < 0) {
    glDeleteShader(v);
    return status;
  }
  *program = glCreateProgram();
  glAttachShader(*program, v);
  glAttachShader(*program, f);
  glLinkProgram(*program);
  glDeleteShader(v);
  glDeleteShader(f);
  return TS_OK;
}

/* Deletes a program that does not link, and explains why. */
static ts_status explain_program(ts_context *context, const char *vertex, const char *fragment,
                                 const char *defines, GLuint program) {
  char log[4096] = "", words[320];
  glGetProgramInfoLog(program, sizeof log, NULL, log);
  gl_delete_program(gl_of(context), program);
  if (TSI_WEBGL) { /* the shaders were not asked, so compile them again */
    TSI_TRY(link_program(context, vertex, fragment, defines, 1, &program));
    gl_delete_program(gl_of(context), program);
  }
  gather_errors(log, words, sizeof words);
  return tsi_fail(context, TS_ERROR_SHADER, "%s and %s do not link; the driver says: %s", vertex, fragment,
                  words);
}

/* Splits a key into the names of the shaders and the defines. */
static void split_key(char *key, char **fragment, char **defines) {
  *fragment = strchr(key, ' ');
  *(*fragment)++ = 0;
  *defines = strchr(*fragment, ' ');
  *(*defines)++ = 0;
}

static ts_status finish_program(ts_context *context, gl_program *p) {
  GLint ok = 0;
  glGetProgramiv(p->name, GL_LINK_STATUS, &ok);
  if (!ok) {
    gl_backend *gl = gl_of(context);
    char key[sizeof p->key], *fragment, *defines;
    const GLuint name = p->name;
    snprintf(key, sizeof key, "%s", p->key);
    split_key(key, &fragment, &defines);
    for (gl_program **link = &gl->programs; *link; link = &(*link)->next)
      if (*link == p) {
        *link = p->next;
        break;
      }
    tsi_free(context, p);
    return explain_program(context, key, fragment, defines, name);
  }
  p->units = set_samplers(p->name);
  gl_of(context)->bound_program = p->name;
  p->parameters = glGetUniformLocation(p->name, "p");
  p->is_finished = 1;
  return TS_OK;
}

ts_status gl_program_finish(ts_context *context, const gl_program *program) {
  gl_program *p = gl_of(context)->programs;
  while (p != program) p = p->next;
  const double start = tsi_seconds();
  const ts_status status = finish_program(context, p);
  context->seconds_shaders += tsi_seconds() - start;
  return status;
}

ts_status gl_program_get(ts_context *context, const char *vertex, const char *fragment, const char *defines,
                         const gl_program **out) {
  gl_backend *gl = gl_of(context);
  char key[sizeof gl->programs->key];
  snprintf(key, sizeof key, "%s %s %s", vertex, fragment, defines);
  for (gl_program *p = gl->programs; p; p = p->next)
    if (!strcmp(p->key, key)) {
      *out = p;
      return TS_OK;
    }
  TSI_TRY(gl_state_draw(context));
  gl_program *p = tsi_calloc(context, 1, sizeof *p);
  if (!p) return tsi_out_of_memory(context, "a program", sizeof *p);
  GLuint name = 0;
  const double start = tsi_seconds();
  const ts_status status = link_program(context, vertex, fragment, defines, !TSI_WEBGL, &name);
  context->seconds_shaders += tsi_seconds() - start;
  if (status < 0) {
    tsi_free(context, p);
    return status;
  }
  p->name = name;
  snprintf(p->key, sizeof p->key, "%s", key);
  p->next = gl->programs;
  gl->programs = p;
  *out = p;
  return TSI_WEBGL ? TS_OK : gl_program_finish(context, p);
}

void gl_program_drawn(ts_context *context, const gl_program *program, double seconds) {
  for (gl_program *p = gl_of(context)->programs; p; p = p->next)
    if (p == program) p->is_drawn = 1;
  context->seconds_shaders += seconds;
}

void gl_programs_destroy(ts_context *context) {
  gl_backend *gl = gl_of(context);
  while (gl->programs) {
    gl_program *p = gl->programs;
    gl->programs = p->next;
    if (gl->entered) gl_delete_program(gl, p->name);
    tsi_free(context, p);
  }
}
