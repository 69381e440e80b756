/* The module that the library opens to factor matrices: the parts of SuiteSparse under the LGPL or the BSD
 * licence alone. They work without a
 * BLAS, so the module opens in less than a millisecond. CHOLMOD's library loads one, which takes 18. */
#include <amd.h>
#include <klu.h>
#include <ldl.h>
#include <texsolve/texsolve.h>

#include "direct_methods.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define VERSION(library)                                                                                       \
#library " " TEXT(library##_MAIN_VERSION) "." TEXT(library##_SUB_VERSION) "." TEXT(library##_SUBSUB_VERSION)

extern TS_API const tsi_direct_module texsolve_direct;
const tsi_direct_module texsolve_direct = {.version = TSI_DIRECT_VERSION,
                                           .libraries = VERSION(KLU) ", " VERSION(LDL) ", " VERSION(AMD),
                                           .cholesky = &direct_ldl,
                                           .lu = &direct_klu};
