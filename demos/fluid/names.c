#include "fluid.h"

#define NAMES(names, type, name)                                                                               \
  const char *names(int k) {                                                                                   \
    return name((type)k);                                                                                      \
  }

const char *scene_names(int k) {
  return scene_at(k) ? scene_at(k)->name : NULL;
}
NAMES(field_names, fluid_field, fluid_field_name)
NAMES(smoother_names, ts_smoother, ts_smoother_name)
NAMES(storage_names, ts_grid_storage, ts_grid_storage_name)
NAMES(interpolation_names, ts_interpolation, ts_interpolation_name)
NAMES(cycle_names, ts_cycle, ts_cycle_name)
