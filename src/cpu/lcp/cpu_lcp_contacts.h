/* Sweeps and residuals over contacts with friction, in the type of cpu_lcp_rows.h, which includes this. */

CPU_INLINE const REAL *CPU_LCP(friction_of)(const ts_lcp *lcp, size_t problem) {
  const cpu_lcp *impl = lcp->impl;
  return (const REAL *)impl->friction + problem * ((size_t)lcp->size / (size_t)lcp->dimension);
}

/* u of the contact at row `first`. */
CPU_INLINE void CPU_LCP(velocity)(const CPU_LCP(problem) * p, size_t first, size_t dimension, REAL *u) {
  for (size_t k = 0; k < dimension; k++)
    u[k] = p->q[first + k] + CPU_LCP(dot)(p->matrix + (first + k) * p->stride, p->z, p->stride);
}

/* The contact's own reaction is 0 while its velocity is summed: to take its part off would cancel. */
CPU_INLINE void CPU_LCP(sweep_contact)(const CPU_LCP(problem) * p, size_t first, size_t dimension, REAL mu,
                                       int exact) {
  REAL *z = p->z + first, r[3], b[3], block[9];
  for (size_t k = 0; k < dimension; k++) {
    for (size_t l = 0; l < dimension; l++)
      block[k * dimension + l] = p->matrix[(first + k) * p->stride + first + l];
    r[k] = z[k];
    z[k] = 0;
  }
  CPU_LCP(velocity)(p, first, dimension, b);
  lcp_contact(r, block, b, mu, (int)dimension, exact);
  for (size_t k = 0; k < dimension; k++) z[k] = r[k];
}

CPU_CLONES
static void CPU_LCP(sweep_contacts)(const CPU_LCP(problem) * p, const cpu_lcp_run *run) {
  const size_t dimension = (size_t)run->lcp->dimension, contacts = p->n / dimension;
  const REAL *mu = CPU_LCP(friction_of)(run->lcp, run->problem);
  const int exact = run->lcp->local != TS_LCP_LOCAL_PROJECTION;
  for (int sweep = 0; sweep < run->sweeps; sweep++)
    for (size_t c = 0; c < contacts; c++) {
      if (dimension == 2)
        CPU_LCP(sweep_contact)(p, 2 * c, 2, mu[c], exact);
      else
        CPU_LCP(sweep_contact)(p, 3 * c, 3, mu[c], exact);
    }
}

CPU_INLINE void CPU_LCP(map_contact)(const CPU_LCP(problem) * p, size_t first, size_t dimension, REAL mu,
                                     double *out) {
  REAL u[3], map[3];
  CPU_LCP(velocity)(p, first, dimension, u);
  lcp_contact_map(map, p->z + first, u, mu, (int)dimension);
  for (size_t k = 0; k < dimension; k++) out[k] = (double)map[k];
}

/* Rows first .. last - 1 are those of whole contacts. */
CPU_CLONES
static void CPU_LCP(map_contacts)(const CPU_LCP(problem) * p, const ts_lcp *lcp, size_t problem, size_t first,
                                  size_t last, double *out) {
  const size_t dimension = (size_t)lcp->dimension;
  const REAL *mu = CPU_LCP(friction_of)(lcp, problem);
  for (size_t i = first; i < last; i += dimension) {
    if (dimension == 2)
      CPU_LCP(map_contact)(p, i, 2, mu[i / 2], out + (i - first));
    else
      CPU_LCP(map_contact)(p, i, 3, mu[i / 3], out + (i - first));
  }
}
