/* An application's OpenGL state, as saved by gl_state*.c. */
#ifndef TSI_GL_STATE_H
#define TSI_GL_STATE_H

#include "gl.h"

/* A state that one call reads and another sets, with the value that the library's calls need. */
typedef enum gl_row_kind {
  GL_ROW_SWITCH,   /* glIsEnabled, glEnable */
  GL_ROW_STORE,    /* glPixelStorei */
  GL_ROW_TRANSFER, /* glPixelTransferf */
  GL_ROW_CLAMP,    /* glClampColor */
  GL_ROW_LOGIC_OP  /* glLogicOp */
} gl_row_kind;

typedef struct gl_row {
  gl_row_kind kind;
  GLenum name;
  unsigned needs; /* GL_HAS_...; 0: in every context */
  double wanted;
} gl_row;

typedef struct gl_table {
  const gl_row *rows;
  int count;
} gl_table;

enum { GL_MOST_ROWS = 64, GL_STAGES = 6 };

/* The part of the state in which a call can detect changes since the previous call. */
typedef struct gl_values {
  /* Saved on entry. */
  double transfer[GL_MOST_ROWS];
  GLint draw_framebuffer, read_framebuffer, vao, array_buffer, pack_buffer, unpack_buffer, active_texture;
  GLint matrix_mode;
  GLfloat colour_matrix[16];
  /* Saved before the first draw. */
  double drawing[GL_MOST_ROWS];
  GLfloat viewport[4];
  GLint program, pipeline, polygon_mode[2], clip_origin, clip_depth;
  GLint color_mask[GL_TARGETS][4], blend[GL_TARGETS], scissor;
} gl_values;

struct gl_state {
  unsigned char absent[2][GL_MOST_ROWS]; /* transfer and drawing rows that the driver does not know */
  gl_values values;
  gl_values proven;                           /* values at the last proof */
  GLint texture[GL_UNITS], sampler[GL_UNITS]; /* of the units that the call has used */
  int is_feedback_paused;                     /* paused by the library */
  GLint subroutine_counts[GL_STAGES];
  GLuint *subroutines; /* NULL if there are none */
};

/* ---- src/gl/desktop or src/gl/webgl ---- */
extern const gl_table gl_transfer_rows, gl_drawing_rows;
void gl_row_set(const gl_row *row, double value);
/* Bindings of framebuffers, buffers and the vertex array, and the active unit. gl_bindings_restore leaves the
 * active unit to its caller. */
void gl_bindings_save(gl_backend *gl);
void gl_bindings_restore(gl_backend *gl);
/* The texture and the sampler of a unit, which is active. */
void gl_unit_save(gl_backend *gl, int unit);
void gl_unit_restore(const gl_backend *gl, int unit);
/* Values of drawing that the rows lack. gl_drawing_set sets everything if `v` is NULL. */
void gl_drawing_save(const gl_backend *gl, gl_values *v);
void gl_drawing_set(const gl_backend *gl, const gl_values *v);
void gl_drawing_restore(const gl_backend *gl, const gl_values *v);

/* The program and the state that is lost with it. */
/* Fails, naming the cause, if nothing can be drawn or if the draws would be counted. */
ts_status gl_state_refuse(ts_context *context);
/* Also pauses transform feedback. gl_state_restore_program resumes it. */
ts_status gl_state_save_program(ts_context *context);
void gl_state_restore_program(ts_context *context);

#endif
