#include "contact.h"

const char *scene_names(int k) {
  return scene_at(k) ? scene_at(k)->name : NULL;
}

const char *scheme_names(int k) {
  return ts_lcp_scheme_name((ts_lcp_scheme)k);
}

const char *acceleration_names(int k) {
  return ts_lcp_acceleration_name((ts_lcp_acceleration)k);
}

/* The choices of --precision. ts_precision has more values. */
const char *precision_names(int k) {
  static const char *const names[] = {"auto", "single", "double", NULL};
  return names[k];
}

const char *shading_names(int k) {
  static const char *const names[] = {"auto", "coarse", "full", NULL};
  return names[k];
}
