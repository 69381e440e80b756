/* lcp_law.h in doubles. */
#include <math.h>

#include "lcp_law_calls.h"

#define REAL double
#define LCP_FUNCTION static inline
#include "lcp/lcp_law.h"

void law_contact_double(REAL *r, const REAL *W, const REAL *b, REAL mu, int dimension, int exact) {
  lcp_contact(r, W, b, mu, dimension, exact);
}

void law_map_double(REAL *map, const REAL *r, const REAL *u, REAL mu, int dimension) {
  lcp_contact_map(map, r, u, mu, dimension);
}
