/* The factorisations of the module. */
#ifndef DIRECT_METHODS_H
#define DIRECT_METHODS_H

#include "common/precond/direct_module.h"

extern const tsi_direct_method direct_ldl; /* direct_ldl.c: symmetric positive definite matrices */
extern const tsi_direct_method direct_klu; /* direct_klu.c: any matrix */

#endif
