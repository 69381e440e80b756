/* Problems of contacts with friction for tests, and their laws in double. */
#ifndef LCP_CONTACTS_H
#define LCP_CONTACTS_H

#include <texsolve/lcp.h>

typedef struct lcp_contacts {
  int dimension;
  int32_t contacts, n; /* n = dimension * contacts */
  double *matrix, *q, *friction;
} lcp_contacts;

/* H M^-1 H^T and H v of random bodies with as many contacts, each between two of them or with the ground, and
 * coefficients between 0 and `friction`. Numbers are floats. */
lcp_contacts lcp_contacts_random(int dimension, int32_t contacts, double friction, unsigned seed);
/* A box on a slope of the angle whose tangent is given, in its plane along (cos phi, sin phi): one contact in
 * each of its lower corners, 2 or 4. Mass and g times the time step are 1. */
lcp_contacts lcp_contacts_box(int dimension, double tangent, double phi, double friction);
/* Copies of these numbers. */
lcp_contacts lcp_contacts_given(int dimension, int32_t contacts, const double *matrix, const double *q,
                                const double *friction);
void lcp_contacts_free(lcp_contacts *s);

ts_lcp *lcp_contacts_make(ts_context *context, const lcp_contacts *s, ts_precision precision);
/* u = M r + q; n numbers. */
void lcp_contacts_velocity(const lcp_contacts *s, const double *r, double *u);
/* The norm of the natural map, by the distance of a point from the cone and from its polar cone. */
double lcp_contacts_residual(const lcp_contacts *s, const double *r);
/* How far u and r of contact k are from Coulomb's and Signorini's laws, in the units of u r and of u and r. */
double lcp_contacts_fault(const lcp_contacts *s, const double *r, const double *u, int32_t k);

#endif
