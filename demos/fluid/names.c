#include "names.h"

#include "scene.h"

const char *scene_names(int k) {
  return scene_at(k) ? (scene_at(k))->name : NULL;
}
const char *field_names(int k) {
  return fluid_field_name((fluid_field)k);
}
const char *solver_names(int k) {
  return ts_fluid_solver_name((ts_fluid_solver)k);
}
const char *smoother_names(int k) {
  return ts_smoother_name((ts_smoother)k);
}
const char *storage_names(int k) {
  return ts_grid_storage_name((ts_grid_storage)k);
}
const char *interpolation_names(int k) {
  return ts_interpolation_name((ts_interpolation)k);
}
const char *cycle_names(int k) {
  return ts_cycle_name((ts_cycle)k);
}
