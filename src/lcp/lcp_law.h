/* What an unknown becomes in a sweep, and its part of the natural map. REAL is the type that the includer
 * computes with; LCP_FUNCTION stands before each function. */
#ifndef LCP_FUNCTION
#error "LCP_FUNCTION and REAL are to be defined before lcp_law.h is included"
#endif

/* P of an unknown with bounds. */
LCP_FUNCTION REAL lcp_clamp(REAL z, REAL lower, REAL upper) {
  return z < lower ? lower : z > upper ? upper : z;
}

/* The new z_i from w_i = q_i + sum of M_ij z_j over all j. */
LCP_FUNCTION REAL lcp_unknown(REAL z, REAL w, REAL diagonal, REAL lower, REAL upper) {
  return lcp_clamp(z - w / diagonal, lower, upper);
}
