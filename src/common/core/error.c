/* The message of the last error, and the log. */
#include <stdio.h>

#include "core.h"

#undef tsi_fail /* the analyzer's form */

/* For calls without a context to keep the message in. */
static _Thread_local char thread_error[512];
static _Thread_local int64_t thread_row;

static int64_t *row_of(ts_context *context) {
  return context ? &context->error_row : &thread_row;
}

ts_status tsi_fail(ts_context *context, ts_status status, const char *format, ...) {
  char *text = context ? context->error : thread_error;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof thread_error, format, arguments);
  va_end(arguments);
  *row_of(context) = -1;
  tsi_log(context, TS_LOG_LEVEL_DEBUG, "%s: %s", ts_status_name(status), text);
  return status;
}

void tsi_clear_error(ts_context *context) {
  char *text = context ? context->error : thread_error;
  text[0] = 0;
  *row_of(context) = -1;
}

ts_status tsi_fail_at_row(ts_context *context, ts_status status, int64_t row) {
  *row_of(context) = row;
  return status;
}

ts_status tsi_check_precision(ts_context *context, ts_precision precision) {
  const char *name = ts_precision_name(precision);
  if (!name)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "precision is %d, not a ts_precision", precision);
  if (precision == TS_PRECISION_MIXED)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "precision is %s, which is for solvers only", name);
  if (precision == TS_PRECISION_DOUBLE && !context->caps.pairs)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "precision is %s; backend %s has no exact arithmetic here, only single precision", name,
                    context->backend_name);
  return TS_OK;
}

ts_status tsi_check_reserved(ts_context *context, const char *prefix, const uint64_t *reserved, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof *reserved; i++)
    if (reserved[i])
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%sreserved[%zu] is %llu; it must be 0", prefix, i,
                      (unsigned long long)reserved[i]);
  return TS_OK;
}

const char *ts_last_error(const ts_context *context) {
  return context ? context->error : thread_error;
}

int64_t ts_last_error_row(const ts_context *context) {
  if (!*ts_last_error(context)) return -1;
  return context ? context->error_row : thread_row;
}

void tsi_log(ts_context *context, ts_log_level level, const char *format, ...) {
  if (!context || !context->desc.log || level > context->desc.log_level) return;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  context->desc.log(level, text, context->desc.log_user);
}
