/* The application may have bound any object of the library when it is destroyed. As with objects that the
 * application deletes, nothing is bound afterwards, and OpenGL has recorded no error. */
#include <GL/glew.h>

#include <texsolve/gl.h>

#include "helpers.h"

enum { most_names = 4096 }; /* implementations number objects from 1 */

typedef enum kind {
  TEXTURE,
  SAMPLER,
  DRAW_FRAMEBUFFER,
  READ_FRAMEBUFFER,
  VERTEX_ARRAY,
  ARRAY_BUFFER,
  PACK_BUFFER,
  UNPACK_BUFFER,
  PROGRAM,
  KINDS
} kind;

static const char *const kind_names[KINDS] = {
    "texture",      "sampler",      "framebuffer to draw", "framebuffer to read",
    "vertex array", "array buffer", "pack buffer",         "unpack buffer",
    "program"};

static int exists(kind k, GLuint name) {
  switch (k) {
  case TEXTURE:
    return glIsTexture(name);
  case SAMPLER:
    return glIsSampler(name);
  case DRAW_FRAMEBUFFER:
  case READ_FRAMEBUFFER:
    return glIsFramebuffer(name);
  case VERTEX_ARRAY:
    return glIsVertexArray(name);
  case PROGRAM:
    return glIsProgram(name);
  default:
    return glIsBuffer(name);
  }
}

static void bind(kind k, GLuint name, int unit) {
  glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
  switch (k) {
  case TEXTURE:
    glBindTexture(GL_TEXTURE_2D, name);
    break;
  case SAMPLER:
    glBindSampler((GLuint)unit, name);
    break;
  case VERTEX_ARRAY:
    glBindVertexArray(name);
    break;
  case PROGRAM:
    glUseProgram(name);
    break;
  case DRAW_FRAMEBUFFER:
  case READ_FRAMEBUFFER:
    glBindFramebuffer(k == DRAW_FRAMEBUFFER ? GL_DRAW_FRAMEBUFFER : GL_READ_FRAMEBUFFER, name);
    break;
  default:
    glBindBuffer(k == ARRAY_BUFFER  ? GL_ARRAY_BUFFER
                 : k == PACK_BUFFER ? GL_PIXEL_PACK_BUFFER
                                    : GL_PIXEL_UNPACK_BUFFER,
                 name);
  }
}

static GLuint bound(kind k) {
  static const GLenum bindings[KINDS] = {GL_TEXTURE_BINDING_2D,
                                         GL_SAMPLER_BINDING,
                                         GL_DRAW_FRAMEBUFFER_BINDING,
                                         GL_READ_FRAMEBUFFER_BINDING,
                                         GL_VERTEX_ARRAY_BINDING,
                                         GL_ARRAY_BUFFER_BINDING,
                                         GL_PIXEL_PACK_BUFFER_BINDING,
                                         GL_PIXEL_UNPACK_BUFFER_BINDING,
                                         GL_CURRENT_PROGRAM};
  GLint name = 0;
  glGetIntegerv(bindings[k], &name);
  return (GLuint)name;
}

/* The `index`-th object of a kind that did not exist `before`, or 0. */
static GLuint find_object(kind k, const GLboolean before[most_names], int index) {
  for (GLuint name = 1; name < most_names; name++)
    if (!before[name] && exists(k, name) && index-- == 0) return name;
  return 0;
}

#define DESTROYED(call)                                                                                        \
  do {                                                                                                         \
    call;                                                                                                      \
    CHECK_INT(glGetError(), GL_NO_ERROR);                                                                      \
  } while (0)

/* Creates every kind of object, binds the `index`-th object of each kind, and destroys everything. Returns the
 * number of kinds with that many objects. `seen` marks the kinds that ever had one. */
static int bind_and_destroy(GLboolean before[KINDS][most_names], int index, int seen[KINDS]) {
  ref_matrix m = ref_grid(23, 17);
  ts_context *context = test_open();
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_JAGGED);
  ts_space *space = ts_matrix_get_row_space(matrix);
  ts_vector *x = make_vector(space, 1, NULL), *y = make_vector(space, 1, NULL);
  ts_scalars *scalars = make_scalars(context, 2);
  unsigned index_texture;
  float slot[4];
  CHECK_OK(context, ts_gl_space_get_index_texture(space, &index_texture));
  CHECK_OK(context, ts_vector_fill(x, 1));
  CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
  CHECK_OK(context, ts_vector_dot(scalars, 0, x, y));
  CHECK_OK(context, ts_scalars_read(scalars, 0, ts_host(slot, 4)));
  int count = 0, taken[KINDS];
  for (int k = 0; k < KINDS; k++) {
    const GLuint name = find_object((kind)k, before[k], index);
    taken[k] = name != 0;
    seen[k] |= taken[k];
    count += taken[k];
    if (name) bind((kind)k, name, index % 2 ? 12 : 0); /* the first and the last unit that passes use */
  }
  CHECK_INT(glGetError(), GL_NO_ERROR);
  DESTROYED(ts_vector_destroy(&x));
  DESTROYED(ts_vector_destroy(&y));
  DESTROYED(ts_scalars_destroy(&scalars));
  DESTROYED(ts_matrix_destroy(&matrix));
  DESTROYED(test_close(&context));
  for (int k = 0; k < KINDS; k++) {
    test_context_label("%s %d", kind_names[k], index);
    if (taken[k]) CHECK_INT(bound((kind)k), 0);
  }
  test_context_label("object %d", index);
  ref_free(&m);
  return count;
}

static void bound_objects_are_destroyed(void) {
  static GLboolean before[KINDS][most_names];
  int seen[KINDS] = {0}, rounds = 0;
  for (int k = 0; k < KINDS; k++)
    for (GLuint name = 1; name < most_names; name++) before[k][name] = (GLboolean)exists((kind)k, name);
  while (rounds < 100 && bind_and_destroy(before, rounds, seen)) rounds++;
  CHECK(rounds < 100);
  for (int k = 0; k < KINDS; k++) {
    test_context_label("%s", kind_names[k]);
    if (k != SAMPLER) CHECK(seen[k]); /* only software rasterizers have one */
  }
}

TEST_MAIN(CASES(bound_objects_are_destroyed))
