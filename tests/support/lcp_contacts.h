/* Contact problems with friction for tests, and their laws in double precision. */
#ifndef LCP_CONTACTS_H
#define LCP_CONTACTS_H

#include <texsolve/lcp.h>

typedef struct lcp_contacts {
  int dimension;
  int32_t contacts, n; /* n = dimension * contacts */
  double *matrix, *q, *friction;
} lcp_contacts;

/* H M^-1 H^T and H v of random bodies, one per contact. Each contact is between two bodies or with the ground,
 * and has a coefficient between 0 and `friction`. All numbers are floats. */
lcp_contacts lcp_contacts_random(int dimension, int32_t contacts, double friction, unsigned seed);
/* A box on a slope with an angle of the given tangent. Downhill is (cos phi, sin phi) in its plane. Each of the
 * 2 or 4 lower corners is a contact. The mass, and g times the time step, are 1. */
lcp_contacts lcp_contacts_box(int dimension, double tangent, double phi, double friction);
/* Copies the given numbers. */
lcp_contacts lcp_contacts_given(int dimension, int32_t contacts, const double *matrix, const double *q,
                                const double *friction);
void lcp_contacts_free(lcp_contacts *s);

ts_lcp *lcp_contacts_make(ts_context *context, const lcp_contacts *s, ts_precision precision);
/* u = M r + q with n numbers. */
void lcp_contacts_velocity(const lcp_contacts *s, const double *r, double *u);
/* The norm of the natural map, computed from the distances of a point from the cone and from its polar cone. */
double lcp_contacts_residual(const lcp_contacts *s, const double *r);
/* The violation of Coulomb's and Signorini's laws by u and r at contact k, in the units of u r and of u and
 * r. */
double lcp_contacts_fault(const lcp_contacts *s, const double *r, const double *u, int32_t k);

#endif
