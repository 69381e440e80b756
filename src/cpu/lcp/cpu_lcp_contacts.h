/* Contacts with friction in a sweep, in one type. See cpu_lcp_map.h for their residuals.
 *
 * A contact's own block of M is 0 in the matrix and is stored only in `diagonal`. So w of a contact's rows is
 * always the velocity b without the contact's own reaction, as the law requires. Summing the whole row and
 * subtracting that part would leave the rounding error of M r in b, which may be much smaller. */

enum { CPU_LCP(renewal) = 16 }; /* sweeps before w is recomputed from z, to remove rounding errors */

/* The columns of the diagonal block of the contact at row i, starting at the contact's own rows. */
CPU_INLINE const REAL *CPU_LCP(own_columns)(const CPU_LCP(problem) * p, size_t i) {
  return p->diagonal + i * CPU_LCP_CONTACT_BLOCK + i % CPU_LCP_CONTACT_BLOCK;
}

/* The law as a separate function. It is long, and a caller that inlines it compiles it for every target and in
 * both types. In two dimensions it is short, and a call costs up to a third of a sweep. In three dimensions,
 * the callers with `inlines` lose time by a call. */
CPU_CLONES
static void CPU_LCP(law)(REAL *r, const REAL *W, const REAL *reduced, const REAL *b, REAL mu, size_t d,
                         int exact) {
  if (d == 2)
    lcp_contact_of(r, W, reduced, b, mu, 2, exact);
  else
    lcp_contact_of(r, W, reduced, b, mu, 3, exact);
}

/* Solves the contact at row i by its law, from w of its own rows. */
CPU_INLINE void CPU_LCP(solve_contact)(const CPU_LCP(problem) * p, size_t i, size_t dimension,
                                       const REAL *columns, const REAL *w, REAL *z, REAL *deltas, int inlines) {
  REAL r[3], block[9];
  for (size_t l = 0; l < dimension; l++) {
    for (size_t k = 0; k < dimension; k++) block[k * dimension + l] = columns[l * CPU_LCP_CONTACT_BLOCK + k];
    r[l] = z[l];
  }
  const REAL *reduced = p->reduced + i / dimension * LCP_REDUCED, mu = p->friction[i / dimension];
  if (dimension == 2 || inlines)
    lcp_contact_of(r, block, reduced, w, mu, (int)dimension, p->exact);
  else
    CPU_LCP(law)(r, block, reduced, w, mu, dimension, p->exact);
  for (size_t k = 0; k < dimension; k++) {
    deltas[k] = r[k] - z[k];
    z[k] = r[k];
  }
}

/* Like solve_unknowns. Once a contact is solved, w of its own rows is no longer valid for it. */
CPU_INLINE void CPU_LCP(solve_contacts_of)(const CPU_LCP(problem) * p, size_t b, size_t dimension, REAL *w,
                                           REAL *z, REAL *deltas) {
  const size_t m = CPU_LCP_CONTACT_BLOCK, begin = b * m, left = p->n - begin, count = left < m ? left : m;
  for (size_t k = 0; k < count; k += dimension) {
    const REAL *c = p->diagonal + (begin + k) * m, *d = deltas + k;
    CPU_LCP(solve_contact)(p, begin + k, dimension, c + k, w + k, z + k, deltas + k, 1);
    int changes = 0;
    for (size_t l = 0; l < dimension; l++) changes |= CPU_LCP(changes)(d[l]);
    if (!changes) continue;
    for (size_t j = k / CPU_LCP_LANES * CPU_LCP_LANES; j < m; j += CPU_LCP_LANES) {
      CPU_SIMD
      for (size_t l = j; l < j + CPU_LCP_LANES; l++)
        w[l] += dimension == 2 ? c[l] * d[0] + c[m + l] * d[1]
                               : c[l] * d[0] + c[m + l] * d[1] + c[2 * m + l] * d[2];
    }
  }
}

CPU_CLONES
static void CPU_LCP(solve_contacts)(const CPU_LCP(problem) * p, size_t b, REAL *w, REAL *z, REAL *deltas) {
  if (p->dimension == 2)
    CPU_LCP(solve_contacts_of)(p, b, 2, w, z, deltas);
  else
    CPU_LCP(solve_contacts_of)(p, b, 3, w, z, deltas);
}

/* Solves the unknowns or the contacts of block b. */
static void CPU_LCP(solve_block)(const CPU_LCP(problem) * p, size_t b, REAL *w, REAL *z, REAL *deltas) {
  if (p->dimension > 1)
    CPU_LCP(solve_contacts)(p, b, w, z, deltas);
  else
    CPU_LCP(solve_unknowns)(p, b, w, z, deltas);
}

/* Solves the contact at row i, for schemes by columns. */
CPU_CLONES
static void CPU_LCP(solve_one)(const CPU_LCP(problem) * p, size_t i) {
  const REAL *columns = CPU_LCP(own_columns)(p, i);
  if (p->dimension == 2)
    CPU_LCP(solve_contact)(p, i, 2, columns, p->w + i, p->z + i, p->deltas + i, 0);
  else
    CPU_LCP(solve_contact)(p, i, 3, columns, p->w + i, p->z + i, p->deltas + i, 0);
}

/* Computes w of the contact at row i. */
CPU_INLINE void CPU_LCP(sum_contact)(const CPU_LCP(problem) * p, size_t i, size_t dimension, REAL *w) {
  for (size_t k = 0; k < dimension; k++)
    w[k] = p->q[i + k] + CPU_LCP(dot)(p->matrix + (i + k) * p->stride, p->z, p->stride);
}

CPU_INLINE void CPU_LCP(sweep_contacts_of)(const CPU_LCP(problem) * p, int sweeps, size_t dimension) {
  REAL w[3], deltas[3];
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (size_t i = 0; i < p->n; i += dimension) {
      CPU_LCP(sum_contact)(p, i, dimension, w);
      CPU_LCP(solve_contact)(p, i, dimension, CPU_LCP(own_columns)(p, i), w, p->z + i, deltas, 0);
    }
}

CPU_CLONES
static void CPU_LCP(sweep_contacts_2)(const CPU_LCP(problem) * p, int sweeps) {
  CPU_LCP(sweep_contacts_of)(p, sweeps, 2);
}

CPU_CLONES
static void CPU_LCP(sweep_contacts_3)(const CPU_LCP(problem) * p, int sweeps) {
  CPU_LCP(sweep_contacts_of)(p, sweeps, 3);
}

/* The plain loop with one thread: row blocks took an eighth to a third longer. */
static void CPU_LCP(sweep_contacts)(const CPU_LCP(problem) * p, int sweeps) {
  if (p->dimension == 2)
    CPU_LCP(sweep_contacts_2)(p, sweeps);
  else
    CPU_LCP(sweep_contacts_3)(p, sweeps);
}

/* Computes w of all contacts of one block by columns, which needs no sums across lanes. */
CPU_INLINE void CPU_LCP(sum_one_block)(const CPU_LCP(problem) * p, REAL w[CPU_LCP_CONTACT_BLOCK]) {
  for (size_t i = 0; i < p->stride; i++) w[i] = p->q[i];
  for (size_t k = 0; k < p->n; k++) {
    const REAL *c = p->columns + k * p->stride, z = p->z[k];
    for (size_t j = 0; j < p->stride; j += CPU_LCP_LANES) {
      CPU_SIMD
      for (size_t l = j; l < j + CPU_LCP_LANES; l++) w[l] += c[l] * z;
    }
  }
}

/* A problem of one block. w is kept up to date by adding a contact's change to all of it. This needs no sums
 * across lanes and reads the columns from cache. It leaves the contact's own rows unchanged, because the
 * columns contain no own blocks. With 12 unknowns it took 0.86 of the time by rows. */
CPU_INLINE void CPU_LCP(sweep_one_block_of)(const CPU_LCP(problem) * p, int sweeps, size_t dimension) {
  REAL w[CPU_LCP_CONTACT_BLOCK] = {0}, d[3] = {0};
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (size_t i = 0; i < p->n; i += dimension) {
      if (i == 0 && sweep % CPU_LCP(renewal) == 0) CPU_LCP(sum_one_block)(p, w);
      CPU_LCP(solve_contact)(p, i, dimension, CPU_LCP(own_columns)(p, i), w + i, p->z + i, d, 1);
      const REAL *c = p->columns + i * p->stride;
      for (size_t j = 0; j < p->stride; j += CPU_LCP_LANES) {
        CPU_SIMD
        for (size_t l = j; l < j + CPU_LCP_LANES; l++)
          w[l] += dimension == 2 ? c[l] * d[0] + c[p->stride + l] * d[1]
                                 : c[l] * d[0] + c[p->stride + l] * d[1] + c[2 * p->stride + l] * d[2];
      }
    }
}

CPU_CLONES
static void CPU_LCP(sweep_one_block)(const CPU_LCP(problem) * p, int sweeps) {
  if (p->dimension == 2)
    CPU_LCP(sweep_one_block_of)(p, sweeps, 2);
  else
    CPU_LCP(sweep_one_block_of)(p, sweeps, 3);
}
