/* Sweeps of sparse problems in the type of cpu_lcp_rows.h, which includes this file. They follow the steps of
 * lcp_sparse.h:
 *
 *   u_c = q_c + sum of M_ck z_k   or   q_c + H_c v;   z_c by its law;   v += G_c^T dz
 *
 * Units of a step are not neighbours, so each z and v has one writer and no other reader. The units of a body
 * always have the same order, so the iterates do not depend on the threads. */
enum {
  CPU_LCP(sparse_renewal) = 16, /* sweeps before v is recomputed from z, to remove rounding errors */
  CPU_LCP(most_lanes) = 8       /* columns of a block that are summed in lanes */
};

typedef struct CPU_LCP(graph) {
  const tsi_lcp_sparse *s;
  const tsi_lcp_steps *steps; /* NULL: one member processes unit after unit */
  const REAL *blocks, *mass_blocks, *diagonal, *reduced, *q, *lower, *upper, *friction;
  REAL *z, *v;
  REAL *from, *last, *counts; /* for momentum; from: NULL without momentum */
  size_t dimension, stride;   /* stride: of a block's rows, and of v */
  int exact;
} CPU_LCP(graph);

static CPU_LCP(graph) CPU_LCP(graph_of)(const ts_lcp *lcp) {
  const cpu_lcp *impl = lcp->impl;
  return (CPU_LCP(graph)){.s = lcp->sparse,
                          .blocks = impl->sparse.blocks,
                          .mass_blocks = lcp->sparse->mass_blocks ? impl->sparse.mass_blocks : NULL,
                          .diagonal = impl->sparse.diagonal,
                          .reduced = impl->sparse.reduced,
                          .q = impl->q,
                          .lower = impl->lower,
                          .upper = impl->upper,
                          .friction = impl->friction,
                          .z = impl->z,
                          .v = impl->sparse.v,
                          .dimension = (size_t)lcp->dimension,
                          .stride = impl->sparse.stride,
                          .exact = lcp->local != TS_LCP_LOCAL_PROJECTION};
}

/* ---- One contact ---- */

CPU_INLINE REAL CPU_LCP(sum_most)(const REAL *lanes, size_t stride) {
  const REAL sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  return stride > 4 ? sum + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])) : sum;
}

/* For rows of 4 numbers or more, in lanes. Each row has a separate array. In an array of arrays, or in a loop
 * over rows that the compiler does not unroll, the sums go through memory, which takes a third of a sweep. */
CPU_INLINE void CPU_LCP(gather_lanes)(const CPU_LCP(graph) * p, const REAL *from, size_t contact, size_t d,
                                      size_t stride, REAL *sums) {
  REAL a[CPU_LCP(most_lanes)] = {0}, b[CPU_LCP(most_lanes)] = {0}, c[CPU_LCP(most_lanes)] = {0};
  for (int32_t k = p->s->row_start[contact]; k < p->s->row_start[contact + 1]; k++) {
    const REAL *block = p->blocks + (size_t)k * d * stride, *x = from + (size_t)p->s->columns[k] * stride;
    for (size_t begin = 0; begin < stride; begin += CPU_LCP(most_lanes)) {
      const size_t left = stride - begin, count = left < CPU_LCP(most_lanes) ? left : CPU_LCP(most_lanes);
      const REAL *row = block + begin;
      CPU_SIMD
      for (size_t l = 0; l < count; l++) {
        a[l] += row[l] * x[begin + l];
        if (d > 1) b[l] += row[stride + l] * x[begin + l];
        if (d > 2) c[l] += row[2 * stride + l] * x[begin + l];
      }
    }
  }
  sums[0] = CPU_LCP(sum_most)(a, stride);
  sums[1] = CPU_LCP(sum_most)(b, stride);
  sums[2] = CPU_LCP(sum_most)(c, stride);
}

/* u = q + blocks times z or v; with M, without the contact's own block. */
CPU_INLINE void CPU_LCP(gather)(const CPU_LCP(graph) * p, size_t c, size_t d, size_t stride, REAL *u) {
  const REAL *from = p->mass_blocks ? p->v : p->z;
  REAL sums[3] = {0};
  for (int32_t k = p->s->row_start[c]; k < p->s->row_start[c + 1] && stride < 4; k++) {
    const REAL *block = p->blocks + (size_t)k * d * stride, *x = from + (size_t)p->s->columns[k] * stride;
    for (size_t i = 0; i < d; i++) {
      REAL sum = block[i * stride] * x[0];
      for (size_t l = 1; l < stride; l++) sum += block[i * stride + l] * x[l];
      sums[i] += sum;
    }
  }
  if (stride >= 4) CPU_LCP(gather_lanes)(p, from, c, d, stride, sums);
  for (size_t i = 0; i < d; i++) u[i] = p->q[c * d + i] + sums[i];
}

/* v += G^T change; most contacts of resting bodies do not change. */
CPU_INLINE void CPU_LCP(scatter)(const CPU_LCP(graph) * p, size_t c, size_t d, size_t stride,
                                 const REAL *change) {
  int changes = 0;
  for (size_t i = 0; i < d; i++) changes |= change[i] < 0 || change[i] > 0 || change[i] != change[i];
  if (!changes) return;
  for (int32_t k = p->s->row_start[c]; k < p->s->row_start[c + 1]; k++) {
    const REAL *block = p->mass_blocks + (size_t)k * d * stride;
    REAL *v = p->v + (size_t)p->s->columns[k] * stride;
    CPU_SIMD
    for (size_t l = 0; l < stride; l++) {
      REAL sum = v[l];
      for (size_t i = 0; i < d; i++) sum += block[i * stride + l] * change[i];
      v[l] = sum;
    }
  }
}

/* u += sign M_cc z_c. */
CPU_INLINE void CPU_LCP(add_own)(const CPU_LCP(graph) * p, size_t c, size_t d, REAL sign, REAL *u) {
  for (size_t i = 0; i < d; i++)
    for (size_t k = 0; k < d; k++) u[i] += sign * p->diagonal[(c * d + i) * d + k] * p->z[c * d + k];
}

CPU_INLINE void CPU_LCP(solve_sparse)(const CPU_LCP(graph) * p, size_t c, size_t d, size_t stride) {
  const REAL *W = p->diagonal + c * d * d;
  REAL *z = p->z + c * d, u[3] = {0}, next[3], change[3];
  CPU_LCP(gather)(p, c, d, stride, u);
  for (size_t i = 0; i < d; i++) next[i] = z[i];
  if (d > 1) {
    if (p->mass_blocks) CPU_LCP(add_own)(p, c, d, -1, u);
    const REAL *reduced = p->reduced + c * LCP_REDUCED;
    if (stride == d)
      lcp_contact_of(next, W, reduced, u, p->friction[c], (int)d, p->exact);
    else
      CPU_LCP(law)(next, W, reduced, u, p->friction[c], d, p->exact);
  } else {
    if (!p->mass_blocks) CPU_LCP(add_own)(p, c, d, 1, u);
    next[0] = lcp_unknown(z[0], u[0], W[0], p->lower[c], p->upper[c]);
  }
  for (size_t i = 0; i < d; i++) change[i] = next[i] - z[i], z[i] = next[i];
  if (p->mass_blocks) CPU_LCP(scatter)(p, c, d, stride, change);
}

/* ---- Sweeps ---- */

/* Computes v from z, or runs a sweep, for contacts first .. last - 1. */
CPU_INLINE void CPU_LCP(do_contacts)(const CPU_LCP(graph) * p, int32_t first, int32_t last, size_t d,
                                     size_t stride, int renews) {
  for (int32_t c = first; c < last; c++) {
    if (renews)
      CPU_LCP(scatter)(p, (size_t)c, d, stride, p->z + (size_t)c * d);
    else
      CPU_LCP(solve_sparse)(p, (size_t)c, d, stride);
  }
}

/* Computes the starting point of the next sweep. z is not changed, because other units read it. */
CPU_INLINE void CPU_LCP(add_momentum)(const CPU_LCP(graph) * p, size_t first, size_t last) {
  REAL ahead = 0, straight = 0;
  for (size_t i = first; i < last; i++) lcp_momentum_add(p->z[i], p->from[i], p->last[i], &ahead, &straight);
  const REAL count = lcp_momentum_count(p->counts[first], ahead, straight);
  p->counts[first] = count;
  for (size_t i = first; i < last; i++) {
    p->from[i] = lcp_momentum_from(p->z[i], p->last[i], count);
    p->last[i] = p->z[i];
  }
}

/* do_contacts for a range of contacts with momentum, which sets z before and is updated after. */
CPU_INLINE void CPU_LCP(do_range)(const CPU_LCP(graph) * p, int32_t first, int32_t last, size_t d,
                                  size_t stride, int renews) {
  const size_t begin = (size_t)first * d, end = (size_t)last * d;
  if (renews && p->from) memcpy(p->z + begin, p->from + begin, (end - begin) * sizeof *p->z);
  if (!renews || p->mass_blocks) CPU_LCP(do_contacts)(p, first, last, d, stride, renews);
  if (!renews && p->from) CPU_LCP(add_momentum)(p, begin, end);
}

static void CPU_LCP(meet)(const cpu_lcp_member *self, size_t *meetings) {
  if (self->members > 1) cpu_lcp_meet(self, ++*meetings);
}

/* Without steps: unit after unit, or all contacts as one range if there is no momentum per unit. One loop
 * serves the three cases, because each inlined copy of do_range is large. */
CPU_INLINE void CPU_LCP(do_steps)(const CPU_LCP(graph) * p, const cpu_lcp_member *self, size_t d, size_t stride,
                                  int renews, size_t *meetings) {
  const int is_all = !p->steps && !p->from;
  const int32_t count = p->steps ? p->steps->count : 1;
  for (int32_t k = 0; k < count; k++) {
    size_t i = 0, last = is_all ? 1 : (size_t)p->s->units;
    if (p->steps) {
      const size_t units = (size_t)(p->steps->start[k + 1] - p->steps->start[k]);
      i = units * self->rank / self->members;
      last = units * (self->rank + 1) / self->members;
    }
    for (; i < last; i++) {
      const size_t unit = p->steps ? (size_t)p->steps->units[(size_t)p->steps->start[k] + i] : i;
      const int32_t first = is_all ? 0 : p->s->unit_start[unit];
      const int32_t end = is_all ? p->s->contacts : p->s->unit_start[unit + 1];
      CPU_LCP(do_range)(p, first, end, d, stride, renews);
    }
    if (p->steps) CPU_LCP(meet)(self, meetings);
  }
}

CPU_INLINE void CPU_LCP(do_sweeps)(const CPU_LCP(graph) * p, const cpu_lcp_member *self, int sweeps, size_t d,
                                   size_t stride) {
  const size_t bodies = p->mass_blocks ? (size_t)p->s->bodies : 0;
  const size_t begin = bodies * self->rank / self->members, end = bodies * (self->rank + 1) / self->members;
  size_t meetings = 0;
  for (int sweep = 0; sweep < sweeps; sweep++) {
    if (p->from || (p->mass_blocks && sweep % CPU_LCP(sparse_renewal) == 0)) {
      memset(p->v + begin * stride, 0, (end - begin) * stride * sizeof *p->v);
      CPU_LCP(meet)(self, &meetings);
      CPU_LCP(do_steps)(p, self, d, stride, 1, &meetings);
    }
    CPU_LCP(do_steps)(p, self, d, stride, 0, &meetings);
  }
}

/* Separate loops serve bodies in three and two dimensions, and blocks of M. Each is a function: compile time
 * grows faster than the length of a function, and in a single one it was half a minute. */
#define CPU_LCP_SWEEPS(name, d, stride)                                                                        \
  CPU_CLONES                                                                                                   \
  static void CPU_LCP(name)(const CPU_LCP(graph) * p, const cpu_lcp_member *self, int sweeps) {                \
    CPU_LCP(do_sweeps)(p, self, sweeps, d, stride);                                                            \
  }
CPU_LCP_SWEEPS(sweeps_3_8, 3, 8)
CPU_LCP_SWEEPS(sweeps_3_3, 3, 3)
CPU_LCP_SWEEPS(sweeps_2_4, 2, 4)
CPU_LCP_SWEEPS(sweeps_2_2, 2, 2)
CPU_LCP_SWEEPS(sweeps_1_1, 1, 1)
#undef CPU_LCP_SWEEPS

/* Square blocks use the loops above, so the law, which they inline, is not compiled into this one. */
CPU_CLONES
static void CPU_LCP(sweeps_any)(const CPU_LCP(graph) * p, const cpu_lcp_member *self, int sweeps) {
  const size_t d = p->dimension, stride = p->stride;
  if (stride != d) CPU_LCP(do_sweeps)(p, self, sweeps, d, stride);
}

static void CPU_LCP(sweep_graph_of)(const CPU_LCP(graph) * p, const cpu_lcp_member *self, int sweeps) {
  if (p->dimension == 3 && p->stride == 8)
    CPU_LCP(sweeps_3_8)(p, self, sweeps);
  else if (p->dimension == 3 && p->stride == 3)
    CPU_LCP(sweeps_3_3)(p, self, sweeps);
  else if (p->dimension == 2 && p->stride == 4)
    CPU_LCP(sweeps_2_4)(p, self, sweeps);
  else if (p->dimension == 2 && p->stride == 2)
    CPU_LCP(sweeps_2_2)(p, self, sweeps);
  else if (p->dimension == 1 && p->stride == 1)
    CPU_LCP(sweeps_1_1)(p, self, sweeps);
  else
    CPU_LCP(sweeps_any)(p, self, sweeps);
}

void CPU_LCP(sweep_sparse)(const ts_lcp *lcp, const tsi_lcp_steps *steps, const cpu_lcp_member *self,
                           int sweeps, int ahead) {
  CPU_LCP(graph) p = CPU_LCP(graph_of)(lcp);
  const cpu_lcp_sparse *sparse = &((const cpu_lcp *)lcp->impl)->sparse;
  p.steps = steps;
  if (ahead) {
    p.from = sparse->from, p.last = sparse->last, p.counts = sparse->counts;
    p.exact *= 2; /* lcp_contact_of: extrapolated sweeps do not need the law to the last bit */
  }
  CPU_LCP(sweep_graph_of)(&p, self, sweeps);
}

/* ---- The matrix ---- */

CPU_INLINE void CPU_LCP(pad_rows)(const double *from, size_t rows, size_t width, size_t stride, REAL *to) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t k = 0; k < width; k++) to[i * stride + k] = (REAL)from[i * width + k];
    for (size_t k = width; k < stride; k++) to[i * stride + k] = 0;
  }
}

CPU_CLONES
static void CPU_LCP(pad)(const double *from, size_t rows, size_t width, size_t stride, REAL *to) {
  if (width == 6 && stride == 8)
    CPU_LCP(pad_rows)(from, rows, 6, 8, to);
  else if (width == stride)
    CPU_LCP(pad_rows)(from, 1, rows * width, rows * width, to);
  else
    CPU_LCP(pad_rows)(from, rows, width, stride, to);
}

void CPU_LCP(write_sparse)(const tsi_lcp_sparse *s, const cpu_lcp_sparse *to) {
  const size_t d = (size_t)s->dimension, width = (size_t)s->width, contacts = (size_t)s->contacts;
  const size_t rows = (size_t)s->row_start[contacts] * d;
  CPU_LCP(pad)(s->blocks, rows, width, to->stride, to->blocks);
  CPU_LCP(pad)(s->diagonal, contacts * d, d, d, to->diagonal);
  _Static_assert(CPU_LCP_REDUCED == LCP_REDUCED, "room for what the law keeps of a contact");
  for (size_t c = 0; c < contacts && d > 1; c++)
    lcp_contact_reduce((REAL *)to->reduced + c * LCP_REDUCED, (const REAL *)to->diagonal + c * d * d, (int)d);
  if (s->mass_blocks) CPU_LCP(pad)(s->mass_blocks, rows, width, to->stride, to->mass_blocks);
}
