/* Matrices: the textures of a layout and the vertices of its rectangles. */
#include <string.h>

#include "gl/core/gl.h"

static gl_texture *share(gl_texture *texture) {
  if (texture) texture->references++;
  return texture;
}

/* The low-order part shares the pointers of the whole matrix. In jagged layout, they include the values of the
 * whole. */
static ts_status share_pointers(ts_matrix *A, const tsi_format *format) {
  const gl_matrix *whole = gl_matrix_of(A->whole);
  gl_matrix *m = gl_matrix_of(A);
  m->pointers = share(whole->pointers);
  m->starts = share(whole->starts);
  if (!format->pairs) return TS_OK;
  m->entries = share(whole->entries);
  return gl_texture_create(A->context, GL_R32F, A->layout->width, A->layout->height, "a matrix", &m->values);
}

static ts_status create_textures(ts_matrix *A) {
  ts_context *context = A->context;
  gl_matrix *m = gl_matrix_of(A);
  const tsi_layout *layout = A->layout;
  const tsi_tiling *t = &A->row_space->tiling;
  static const char what[] = "a matrix";
  const tsi_format *format = tsi_format_of(layout->format);
  const int texels = format->log2_block == 2 ? 4 : 1; /* texels per block */
  const GLenum entry = format->log2_block ? GL_RGBA32F : format->pairs ? GL_RG32UI : GL_R32F;
  if (A->whole) TSI_TRY(share_pointers(A, format));
  if (!m->entries)
    TSI_TRY(gl_texture_create(context, entry, texels * layout->width, layout->height, what, &m->entries));
  if (!format->pairs && !m->pointers)
    TSI_TRY(gl_texture_create(context, GL_R32UI, layout->width, layout->height, what, &m->pointers));
  if (format->runs && !m->starts)
    TSI_TRY(gl_texture_create(context, GL_R32UI, t->width, t->height, what, &m->starts));
  if (format->log2_block && layout->stage_count)
    TSI_TRY(gl_texture_create(context, GL_RGBA32F, texels << layout->stages[0].log2_width,
                              layout->stages[0].height, what, &m->stage_blocks));
  if (A->has_diagonal)
    TSI_TRY(gl_texture_create(context, format->log2_block ? GL_RGBA32F : GL_R32F, texels * t->width, t->height,
                              what, &m->diagonal));
  for (int s = 0; s < layout->stage_count; s++)
    TSI_TRY(gl_texture_create(context, GL_RG32UI, 1 << layout->stages[s].log2_width, layout->stages[s].height,
                              what, &m->stages[s]));
  return TS_OK;
}

/* The vertices for shaders/matrix/rectangles.vert, one per rectangle. Squares are drawn as points, which have
 * one vertex and shade no texel twice. Other rectangles, and squares beyond the device's point sizes, are drawn
 * as quads. */
static ts_status create_rectangles(ts_matrix *A) {
  ts_context *context = A->context;
  gl_matrix *m = gl_matrix_of(A);
  const tsi_tiling *t = &A->row_space->tiling;
  enum { integers = 4 };
  if (A->whole) {
    const gl_matrix *whole = gl_matrix_of(A->whole);
    m->rectangle_count = whole->rectangle_count;
    m->as_points = whole->as_points;
    m->vao = whole->vao;
    return TS_OK;
  }
  m->rectangle_count = t->rectangles_x * (t->height >> t->log2_height);
  m->as_points = t->log2_width == t->log2_height && 1 << t->log2_width <= gl_of(context)->max_point_size;
  const size_t bytes = (size_t)m->rectangle_count * integers * sizeof(GLint);
  GLint *data = tsi_malloc(context, bytes, 1);
  if (!data) return tsi_out_of_memory(context, "the rectangles of a matrix", bytes);
  for (int k = 0; k < m->rectangle_count; k++) {
    static const GLint no_equations[integers] = {0, 0, 0, 2};
    const tsi_rectangle *r = &A->layout->rectangles[k];
    if (k < t->free_rectangles)
      memcpy(data + (size_t)k * integers, (const GLint[integers]){r->x, r->y, r->length, r->spill},
             sizeof no_equations);
    else
      memcpy(data + (size_t)k * integers, no_equations, sizeof no_equations);
  }
  ts_status status = tsi_device_alloc(context, bytes, "the rectangles of a matrix");
  if (status == TS_OK) {
    m->vertices_bytes = bytes;
    glGenVertexArrays(1, &m->vao);
    glGenBuffers(1, &m->vertices);
    glBindVertexArray(m->vao);
    glBindBuffer(GL_ARRAY_BUFFER, m->vertices);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)bytes, data, GL_STATIC_DRAW);
    glEnableVertexAttribArray(0);
    glVertexAttribIPointer(0, integers, GL_INT, 0, NULL);
    glVertexAttribDivisor(0, m->as_points ? 0 : 1);
    glBindVertexArray(gl_of(context)->empty_vao);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    status = gl_check(context, "the rectangles of a matrix");
  }
  tsi_free(context, data);
  return status;
}

/* The values of entries that pair a value with a pointer. */
static ts_status write_values(const ts_matrix *A, const tsi_entry *entries) {
  const gl_matrix *m = gl_matrix_of(A);
  const size_t count = (size_t)m->values->width * (size_t)m->values->height;
  float *values = tsi_malloc(A->context, count, sizeof *values);
  if (!values) return tsi_out_of_memory(A->context, "a matrix", count * sizeof *values);
  for (size_t i = 0; i < count; i++) values[i] = entries[i].value;
  gl_texture_write(gl_of(A->context), m->values, 0, 0, m->values->width, m->values->height, values);
  tsi_free(A->context, values);
  return TS_OK;
}

static void write_all(gl_backend *gl, const gl_texture *texture, const void *data) {
  if (texture && data) gl_texture_write(gl, texture, 0, 0, texture->width, texture->height, data);
}

ts_status gl_matrix_write(ts_matrix *A, const tsi_packed *packed) {
  gl_backend *gl = gl_of(A->context);
  gl_matrix *m = gl_matrix_of(A);
  const int blocks = A->layout->blocks.log2_size != 0;
  if (m->values)
    TSI_TRY(write_values(A, packed->entries));
  else
    write_all(gl, m->entries,
              packed->entries ? (const void *)packed->entries
              : blocks        ? packed->block_values
                              : packed->values);
  if (!A->whole) write_all(gl, m->pointers, packed->pointers);
  if (!A->whole) write_all(gl, m->starts, packed->starts);
  write_all(gl, m->diagonal, blocks ? packed->block_diagonal : packed->diagonal);
  write_all(gl, m->stage_blocks, packed->stage_blocks);
  for (int s = 0; s < A->layout->stage_count; s++) write_all(gl, m->stages[s], packed->stages[s]);
  return gl_check(A->context, "writing a matrix");
}

/* Reads all texels of a texture, if it exists. */
static ts_status read_all(const ts_matrix *A, const gl_texture *texture, void *out) {
  void **to = out;
  if (!texture) return TS_OK;
  const size_t bytes = gl_texel_bytes(texture->format) * (size_t)texture->width * (size_t)texture->height;
  *to = tsi_malloc(A->context, bytes, 1);
  if (!*to) return tsi_out_of_memory(A->context, "the texels of a matrix", bytes);
  return gl_texture_read(A->context, texture, *to);
}

ts_status gl_matrix_read(const ts_matrix *A, tsi_packed *packed, tsi_host_csr *csr) {
  (void)csr;
  const gl_matrix *m = gl_matrix_of(A);
  const int blocks = A->layout->blocks.log2_size != 0, pairs = tsi_format_of(A->layout->format)->pairs;
  float *values = NULL;
  TSI_TRY(read_all(A, m->entries,
                   blocks  ? (void *)&packed->block_values
                   : pairs ? (void *)&packed->entries
                           : (void *)&packed->values));
  TSI_TRY(read_all(A, m->values, &values)); /* of the low-order part; its pointers are in the whole's entries */
  for (size_t i = 0; values && i < (size_t)m->values->width * (size_t)m->values->height; i++)
    packed->entries[i].value = values[i];
  tsi_free(A->context, values);
  TSI_TRY(read_all(A, m->pointers, &packed->pointers));
  TSI_TRY(read_all(A, m->diagonal, blocks ? (void *)&packed->block_diagonal : (void *)&packed->diagonal));
  TSI_TRY(read_all(A, m->stage_blocks, &packed->stage_blocks));
  for (int s = 0; s < A->layout->stage_count; s++) TSI_TRY(read_all(A, m->stages[s], &packed->stages[s]));
  return gl_check(A->context, "reading a matrix");
}

void gl_matrix_release_sums(const ts_matrix *A) {
  gl_matrix *m = gl_matrix_of(A);
  for (int s = 0; s < TSI_MAX_STAGES; s++)
    for (int part = 0; part < GL_TARGETS; part++) {
      gl_texture_release(A->context, m->sums[s][part]);
      m->sums[s][part] = NULL;
    }
  m->sums_components = 0;
}

static void gl_matrix_destroy(ts_matrix *A) {
  gl_matrix *m = gl_matrix_of(A);
  if (!m) return;
  ts_context *context = A->context;
  gl_matrix_release_sums(A);
  gl_texture_release(context, m->entries);
  gl_texture_release(context, m->values);
  gl_texture_release(context, m->pointers);
  gl_texture_release(context, m->starts);
  gl_texture_release(context, m->diagonal);
  gl_texture_release(context, m->stage_blocks);
  for (int s = 0; s < TSI_MAX_STAGES; s++) gl_texture_release(context, m->stages[s]);
  if (gl_of(context)->entered && m->vertices_bytes) {
    gl_delete_vertex_array(gl_of(context), m->vao);
    gl_delete_buffer(gl_of(context), m->vertices);
  }
  tsi_device_free(context, m->vertices_bytes);
  tsi_free(context, m);
  A->impl = NULL;
}

static const tsi_matrix_kind gl_matrix_kind = {.destroy = gl_matrix_destroy,
                                               TSI_MATRIX_OPERATIONS(TSI_ENTRY, gl_matrix_).quick_residual =
                                                   gl_matrix_quick_residual,
                                               .smooth = gl_matrix_smooth};

ts_status gl_matrix_create(ts_matrix *A, const tsi_packed *packed) {
  A->impl = tsi_calloc(A->context, 1, sizeof(gl_matrix));
  if (!A->impl) return tsi_out_of_memory(A->context, "a matrix", sizeof(gl_matrix));
  ts_status status = create_textures(A);
  if (status == TS_OK) status = create_rectangles(A);
  if (status == TS_OK) status = gl_matrix_write(A, packed);
  if (status < 0) gl_matrix_destroy(A);
  A->kind = &gl_matrix_kind;
  return status;
}
