/* lcp_law.h in single precision. */
#include <math.h>

#include "lcp_law_calls.h"

#define REAL float
#define LCP_FUNCTION static inline
#include "lcp/lcp_law.h"

void law_contact_float(REAL *r, const REAL *W, const REAL *b, REAL mu, int dimension, int exact) {
  lcp_contact(r, W, b, mu, dimension, exact);
}
