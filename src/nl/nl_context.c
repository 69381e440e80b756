/* texsolve-nl: contexts, errors and messages. */
#include <stdarg.h>
#include <stdlib.h>

#include "nl_private.h"

static tsn_context *contexts; /* list of all contexts */
static tsn_context *current;

/* The last error of a call without a context. */
static NLenum lost_error;
static char lost_text[720];

static NLprintfFunc print_function;
static NLfprintfFunc fprint_function;

/* ---- Errors ---- */

static void store(tsn_context *c, NLenum error, const char *format, va_list arguments) TSN_PRINTF(3, 0);
static void store(tsn_context *c, NLenum error, const char *format, va_list arguments) {
  NLenum *waiting = c ? &c->error : &lost_error;
  if (*waiting != NL_NO_ERROR) return;
  *waiting = error;
  vsnprintf(c ? c->error_text : lost_text, c ? sizeof c->error_text : sizeof lost_text, format, arguments);
}

void tsn_fail(tsn_context *c, NLenum error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  store(c, error, format, arguments);
  va_end(arguments);
}

void tsn_refuse(tsn_context *c, NLenum error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  store(c, error, format, arguments);
  va_end(arguments);
  c->refused = 1;
}

void tsn_explain(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  store(current, NL_NO_ERROR, format, arguments);
  va_end(arguments);
}

static NLenum error_of(ts_status status) {
  switch (status) {
  case TS_ERROR_INVALID_ARGUMENT:
    return NL_SINGULAR; /* all other causes were checked before */
  case TS_ERROR_OUT_OF_HOST_MEMORY:
  case TS_ERROR_OUT_OF_DEVICE_MEMORY:
    return NL_OUT_OF_MEMORY;
  case TS_ERROR_UNSUPPORTED:
  case TS_ERROR_LIMIT:
    return NL_NOT_SUPPORTED;
  default:
    return NL_DEVICE_ERROR;
  }
}

void tsn_fail_status(tsn_context *c, const char *function, ts_status status) {
  tsn_fail(c, error_of(status), "%s: %s", function, ts_last_error(c->device ? c->device->context : NULL));
}

NLenum NLAPIENTRY nlGetError(void) {
  NLenum *waiting = current ? &current->error : &lost_error;
  const NLenum error = *waiting;
  *waiting = NL_NO_ERROR;
  return error;
}

const char *NLAPIENTRY nlGetErrorString(void) {
  return current ? current->error_text : lost_text;
}

/* ---- Messages ---- */

const char *NLAPIENTRY nlGetReport(void) {
  return current ? current->report : "";
}

void NLAPIENTRY nlPrintfFuncs(NLprintfFunc f1, NLfprintfFunc f2) {
  print_function = f1;
  fprint_function = f2;
}

void tsn_print_report(const tsn_context *c) {
  if (!c->parameters.verbose) return;
  if (print_function)
    print_function("OpenNL: %s\n", c->report);
  else if (fprint_function)
    fprint_function(stderr, "OpenNL: %s\n", c->report);
}

/* ---- Contexts ---- */

tsn_context *tsn_current_or_null(void) {
  return current;
}

tsn_context *tsn_current(const char *function) {
  if (!current)
    tsn_fail(NULL, NL_INVALID_OPERATION, "%s: no context is current; create one with nlNewContext", function);
  return current;
}

NLContext NLAPIENTRY nlNewContext(void) {
  tsn_context *c = calloc(1, sizeof *c);
  if (!c) {
    tsn_fail(current, NL_OUT_OF_MEMORY, "%s: no memory for a context", __func__);
    return NULL;
  }
  c->parameters.systems = 1;
  c->parameters.threshold = 1e-6;
  c->parameters.omega = 1.5;
  c->row_scaling = 1;
  c->next = contexts;
  contexts = c;
  current = c;
  return c;
}

/* The list's pointer to the context, or NULL if the context is not in the list. */
static tsn_context **find(const void *context) {
  tsn_context **at = &contexts;
  while (*at && *at != context) at = &(*at)->next;
  return *at ? at : NULL;
}

void NLAPIENTRY nlDeleteContext(NLContext context) {
  tsn_context **at = context ? find(context) : NULL;
  if (!at) {
    tsn_fail(current, NL_INVALID_VALUE, "%s: the context does not exist", __func__);
    return;
  }
  tsn_context *c = *at;
  *at = c->next;
  if (current == c) current = NULL;
  tsn_system_free(c);
  tsn_equations_free(c);
  tsn_variables_free(c);
  tsn_device_release(c->device);
  free(c);
}

void NLAPIENTRY nlMakeCurrent(NLContext context) {
  if (context && !find(context)) {
    tsn_fail(current, NL_INVALID_VALUE, "%s: the context does not exist", __func__);
    return;
  }
  current = context;
}

NLContext NLAPIENTRY nlGetCurrent(void) {
  return current;
}
