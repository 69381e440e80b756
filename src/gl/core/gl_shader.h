/* Shaders by name: from the shader directory if there is one and it has the file, else built in. */
#ifndef TSI_GL_SHADER_H
#define TSI_GL_SHADER_H

#include <texsolve/texsolve.h>

typedef struct gl_embedded_shader {
  const char *name, *source;
} gl_embedded_shader;

/* Made by cmake/EmbedShaders.cmake; ends with a NULL name. */
extern const gl_embedded_shader gl_embedded_shaders[];

typedef struct gl_program {
  struct gl_program *next;
  unsigned name;  /* of the program object */
  int parameters; /* location of p */
  int is_drawn;   /* drawn before: drivers leave a part of compiling to the first draw */
  char key[256];
} gl_program;

/* The program of a vertex and a fragment shader with `defines` ("#define A 1\n..."), compiled on first use. Its
 * samplers are set to the units of gl.h. TS_ERROR_SHADER names the file, the line and the driver's words. */
ts_status gl_program_get(ts_context *context, const char *vertex, const char *fragment, const char *defines,
                         const gl_program **out);
/* Notes a first draw, which took `seconds`. */
void gl_program_drawn(ts_context *context, const gl_program *program, double seconds);
void gl_programs_destroy(ts_context *context);

#endif
