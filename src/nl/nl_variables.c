/* texsolve-nl: variables, in arrays of the context or in the program's buffers. */
#include <math.h>
#include <stdlib.h>

#include "nl_private.h"

int tsn_variables_create(tsn_context *c) {
  const size_t n = (size_t)c->parameters.variables, systems = (size_t)c->parameters.systems;
  if (c->values && c->n == n && c->systems == systems) return 1;
  tsn_variables_free(c);
  c->values = calloc(n, systems * sizeof *c->values);
  c->locked = calloc(n, 1);
  c->idle = calloc(n, 1);
  c->buffers = calloc(systems, sizeof *c->buffers);
  c->strides = calloc(systems, sizeof *c->strides);
  c->row_right_hand_side = calloc(systems, sizeof *c->row_right_hand_side);
  c->n = n;
  c->systems = systems;
  if (c->values && c->locked && c->idle && c->buffers && c->strides && c->row_right_hand_side) return 1;
  tsn_variables_free(c);
  return 0;
}

void tsn_variables_free(tsn_context *c) {
  free(c->values);
  free(c->locked);
  free(c->idle);
  free(c->buffers);
  free(c->strides);
  free(c->row_right_hand_side);
  c->values = c->row_right_hand_side = NULL;
  c->locked = c->idle = NULL;
  c->buffers = NULL;
  c->strides = NULL;
  c->n = c->systems = 0;
}

double *tsn_value(const tsn_context *c, size_t i, size_t k) {
  if (c->buffers[k]) return (double *)(void *)(c->buffers[k] + i * c->strides[k]);
  return c->values + i * c->systems + k;
}

/* ---- Checks ---- */

/* The context if the variable exists; otherwise sets an error. */
static tsn_context *with_variable(NLuint i, NLuint k, const char *function) {
  tsn_context *c = tsn_current(function);
  if (!c) return NULL;
  if (!c->values)
    tsn_fail(c, NL_INVALID_OPERATION, "%s: there are no variables yet; nlBegin(NL_SYSTEM) creates them",
             function);
  else if (i >= c->n)
    tsn_fail(c, NL_INVALID_VALUE, "%s: variable %u is out of range; it must be 0 to %zu", function, i,
             c->n - 1);
  else if (k >= c->systems)
    tsn_fail(c, NL_INVALID_VALUE, "%s: system %u is out of range; it must be 0 to %zu", function, k,
             c->systems - 1);
  else
    return c;
  return NULL;
}

/* As with_variable, for calls that define a system. If one of them is refused, the system must not be
 * solved. */
static tsn_context *to_change(NLuint i, NLuint k, const char *function) {
  tsn_context *c = with_variable(i, k, function), *any = tsn_current_or_null();
  if (!c && any) any->refused = 1;
  return c;
}

/* ---- Values ---- */

static void set_value(NLuint i, NLuint k, double value, const char *function) {
  tsn_context *c = to_change(i, k, function);
  if (!c) return;
  if (c->state == TSN_MATRIX || c->state == TSN_ROW)
    tsn_refuse(c, NL_INVALID_OPERATION, "%s: variable %u: values are set outside of NL_MATRIX", function, i);
  else if (!isfinite(value))
    tsn_refuse(c, NL_INVALID_VALUE, "%s: the value of variable %u is %g", function, i, value);
  else
    *tsn_value(c, i, k) = value;
}

void NLAPIENTRY nlSetVariable(NLuint i, NLdouble value) {
  set_value(i, 0, value, __func__);
}

void NLAPIENTRY nlMultiSetVariable(NLuint i, NLuint k, NLdouble value) {
  set_value(i, k, value, __func__);
}

NLdouble NLAPIENTRY nlGetVariable(NLuint i) {
  const tsn_context *c = with_variable(i, 0, __func__);
  return c ? *tsn_value(c, i, 0) : NAN;
}

NLdouble NLAPIENTRY nlMultiGetVariable(NLuint i, NLuint k) {
  const tsn_context *c = with_variable(i, k, __func__);
  return c ? *tsn_value(c, i, k) : NAN;
}

void NLAPIENTRY nlBindBuffer(NLenum buffer, NLuint k, void *addr, NLuint stride) {
  tsn_context *c = to_change(0, k, __func__);
  if (!c) return;
  if (buffer != NL_VARIABLES_BUFFER)
    tsn_refuse(c, NL_INVALID_ENUM, "%s: 0x%x is not a buffer; NL_VARIABLES_BUFFER is one", __func__, buffer);
  else if (!c->parameters.variables_buffer)
    tsn_refuse(c, NL_INVALID_OPERATION, "%s: NL_VARIABLES_BUFFER is not enabled", __func__);
  else if (c->state != TSN_SYSTEM && c->state != TSN_READY)
    tsn_refuse(c, NL_INVALID_OPERATION, "%s: buffers are bound in NL_SYSTEM, before NL_MATRIX", __func__);
  else if (!addr || stride % sizeof(double) || (uintptr_t)addr % sizeof(double))
    tsn_refuse(c, NL_INVALID_VALUE, "%s: address %p and stride %u are not those of an array of doubles",
               __func__, addr, stride);
  else {
    c->buffers[k] = addr;
    c->strides[k] = stride ? stride : sizeof(double);
  }
}

/* ---- Locks ---- */

static void set_lock(NLuint i, int locked, const char *function) {
  tsn_context *c = to_change(i, 0, function);
  if (!c) return;
  if (c->state != TSN_SYSTEM)
    tsn_refuse(c, NL_INVALID_OPERATION,
               "%s: variable %u: variables are locked and unlocked in NL_SYSTEM, before NL_MATRIX", function,
               i);
  else
    c->locked[i] = (unsigned char)locked;
}

void NLAPIENTRY nlLockVariable(NLuint index) {
  set_lock(index, 1, __func__);
}

void NLAPIENTRY nlUnlockVariable(NLuint index) {
  set_lock(index, 0, __func__);
}

NLboolean NLAPIENTRY nlVariableIsLocked(NLuint index) {
  const tsn_context *c = with_variable(index, 0, __func__);
  return c && c->locked[index] ? NL_TRUE : NL_FALSE;
}
