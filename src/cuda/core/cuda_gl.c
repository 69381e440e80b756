/* Vectors in OpenGL buffer objects. A vector is moved there once, lent to OpenGL for drawing, and taken back
 * when the library is entered again. A buffer is mapped while CUDA holds it and unmapped while OpenGL holds it.
 * The driver orders both accesses, so the host does not wait. The address of a mapped buffer may change, so no
 * pointer to a vector's data is kept beyond an operation.
 *
 * On an H200 the two calls take 20 to 40 us for eight buffers. They take 325 us for a buffer that the host has
 * read or written, since the driver then keeps it in host memory; this file never does that. The alternatives
 * are slower, for a field of 4 MB and without mapping. A copy from a pixel buffer to a texture takes 90 us,
 * CUDA's copy to a registered texture 340 us, a path through the host 1080 us.
 *
 * After a kernel of any program has accessed an invalid address, the GPU no longer shares memory between CUDA
 * and OpenGL (H200, driver 580.159.04; Xid 31 in the kernel's log). In every program started afterwards, OpenGL
 * does not see CUDA's writes and reports no error. Draws stall for seconds until the driver logs Xid 109, "CTX
 * SWITCH TIMEOUT". OpenGL alone and CUDA alone keep working. A trap or a failed assertion does not cause this
 * state, so the test of a failing kernel traps (tests/cuda/cuda_break.cu). */
#include <texsolve/cuda.h>

#include "cuda.h"

#ifdef TEXSOLVE_HAVE_GL

#include "gl/core/gl.h"

#include <cuda_gl_interop.h>

struct cuda_shared {
  struct cudaGraphicsResource *resource;
  cuda_vector *vector;
  void *gl_context;
  GLuint buffer, texture;
  int lent; /* to OpenGL */
  struct cuda_shared *next;
};

/* ---- The current OpenGL context ---- */

static ts_status check_device(ts_context *context) {
  const int device = cuda_state_of(context)->device;
  enum { most = 16 };
  int devices[most];
  unsigned count = 0;
  if (!gl_current_handle())
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "no OpenGL context is current on this thread");
  if (!glTexBuffer) TSI_TRY(gl_load_functions(context));
  const char *renderer = (const char *)glGetString(GL_RENDERER);
  if (!renderer) renderer = "an unknown device";
  const cudaError_t error = cudaGLGetDevices(&count, devices, most, cudaGLDeviceListAll);
  if (error != cudaSuccess) {
    cudaGetLastError(); /* reported here, so that the next call does not */
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "OpenGL on %s shares nothing with CUDA: %s (%s)", renderer,
                    cudaGetErrorString(error), cudaGetErrorName(error));
  }
  for (unsigned k = 0; k < count && k < most; k++)
    if (devices[k] == device) return TS_OK;
  return tsi_fail(context, TS_ERROR_UNSUPPORTED, "OpenGL runs on %s, which is not CUDA's device %d", renderer,
                  device);
}

/* ---- Moving a vector ---- */

static GLenum format_of(int components) {
  return components == 2 ? GL_RG32F : components == 4 ? GL_RGBA32F : GL_R32F;
}

static int64_t texels_of(const ts_vector *v) {
  return (v->components == 3 ? 3 : 1) * (int64_t)v->space->tiling.size;
}

static ts_status make_buffer(ts_context *context, const ts_vector *v, cuda_shared *s) {
  GLint buffer_before = 0, texture_before = 0, most = 0;
  for (int i = 0; i < 16 && glGetError() != GL_NO_ERROR; i++) continue; /* the application's */
  glGetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &most);
  if (texels_of(v) > most)
    return tsi_fail(context, TS_ERROR_LIMIT,
                    "a vector of %d x %d numbers is too large for a buffer texture of the driver, which has at "
                    "most %d texels",
                    v->space->tiling.size, v->components, most);
  glGetIntegerv(GL_COPY_WRITE_BUFFER_BINDING, &buffer_before);
  glGetIntegerv(GL_TEXTURE_BINDING_BUFFER, &texture_before);
  glGenBuffers(1, &s->buffer);
  glBindBuffer(GL_COPY_WRITE_BUFFER, s->buffer);
  glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)s->vector->bytes, NULL, GL_DYNAMIC_COPY);
  glBindBuffer(GL_COPY_WRITE_BUFFER, (GLuint)buffer_before);
  glGenTextures(1, &s->texture);
  glBindTexture(GL_TEXTURE_BUFFER, s->texture);
  glTexBuffer(GL_TEXTURE_BUFFER, format_of(v->components), s->buffer);
  glBindTexture(GL_TEXTURE_BUFFER, (GLuint)texture_before);
  return gl_check(context, "a vector that OpenGL draws");
}

/* The buffer is CUDA's now. Its address may have changed. */
static ts_status find_address(ts_context *context, cuda_shared *s, float **data) {
  size_t bytes = 0;
  CUDA_TRY(context, cudaGraphicsResourceGetMappedPointer((void **)data, &bytes, s->resource));
  if (bytes >= s->vector->bytes) return TS_OK;
  return tsi_fail(context, TS_ERROR_DEVICE, "CUDA sees %zu bytes of an OpenGL buffer of %zu", bytes,
                  s->vector->bytes);
}

static ts_status fill_buffer(ts_context *context, cuda_shared *s, float **data) {
  const cudaStream_t stream = cuda_stream(context);
  CUDA_TRY(context, cudaGraphicsGLRegisterBuffer(&s->resource, s->buffer, cudaGraphicsRegisterFlagsNone));
  CUDA_TRY(context, cudaGraphicsMapResources(1, &s->resource, stream));
  TSI_TRY(find_address(context, s, data));
  CUDA_TRY(context,
           cudaMemcpyAsync(*data, s->vector->data, s->vector->bytes, cudaMemcpyDeviceToDevice, stream));
  return TS_OK;
}

static void destroy_buffer(ts_context *context, cuda_shared *s) {
  if (s->gl_context != gl_current_handle())
    return; /* the names belong to another context, or were deleted with it */
  if (s->resource) {
    if (!s->lent) cudaGraphicsUnmapResources(1, &s->resource, cuda_stream(context));
    cudaGraphicsUnregisterResource(s->resource);
    cudaGetLastError();
  }
  glDeleteTextures(1, &s->texture);
  glDeleteBuffers(1, &s->buffer);
}

static ts_status share(ts_context *context, ts_vector *v) {
  cuda_state *state = cuda_state_of(context);
  cuda_vector *impl = cuda_vector_of(v);
  if (impl->borrowed || impl->mirrored)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the vector is in memory of the application, which OpenGL cannot draw from");
  TSI_TRY(check_device(context));
  cuda_shared *s = tsi_calloc(context, 1, sizeof *s);
  if (!s) return tsi_out_of_memory(context, "a vector that OpenGL draws", sizeof *s);
  *s = (cuda_shared){.vector = impl, .gl_context = gl_current_handle()};
  float *data = NULL;
  ts_status status = tsi_device_alloc(context, impl->bytes, "a vector that OpenGL draws");
  if (status == TS_OK) {
    status = make_buffer(context, v, s);
    if (status == TS_OK) status = fill_buffer(context, s, &data);
    if (status < 0) {
      destroy_buffer(context, s);
      tsi_device_free(context, impl->bytes);
    }
  }
  if (status < 0) {
    tsi_free(context, s);
    return status;
  }
  cuda_free(context, impl->data, impl->bytes);
  impl->data = data;
  impl->shared = s;
  s->next = state->shared;
  state->shared = s;
  return TS_OK;
}

static void forget(ts_context *context, cuda_shared *s) {
  cuda_state *state = cuda_state_of(context);
  for (cuda_shared **at = &state->shared; *at; at = &(*at)->next)
    if (*at == s) {
      *at = s->next;
      break;
    }
  state->lent -= s->lent;
  destroy_buffer(context, s);
  tsi_device_free(context, s->vector->bytes);
  s->vector->shared = NULL;
  tsi_free(context, s);
}

void cuda_gl_destroy(ts_context *context, cuda_vector *impl) {
  forget(context, impl->shared);
}

/* Requires that CUDA holds all vectors. */
static ts_status leave_buffer(ts_context *context, cuda_shared *s) {
  cuda_vector *impl = s->vector;
  float *data = NULL;
  TSI_TRY(cuda_alloc(context, (void **)&data, impl->bytes, "a vector"));
  const cudaError_t error =
      cudaMemcpyAsync(data, impl->data, impl->bytes, cudaMemcpyDeviceToDevice, cuda_stream(context));
  if (error != cudaSuccess) {
    cuda_free(context, data, impl->bytes);
    return cuda_report(context, error, "cudaMemcpyAsync", __FILE__, __LINE__);
  }
  forget(context, s);
  impl->data = data;
  return TS_OK;
}

/* ---- Lending ---- */

static ts_status require_same_context(ts_context *context, const cuda_shared *s) {
  if (s->gl_context == gl_current_handle()) return TS_OK;
  return tsi_fail(context, TS_ERROR_DEVICE,
                  "the OpenGL context that vectors are shared with is not current on this thread");
}

/* A driver call takes about the same time for many buffers as for one: about 0.3 ms. */
enum { together = 32 };

/* Collects up to `together` vectors that OpenGL (`lent`) or CUDA holds. */
static int collect(const cuda_state *state, int lent, cuda_shared *found[together],
                   struct cudaGraphicsResource *resources[together]) {
  int count = 0;
  for (cuda_shared *s = state->shared; s && count < together; s = s->next)
    if (s->lent == lent) {
      resources[count] = s->resource;
      found[count++] = s;
    }
  return count;
}

static ts_status lend_all(ts_context *context) {
  cuda_state *state = cuda_state_of(context);
  cuda_shared *found[together];
  struct cudaGraphicsResource *resources[together];
  int count;
  while ((count = collect(state, 0, found, resources)) > 0) {
    for (int k = 0; k < count; k++) TSI_TRY(require_same_context(context, found[k]));
    CUDA_TRY(context, cudaGraphicsUnmapResources(count, resources, state->stream));
    for (int k = 0; k < count; k++) found[k]->lent = 1;
    state->lent += count;
  }
  return TS_OK;
}

ts_status cuda_gl_remap(ts_context *context) {
  cuda_state *state = cuda_state_of(context);
  cuda_shared *found[together];
  struct cudaGraphicsResource *resources[together];
  int count;
  while ((count = collect(state, 1, found, resources)) > 0) {
    for (int k = 0; k < count; k++) TSI_TRY(require_same_context(context, found[k]));
    CUDA_TRY(context, cudaGraphicsMapResources(count, resources, state->stream));
    for (int k = 0; k < count; k++) found[k]->lent = 0;
    state->lent -= count;
    for (int k = 0; k < count; k++) TSI_TRY(find_address(context, found[k], &found[k]->vector->data));
  }
  return TS_OK;
}

/* ---- The functions of texsolve/cuda.h ---- */

/* Like tsi_leave, except that lent vectors stay lent. */
static ts_status leave(ts_context *context, ts_status status) {
  cuda_leave(context);
  return status;
}

static ts_status share_and_lend(ts_context *context, ts_vector *v, ts_cuda_gl_texture *texture) {
  if (!cuda_vector_of(v)->shared) TSI_TRY(share(context, v));
  cuda_shared *s = cuda_vector_of(v)->shared;
  if (!s->lent) TSI_TRY(lend_all(context));
  *texture = (ts_cuda_gl_texture){.texture = s->texture,
                                  .buffer = s->buffer,
                                  .internal_format = format_of(v->components),
                                  .texels = (int32_t)texels_of(v)};
  return TS_OK;
}

ts_status ts_cuda_vector_get_gl_texture(ts_vector *vector, ts_cuda_gl_texture *texture) {
  TSI_BEGIN(vector, vector->context);
  ts_context *context = vector->context;
  TSI_REQUIRE(context, texture);
  TSI_TRY(cuda_require(context, __func__));
  TSI_TRY(tsi_lend(vector));
  TSI_TRY(cuda_make_current(context));
  return leave(context, share_and_lend(context, vector, texture));
}

ts_status ts_cuda_gl_check(ts_context *context) {
  TSI_BEGIN(context, context);
  TSI_TRY(cuda_require(context, __func__));
  TSI_TRY(cuda_make_current(context));
  return leave(context, check_device(context));
}

static ts_status release_all(ts_context *context) {
  const cuda_state *state = cuda_state_of(context);
  while (state->shared) {
    TSI_TRY(require_same_context(context, state->shared));
    TSI_TRY(leave_buffer(context, state->shared));
  }
  return TS_OK;
}

ts_status ts_cuda_gl_release(ts_context *context) {
  TSI_BEGIN(context, context);
  TSI_TRY(cuda_require(context, __func__));
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, release_all(context));
}

#else

void cuda_gl_destroy(ts_context *context, cuda_vector *impl) {
  (void)context, (void)impl;
}

ts_status cuda_gl_remap(ts_context *context) {
  (void)context;
  return TS_OK;
}

static ts_status refuse(ts_context *context, const char *function) {
  tsi_clear_error(context);
  TSI_TRY(cuda_require(context, function));
  return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s: this texsolve was built without OpenGL", function);
}

ts_status ts_cuda_vector_get_gl_texture(ts_vector *vector, ts_cuda_gl_texture *texture) {
  TSI_REQUIRE(NULL, vector);
  TSI_REQUIRE(vector->context, texture);
  return refuse(vector->context, __func__);
}

ts_status ts_cuda_gl_check(ts_context *context) {
  TSI_REQUIRE(NULL, context);
  return refuse(context, __func__);
}

ts_status ts_cuda_gl_release(ts_context *context) {
  TSI_BEGIN(context, context);
  return cuda_require(context, __func__); /* nothing was ever shared */
}

#endif
