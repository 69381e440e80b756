/* Names and texts of the public enumerations. */
#include <stdio.h>
#include <string.h>

#include <texsolve/grid.h>

#include "core.h"

#define TSI_TEXT(x) #x
#define TSI_VERSION_TEXT(a, b, c) TSI_TEXT(a) "." TSI_TEXT(b) "." TSI_TEXT(c)

const char *ts_version(void) {
  return TSI_VERSION_TEXT(TS_VERSION_MAJOR, TS_VERSION_MINOR, TS_VERSION_PATCH);
}

/* Items of a list: (name, value, text). */
#define TSI_NAME_CASE(name, value, text)                                                                       \
  case name:                                                                                                   \
    return #name;
#define TSI_TEXT_CASE(name, value, text)                                                                       \
  case name:                                                                                                   \
    return text;
#define TSI_COMPARE(name, value, text)                                                                         \
  if (!strcmp(given, text)) return name;

const char *ts_status_name(ts_status status) {
  switch (status) { TS_STATUS_LIST(TSI_NAME_CASE) }
  return "unknown status";
}

const char *ts_status_text(ts_status status) {
  switch (status) { TS_STATUS_LIST(TSI_TEXT_CASE) }
  return "unknown status";
}

const char *ts_reason_text(ts_reason reason) {
  switch (reason) { TS_REASON_LIST(TSI_TEXT_CASE) }
  return "unknown reason";
}

void tsi_say_rounded(ts_result *result) {
  snprintf(result->message, sizeof result->message,
           "converged, but x holds floats, which leave a relative residual of %.2g", result->rounded_residual);
}

/* PREFIX_name() and PREFIX_from_name() of an enumeration. */
#define TSI_NAMES(prefix, LIST)                                                                                \
  const char *prefix##_name(prefix item) {                                                                     \
    switch (item) { LIST(TSI_TEXT_CASE) }                                                                      \
    return NULL;                                                                                               \
  }                                                                                                            \
  int prefix##_from_name(const char *given) {                                                                  \
    if (!given) return -1;                                                                                     \
    LIST(TSI_COMPARE)                                                                                          \
    return -1;                                                                                                 \
  }

TSI_NAMES(ts_precision, TS_PRECISION_LIST)
TSI_NAMES(ts_partition, TS_PARTITION_LIST)
TSI_NAMES(ts_format, TS_FORMAT_LIST)
TSI_NAMES(ts_boundary, TS_BOUNDARY_LIST)
TSI_NAMES(ts_smoother, TS_SMOOTHER_LIST)
TSI_NAMES(ts_grid_storage, TS_GRID_STORAGE_LIST)
TSI_NAMES(ts_interpolation, TS_INTERPOLATION_LIST)
TSI_NAMES(ts_cycle, TS_CYCLE_LIST)
TSI_NAMES(ts_method, TS_METHOD_LIST)
TSI_NAMES(ts_preconditioner_kind, TS_PRECONDITIONER_LIST)
TSI_NAMES(ts_scaling, TS_SCALING_LIST)
