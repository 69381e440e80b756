/* lcp_law.h in double precision, and lcp_map.h. */
#include <math.h>

#include "lcp_law_calls.h"

#define REAL double
#define LCP_FUNCTION static inline
#include "lcp/lcp_law.h"
#define LCP_MAP_FUNCTION static inline
#include "lcp/lcp_map.h"

void law_contact_double(REAL *r, const REAL *W, const REAL *b, REAL mu, int dimension, int exact) {
  lcp_contact(r, W, b, mu, dimension, exact);
}

void law_map_contact(double *map, const double *r, const double *u, double mu, int dimension) {
  lcp_map_contact(map, r, u, mu, dimension);
}

double law_map_unknown(double z, double w, double lower, double upper) {
  return lcp_map_unknown(z, w, lower, upper);
}
