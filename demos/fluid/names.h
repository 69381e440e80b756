/* What options and menus call the values of enumerations: a name for 0, 1, ... until NULL. */
#ifndef NAMES_H
#define NAMES_H

const char *scene_names(int k);
const char *field_names(int k);
const char *solver_names(int k);
const char *smoother_names(int k);
const char *storage_names(int k);
const char *interpolation_names(int k);
const char *cycle_names(int k);

#endif
