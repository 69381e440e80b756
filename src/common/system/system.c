/* The system builder: creation, destruction, and the unknowns. */
#include "common/core/array.h"
#include "system.h"

#include <float.h>
#include <math.h>
#include <string.h>

ts_status ts_system_create(ts_context *context, const ts_system_desc *desc, ts_system **out) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, out);
  *out = NULL;
  TSI_REQUIRE(context, desc);
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  const int components = desc->components ? desc->components : 1;
  if (desc->unknowns < 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "unknowns is %d; a system needs at least 1",
                    desc->unknowns);
  if (components < 1 || components > 4)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "components of a system is %d; it must be 1 to 4",
                    components);
  const int group = desc->group ? desc->group : 1;
  if (group < 1 || group > 4)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "group is %d; it must be 1 to 4", group);
  if (desc->symmetric && desc->least_squares)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "symmetric and least_squares are both set; rows of least squares must be complete");
  if (desc->allow_singular && !desc->least_squares)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "allow_singular is set and least_squares is not");
  if ((int64_t)desc->unknowns * components > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "%d unknowns of %d components are more than %d numbers",
                    desc->unknowns, components, TSI_MAX_SIZE);
  ts_system *s = tsi_calloc(context, 1, sizeof *s);
  double *values = tsi_calloc(context, (size_t)desc->unknowns, (size_t)components * sizeof *values);
  unsigned char *locked = tsi_calloc(context, (size_t)desc->unknowns, 1);
  if (!s || !values || !locked) {
    tsi_free(context, s);
    tsi_free(context, values);
    tsi_free(context, locked);
    return tsi_out_of_memory(context, "a system", (size_t)desc->unknowns * (size_t)components * sizeof *values);
  }
  s->context = context;
  s->desc = *desc;
  s->desc.components = components;
  s->desc.group = group;
  s->values = values;
  s->locked = locked;
  s->new_start = 1;
  *out = s;
  return TS_OK;
}

void ts_system_destroy(ts_system **system) {
  if (!system || !*system) return;
  ts_system *s = *system;
  ts_context *context = s->context;
  tsi_stay_begin(context);
  tsi_system_release_device(s);
  tsi_system_forget_order(s);
  tsi_stay_end(context, TS_OK);
  tsi_free(context, s->assembly.rows);
  tsi_free(context, s->assembly.unknowns);
  tsi_free(context, s->assembly.coefficients);
  tsi_free(context, s->assembly.right_hand_sides);
  tsi_free(context, s->assembly.weights);
  tsi_free(context, s->assembly.added);
  tsi_equations_free(context, &s->equations);
  tsi_reduced_free(context, &s->reduced);
  tsi_free(context, s->values);
  tsi_free(context, s->numbers);
  tsi_free(context, s->locked);
  tsi_free(context, s);
  *system = NULL;
}

ts_context *ts_system_get_context(const ts_system *system) {
  return system ? system->context : NULL;
}

/* ---- Values ---- */

ts_status tsi_system_check_unknown(const ts_system *s, int32_t unknown, const char *function) {
  if (unknown < 0 || unknown >= s->desc.unknowns)
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT, "%s: unknown %d is out of range; it must be 0 to %d",
                    function, unknown, s->desc.unknowns - 1);
  return TS_OK;
}

static ts_status check_value(const ts_system *s, int32_t unknown, const double *value, const char *function) {
  for (int c = 0; c < s->desc.components; c++)
    if (!isfinite(value[c]) || fabs(value[c]) > FLT_MAX)
      return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                      "%s: the value of unknown %d is %g in component %d, out of the range of single precision",
                      function, unknown, value[c], c);
  return TS_OK;
}

ts_status ts_system_set_value(ts_system *system, int32_t unknown, const double *value) {
  TSI_BEGIN(system, system->context);
  TSI_REQUIRE(system->context, value);
  TSI_TRY(tsi_system_check_unknown(system, unknown, __func__));
  TSI_TRY(check_value(system, unknown, value, __func__));
  const size_t components = (size_t)system->desc.components;
  if (system->locked[unknown]) {
    system->new_locked_values = 1;
  } else {
    TSI_TRY(tsi_system_fetch(system));
    system->new_start = 1;
  }
  memcpy(system->values + (size_t)unknown * components, value, components * sizeof *value);
  return TS_OK;
}

ts_status ts_system_get_value(ts_system *system, int32_t unknown, double *value) {
  TSI_BEGIN(system, system->context);
  TSI_REQUIRE(system->context, value);
  TSI_TRY(tsi_system_check_unknown(system, unknown, __func__));
  if (!system->locked[unknown]) TSI_TRY(tsi_system_fetch(system));
  const size_t components = (size_t)system->desc.components;
  memcpy(value, system->values + (size_t)unknown * components, components * sizeof *value);
  return TS_OK;
}

static ts_status set_values(ts_system *s, const double *values) {
  for (int32_t j = 0; j < s->desc.unknowns; j++)
    TSI_TRY(check_value(s, j, values + (size_t)j * (size_t)s->desc.components, "ts_system_set_values"));
  memcpy(s->values, values, tsi_system_numbers(s) * sizeof *values);
  s->values_on_device = 0;
  s->new_start = 1;
  if (s->locked_count) s->new_locked_values = 1;
  return TS_OK;
}

ts_status ts_system_set_values(ts_system *system, ts_array values) {
  TSI_BEGIN(system, system->context);
  tsi_loans loans = {0};
  const double *doubles;
  ts_status status = tsi_array_borrow_doubles(system->context, "values", &values, tsi_system_numbers(system),
                                              &loans, &doubles);
  if (status == TS_OK && !doubles)
    status = tsi_fail(system->context, TS_ERROR_INVALID_ARGUMENT, "values is NULL");
  if (status == TS_OK) status = set_values(system, doubles);
  tsi_loans_free(system->context, &loans);
  return status;
}

ts_status ts_system_get_values(ts_system *system, ts_array values) {
  TSI_BEGIN(system, system->context);
  TSI_TRY(
      tsi_array_check(system->context, "values", &values, tsi_system_numbers(system), TSI_FLOATING, TSI_WRITE));
  TSI_TRY(tsi_system_fetch(system));
  return tsi_array_put(system->context, &values, system->values);
}

/* ---- Locking ---- */

static ts_status set_lock(ts_system *s, int32_t unknown, int locked, const char *function) {
  tsi_clear_error(s->context);
  TSI_TRY(tsi_system_check_unknown(s, unknown, function));
  if (s->locked[unknown] == locked) return TS_OK;
  TSI_TRY(tsi_system_fetch(s));
  s->locked[unknown] = (unsigned char)locked;
  s->locked_count += locked ? 1 : -1;
  s->new_pattern = 1;
  return TS_OK;
}

ts_status ts_system_lock(ts_system *system, int32_t unknown) {
  TSI_REQUIRE(NULL, system);
  return set_lock(system, unknown, 1, __func__);
}

ts_status ts_system_unlock(ts_system *system, int32_t unknown) {
  TSI_REQUIRE(NULL, system);
  return set_lock(system, unknown, 0, __func__);
}

int ts_system_is_locked(const ts_system *system, int32_t unknown) {
  return system && unknown >= 0 && unknown < system->desc.unknowns && system->locked[unknown];
}
