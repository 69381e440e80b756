/* Internal types and functions of the OpenGL backend. Read order: gl_backend.c (table, open), gl_texture.c
 * (storage), gl_pass.c (drawing), then the file of an operation.
 *
 * A vector is a region of a texture. If passes may read the texture they write (texture barrier), all vectors
 * and slots of a solver share one texture and one framebuffer object. A pass then never changes the render
 * target. Otherwise each vector and each set of slots has a separate texture. */
#ifndef TSI_GL_H
#define TSI_GL_H

#include "common/core/core.h"
#include "common/layout/layout.h"

#include "gl_api.h"

typedef struct gl_program gl_program; /* gl_shader.h */
typedef struct gl_state gl_state;     /* gl_state.c: an application's saved state */

/* Texture units: the inputs of a pass, the slots of its coefficients, the matrix. */
enum {
  GL_UNIT_INPUT = 0,     /* 4 units */
  GL_UNIT_SLOT = 4,      /* 4 units: numerator and denominator of two coefficients */
  GL_UNIT_MATRIX = 8,    /* entries or values; diagonal; pointers; starts; sums */
  GL_UNIT_CORNERS = 11,  /* of a mesh; no pass reads starts as well */
  GL_UNIT_CHANNELS = 11, /* of a block space; no pass reads starts or corners as well */
  GL_UNIT_EXACT = 13,    /* a texel with the value 0 */
  GL_UNIT_LOW = 14,      /* 4 units: the second parts of inputs */
  GL_UNIT_LOW_SUMS = 16, /* 2 units, shared with inputs 2 and 3: low parts of split-row sums */
  GL_UNITS = 18
};

/* Draw buffers of a pass, one per part of a vector. */
enum { GL_TARGETS = 3, GL_OTHER_SPARES = 8 };

/* How compilers are kept from simplifying sums that need their rounding errors (shaders/include/exact.glsl). */
enum { GL_EXACT_NONE, GL_EXACT_PRECISE, GL_EXACT_UNIFORM, GL_EXACT_TEXEL, GL_EXACT_INTEGER };

/* An OpenGL context and the functions that make it current. */
typedef struct gl_platform {
  ts_status (*enter)(ts_context *context);
  void (*leave)(ts_context *context);
  ts_status (*make_current)(ts_context *context);
  void (*release)(ts_context *context); /* releases the context from this thread, if the library opened it */
  void (*close)(ts_context *context);
  void *impl;
} gl_platform;

/* A texture and the framebuffer object that draws into it. */
typedef struct gl_texture {
  GLuint name, framebuffer;
  GLenum format; /* internal format */
  int width, height;
  size_t bytes; /* accounted size; 0 for an application's texture */
  int references;
  int application_owned; /* the application knows this texture, so the contents must stay in it */
  int read_in_place;     /* 1: since the last barrier a pass has read this texture while drawing into it */
  /* Region for partial sums of the vectors in this texture: scratch_count reductions side by side, each
   * scratch_width texels wide. If scratch_x is -1, partial sums use the backend's scratch textures. */
  int scratch_x, scratch_y, scratch_width, scratch_count;
} gl_texture;

/* A framebuffer object that draws into several textures. */
typedef struct gl_target_set {
  struct gl_target_set *next;
  gl_texture *textures[GL_TARGETS];
  GLuint framebuffer;
} gl_target_set;

/* Proofs that draws have the expected effect (gl_proof.c). */
enum { GL_PROOFS = 16 };
typedef struct gl_proof {
  GLuint name, buffer;
  gl_texture *texture; /* NULL before the first proof */
  int last, numbers[GL_PROOFS];
  int is_due;    /* a proof is due: draws followed the last one */
  int is_unread; /* proofs were drawn and not yet read */
  int is_read;   /* the transfer of proofs into the buffer is in progress */
} gl_proof;

typedef struct gl_backend {
  gl_platform platform;
  int entered;         /* the context is current, so OpenGL may be called */
  int lent;            /* the caller also draws in the library's own context, so its state is unknown */
  gl_state *saved;     /* state of an application's context, otherwise NULL */
  int is_set;          /* the state is set for transfers */
  int draws;           /* the state is also set for draws */
  unsigned used_units; /* bits of the texture units that are set for passes */
  unsigned has;        /* GL_HAS_... of gl_features.h */
  GLuint probe_query;  /* query that detects conditional rendering; 0 before first use */
  gl_proof proof;
  char *shader_dir;     /* NULL: built-in shaders only */
  gl_program *programs; /* list */
  GLuint empty_vao;
  GLuint bound_texture[GL_UNITS];
  GLuint bound_program, bound_framebuffer;
  gl_target_set *target_sets;    /* list */
  gl_texture *scratch[4];        /* partial sums of reductions without room next to the result; second parts */
  gl_texture *spare[GL_TARGETS]; /* one per part, for vectors that cannot be drawn into directly */
  gl_texture *other_spares[GL_OTHER_SPARES]; /* small ones of other sizes and formats, the last used first */
  int max_point_size;
  void(GLAPIENTRY *texture_barrier)(void); /* NULL: unavailable or disabled */
  int texture_gather;                      /* ARB_texture_gather is available and enabled */
  int subgroup_size;  /* of fragments, by KHR_shader_subgroup; 0: unavailable or disabled */
  int exact;          /* GL_EXACT_...; NONE also if disabled */
  int exact_fma;      /* fma() rounds once */
  GLuint nothing;     /* a texture for samplers that a pass lacks, on WebGL; 0 elsewhere */
  GLuint exact_zero;  /* the texture for GL_EXACT_TEXEL and GL_EXACT_INTEGER */
  int packs_parities; /* the channels of a texel are four points of one parity */
  /* llvmpipe compiles a fragment shader twice, the second time for fully covered tiles, unless the old contents
   * may remain. A logic operation, even GL_COPY, makes it compile once. Drawing is as fast (1 % of a fluid
   * step). */
  int compiles_once;
  GLuint nearest; /* sampler for shaders that read texels by filtering; 0: they fetch texels */
  int users;      /* vectors and scalars; at 0, scratch and spare are released */
} gl_backend;

typedef struct gl_vector {
  gl_texture *texture;
  int x, y;
} gl_vector;

/* A slot is a texel, or a block of GL_SLOT_WIDTH x GL_SLOT_HEIGHT partial sums that each reader adds up. With
 * blocks, a reduction saves its last pass; a pass costs more than the sum in a vertex shader. */
enum { GL_SLOT_WIDTH = 16, GL_SLOT_HEIGHT = 8 };

typedef struct gl_scalars {
  gl_texture *texture;
  int blocks;        /* 1: slots are blocks */
  int x, y, per_row; /* slot i is texel or block i mod per_row of row i div per_row, counted from here */
  GLuint buffer;     /* pixel buffer for reads */
  GLsync fence;
  int first, count, width; /* of the read in progress; width of the buffer in texels */
  size_t bytes;            /* of the buffer */
} gl_scalars;

typedef struct gl_matrix {
  gl_texture *entries;  /* jagged: RG32UI value and pointer; segments: R32F values; blocks: RGBA32F */
  gl_texture *values;   /* jagged, low-order part only: R32F; entries then belong to the whole matrix */
  gl_texture *pointers; /* segments and blocks: R32UI */
  gl_texture *starts;   /* segments: R32UI, in the texture of the row space */
  gl_texture *diagonal; /* R32F, in the texture of the row space; or RGBA32F blocks */
  gl_texture *stages[TSI_MAX_STAGES];
  gl_texture *stage_blocks; /* blocks: RGBA32F, values of the first stage's entries */
  GLuint vao, vertices;     /* draw the rectangles */
  int rectangle_count, as_points;
  size_t vertices_bytes;
  /* sums of split rows and their parts, created on demand for the current number of components */
  gl_texture *sums[TSI_MAX_STAGES][GL_TARGETS];
  int sums_components;
} gl_matrix;

typedef struct gl_space {
  GLuint index_texture;
  size_t bytes;
  gl_texture
      *channels; /* R32UI per texel: channels that have an index (bits 0 to 3) and an equation (bits 4 to 7) */
} gl_space;

static inline gl_backend *gl_of(const ts_context *context) {
  return context->backend;
}
static inline gl_vector *gl_vector_of(const ts_vector *v) {
  return v->impl;
}
static inline gl_scalars *gl_scalars_of(const ts_scalars *s) {
  return s->impl;
}
static inline gl_matrix *gl_matrix_of(const ts_matrix *A) {
  return A->impl;
}

/* ---- src/gl/desktop: gl_egl.c, gl_window.c, gl_current.c ---- */
ts_status gl_egl_open(ts_context *context);
ts_status gl_window_open(ts_context *context);
ts_status gl_current_open(ts_context *context);
/* The context that is current on this thread, or NULL. */
void *gl_current_handle(void);

/* ---- src/gl/desktop or src/gl/webgl: the functions that differ between OpenGL and WebGL ---- */
/* Opens the context that the descriptor asks for, and sets gl->platform. */
ts_status gl_platform_open(ts_context *context);
/* Loads the functions of the current context. Fails with TS_ERROR_UNSUPPORTED before OpenGL 3.3, and without
 * float targets on WebGL. */
ts_status gl_load_functions(ts_context *context);
/* The first error that was recorded, or GL_NO_ERROR. In browsers every question for it costs as much as many
 * draws, so gl_error asks in debug builds alone, and gl_error_of_storage after a command that may lack device
 * memory. */
GLenum gl_error(ts_context *context);
GLenum gl_error_of_storage(ts_context *context, size_t bytes);
/* The status of the framebuffer that is bound, in browsers in debug builds alone: they tested each format at
 * opening. */
GLenum gl_framebuffer_status(void);
/* The name of the device, or NULL. */
const char *gl_renderer(void);
/* Reads texels from the framebuffer that is bound. `format` is that of its texture. */
ts_status gl_read_texels(ts_context *context, GLenum format, int x, int y, int width, int height, void *data);
/* Reads all texels, in any format. */
ts_status gl_texture_read(ts_context *context, const gl_texture *texture, void *data);
/* Waits until the device has passed the fence. After an error the context may be left. */
ts_status gl_wait(ts_context *context, GLsync fence);
/* The contents of the buffer that is bound to GL_PIXEL_PACK_BUFFER, all `bytes` of it, until gl_pack_unmap. */
ts_status gl_pack_map(ts_context *context, size_t bytes, const float **texels);
void gl_pack_unmap(ts_context *context);
/* Copies the first `bytes` of it. */
void gl_pack_read(size_t bytes, void *data);
void gl_viewport(const gl_backend *gl, int x, int y, int width, int height);
/* Checks the format and the size of an application's texture, which is bound. WebGL reports sizes that are too
 * small alone. */
ts_status gl_given_check(ts_context *context, GLuint texture, GLenum format, int width, int height);

/* ---- gl_exact.c ---- */
/* Finds out what keeps sums exact in this context. Called once, after the context is entered. */
ts_status gl_exact_find(ts_context *context);
/* "precise", "uniform", "texel", "integer" or "none". */
const char *gl_exact_name(const gl_backend *gl);

/* ---- gl_state.c ---- */
/* The application draws in the context too, so its state is arbitrary. */
static inline int gl_is_shared(const gl_backend *gl) {
  return gl->saved || gl->lent;
}
ts_status gl_state_create(ts_context *context);
void gl_state_destroy(ts_context *context);
/* Fails if OpenGL would ignore commands or queries. Checks display lists only if gl->has is set. */
ts_status gl_state_check(ts_context *context);
/* Sets the state that transfers need. In an application's context, saves the previous state first. */
ts_status gl_state_enter(ts_context *context);
/* Sets the state that draws need. Called before the first draw or clear of a call and before the first use of a
 * program. Fails if drawing is impossible. */
ts_status gl_state_draw(ts_context *context);
/* Saves and sets the active unit before its first use. */
void gl_state_use_unit(gl_backend *gl, int unit);
void gl_state_leave(ts_context *context);
/* Restores the state that would affect how the caller's own textures are drawn in the library's context. */
void gl_state_lend(const gl_backend *gl);
/* The next call that draws will draw a proof. */
void gl_state_doubt(gl_backend *gl);
/* Discards the errors that OpenGL has recorded and logs "WHOSE an OpenGL error, ...". */
void gl_clear_errors(ts_context *context, const char *whose);

/* ---- gl_proof.c ---- */
ts_status gl_proof_draw(ts_context *context);
/* Called around a read of texels. They also read the proofs drawn so far and fail if one is wrong. */
ts_status gl_proof_begin_read(ts_context *context);
ts_status gl_proof_end_read(ts_context *context);
void gl_proof_destroy(ts_context *context);

/* OpenGL unbinds a deleted object. These functions also remove it from the saved state and from the record of
 * current bindings, so that its name is not bound again. A name of 0 is ignored. */
void gl_delete_texture(gl_backend *gl, GLuint name);
void gl_delete_framebuffer(gl_backend *gl, GLuint name);
void gl_delete_buffer(gl_backend *gl, GLuint name);
void gl_delete_vertex_array(gl_backend *gl, GLuint name);
void gl_delete_sampler(gl_backend *gl, GLuint name);
void gl_delete_program(gl_backend *gl, GLuint name);

/* ---- gl_texture.c ---- */
GLenum gl_format_of_components(int components);
/* Creates a texture without contents. A floating-point texture gets a framebuffer object and is cleared to
 * 0. */
ts_status gl_texture_create(ts_context *context, GLenum format, int width, int height, const char *what,
                            gl_texture **out);
/* Gives a texture of any other format a framebuffer object, if it has none. */
ts_status gl_texture_make_target(ts_context *context, gl_texture *texture);
ts_status gl_texture_wrap(ts_context *context, GLuint name, GLenum format, int width, int height,
                          gl_texture **out);
void gl_texture_release(ts_context *context, gl_texture *texture);
/* The framebuffer object that draws into all of the textures that are not NULL. It is kept until one of them is
 * destroyed. */
ts_status gl_texture_framebuffer(ts_context *context, gl_texture *const textures[GL_TARGETS],
                                 GLuint *framebuffer);
/* A format of textures, and the format and type of its texels on the host. */
typedef struct gl_format_info {
  GLenum internal, external, type;
  int bytes; /* per texel */
} gl_format_info;
const gl_format_info *gl_format_find(GLenum internal);
size_t gl_texel_bytes(GLenum format);
void gl_texture_write(gl_backend *gl, const gl_texture *texture, int x, int y, int width, int height,
                      const void *data);
/* TS_ERROR_DEVICE or TS_ERROR_OUT_OF_DEVICE_MEMORY if OpenGL has recorded an error. */
ts_status gl_check(ts_context *context, const char *what);

/* ---- gl_pass.c ---- */
typedef struct gl_pass {
  const gl_program *program;
  /* The target region. */
  gl_texture *target, *more_targets[GL_TARGETS - 1];
  int x, y, width, height;
  int skipped; /* columns at the left of the region that are not drawn and not included in its width */
  /* Inputs, fetched at the fragment's position within the region. */
  const ts_vector *inputs[4];
  int parts; /* number of parts that gl_draw_vector draws; 0: one */
  int pairs; /* 1: inputs and coefficients may have second parts (shaders/include/pair.glsl) */
  int coefficient_count;
  ts_coefficient coefficients[2];
  int parameters[12];          /* p[5] to p[7] in the shader */
  const gl_matrix *rectangles; /* draws the rectangles of a matrix; NULL: one triangle over the region */
  int independent; /* reads no result of the draws since the last barrier and overwrites none of their data */
} gl_pass;

ts_status gl_draw(ts_context *context, const gl_pass *pass);
/* The defines of programs that evaluate the slots of this pass's coefficients. */
const char *gl_slots_define(const ts_context *context, const gl_pass *pass);
void gl_bind(gl_backend *gl, int unit, GLuint texture);
void gl_bind_framebuffer(gl_backend *gl, GLuint framebuffer);

/* Turns a pass into a pass over pairs. `defines` receives the defines of its shaders, including those for
 * inputs that have only one part. It has GL_PAIR_DEFINES bytes. */
enum { GL_PAIR_DEFINES = 96 };
void gl_pass_pairs(gl_pass *pass, char *defines);

/* Draws over all of `out`, in the number of parts given by the pass. Draws into spare textures if an input may
 * not be the target as well, or if the parts have different positions in their textures. The spare textures
 * then replace the vector's textures, or are copied into them. */
ts_status gl_draw_vector(ts_vector *out, gl_pass *pass);

/* ---- The operations, as in backend.h ---- */
TSI_CORE_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, gl_)
extern const tsi_cg_ops gl_cg_ops;
extern const tsi_grid_ops gl_grid_ops;
extern const tsi_mesh_ops gl_mesh_ops;
extern const tsi_fluid_ops gl_fluid_ops;
extern const tsi_lcp_ops gl_lcp_ops;

/* ---- Matrices in a layout ---- */
TSI_MATRIX_OPERATIONS(TSI_PROTOTYPE, gl_matrix_)
ts_status gl_matrix_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
ts_status gl_matrix_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s);

/* ---- gl_backend.c ---- */
/* Vectors and scalars count as users of the backend's helper textures. */
void gl_user_added(ts_context *context);
void gl_user_removed(ts_context *context);
void gl_matrix_release_sums(const ts_matrix *A);
/* The backend's data of a space, created on first use. */
ts_status gl_space_of(ts_space *space, gl_space **impl);
/* Binds the channels of a block space, for shaders with CHANNELS. */
ts_status gl_bind_channels(ts_space *space);
/* The define for shaders if a texel of the vector holds a block of indices, otherwise "". */
static inline const char *gl_channels_define(const ts_vector *v) {
  return v->space->tiling.log2_block ? "#define CHANNELS\n" : "";
}

/* Scratch texture 0 or 1 of the backend: RGBA32F, at least this large. */
ts_status gl_scratch_get(ts_context *context, int which, int width, int height, gl_texture **texture);

/* The position of slot `index`. */
void gl_slot_place(const gl_scalars *s, int index, int *x, int *y);

/* Writes the tiling to p[5] and p[6], as shaders/include/tiling.glsl reads it. */
void gl_tiling_parameters(const tsi_tiling *t, int *parameters);

/* The origin of a vector, in the form that shaders add to pointers. */
int gl_packed_origin(const gl_vector *v);

/* How row sums are computed and how many parts they have (shaders/include/row_sum.glsl). */
typedef enum gl_row_sum { GL_ROWS_PLAIN, GL_ROWS_PRECISE, GL_ROWS_PAIR, GL_ROWS_PAIR_RESIDUAL } gl_row_sum;

/* Stage s of a matrix's split rows: adds up `source`, x or the previous stage, into `targets`.
 * gl_stage_parameters writes a stage to p[6] for the shaders. */
ts_status gl_sum_stage(const ts_matrix *A, int s, gl_row_sum rows, const ts_vector *source,
                       gl_texture *const targets[GL_TARGETS]);
void gl_stage_parameters(const tsi_stage *stage, int *parameters);

/* The size of the region for partial sums of vectors of this space. */
void gl_reduce_scratch_size(const tsi_tiling *t, int *width, int *height);

#endif
