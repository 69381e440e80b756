/* Sweeps of complementarity problems in single precision. */
#include <math.h>

#include "cpu_lcp.h"

#define REAL float
#define CPU_LCP(name) cpu_lcp_##name##_float
#include "cpu_lcp_rows.h"
