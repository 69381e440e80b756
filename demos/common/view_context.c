#include "view_context.h"

#include <texsolve/gl.h>

#include "view_gl.h"

static const char *why_not(const ts_context *context, ts_status status) {
  const char *text = ts_last_error(context);
  return status == TS_OK ? NULL : *text ? text : ts_status_text(status);
}

const char *view_context_use(ts_context *solver, ts_context *own) {
  ts_context *const context = own ? own : solver;
  return why_not(context, ts_gl_make_current(context));
}

const char *view_context_open(ts_context *solver, ts_gl_platform platform, ts_context **own) {
  const ts_gl_desc gl = {.platform = platform};
  const ts_context_desc desc = {.backend = "gl", .gl = &gl};
  *own = NULL;
  ts_status status = ts_gl_make_current(solver);
  if (status == TS_ERROR_UNSUPPORTED) {
    status = ts_context_create(&desc, own);
    if (status != TS_OK) return why_not(NULL, status);
    status = ts_gl_make_current(*own);
  }
  const char *why = why_not(*own ? *own : solver, status);
  return why ? why : view_gl_load();
}
