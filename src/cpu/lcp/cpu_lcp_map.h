/* The natural map in the type of cpu_lcp_rows.h, which includes this file. w is computed as in the sweeps, in
 * their type. When the result may end a solve, w is exact up to its last digits instead: sums in double keep
 * their rounding errors. This shows the accuracy of z even if M z is much larger than q. */

/* ---- Dense matrices ---- */

CPU_CLONES
static double CPU_LCP(exact_sum)(double q, const REAL *row, const REAL *z, size_t stride, const REAL *own,
                                 const REAL *r, size_t dimension) {
  double sums[CPU_LCP_LANES] = {0}, errors[CPU_LCP_LANES] = {0}, sum = q, error = 0;
  for (size_t j = 0; j < stride; j += CPU_LCP_LANES) {
    CPU_SIMD
    for (size_t l = 0; l < CPU_LCP_LANES; l++)
      lcp_map_add_product((double)row[j + l], (double)z[j + l], &sums[l], &errors[l]);
  }
  for (size_t k = 0; k < dimension; k++)
    lcp_map_add_product((double)own[k * CPU_LCP_CONTACT_BLOCK], (double)r[k], &sum, &error);
  for (size_t l = 0; l < CPU_LCP_LANES; l++) {
    lcp_map_add_product(1, sums[l], &sum, &error);
    error += errors[l];
  }
  return sum + error;
}

CPU_CLONES
static void CPU_LCP(map_rows)(const CPU_LCP(problem) * p, const double *q, size_t first, size_t last,
                              double *out) {
  for (size_t i = first; i < last; i++) {
    const REAL *row = p->matrix + i * p->stride;
    const double w = q ? CPU_LCP(exact_sum)(q[i - first], row, p->z, p->stride, NULL, NULL, 0)
                       : (double)(p->q[i] + CPU_LCP(dot)(row, p->z, p->stride));
    out[i - first] = lcp_map_unknown((double)p->z[i], w, (double)p->lower[i], (double)p->upper[i]);
  }
}

/* The velocity of the contact at row i as in the sweeps, from w of its rows. */
CPU_INLINE void CPU_LCP(add_own_block)(const CPU_LCP(problem) * p, size_t i, size_t dimension, const REAL *w,
                                       double *u) {
  const REAL *columns = CPU_LCP(own_columns)(p, i), *r = p->z + i;
  for (size_t k = 0; k < dimension; k++) {
    REAL sum = w[k];
    for (size_t l = 0; l < dimension; l++) sum += columns[l * CPU_LCP_CONTACT_BLOCK + k] * r[l];
    u[k] = (double)sum;
  }
}

/* Rows first .. last - 1 contain whole contacts. */
CPU_INLINE void CPU_LCP(map_contacts_of)(const CPU_LCP(problem) * p, const double *q, size_t first, size_t last,
                                         size_t dimension, double *out) {
  const int is_one = !q && p->blocks == 1 && p->columns;
  REAL w[CPU_LCP_CONTACT_BLOCK];
  double u[3], r[3];
  if (is_one) CPU_LCP(sum_one_block)(p, w);
  for (size_t i = first; i < last; i += dimension) {
    const REAL *own = CPU_LCP(own_columns)(p, i);
    for (size_t k = 0; k < dimension; k++) r[k] = (double)p->z[i + k];
    for (size_t k = 0; q && k < dimension; k++)
      u[k] = CPU_LCP(exact_sum)(q[i - first + k], p->matrix + (i + k) * p->stride, p->z, p->stride, own + k,
                                p->z + i, dimension);
    if (!q && !is_one) CPU_LCP(sum_contact)(p, i, dimension, w);
    if (!q) CPU_LCP(add_own_block)(p, i, dimension, is_one ? w + i : w, u);
    lcp_map_contact(out + (i - first), r, u, (double)p->friction[i / dimension], (int)dimension);
  }
}

CPU_CLONES
static void CPU_LCP(map_contacts)(const CPU_LCP(problem) * p, const double *q, size_t first, size_t last,
                                  double *out) {
  if (p->dimension == 2)
    CPU_LCP(map_contacts_of)(p, q, first, last, 2, out);
  else
    CPU_LCP(map_contacts_of)(p, q, first, last, 3, out);
}

/* ---- Sparse matrices ---- */

static void CPU_LCP(exact_velocity)(const CPU_LCP(graph) * p, double *v) {
  const size_t d = p->dimension, stride = p->stride, numbers = (size_t)p->s->bodies * stride;
  double *errors = v + numbers;
  memset(v, 0, 2 * numbers * sizeof *v);
  for (int32_t c = 0; c < p->s->contacts; c++)
    for (int32_t k = p->s->row_start[c]; k < p->s->row_start[c + 1]; k++) {
      const REAL *block = p->mass_blocks + (size_t)k * d * stride;
      const size_t body = (size_t)p->s->columns[k] * stride;
      for (size_t i = 0; i < d; i++) {
        const double z = (double)p->z[(size_t)c * d + i];
        for (size_t l = 0; l < stride; l++)
          lcp_map_add_product((double)block[i * stride + l], z, &v[body + l], &errors[body + l]);
      }
    }
}

void CPU_LCP(velocity_sparse)(const ts_lcp *lcp, int exact) {
  const CPU_LCP(graph) p = CPU_LCP(graph_of)(lcp);
  if (!p.mass_blocks) return;
  if (exact) {
    CPU_LCP(exact_velocity)(&p, ((const cpu_lcp *)lcp->impl)->sparse.exact_v);
    return;
  }
  memset(p.v, 0, (size_t)p.s->bodies * p.stride * sizeof *p.v);
  for (size_t c = 0; c < (size_t)p.s->contacts; c++)
    CPU_LCP(scatter)(&p, c, p.dimension, p.stride, p.z + c * p.dimension);
}

/* Computes u from q of the contact; v: with factors. */
CPU_INLINE void CPU_LCP(gather_exact)(const CPU_LCP(graph) * p, const double *q, const double *v, size_t c,
                                      size_t d, size_t stride, double *u) {
  const size_t numbers = (size_t)p->s->bodies * stride;
  for (size_t i = 0; i < d; i++) {
    double sum = q[i], error = 0;
    for (int32_t k = p->s->row_start[c]; k < p->s->row_start[c + 1]; k++) {
      const REAL *row = p->blocks + ((size_t)k * d + i) * stride;
      const size_t from = (size_t)p->s->columns[k] * stride;
      for (size_t l = 0; l < stride; l++) {
        lcp_map_add_product((double)row[l], v ? v[from + l] : (double)p->z[from + l], &sum, &error);
        if (v) error += (double)row[l] * v[numbers + from + l];
      }
    }
    for (size_t k = 0; !v && k < d; k++)
      lcp_map_add_product((double)p->diagonal[(c * d + i) * d + k], (double)p->z[c * d + k], &sum, &error);
    u[i] = sum + error;
  }
}

CPU_LARGE void CPU_LCP(map_graph_of)(const CPU_LCP(graph) * p, const double *q, const double *v, size_t first,
                                     size_t last, size_t d, size_t stride, double *out) {
  for (size_t c = first / d; c < last / d; c++) {
    REAL as_sweeps[3];
    double u[3], r[3];
    if (q) {
      CPU_LCP(gather_exact)(p, q + (c * d - first), v, c, d, stride, u);
    } else {
      CPU_LCP(gather)(p, c, d, stride, as_sweeps);
      if (!p->mass_blocks) CPU_LCP(add_own)(p, c, d, 1, as_sweeps);
      for (size_t i = 0; i < d; i++) u[i] = (double)as_sweeps[i];
    }
    for (size_t i = 0; i < d; i++) r[i] = (double)p->z[c * d + i];
    if (d == 1)
      out[c - first] = lcp_map_unknown(r[0], u[0], (double)p->lower[c], (double)p->upper[c]);
    else
      lcp_map_contact(out + (c * d - first), r, u, (double)p->friction[c], (int)d);
  }
}

CPU_CLONES
static void CPU_LCP(map_graph)(const CPU_LCP(graph) * p, const double *q, const double *v, size_t first,
                               size_t last, double *out) {
  if (p->dimension == 3 && p->stride == 3)
    CPU_LCP(map_graph_of)(p, q, v, first, last, 3, 3, out);
  else if (p->dimension == 2 && p->stride == 2)
    CPU_LCP(map_graph_of)(p, q, v, first, last, 2, 2, out);
  else
    CPU_LCP(map_graph_of)(p, q, v, first, last, p->dimension, p->stride, out);
}

/* ---- */

void CPU_LCP(map)(const ts_lcp *lcp, const double *q, size_t problem, size_t first, size_t last, double *out) {
  const CPU_LCP(problem) p = CPU_LCP(problem_of)(lcp, problem);
  if (cpu_lcp_is_sparse(lcp)) {
    const CPU_LCP(graph) graph = CPU_LCP(graph_of)(lcp);
    const double *v = graph.mass_blocks ? ((const cpu_lcp *)lcp->impl)->sparse.exact_v : NULL;
    CPU_LCP(map_graph)(&graph, q, v, problem * p.n + first, problem * p.n + last, out);
  } else if (p.dimension > 1) {
    CPU_LCP(map_contacts)(&p, q, first, last, out);
  } else {
    CPU_LCP(map_rows)(&p, q, first, last, out);
  }
}
