/* Matrices: the textures of a layout and the vertex array of its strips. */
#include <string.h>

#include "gl.h"
#include "gl_shader.h"

static ts_status create_textures(ts_matrix *A) {
  ts_context *context = A->context;
  gl_matrix *m = gl_matrix_of(A);
  const tsi_layout *layout = A->layout;
  const tsi_tiling *t = &A->row_space->tiling;
  static const char what[] = "a matrix";
  if (layout->format == TS_FORMAT_JAGGED) {
    TSI_TRY(gl_texture_create(context, GL_RG32UI, layout->width, layout->height, what, &m->entries));
  } else {
    TSI_TRY(gl_texture_create(context, GL_R32F, layout->width, layout->height, what, &m->entries));
    TSI_TRY(gl_texture_create(context, GL_R32UI, layout->width, layout->height, what, &m->pointers));
    TSI_TRY(gl_texture_create(context, GL_R32UI, t->width, t->height, what, &m->starts));
  }
  if (A->has_diagonal) TSI_TRY(gl_texture_create(context, GL_R32F, t->width, t->height, what, &m->diagonal));
  for (int s = 0; s < layout->stage_count; s++)
    TSI_TRY(gl_texture_create(context, GL_RG32UI, 1 << layout->stages[s].log2_width, layout->stages[s].height,
                              what, &m->stages[s]));
  return TS_OK;
}

/* Vertex attributes of shaders/strips.vert, ten integers an instance. */
static ts_status create_strips(ts_matrix *A) {
  ts_context *context = A->context;
  gl_matrix *m = gl_matrix_of(A);
  const tsi_layout *layout = A->layout;
  enum { integers = 10 };
  const size_t bytes = (size_t)layout->strip_count * integers * sizeof(GLint);
  GLint *data = tsi_malloc(context, bytes, 1);
  if (!data) return tsi_out_of_memory(context, "the strips of a matrix", bytes);
  for (int k = 0; k < layout->strip_count; k++) {
    const tsi_strip *s = &layout->strips[k];
    const GLint values[integers] = {s->x0,
                                    s->y0,
                                    s->x1,
                                    s->y1,
                                    s->first_rectangle,
                                    s->length,
                                    s->spill | s->zero << 1,
                                    s->per_row > 0 ? s->per_row : 1,
                                    s->base_x,
                                    s->base_y};
    memcpy(data + k * integers, values, sizeof values);
  }
  ts_status status = tsi_device_take(context, bytes, "the strips of a matrix");
  if (status == TS_OK) {
    m->strips_bytes = bytes;
    glGenVertexArrays(1, &m->vao);
    glGenBuffers(1, &m->strips);
    glBindVertexArray(m->vao);
    glBindBuffer(GL_ARRAY_BUFFER, m->strips);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)bytes, data, GL_STATIC_DRAW);
    static const GLint sizes[3] = {4, 4, 2};
    size_t offset = 0;
    for (GLuint a = 0; a < 3; a++) {
      glEnableVertexAttribArray(a);
      glVertexAttribIPointer(a, sizes[a], GL_INT, integers * sizeof(GLint), (const char *)0 + offset);
      glVertexAttribDivisor(a, 1);
      offset += (size_t)sizes[a] * sizeof(GLint);
    }
    glBindVertexArray(gl_of(context)->empty_vao);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    status = gl_check(context, "the strips of a matrix");
  }
  tsi_free(context, data);
  return status;
}

static void write_all(gl_backend *gl, const gl_texture *texture, const void *data) {
  if (texture && data) gl_texture_write(gl, texture, 0, 0, texture->width, texture->height, data);
}

ts_status gl_matrix_write(ts_matrix *A, const tsi_packed *packed) {
  gl_backend *gl = gl_of(A->context);
  gl_matrix *m = gl_matrix_of(A);
  const int jagged = A->layout->format == TS_FORMAT_JAGGED;
  write_all(gl, m->entries, jagged ? (const void *)packed->entries : packed->values);
  write_all(gl, m->pointers, packed->pointers);
  write_all(gl, m->starts, packed->starts);
  write_all(gl, m->diagonal, packed->diagonal);
  for (int s = 0; s < A->layout->stage_count; s++) write_all(gl, m->stages[s], packed->stages[s]);
  return gl_check(A->context, "writing a matrix");
}

ts_status gl_matrix_create(ts_matrix *A, const tsi_packed *packed) {
  A->impl = tsi_calloc(A->context, 1, sizeof(gl_matrix));
  if (!A->impl) return tsi_out_of_memory(A->context, "a matrix", sizeof(gl_matrix));
  ts_status status = create_textures(A);
  if (status == TS_OK) status = create_strips(A);
  if (status == TS_OK) status = gl_matrix_write(A, packed);
  if (status < 0) gl_matrix_destroy(A);
  return status;
}

void gl_matrix_release_sums(const ts_matrix *A) {
  gl_matrix *m = gl_matrix_of(A);
  for (int s = 0; s < TSI_MAX_STAGES; s++) {
    gl_texture_release(A->context, m->sums[s]);
    m->sums[s] = NULL;
  }
  m->sums_components = 0;
}

void gl_matrix_destroy(ts_matrix *A) {
  gl_matrix *m = gl_matrix_of(A);
  if (!m) return;
  ts_context *context = A->context;
  gl_matrix_release_sums(A);
  gl_texture_release(context, m->entries);
  gl_texture_release(context, m->pointers);
  gl_texture_release(context, m->starts);
  gl_texture_release(context, m->diagonal);
  for (int s = 0; s < TSI_MAX_STAGES; s++) gl_texture_release(context, m->stages[s]);
  if (gl_of(context)->entered) {
    if (m->vao) glDeleteVertexArrays(1, &m->vao);
    if (m->strips) glDeleteBuffers(1, &m->strips);
  }
  tsi_device_give(context, m->strips_bytes);
  tsi_free(context, m);
  A->impl = NULL;
}
