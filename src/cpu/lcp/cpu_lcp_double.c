/* Sweeps of complementarity problems in double precision. */
#include <math.h>

#include "cpu_lcp.h"

#define REAL double
#define CPU_LCP(name) cpu_lcp_##name##_double
#include "cpu_lcp_rows.h"
