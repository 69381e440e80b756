/* The OpenGL backend's own types. Read order: gl_backend.c (table, open), gl_texture.c (storage), gl_pass.c
 * (how anything is drawn), then an operation's file.
 *
 * A vector is a region of a texture. Where passes may read the texture they write (texture barrier), the
 * vectors and slots of a solver share one texture and one framebuffer object, and a pass costs no change of the
 * render target; where not, each has its own. */
#ifndef TSI_GL_H
#define TSI_GL_H

#include <GL/glew.h>

#include "common/core/core.h"
#include "common/layout/layout.h"

typedef struct gl_program gl_program; /* gl_shader.h */
typedef struct gl_state gl_state;     /* gl_state.c: an application's saved state */

/* Texture units: inputs of a pass, slots of its coefficients, the matrix. */
enum {
  GL_UNIT_INPUT = 0,     /* 4 */
  GL_UNIT_SLOT = 4,      /* 4: numerator and denominator of two coefficients */
  GL_UNIT_MATRIX = 8,    /* entries, or values; diagonal; pointers; starts; sums */
  GL_UNIT_CORNERS = 11,  /* of a mesh; no pass reads starts too */
  GL_UNIT_CHANNELS = 11, /* of a space of blocks; nor with these */
  GL_UNIT_EXACT = 13,    /* a texel that is 0 */
  GL_UNIT_LOW = 14,      /* 4: the second parts of inputs */
  GL_UNIT_LOW_SUMS = 16, /* 2: of the sums of split rows, whose passes have no such inputs */
  GL_UNITS = 18
};

/* Draw buffers of a pass: one for each part of a vector. */
enum { GL_TARGETS = 3 };

/* What keeps compilers from simplifying sums whose rounding errors are wanted (shaders/include/exact.glsl). */
enum { GL_EXACT_NONE, GL_EXACT_PRECISE, GL_EXACT_UNIFORM, GL_EXACT_TEXEL };

/* A context and how to make it current. */
typedef struct gl_platform {
  ts_status (*enter)(ts_context *context);
  void (*leave)(ts_context *context);
  ts_status (*make_current)(ts_context *context);
  void (*release)(ts_context *context); /* from this thread, if the library opened it */
  void (*close)(ts_context *context);
  void *impl;
} gl_platform;

/* A texture with a framebuffer object to draw into it. */
typedef struct gl_texture {
  GLuint name, framebuffer;
  GLenum format; /* internal format */
  int width, height;
  size_t bytes; /* accounted; 0 for an application's texture */
  int references;
  int application_owned; /* known to the application: contents stay in this texture */
  int read_in_place;     /* 1: a pass since the last barrier has read it while it was the target */
  /* Where partial sums of vectors in this texture go: room for so many reductions at a time, so many texels
   * wide each, side by side. scratch_x -1: in the backend's scratch. */
  int scratch_x, scratch_y, scratch_width, scratch_count;
} gl_texture;

/* A framebuffer object that draws into several textures. */
typedef struct gl_target_set {
  struct gl_target_set *next;
  gl_texture *textures[GL_TARGETS];
  GLuint framebuffer;
} gl_target_set;

/* Whether draws do what they should (gl_proof.c). */
enum { GL_PROOFS = 16 };
typedef struct gl_proof {
  GLuint name, buffer;
  gl_texture *texture; /* NULL before the first one */
  int last, numbers[GL_PROOFS];
  int is_due;    /* draws since the last proof */
  int is_unread; /* proofs since they were last read */
  int is_read;   /* they are on their way into the buffer */
} gl_proof;

typedef struct gl_backend {
  gl_platform platform;
  int entered;         /* the context is current: GL may be called */
  int lent;            /* the caller draws in the library's own context too, so its state is not known */
  gl_state *saved;     /* for an application's context, else NULL */
  int is_set;          /* the state is as transfers need it */
  int draws;           /* and as draws need it */
  unsigned used_units; /* bits of the texture units that are as passes need them */
  unsigned has;        /* GL_HAS_... of gl_features.h */
  GLuint probe_query;  /* with which conditional rendering is found; 0 before the first time */
  gl_proof proof;
  char *shader_dir;     /* NULL: only the built-in shaders */
  gl_program *programs; /* list */
  GLuint empty_vao;
  GLuint bound_texture[GL_UNITS];
  GLuint bound_program, bound_framebuffer;
  gl_target_set *target_sets; /* list */
  gl_texture *scratch[4];     /* partial sums of reductions whose result has no room beside it; second parts */
  gl_texture *spare[GL_TARGETS]; /* of each part, where a vector cannot be drawn into at once */
  int max_point_size;
  void(GLAPIENTRY *texture_barrier)(void); /* NULL: none, or not wanted */
  int texture_gather;                      /* ARB_texture_gather, and wanted */
  int subgroup_size;                       /* of fragments, by KHR_shader_subgroup; 0: none, or not wanted */
  int exact;                               /* GL_EXACT_...; NONE also where it is not wanted */
  int exact_fma;                           /* fma() rounds once */
  GLuint exact_zero;                       /* the texture of GL_EXACT_TEXEL */
  int packs_parities;                      /* four points of a parity are the channels of a texel */
  /* llvmpipe compiles a fragment shader a second time for tiles that a triangle covers, unless what is there
   * may remain: a logic operation, if only GL_COPY, makes it compile once. Drawing takes as long (1 % of a
   * fluid's step). */
  int compiles_once;
  GLuint nearest; /* the sampler with which shaders read texels by filtering; 0: they fetch them */
  int users;      /* vectors and scalars; without any, scratch and spare are released */
} gl_backend;

typedef struct gl_vector {
  gl_texture *texture;
  int x, y;
} gl_vector;

/* A slot is a texel, or a block of GL_SLOT_WIDTH x GL_SLOT_HEIGHT partial sums that whoever reads it adds up:
 * the last level of a reduction would be a pass of its own, and a pass costs more than the sum in a vertex
 * shader. */
enum { GL_SLOT_WIDTH = 16, GL_SLOT_HEIGHT = 8 };

typedef struct gl_scalars {
  gl_texture *texture;
  int blocks;        /* 1: slots are blocks */
  int x, y, per_row; /* slot i is the texel or block number i mod per_row in row i div per_row from here */
  GLuint buffer;     /* pixel buffer for reading */
  GLsync fence;
  int first, count, width; /* of the read under way; width of the buffer in texels */
} gl_scalars;

typedef struct gl_matrix {
  gl_texture *entries;  /* jagged: RG32UI value and pointer; segments: R32F values; blocks: RGBA32F */
  gl_texture *values;   /* jagged, of a rest: R32F, and its entries are the whole's */
  gl_texture *pointers; /* segments and blocks: R32UI */
  gl_texture *starts;   /* segments: R32UI in the row space's texture */
  gl_texture *diagonal; /* R32F in the row space's texture, or RGBA32F blocks */
  gl_texture *stages[TSI_MAX_STAGES];
  gl_texture *stage_blocks; /* blocks: RGBA32F, the values of the first stage's entries */
  GLuint vao, vertices;     /* of the rectangles */
  int rectangle_count, as_points;
  size_t vertices_bytes;
  /* sums of split rows and their parts, made for the components in use and as many parts as were needed */
  gl_texture *sums[TSI_MAX_STAGES][GL_TARGETS];
  int sums_components;
} gl_matrix;

typedef struct gl_space {
  GLuint index_texture;
  size_t bytes;
  gl_texture
      *channels; /* R32UI: which channels of a texel have an index (bits 0 to 3), and an equation (4 to 7) */
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

/* ---- gl_egl.c, gl_window.c, gl_current.c: contexts ---- */
ts_status gl_egl_open(ts_context *context);
ts_status gl_window_open(ts_context *context);
ts_status gl_current_open(ts_context *context);
/* The context that is current on this thread, NULL where none is. */
void *gl_current_handle(void);

/* ---- gl_backend.c ---- */
/* With GLEW, for the context that is current; TS_ERROR_UNSUPPORTED for one without OpenGL 3.3. */
ts_status gl_load_functions(ts_context *context);

/* ---- gl_exact.c ---- */
/* Finds what keeps sums exact in this context; called once, with the context entered. */
ts_status gl_exact_find(ts_context *context);
/* "precise", "uniform", "texel" or "none". */
const char *gl_exact_name(const gl_backend *gl);

/* ---- gl_state.c ---- */
/* The application draws in the context too, so that its state may be any. */
static inline int gl_is_shared(const gl_backend *gl) {
  return gl->saved || gl->lent;
}
ts_status gl_state_create(ts_context *context);
void gl_state_destroy(ts_context *context);
/* Fails where OpenGL would not do or answer what it is told at all. Display lists only where gl->has is set. */
ts_status gl_state_check(ts_context *context);
/* The state that transfers rely on; for an application's context, what was there is saved first. */
ts_status gl_state_enter(ts_context *context);
/* Before a call's first draw or clear, or the first use of a program: the state that draws rely on. Fails where
 * nothing may be drawn. */
ts_status gl_state_draw(ts_context *context);
/* With this unit active, before its first use. */
void gl_state_use_unit(gl_backend *gl, int unit);
void gl_state_leave(ts_context *context);
/* Takes back what would change how the caller's own textures are drawn in the library's context. */
void gl_state_lend(const gl_backend *gl);
/* The next call that draws has a proof. */
void gl_state_doubt(gl_backend *gl);
/* Drops the errors that OpenGL has recorded, and logs "WHOSE an OpenGL error, ...". */
void gl_take_errors(ts_context *context, const char *whose);

/* ---- gl_proof.c ---- */
ts_status gl_proof_draw(ts_context *context);
/* Around a read of texels: it also reads the proofs that have been drawn, and fails where they are wrong. */
ts_status gl_proof_begin_read(ts_context *context);
ts_status gl_proof_end_read(ts_context *context);
void gl_proof_destroy(ts_context *context);

/* ---- gl_delete.c ---- */
/* OpenGL unbinds an object that is deleted. So does the saved state, if the application had it bound, and what
 * is known of the current one: the name must not be bound again. A name of 0 is none. */
void gl_delete_texture(gl_backend *gl, GLuint name);
void gl_delete_framebuffer(gl_backend *gl, GLuint name);
void gl_delete_buffer(gl_backend *gl, GLuint name);
void gl_delete_vertex_array(gl_backend *gl, GLuint name);
void gl_delete_sampler(gl_backend *gl, GLuint name);
void gl_delete_program(gl_backend *gl, GLuint name);

/* ---- gl_texture.c ---- */
GLenum gl_format_of_components(int components);
/* A texture without contents; floating-point ones get a framebuffer object and are cleared to 0. */
ts_status gl_texture_create(ts_context *context, GLenum format, int width, int height, const char *what,
                            gl_texture **out);
/* Gives a texture of another format a framebuffer object, if it has none. */
ts_status gl_texture_make_target(ts_context *context, gl_texture *texture);
ts_status gl_texture_wrap(ts_context *context, GLuint name, GLenum format, int width, int height,
                          gl_texture **out);
void gl_texture_release(ts_context *context, gl_texture *texture);
/* What draws into all of them, those that are not NULL; kept until one of them is destroyed. */
ts_status gl_texture_framebuffer(ts_context *context, gl_texture *const textures[GL_TARGETS],
                                 GLuint *framebuffer);
size_t gl_texel_bytes(GLenum format);
/* All texels, of any format. */
void gl_texture_read(gl_backend *gl, const gl_texture *texture, void *data);
void gl_texture_write(gl_backend *gl, const gl_texture *texture, int x, int y, int width, int height,
                      const void *data);
/* TS_ERROR_DEVICE or TS_ERROR_OUT_OF_DEVICE_MEMORY if OpenGL has recorded an error. */
ts_status gl_check(ts_context *context, const char *what);

/* ---- gl_pass.c ---- */
typedef struct gl_pass {
  const gl_program *program;
  /* Where to draw: this region of this texture. */
  gl_texture *target, *more_targets[GL_TARGETS - 1];
  int x, y, width, height;
  int skipped; /* columns on the left of the region that are not drawn, nor counted in its width */
  /* Inputs, fetched at the fragment's place in the region. */
  const ts_vector *inputs[4];
  int parts; /* that gl_draw_vector draws; 0: one */
  int pairs; /* 1: inputs and coefficients have two parts, where they have them (shaders/include/pair.glsl) */
  int coefficient_count;
  ts_coefficient coefficients[2];
  int parameters[12];          /* p[5] to p[7] of the shader */
  const gl_matrix *rectangles; /* draw a matrix's rectangles; NULL: one triangle over the region */
  int independent; /* reads and overwrites nothing that draws since the last barrier wrote or read */
} gl_pass;

ts_status gl_draw(ts_context *context, const gl_pass *pass);
/* The defines of programs that evaluate the slots of this pass's coefficients. */
const char *gl_slots_define(const ts_context *context, const gl_pass *pass);
void gl_bind(gl_backend *gl, int unit, GLuint texture);
void gl_bind_framebuffer(gl_backend *gl, GLuint framebuffer);

/* Makes a pass one over pairs. `defines`, of this size, gets what its shaders are told, of parts that inputs
 * lack too. */
enum { GL_PAIR_DEFINES = 96 };
void gl_pass_pairs(gl_pass *pass, char *defines);

/* Draws over all of `out`, over so many parts of it as the pass says. Where a texture may not be read and
 * written at once and `out` is an input, or the parts do not lie at one place of their textures, draws into
 * spare textures, which take the place of the vector's or are copied. */
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
/* Every vector and every scalars counts as a user of the backend's helper textures. */
void gl_user_added(ts_context *context);
void gl_user_removed(ts_context *context);
void gl_matrix_release_sums(const ts_matrix *A);
/* What is the backend's of a space, made on first use. */
ts_status gl_space_of(ts_space *space, gl_space **impl);
/* Binds the channels of a space of blocks, for shaders with CHANNELS. */
ts_status gl_bind_channels(ts_space *space);
/* The define of shaders whose vectors hold a block of indices in a texel, or "". */
static inline const char *gl_channels_define(const ts_vector *v) {
  return v->space->tiling.log2_block ? "#define CHANNELS\n" : "";
}

/* Texture 0 or 1 of the backend's scratch, of at least this size, RGBA32F. */
ts_status gl_scratch_get(ts_context *context, int which, int width, int height, gl_texture **texture);

/* Where slot `index` begins. */
void gl_slot_place(const gl_scalars *s, int index, int *x, int *y);

/* The tiling in p[5] and p[6], as shaders/include/tiling.glsl reads it. */
void gl_tiling_parameters(const tsi_tiling *t, int *parameters);

/* Where a vector begins, as shaders add it to pointers. */
int gl_packed_origin(const gl_vector *v);

/* How the sums of rows are formed, and of how many parts they are (shaders/include/row_sum.glsl). */
typedef enum gl_row_sum { GL_ROWS_PLAIN, GL_ROWS_PRECISE, GL_ROWS_PAIR, GL_ROWS_PAIR_RESIDUAL } gl_row_sum;

/* Stage s of a matrix's split rows: sums of `source`, x or the stage before, into `targets`. And a stage in
 * p[6], as its shaders read it. */
ts_status gl_sum_stage(const ts_matrix *A, int s, gl_row_sum rows, const ts_vector *source,
                       gl_texture *const targets[GL_TARGETS]);
void gl_stage_parameters(const tsi_stage *stage, int *parameters);

/* The region that partial sums of vectors of this space need. */
void gl_reduce_scratch_size(const tsi_tiling *t, int *width, int *height);

#endif
