/* `texsolve info`: the available backends, and why others are not available. */
#include <stdio.h>
#include <string.h>

#include <texsolve/preconditioner.h>

#ifdef TEXSOLVE_HAVE_GL
#include <texsolve/gl.h>
#endif
#ifdef TEXSOLVE_SHARES
#include <texsolve/cuda.h>
#endif

#include "commands.h"
#include "info.h"
#include "message.h"
#include "options.h"
#include "ranks.h"
#include "reports.h"

/* Optional libraries that are not backends. */
static void print_direct(void) {
  const char *libraries = ts_direct_libraries();
  printf("%-8s %s%s\n", "direct",
         libraries ? "available: " : "not available: ", libraries ? libraries : ts_last_error(NULL));
}

static json_t *direct_object(void) {
  const char *libraries = ts_direct_libraries();
  if (libraries) return json_pack("{s:b, s:s}", "available", 1, "libraries", libraries);
  return json_pack("{s:b, s:s}", "available", 0, "reason", ts_last_error(NULL));
}

typedef struct program_options {
  const char *backend; /* NULL: all backends */
  int json;
} program_options;

static const option_row rows[] = {OPTION_ROW(BACKEND, "backend", "NAME", backend,
                                             .help = "describe this backend only, such as gl:1 or check:gl"),
                                  OPTION_FLAG("json", json, "report as one JSON object on standard output"),
                                  OPTION_END};

typedef struct backend_state {
  const char *name;
  ts_status status;
  ts_context *context;
  ts_context_info info;
#ifdef TEXSOLVE_HAVE_GL
  ts_gl_info gl;
  int is_gl;
#endif
  const char *reason; /* why it is not available; valid until the next call */
  const char *shares; /* with OpenGL: NULL if the question does not apply, "" for yes, otherwise the obstacle */
} backend_state;

/* Whether OpenGL can draw vectors of CUDA without a copy. Opens an OpenGL context to find out. */
static void ask_sharing(backend_state *b) {
  b->shares = NULL;
#ifdef TEXSOLVE_SHARES
  static char text[400];
  ts_context *gl = NULL;
  if (!strstr(b->info.backend, "cuda")) return;
  if (b->info.parts > 1) {
    snprintf(text, sizeof text, "its vectors are in %d parts", b->info.parts);
    b->shares = text;
    return;
  }
  ts_status status = ts_context_create(&(ts_context_desc){.backend = "gl"}, &gl);
  const char *why = ts_last_error(NULL);
  if (status == TS_OK) {
    status = ts_gl_make_current(gl);
    why = ts_last_error(gl);
  }
  if (status == TS_OK) {
    status = ts_cuda_gl_check(b->context);
    why = ts_last_error(b->context);
  }
  snprintf(text, sizeof text, "%s", status == TS_OK ? "" : *why ? why : ts_status_text(status));
  ts_context_destroy(&gl);
  b->shares = text;
#endif
}

static void open_backend(backend_state *b, const char *name) {
  *b = (backend_state){.name = name};
  b->status = ts_context_create(&(ts_context_desc){.backend = name}, &b->context);
  if (b->status >= 0) b->status = ts_context_get_info(b->context, &b->info);
#ifdef TEXSOLVE_HAVE_GL
  b->is_gl = b->status >= 0 && ts_gl_get_info(b->context, &b->gl) == TS_OK;
#endif
  if (b->status >= 0) ask_sharing(b);
  if (b->status >= 0) return;
  const char *text = ts_last_error(b->context);
  b->reason = *text ? text : ts_status_text(b->status);
  /* The next lines would repeat this prefix. */
  char prefix[80];
  snprintf(prefix, sizeof prefix, "backend %s is not available: ", name);
  if (!strncmp(b->reason, prefix, strlen(prefix))) b->reason += strlen(prefix);
}

static void print_text(const backend_state *b) {
  const ts_context_info *i = &b->info;
  if (b->status < 0) {
    printf("%-8s not available: %s\n", b->name, b->reason);
    return;
  }
  printf("%-8s available\n", b->name);
  printf("  device           %s%s\n", i->device, i->is_hardware ? "" : " (software)");
  printf("  driver           %s\n", i->driver);
  if (i->bytes_total) printf("  memory           %.1f GiB\n", (double)i->bytes_total * 0x1p-30);
#ifdef TEXSOLVE_HAVE_GL
  if (b->is_gl) {
    printf("  largest texture  %d x %d texels\n", b->gl.max_texture_size, b->gl.max_texture_size);
    printf("  rectangle        %d x %d texels\n", b->gl.rectangle_width, b->gl.rectangle_height);
    printf("  texture barrier  %s\n", b->gl.texture_barrier ? "yes" : "no");
    printf("  exact sums       %s\n", b->gl.exact_sums);
  }
#endif
  if (i->parts > 1) printf("  parts            %d, each with a part of every vector and matrix\n", i->parts);
  if (i->threads) printf("  threads          %d\n", i->threads);
  if (b->shares && !*b->shares) printf("  drawing          OpenGL shares its vectors\n");
  if (b->shares && *b->shares) printf("  drawing          by copies through the host: %s\n", b->shares);
}

static json_t *to_json(const backend_state *b) {
  const ts_context_info *i = &b->info;
  if (b->status < 0) return json_pack("{s:s, s:b, s:s}", "name", b->name, "available", 0, "reason", b->reason);
  json_t *object =
      json_pack("{s:s, s:b, s:s, s:s, s:b, s:i, s:i}", "name", b->name, "available", 1, "device", i->device,
                "driver", i->driver, "hardware", i->is_hardware, "threads", i->threads, "parts", i->parts);
  if (i->bytes_total) json_object_set_new(object, "bytes_total", json_integer((json_int_t)i->bytes_total));
#ifdef TEXSOLVE_HAVE_GL
  if (b->is_gl)
    json_object_update_new(object, json_pack("{s:i, s:i, s:i, s:b, s:s}", "max_texture_size",
                                             b->gl.max_texture_size, "rectangle_width", b->gl.rectangle_width,
                                             "rectangle_height", b->gl.rectangle_height, "texture_barrier",
                                             b->gl.texture_barrier, "exact_sums", b->gl.exact_sums));
#endif
  if (b->shares) json_object_set_new(object, "shares_with_opengl", json_boolean(!*b->shares));
  return object;
}

static int report(const char *name, json_t *list, ts_status *status) {
  backend_state b;
  open_backend(&b, name);
  *status = b.status;
  int lost = 0;
  if (list)
    lost = json_array_append_new(list, to_json(&b));
  else
    print_text(&b);
  ts_context_destroy(&b.context);
  if (lost) message("out of memory for the JSON object");
  return lost;
}

int cmd_info(int argc, char **argv) {
  program_options options = {0};
  ranks_begin();
  options_read("texsolve info", rows,
               "Lists the backends with their devices and limits, and explains why a backend is not available.",
               argc, argv, &options);
  if (ranks_are_several()) return info_of_ranks(options.backend, options.json);

  json_t *list = options.json ? json_array() : NULL;
  ts_status status = TS_OK;
  int lost = 0;
  if (!options.json) printf("texsolve %s\n", ts_version());
  if (options.backend) {
    lost = report(options.backend, list, &status);
  } else {
    for (int i = 0; !lost && ts_backend_name(i); i++) {
      ts_status ignored; /* an unavailable backend is information here, not a failure */
      lost = report(ts_backend_name(i), list, &ignored);
    }
    if (!list) print_direct();
  }
  if (list && !lost) {
    json_t *object =
        json_pack("{s:s, s:o, s:o}", "version", ts_version(), "backends", list, "direct", direct_object());
    lost = report_print(object, !object);
  } else {
    json_decref(list);
  }
  if (message_flush_stdout() || lost) return EXIT_ERROR;
  if (status == TS_ERROR_INVALID_ARGUMENT) return EXIT_USAGE;
  return status < 0 ? EXIT_ERROR : EXIT_CONVERGED;
}
