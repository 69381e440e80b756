/* The inline functions of lcp_law.h and lcp_map.h as ordinary functions, once for each type, so that tests can
 * call them without a backend. */
#ifndef LCP_LAW_CALLS_H
#define LCP_LAW_CALLS_H

void law_contact_float(float *r, const float *W, const float *b, float mu, int dimension, int exact);
void law_contact_double(double *r, const double *W, const double *b, double mu, int dimension, int exact);
/* lcp_map.h */
void law_map_contact(double *map, const double *r, const double *u, double mu, int dimension);
double law_map_unknown(double z, double w, double lower, double upper);

#endif
