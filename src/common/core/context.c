/* Opens a backend by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "pool.h"

typedef struct backend_entry {
  const char *name;
  const tsi_ops *ops; /* NULL: known, but not built */
  const char *absent; /* why it was not built */
} backend_entry;

static const backend_entry backends[] = {
#ifdef TEXSOLVE_HAVE_GL
    {"gl", &tsi_gl_ops, NULL},
#else
    {"gl", NULL, "this texsolve was built without OpenGL"},
#endif
    {"cpu", &tsi_cpu_ops, NULL},
#ifdef TEXSOLVE_HAVE_CUDA
    {"cuda", &tsi_cuda_ops, NULL},
#else
    {"cuda", NULL, "this texsolve was built without CUDA"},
#endif
    {"check", &tsi_check_ops, NULL}, {"multi", &tsi_multi_ops, NULL},
};
enum { backend_count = sizeof backends / sizeof backends[0] };

/* The order of `auto`. "check" and "multi" wrap other backends and are selected only by name. */
static const char *const listed[] = {"cuda", "gl", "cpu"};

const char *ts_backend_name(int index) {
  return index >= 0 && index < (int)(sizeof listed / sizeof listed[0]) ? listed[index] : NULL;
}

static int is_power_of_two(int n) {
  return n > 0 && (n & (n - 1)) == 0;
}

static ts_status validate_rectangle(const ts_gl_desc *gl) {
  const int w = gl->rectangle_width, h = gl->rectangle_height;
  if (w == 0 && h == 0) return TS_OK;
  if (!is_power_of_two(w) || !is_power_of_two(h) || w < 4 || h < 4 || w > 256 || h > 256)
    return tsi_fail(
        NULL, TS_ERROR_INVALID_ARGUMENT,
        "gl.rectangle_width x gl.rectangle_height is %d x %d; both must be powers of two from 4 to 256", w, h);
  return TS_OK;
}

static ts_status validate_gl(const ts_gl_desc *gl) {
  const unsigned known = TS_GL_NO_TEXTURE_BARRIER | TS_GL_KEEP_CURRENT;
  if (gl->max_texture_size < 0 || (gl->max_texture_size > 0 && gl->max_texture_size < 64))
    return tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT, "gl.max_texture_size is %d; it must be 0 or at least 64",
                    gl->max_texture_size);
  if (gl->flags & ~known)
    return tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT, "gl.flags is 0x%x, which has unknown bits", gl->flags);
  if ((int)gl->platform < 0 || gl->platform > TS_GL_PLATFORM_CURRENT)
    return tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT, "gl.platform is %d; it must be 0 to %d", gl->platform,
                    TS_GL_PLATFORM_CURRENT);
  TSI_TRY(tsi_check_reserved(NULL, "gl.", gl->reserved, sizeof gl->reserved));
  return validate_rectangle(gl);
}

static ts_status context_validate(const ts_context_desc *desc) {
  const ts_allocator *a = &desc->allocator;
  const int functions = (a->malloc_fn != NULL) + (a->realloc_fn != NULL) + (a->free_fn != NULL);
  if (functions != 0 && functions != 3)
    return tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT, "allocator has %d of its 3 functions; set all or none",
                    functions);
  if (desc->threads < 0)
    return tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT, "threads is %d, less than 0", desc->threads);
  if ((int)desc->log_level < 0 || desc->log_level > TS_LOG_LEVEL_DEBUG)
    return tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT, "log_level is %d; it must be 0 to %d",
                    (int)desc->log_level, TS_LOG_LEVEL_DEBUG);
  if (!ts_partition_name(desc->partition))
    return tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT, "partition is %d, not a ts_partition", desc->partition);
  if (desc->flags & ~(unsigned)TS_CONTEXT_NO_FUSED_OPERATIONS)
    return tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT, "flags is 0x%x, which has unknown bits", desc->flags);
  TSI_TRY(tsi_check_reserved(NULL, "", desc->reserved, sizeof desc->reserved));
  return desc->gl ? validate_gl(desc->gl) : TS_OK;
}

static void free_context(ts_context *context) {
#ifdef TEXSOLVE_HAVE_THREADS
  tsi_pool_destroy(context, &context->pool);
#endif
  for (int k = 0; k < TSI_KEPT_BLOCKS; k++) tsi_free(context, context->kept[k].block);
  tsi_free(context, context);
}

static int wraps_others(const char *name) {
  return !strcmp(name, "check") || !strcmp(name, "multi");
}

/* "cuda:0+1" selects the multi backend. */
static const backend_entry *several_devices(void) {
  for (int i = 0; i < backend_count; i++)
    if (!strcmp(backends[i].name, "multi")) return &backends[i];
  return NULL;
}

/* "gl:1" -> entry of "gl" and device 1; "check:gl" -> entry of "check". */
static const backend_entry *find_backend(const char *name, int *device_index) {
  const char *colon = strchr(name, ':');
  const size_t length = colon ? (size_t)(colon - name) : strlen(name);
  *device_index = -1;
  for (int i = 0; i < backend_count; i++) {
    const backend_entry *entry = &backends[i];
    if (strlen(entry->name) != length || strncmp(name, entry->name, length) != 0) continue;
    if (wraps_others(entry->name)) return colon && colon[1] ? entry : NULL;
    if (!colon) return entry;
    if (!strcmp(entry->name, "cuda") && (strchr(colon, '+') || !strcmp(colon, ":all")))
      return several_devices();
    char *end = NULL;
    const long index = strtol(colon + 1, &end, 10);
    if (end == colon + 1 || *end || index < 0 || index > 1000000) return NULL;
    *device_index = (int)index;
    return entry;
  }
  return NULL;
}

/* Ranks are parts of the multi backend, regardless of the devices of each. */
static ts_status open_backend(const ts_context_desc *desc, const char *name, tsi_opening *opening,
                              ts_context **out) {
  int device_index;
  const backend_entry *entry = find_backend(name, &device_index);
  if (opening && (entry || !strcmp(name, "auto"))) entry = several_devices();
  if (!entry)
    return tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT,
                    "unknown backend \"%.40s\"; known are auto, gl, gl:N, cpu, cuda, cuda:N, "
                    "cuda:N+N, cuda:all, check:NAME and multi:NAME+NAME",
                    name);
  if (strlen(name) >= sizeof((ts_context *)0)->backend_name)
    return tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT, "the name of backend \"%.40s...\" is longer than %zu",
                    name, sizeof((ts_context *)0)->backend_name - 1);
  if (!entry->ops)
    return tsi_fail(NULL, TS_ERROR_UNAVAILABLE, "backend %s is not available: %s", entry->name, entry->absent);

  /* The allocator is needed before the context exists. */
  const ts_allocator *a = &desc->allocator;
  ts_context *context = a->malloc_fn ? a->malloc_fn(sizeof *context, a->user) : malloc(sizeof *context);
  if (!context)
    return tsi_fail(NULL, TS_ERROR_OUT_OF_HOST_MEMORY, "no host memory for a context (%zu bytes)",
                    sizeof *context);
  memset(context, 0, sizeof *context);
  context->desc = *desc;
  if (desc->gl) context->gl = *desc->gl;
  if (!context->desc.log_level) context->desc.log_level = TS_LOG_LEVEL_WARNING;
  context->ops = context->device_ops = entry->ops;
  context->device_index = device_index;
  context->opening = opening;
  snprintf(context->backend_name, sizeof context->backend_name, "%s", name);

  const ts_status status = context->ops->open(context);
  if (status < 0) {
    tsi_fail(NULL, status, "%s", context->error[0] ? context->error : ts_status_text(status));
    free_context(context);
    return status;
  }
  /* The strings of the descriptor are not kept after this call. */
  context->opening = NULL;
  context->desc.backend = NULL;
  context->desc.gl = NULL;
  context->gl.shader_dir = NULL;
  tsi_log(context, TS_LOG_LEVEL_INFO, "backend %s: %s (%s)", context->backend_name, context->caps.device,
          context->caps.driver);
  *out = context;
  return TS_OK;
}

/* Tries a backend that `auto` may choose; appends the reason for a failure to `why`. */
static ts_status try_backend(const ts_context_desc *desc, const char *name, ts_context **out, char *why,
                             size_t size) {
  const ts_status status = open_backend(desc, name, NULL, out);
  if (status == TS_OK && (*out)->caps.is_hardware) return TS_OK;
  const size_t used = strlen(why);
  const char *separator = used ? "; " : "";
  if (status == TS_OK)
    snprintf(why + used, size - used, "%s%s: %.120s is a software rasterizer", separator, name,
             (*out)->caps.device);
  else
    snprintf(why + used, size - used, "%s%s: %.150s", separator, name, ts_last_error(NULL));
  ts_context_destroy(out);
  tsi_clear_error(NULL);
  return TS_ERROR_UNAVAILABLE;
}

/* CUDA, then OpenGL on hardware, otherwise the CPU: a software rasterizer is slower than the CPU backend. If
 * the application has a current OpenGL context, OpenGL is tried first. */
static ts_status open_auto(const ts_context_desc *desc, ts_context **out) {
  const int current = desc->gl && desc->gl->platform == TS_GL_PLATFORM_CURRENT;
  char why[400] = "";
  for (int k = 0; k < 2; k++) {
    if (try_backend(desc, (k == 0) == current ? "gl" : "cuda", out, why, sizeof why) < 0) continue;
    if (why[0]) tsi_log(*out, TS_LOG_LEVEL_INFO, "auto chose %s; %s", (*out)->backend_name, why);
    return TS_OK;
  }
  TSI_TRY(open_backend(desc, "cpu", NULL, out));
  tsi_log(*out, TS_LOG_LEVEL_INFO, "auto chose cpu; %s", why);
  return TS_OK;
}

ts_status tsi_context_open(const ts_context_desc *desc, tsi_opening *opening, ts_context **context) {
  static const ts_context_desc defaults;
  if (!desc) desc = &defaults;
  TSI_TRY(context_validate(desc));
  const char *name = desc->backend ? desc->backend : "auto";
  return opening || strcmp(name, "auto") ? open_backend(desc, name, opening, context)
                                         : open_auto(desc, context);
}

ts_status ts_context_create(const ts_context_desc *desc, ts_context **context) {
  tsi_clear_error(NULL);
  TSI_REQUIRE(NULL, context);
  *context = NULL;
  return tsi_context_open(desc, NULL, context);
}

void ts_context_destroy(ts_context **context) {
  if (!context || !*context) return;
  (*context)->ops->close(*context);
  free_context(*context);
  *context = NULL;
}

ts_status ts_context_get_info(const ts_context *context, ts_context_info *info) {
  TSI_REQUIRE(NULL, context);
  TSI_REQUIRE((ts_context *)context, info);
  const tsi_caps *caps = &context->caps;
  *info = (ts_context_info){
      .backend = context->backend_name,
      .device = caps->device,
      .driver = caps->driver,
      .is_hardware = caps->is_hardware,
      .threads = caps->threads,
      .formats = caps->formats,
      .bytes_device = context->bytes_device,
      .host_synchronisations = context->host_synchronisations,
      .parts = caps->parts > 0 ? caps->parts : 1,
      .bytes_total = caps->bytes_total,
      .seconds_shaders = context->seconds_shaders,
  };
  return TS_OK;
}

ts_status ts_context_finish(ts_context *context) {
  TSI_REQUIRE(NULL, context);
  TSI_TRY(tsi_enter(context));
  context->host_synchronisations++;
  return tsi_leave(context, context->ops->finish(context));
}

static ts_status enter(ts_context *context) {
  const int has_stayed = context->has_stayed;
  context->has_stayed = 0;
  return has_stayed ? TS_OK : context->ops->enter(context);
}

ts_status tsi_enter(ts_context *context) {
  tsi_clear_error(context);
  return enter(context);
}

ts_status tsi_leave(ts_context *context, ts_status status) {
  context->has_stayed = context->stays > 0 && context->ops->stay && context->ops->stay(context);
  if (!context->has_stayed) context->ops->leave(context);
  return status;
}

void tsi_stay_begin(ts_context *context) {
  context->stays++;
}

ts_status tsi_stay_end(ts_context *context, ts_status status) {
  if (--context->stays > 0 || !context->has_stayed) return status;
  context->has_stayed = 0;
  context->ops->leave(context);
  return status;
}

/* Leaves the context for a function of the application, which may call public functions. */
static int go_out(ts_context *context) {
  const int stays = context->stays;
  context->stays = 0;
  context->ops->leave(context);
  return stays;
}

static ts_status come_back(ts_context *context, int stays) {
  context->stays = stays;
  return tsi_enter(context);
}

ts_status tsi_call(ts_context *context, tsi_function function, void *user, ts_vector *out, const ts_vector *in,
                   const char *what) {
  const int stays = go_out(context);
  const ts_status status = function(user, out, in);
  if (status == TS_OK) return come_back(context, stays);
  char error[sizeof context->error];
  memcpy(error, context->error, sizeof error);
  TSI_TRY(come_back(context, stays));
  memcpy(context->error, error, sizeof error);
  if (status < 0 && error[0]) return status;
  return tsi_fail(context, status < 0 ? status : TS_ERROR_INVALID_ARGUMENT, "%s returned %s", what,
                  ts_status_name(status));
}

ts_status tsi_call_progress(ts_context *context, int (*function)(const struct ts_progress *, void *),
                            const struct ts_progress *progress, void *user, int *stops) {
  const int stays = go_out(context);
  *stops = function(progress, user) != 0;
  return come_back(context, stays);
}

void tsi_begin_together(ts_context *context) {
  tsi_polls_begin(context);
  tsi_stay_begin(context);
  context->together++;
}

ts_status tsi_end_together(ts_context *context, ts_status status) {
  status = tsi_stay_end(context, tsi_polls_end(context, status));
  return --context->together == 0 && context->ops->agree ? context->ops->agree(context, status) : status;
}

void tsi_enter_to_destroy(ts_context *context) {
  char error[sizeof context->error];
  memcpy(error, context->error, sizeof error);
  enter(context);
  memcpy(context->error, error, sizeof error);
}
