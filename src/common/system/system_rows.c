/* The system builder: the calls between ts_system_begin and ts_system_end. */
#include <math.h>
#include <string.h>

#include "common/core/array.h"
#include "system.h"

/* ---- Capacity ---- */

int64_t tsi_system_larger(int64_t capacity, int64_t needed) {
  const int64_t larger = capacity + capacity / 2;
  return larger > needed ? larger : needed + 16;
}

ts_status tsi_system_grow(ts_context *context, void **array, int64_t used, int64_t capacity, size_t size,
                          const char *what) {
  void *larger = tsi_malloc(context, (size_t)capacity, size);
  if (!larger) return tsi_out_of_memory(context, what, (size_t)capacity * size);
  if (used) memcpy(larger, *array, (size_t)used * size);
  tsi_free(context, *array);
  *array = larger;
  return TS_OK;
}

/* Reserves `more` entries after the last one. If memory is exhausted in between, some arrays are larger than
 * `capacity`. */
static ts_status reserve_entries(ts_system *s, int64_t more) {
  tsi_assembly *t = &s->assembly;
  if (more > INT32_MAX - t->count)
    return tsi_fail(s->context, TS_ERROR_LIMIT, "a system has at most %d coefficients", INT32_MAX);
  if (t->count + more <= t->capacity) return TS_OK;
  const int64_t capacity = tsi_system_larger(t->capacity, t->count + more);
  const int64_t used = t->known > t->count ? t->known : t->count;
  TSI_TRY(tsi_system_grow(s->context, (void **)&t->rows, used, capacity, sizeof *t->rows, "coefficients"));
  TSI_TRY(
      tsi_system_grow(s->context, (void **)&t->unknowns, used, capacity, sizeof *t->unknowns, "coefficients"));
  TSI_TRY(tsi_system_grow(s->context, (void **)&t->coefficients, t->count, capacity, sizeof *t->coefficients,
                          "coefficients"));
  t->capacity = capacity;
  return TS_OK;
}

static ts_status reserve_row(ts_system *s) {
  tsi_assembly *t = &s->assembly;
  if (t->row_count < t->row_capacity) return TS_OK;
  if (t->row_count == TSI_MAX_SIZE)
    return tsi_fail(s->context, TS_ERROR_LIMIT, "a system has at most %d rows", t->row_count);
  int64_t capacity = tsi_system_larger(t->row_capacity, t->row_count);
  if (capacity > INT32_MAX) capacity = INT32_MAX;
  TSI_TRY(tsi_system_grow(s->context, (void **)&t->right_hand_sides, (int64_t)t->row_count * s->desc.components,
                          capacity * s->desc.components, sizeof *t->right_hand_sides, "right-hand sides"));
  TSI_TRY(
      tsi_system_grow(s->context, (void **)&t->weights, t->row_count, capacity, sizeof *t->weights, "weights"));
  t->row_capacity = (int32_t)capacity;
  return TS_OK;
}

/* The capacity must be sufficient. */
static void push(tsi_assembly *t, int32_t row, int32_t unknown, double a) {
  const int64_t e = t->count++;
  if (e < t->known && (t->rows[e] != row || t->unknowns[e] != unknown)) t->known = 0;
  t->rows[e] = row;
  t->unknowns[e] = unknown;
  t->coefficients[e] = a;
}

/* ---- The order of calls ---- */

static const char *expected_call(tsi_system_state state) {
  switch (state) {
  case TSI_SYSTEM_OPEN:
    return "no row is open; ts_system_begin_row opens one";
  case TSI_SYSTEM_IN_ROW:
    return "a row is open; ts_system_end_row closes it";
  default:
    return "no assembly is open; ts_system_begin comes first";
  }
}

static ts_status enter_state(ts_system *s, tsi_system_state state, const char *function) {
  tsi_clear_error(s->context);
  if (s->state == state) return TS_OK;
  return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT, "%s: %s", function, expected_call(s->state));
}

#define IN_STATE(system, state)                                                                                \
  do {                                                                                                         \
    TSI_REQUIRE(NULL, system);                                                                                 \
    TSI_TRY(enter_state(system, state, __func__));                                                             \
  } while (0)

ts_status ts_system_begin(ts_system *system) {
  TSI_BEGIN(system, system->context);
  if (system->state == TSI_SYSTEM_OPEN || system->state == TSI_SYSTEM_IN_ROW)
    return tsi_fail(system->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: an assembly is open already; ts_system_end comes first", __func__);
  tsi_assembly *t = &system->assembly;
  t->count = 0;
  t->row_count = 0;
  tsi_free(system->context, t->added);
  t->added = NULL;
  system->state = TSI_SYSTEM_OPEN;
  return TS_OK;
}

/* ---- Numbers ---- */

static ts_status check_coefficient(const ts_system *s, int32_t unknown, double a, const char *function) {
  TSI_TRY(tsi_system_check_unknown(s, unknown, function));
  if (!isfinite(a))
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT, "%s: row %d: the coefficient of unknown %d is %g",
                    function, s->assembly.row_count, unknown, a);
  return TS_OK;
}

static ts_status check_component(const ts_system *s, int component, const char *function) {
  if (component < 0 || component >= s->desc.components)
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT, "%s: component is %d; the system has %d", function,
                    component, s->desc.components);
  return TS_OK;
}

static ts_status check_right_hand_sides(const ts_system *s, int32_t row, const double *b,
                                        const char *function) {
  for (int c = 0; b && c < s->desc.components; c++)
    if (!isfinite(b[c]))
      return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                      "%s: row %d: the right-hand side is %g in component %d", function, row, b[c], c);
  return TS_OK;
}

static ts_status check_weight(const ts_system *s, double weight, const char *function) {
  if (!(weight >= 0 && isfinite(weight)))
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: row %d: its weight is %g; weights are at least 0", function, s->assembly.row_count,
                    weight);
  if (weight == 0 && !s->desc.least_squares)
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: row %d: its weight is 0, and an equation of a square system must count", function,
                    s->assembly.row_count);
  return TS_OK;
}

/* Checks that another row is permitted. */
static ts_status check_row_number(const ts_system *s, const char *function) {
  if (!s->desc.least_squares && s->assembly.row_count >= s->desc.unknowns)
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: row %d exceeds the unknowns of the square system (least_squares is not set)", function,
                    s->assembly.row_count);
  return TS_OK;
}

/* ---- Rows ---- */

ts_status ts_system_begin_row(ts_system *system) {
  IN_STATE(system, TSI_SYSTEM_OPEN);
  TSI_TRY(check_row_number(system, __func__));
  TSI_TRY(reserve_row(system));
  memset(system->open_row, 0, sizeof system->open_row);
  system->open_entry = system->assembly.count;
  system->state = TSI_SYSTEM_IN_ROW;
  return TS_OK;
}

ts_status ts_system_coefficient(ts_system *system, int32_t unknown, double a) {
  IN_STATE(system, TSI_SYSTEM_IN_ROW);
  TSI_TRY(check_coefficient(system, unknown, a, __func__));
  TSI_TRY(reserve_entries(system, 1));
  push(&system->assembly, system->assembly.row_count, unknown, a);
  return TS_OK;
}

ts_status ts_system_right_hand_side(ts_system *system, int component, double b) {
  IN_STATE(system, TSI_SYSTEM_IN_ROW);
  TSI_TRY(check_component(system, component, __func__));
  if (!isfinite(b))
    return tsi_fail(system->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: row %d: the right-hand side is %g in component %d", __func__,
                    system->assembly.row_count, b, component);
  system->open_row[component] += b;
  return TS_OK;
}

/* The capacity must be sufficient. The weight of an equation is multiplied into it immediately; that of a
 * condition is stored. */
static void close_row(ts_system *s, int64_t first, const double *right_hand_sides, double weight) {
  tsi_assembly *t = &s->assembly;
  const int components = s->desc.components, multiply = !s->desc.least_squares;
  double *b = t->right_hand_sides + (size_t)t->row_count * (size_t)components;
  for (int c = 0; c < components; c++)
    b[c] = (right_hand_sides ? right_hand_sides[c] : 0) * (multiply ? weight : 1);
  for (int64_t e = first; multiply && e < t->count; e++) t->coefficients[e] *= weight;
  t->weights[t->row_count++] = weight;
}

ts_status ts_system_end_row(ts_system *system, double weight) {
  IN_STATE(system, TSI_SYSTEM_IN_ROW);
  TSI_TRY(check_weight(system, weight, __func__));
  close_row(system, system->open_entry, system->open_row, weight);
  system->state = TSI_SYSTEM_OPEN;
  return TS_OK;
}

ts_status ts_system_row(ts_system *system, int count, const int32_t *unknowns, const double *coefficients,
                        const double *right_hand_sides, double weight) {
  IN_STATE(system, TSI_SYSTEM_OPEN);
  if (count < 0)
    return tsi_fail(system->context, TS_ERROR_INVALID_ARGUMENT, "%s: count is %d, less than 0", __func__,
                    count);
  if (count) {
    TSI_REQUIRE(system->context, unknowns);
    TSI_REQUIRE(system->context, coefficients);
  }
  TSI_TRY(check_row_number(system, __func__));
  for (int k = 0; k < count; k++) TSI_TRY(check_coefficient(system, unknowns[k], coefficients[k], __func__));
  TSI_TRY(check_right_hand_sides(system, system->assembly.row_count, right_hand_sides, __func__));
  TSI_TRY(check_weight(system, weight, __func__));
  TSI_TRY(reserve_row(system));
  TSI_TRY(reserve_entries(system, count));
  const int64_t first = system->assembly.count;
  for (int k = 0; k < count; k++)
    push(&system->assembly, system->assembly.row_count, unknowns[k], coefficients[k]);
  close_row(system, first, right_hand_sides, weight);
  return TS_OK;
}

/* ---- Entries ---- */

static ts_status check_equation(const ts_system *s, int32_t i, const char *function) {
  if (s->desc.least_squares)
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: the system is least squares; its equations are added row by row", function);
  if (i < 0 || i >= s->desc.unknowns)
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: equation %d is out of range; it must be 0 to %d", function, i, s->desc.unknowns - 1);
  return TS_OK;
}

ts_status ts_system_add(ts_system *system, int32_t i, int32_t j, double a) {
  IN_STATE(system, TSI_SYSTEM_OPEN);
  TSI_TRY(check_equation(system, i, __func__));
  TSI_TRY(tsi_system_check_unknown(system, j, __func__));
  if (!isfinite(a))
    return tsi_fail(system->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: the coefficient of unknown %d in equation %d is %g", __func__, j, i, a);
  TSI_TRY(reserve_entries(system, 1));
  push(&system->assembly, -1 - i, j, a);
  return TS_OK;
}

ts_status ts_system_add_right_hand_side(ts_system *system, int32_t i, int component, double b) {
  IN_STATE(system, TSI_SYSTEM_OPEN);
  TSI_TRY(check_equation(system, i, __func__));
  TSI_TRY(check_component(system, component, __func__));
  if (!isfinite(b))
    return tsi_fail(system->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: the right-hand side of equation %d is %g in component %d", __func__, i, b, component);
  tsi_assembly *t = &system->assembly;
  if (!t->added) t->added = tsi_calloc(system->context, tsi_system_numbers(system), sizeof *t->added);
  if (!t->added)
    return tsi_out_of_memory(system->context, "right-hand sides",
                             tsi_system_numbers(system) * sizeof *t->added);
  t->added[(size_t)i * (size_t)system->desc.components + (size_t)component] += b;
  return TS_OK;
}

/* ---- The end ---- */

static ts_status check_row_count(const ts_system *s, const char *function) {
  const tsi_assembly *t = &s->assembly;
  const int32_t unknowns = s->desc.unknowns, unlocked = unknowns - s->locked_count;
  if (t->count == 0)
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT, "%s: no equation has a coefficient", function);
  if (s->desc.least_squares || t->row_count == 0 || t->row_count == unknowns || t->row_count == unlocked)
    return TS_OK;
  return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                  "%s: there are %d rows, too few for the %d unknowns (%d unlocked) of a square system",
                  function, t->row_count, unknowns, unlocked);
}

ts_status ts_system_end(ts_system *system) {
  IN_STATE(system, TSI_SYSTEM_OPEN);
  TSI_TRY(check_row_count(system, __func__));
  const double start = tsi_seconds();
  TSI_TRY(tsi_equations_create(system));
  system->seconds_build += tsi_seconds() - start;
  system->state = TSI_SYSTEM_READY;
  return TS_OK;
}

/* ---- Changing right-hand sides ---- */

static void write_right_hand_side(ts_system *s, int32_t row, const double *b) {
  const int components = s->desc.components;
  const double factor = s->desc.least_squares ? 1 : s->equations.weights[row];
  double *to = s->equations.right_hand_sides + (size_t)row * (size_t)components;
  for (int c = 0; c < components; c++) to[c] = factor * b[c];
  s->new_right_hand_sides = 1;
}

ts_status ts_system_set_right_hand_side(ts_system *system, int32_t row, const double *right_hand_sides) {
  TSI_BEGIN(system, system->context);
  TSI_REQUIRE(system->context, right_hand_sides);
  TSI_TRY(tsi_system_check_ready(system, __func__));
  if (row < 0 || row >= system->equations.rows)
    return tsi_fail(system->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: row %d is out of range; it must be 0 to %d", __func__, row,
                    system->equations.rows - 1);
  TSI_TRY(check_right_hand_sides(system, row, right_hand_sides, __func__));
  write_right_hand_side(system, row, right_hand_sides);
  return TS_OK;
}

static ts_status set_right_hand_sides(ts_system *s, const double *right_hand_sides) {
  const size_t components = (size_t)s->desc.components, rows = (size_t)s->equations.rows;
  for (size_t r = 0; r < rows; r++)
    TSI_TRY(check_right_hand_sides(s, (int32_t)r, right_hand_sides + r * components,
                                   "ts_system_set_right_hand_sides"));
  for (size_t r = 0; r < rows; r++) write_right_hand_side(s, (int32_t)r, right_hand_sides + r * components);
  return TS_OK;
}

ts_status ts_system_set_right_hand_sides(ts_system *system, ts_array right_hand_sides) {
  TSI_BEGIN(system, system->context);
  ts_context *context = system->context;
  TSI_TRY(tsi_system_check_ready(system, __func__));
  const size_t count = (size_t)system->desc.components * (size_t)system->equations.rows;
  tsi_loans loans = {0};
  const double *doubles;
  ts_status status =
      tsi_array_borrow_doubles(context, "right_hand_sides", &right_hand_sides, count, &loans, &doubles);
  if (status == TS_OK && !doubles)
    status = tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "right_hand_sides is NULL");
  if (status == TS_OK) status = set_right_hand_sides(system, doubles);
  tsi_loans_free(context, &loans);
  return status;
}

ts_status tsi_system_check_ready(const ts_system *s, const char *function) {
  if (s->state == TSI_SYSTEM_READY) return TS_OK;
  return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT, "%s: %s", function,
                  s->state == TSI_SYSTEM_EMPTY ? "the system has no equations; ts_system_begin comes first"
                                               : "an assembly is open; ts_system_end comes first");
}
