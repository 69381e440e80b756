/* texsolve-nl: assembly of the equations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nl_private.h"

void tsn_equations_free(tsn_context *c) {
  free(c->entries.rows);
  free(c->entries.columns);
  free(c->entries.values);
  free(c->right_hand_sides);
  free(c->added);
  c->entries = (tsn_entries){0};
  c->right_hand_sides = c->added = NULL;
  c->row_capacity = 0;
}

/* ---- Room ---- */

/* Returns 0 if memory is exhausted; the old contents are kept. */
static int grow(void **array, size_t count, size_t size) {
  void *larger = count <= SIZE_MAX / size ? realloc(*array, count * size) : NULL;
  if (larger) *array = larger;
  return larger != NULL;
}

int tsn_reserve_entry(tsn_entries *e) {
  if (e->count < e->capacity) return 1;
  const size_t capacity = e->capacity + e->capacity / 2 + 64;
  if (!grow((void **)&e->rows, capacity, sizeof *e->rows)) return 0;
  if (!grow((void **)&e->columns, capacity, sizeof *e->columns)) return 0;
  if (!grow((void **)&e->values, capacity, sizeof *e->values)) return 0;
  e->capacity = capacity;
  return 1;
}

static int reserve_row(tsn_context *c) {
  if (c->row_count < c->row_capacity) return 1;
  const size_t capacity = c->row_capacity + c->row_capacity / 2 + 64;
  if (!grow((void **)&c->right_hand_sides, capacity, c->systems * sizeof *c->right_hand_sides)) return 0;
  c->row_capacity = capacity;
  return 1;
}

static void out_of_memory(tsn_context *c, const char *function) {
  tsn_refuse(c, NL_OUT_OF_MEMORY, "%s: no memory for the equations", function);
}

static void push(tsn_context *c, int32_t row, int32_t column, double value, const char *function) {
  tsn_entries *e = &c->entries;
  if (e->count >= INT32_MAX || !tsn_reserve_entry(e)) {
    out_of_memory(c, function);
    return;
  }
  e->rows[e->count] = row;
  e->columns[e->count] = column;
  e->values[e->count++] = value;
}

/* ---- The order of calls ---- */

static const char *const state_names[] = {
    [TSN_INITIAL] = "before nlBegin(NL_SYSTEM)",
    [TSN_SYSTEM] = "in NL_SYSTEM, before NL_MATRIX",
    [TSN_PATTERN] = "in NL_MATRIX_PATTERN",
    [TSN_MATRIX] = "in NL_MATRIX, outside of NL_ROW",
    [TSN_ROW] = "in NL_ROW",
    [TSN_MATRIX_DONE] = "in NL_SYSTEM, after NL_MATRIX",
    [TSN_READY] = "after nlEnd(NL_SYSTEM)",
};

/* The context if it is in this state; otherwise sets an error. */
static tsn_context *in_state(tsn_state state, const char *function) {
  tsn_context *c = tsn_current(function);
  if (!c || c->state == state) return c;
  tsn_refuse(c, NL_INVALID_OPERATION, "%s: it belongs %s, and this is %s", function, state_names[state],
             state_names[c->state]);
  return NULL;
}

/* "row 3: " if a row is open. */
static const char *row_of(const tsn_context *c, char text[32]) {
  text[0] = 0;
  if (c->state == TSN_ROW) snprintf(text, 32, "row %zu: ", c->row_count);
  return text;
}

static int is_variable(tsn_context *c, NLuint i, const char *what, const char *function) {
  char row[32];
  if (i < c->n) return 1;
  tsn_refuse(c, NL_INVALID_VALUE, "%s: %s%s %u is out of range; it must be 0 to %zu", function, row_of(c, row),
             what, i, c->n - 1);
  return 0;
}

static int is_system(tsn_context *c, NLuint k, const char *function) {
  if (k < c->systems) return 1;
  tsn_refuse(c, NL_INVALID_VALUE, "%s: system %u is out of range; it must be 0 to %zu", function, k,
             c->systems - 1);
  return 0;
}

static int is_number(tsn_context *c, double value, const char *what, const char *function) {
  char row[32];
  if (isfinite(value)) return 1;
  tsn_refuse(c, NL_INVALID_VALUE, "%s: %sthe %s is %g", function, row_of(c, row), what, value);
  return 0;
}

/* ---- Systems and matrices ---- */

static void begin_system(void) {
  tsn_context *c = tsn_current("nlBegin(NL_SYSTEM)");
  if (!c) return;
  if (c->state != TSN_INITIAL && c->state != TSN_READY) {
    tsn_refuse(c, NL_INVALID_OPERATION, "nlBegin(NL_SYSTEM): this is %s", state_names[c->state]);
    return;
  }
  if (c->state == TSN_READY || c->refused) c->error = NL_NO_ERROR; /* an error of the previous system */
  if (c->parameters.variables < 1) {
    tsn_refuse(
        c, NL_INVALID_OPERATION,
        "nlBegin(NL_SYSTEM): there are no variables; nlSolverParameteri(NL_NB_VARIABLES, n) sets their number");
    return;
  }
  if (!tsn_variables_create(c)) {
    tsn_refuse(c, NL_OUT_OF_MEMORY, "nlBegin(NL_SYSTEM): no memory for %d variables", c->parameters.variables);
    return;
  }
  c->refused = 0;
  c->state = TSN_SYSTEM;
}

static void begin_matrix(void) {
  tsn_context *c = in_state(TSN_SYSTEM, "nlBegin(NL_MATRIX)");
  if (!c) return;
  if (!c->parameters.variables_buffer) memset(c->buffers, 0, c->systems * sizeof *c->buffers);
  c->entries.count = c->row_count = c->added_count = 0;
  free(c->added);
  c->added = NULL;
  free(c->right_hand_sides); /* the number of systems may differ */
  c->right_hand_sides = NULL;
  c->row_capacity = 0;
  memset(c->row_right_hand_side, 0, c->systems * sizeof *c->row_right_hand_side);
  c->row_scaling = 1;
  c->square = !c->parameters.least_squares;
  c->updated = 0;
  c->free_count = 0;
  for (size_t i = 0; i < c->n; i++) c->free_count += !c->locked[i];
  c->state = TSN_MATRIX;
}

static void end_matrix(void) {
  tsn_context *c = in_state(TSN_MATRIX, "nlEnd(NL_MATRIX)");
  if (!c) return;
  c->state = TSN_MATRIX_DONE;
  tsn_equations_finish(c);
}

/* ---- Rows ---- */

static void begin_row(void) {
  tsn_context *c = in_state(TSN_MATRIX, "nlBegin(NL_ROW)");
  if (!c) return;
  if (c->parameters.least_squares && c->added_count) {
    tsn_refuse(c, NL_INVALID_OPERATION,
               "nlBegin(NL_ROW): in least squares rows are not mixed with nlAddIJCoefficient");
    return;
  }
  if (c->square && c->row_count >= c->n) {
    tsn_refuse(c, NL_INVALID_OPERATION,
               "nlBegin(NL_ROW): row %zu exceeds the number of variables; NL_LEAST_SQUARES is not set",
               c->row_count);
    return;
  }
  c->row_first = c->entries.count;
  c->state = TSN_ROW;
}

static void scale_row(tsn_context *c, double factor) {
  for (size_t e = c->row_first; e < c->entries.count; e++) c->entries.values[e] *= factor;
  for (size_t k = 0; k < c->systems; k++) c->row_right_hand_side[k] *= factor;
}

/* 1 if the row is empty. */
static double row_length(const tsn_context *c) {
  double squares = 0;
  for (size_t e = c->row_first; e < c->entries.count; e++)
    squares += c->entries.values[e] * c->entries.values[e];
  return squares > 0 ? sqrt(squares) : 1;
}

static void end_row(void) {
  tsn_context *c = in_state(TSN_ROW, "nlEnd(NL_ROW)");
  if (!c) return;
  const double factor = c->row_scaling / (c->parameters.normalize_rows ? row_length(c) : 1);
  if (factor != 1) scale_row(c, factor);
  c->state = TSN_MATRIX;
  c->row_scaling = 1;
  if (c->row_count >= INT32_MAX || !reserve_row(c)) {
    out_of_memory(c, "nlEnd(NL_ROW)");
    return;
  }
  const size_t bytes = c->systems * sizeof *c->right_hand_sides;
  memcpy(c->right_hand_sides + c->row_count * c->systems, c->row_right_hand_side, bytes);
  memset(c->row_right_hand_side, 0, bytes);
  c->row_count++;
}

void NLAPIENTRY nlCoefficient(NLuint i, NLdouble value) {
  tsn_context *c = in_state(TSN_ROW, __func__);
  if (!c || !is_variable(c, i, "variable", __func__) || !is_number(c, value, "coefficient", __func__)) return;
  push(c, (int32_t)c->row_count, (int32_t)i, value, __func__);
}

static void set_right_hand_side(tsn_state state, NLuint k, double value, const char *function) {
  tsn_context *c = in_state(state, function);
  if (!c || !is_system(c, k, function) || !is_number(c, value, "right-hand side", function)) return;
  c->row_right_hand_side[k] = value;
}

void NLAPIENTRY nlRightHandSide(NLdouble value) {
  set_right_hand_side(TSN_ROW, 0, value, __func__);
}

void NLAPIENTRY nlMultiRightHandSide(NLuint k, NLdouble value) {
  set_right_hand_side(TSN_ROW, k, value, __func__);
}

void NLAPIENTRY nlRowScaling(NLdouble value) {
  tsn_context *c = in_state(TSN_MATRIX, __func__);
  if (c && is_number(c, value, "scaling", __func__)) c->row_scaling = value;
}

void NLAPIENTRY nlScaleRow(NLdouble value) {
  tsn_context *c = in_state(TSN_ROW, __func__);
  if (c && is_number(c, value, "scaling", __func__)) scale_row(c, value);
}

void NLAPIENTRY nlRowParameterd(NLenum pname, NLdouble param) {
  tsn_context *c = tsn_current(__func__);
  if (!c) return;
  if (pname == NL_RIGHT_HAND_SIDE)
    set_right_hand_side(TSN_MATRIX, 0, param, __func__);
  else if (pname == NL_ROW_SCALING)
    nlRowScaling(param);
  else
    tsn_refuse(c, NL_INVALID_ENUM, "%s: 0x%x is not a parameter of a row", __func__, pname);
}

void NLAPIENTRY nlRowParameteri(NLenum pname, NLint param) {
  nlRowParameterd(pname, param);
}

/* ---- Entries ---- */

/* In least squares these entries belong to the normal equations, which are square. */
static tsn_context *to_add(NLuint i, const char *function) {
  tsn_context *c = in_state(TSN_MATRIX, function);
  if (!c || !is_variable(c, i, "equation", function)) return NULL;
  if (c->parameters.least_squares && c->row_count) {
    tsn_refuse(c, NL_INVALID_OPERATION, "%s: in least squares it is not mixed with rows", function);
    return NULL;
  }
  c->square = 1;
  c->added_count++;
  return c;
}

void NLAPIENTRY nlAddIJCoefficient(NLuint i, NLuint j, NLdouble value) {
  tsn_context *c = to_add(i, __func__);
  if (!c || !is_variable(c, j, "variable", __func__) || !is_number(c, value, "coefficient", __func__)) return;
  push(c, -1 - (int32_t)i, (int32_t)j, value, __func__);
}

static void add_right_hand_side(NLuint i, NLuint k, double value, const char *function) {
  tsn_context *c = to_add(i, function);
  if (!c || !is_system(c, k, function) || !is_number(c, value, "right-hand side", function)) return;
  if (!c->added) c->added = calloc(c->n, c->systems * sizeof *c->added);
  if (c->added)
    c->added[(size_t)i * c->systems + k] += value;
  else
    out_of_memory(c, function);
}

void NLAPIENTRY nlAddIRightHandSide(NLuint i, NLdouble value) {
  add_right_hand_side(i, 0, value, __func__);
}

void NLAPIENTRY nlMultiAddIRightHandSide(NLuint i, NLuint k, NLdouble value) {
  add_right_hand_side(i, k, value, __func__);
}

/* ---- Begin and end ---- */

static void change_state(tsn_state from, tsn_state to, const char *function) {
  tsn_context *c = in_state(from, function);
  if (c) c->state = to;
}

static void no_primitive(NLenum primitive, const char *function) {
  tsn_context *c = tsn_current(function);
  if (c) tsn_refuse(c, NL_INVALID_ENUM, "%s: 0x%x cannot be begun or ended", function, primitive);
}

void NLAPIENTRY nlBegin(NLenum primitive) {
  switch (primitive) {
  case NL_SYSTEM:
    begin_system();
    return;
  case NL_MATRIX_PATTERN:
    change_state(TSN_SYSTEM, TSN_PATTERN, "nlBegin(NL_MATRIX_PATTERN)");
    return;
  case NL_MATRIX:
    begin_matrix();
    return;
  case NL_ROW:
    begin_row();
    return;
  default:
    no_primitive(primitive, __func__);
  }
}

void NLAPIENTRY nlEnd(NLenum primitive) {
  switch (primitive) {
  case NL_SYSTEM:
    change_state(TSN_MATRIX_DONE, TSN_READY, "nlEnd(NL_SYSTEM)");
    return;
  case NL_MATRIX_PATTERN:
    change_state(TSN_PATTERN, TSN_SYSTEM, "nlEnd(NL_MATRIX_PATTERN)");
    return;
  case NL_MATRIX:
    end_matrix();
    return;
  case NL_ROW:
    end_row();
    return;
  default:
    no_primitive(primitive, __func__);
  }
}

void NLAPIENTRY nlSetRowLength(NLuint i, NLuint n) {
  tsn_context *c = in_state(TSN_PATTERN, __func__);
  (void)n;
  if (c) is_variable(c, i, "equation", __func__);
}
