/* Sweeps by columns (Courtecuisse and Allard 2009, III.B and III.C), in one type: w = M z + q is kept up to
 * date. The change of an unknown is added to all rows of w.
 *
 * Every member has a range of rows. It solves the unknowns of its range, and it adds the changes of all other
 * unknowns to its rows. A counter of solved unknowns over all sweeps shows which changes are available. A
 * change is overwritten one sweep later. By then its owner has seen unknowns that every other member solved
 * after adding the change. */

typedef struct CPU_LCP(share) {
  size_t first, last, end; /* its unknowns are first .. last - 1; `end` includes the zeros after the last one */
} CPU_LCP(share);

static CPU_LCP(share) CPU_LCP(share_of)(const CPU_LCP(problem) * p, const cpu_lcp_member *self) {
  const size_t first = p->blocks * self->rank / self->members * p->block;
  const size_t last = p->blocks * (self->rank + 1) / self->members * p->block;
  return (CPU_LCP(share)){first, last < p->n ? last : p->n, last < p->n ? last : p->stride};
}

static void CPU_LCP(renew)(const CPU_LCP(problem) * p, const CPU_LCP(share) * own) {
  CPU_LCP(row) row;
  for (size_t begin = own->first; begin < own->last; begin += p->block) {
    const size_t left = p->n - begin;
    CPU_LCP(begin_row)(&row, begin / p->block);
    CPU_LCP(advance)(p, &row, p->z, p->blocks);
    CPU_LCP(sum_rows)(p->q + begin, left < p->block ? left : p->block, row.lanes, p->w + begin);
  }
}

static void CPU_LCP(own_unknowns)(const CPU_LCP(problem) * p, const cpu_lcp_member *self,
                                  const CPU_LCP(share) * own, size_t before) {
  for (size_t i = own->first, end; i < own->last; i = end) {
    end = i + p->dimension;
    if (p->dimension > 1) {
      CPU_LCP(solve_one)(p, i);
    } else {
      const REAL diagonal = p->diagonal[i * CPU_LCP_BLOCK + i % CPU_LCP_BLOCK];
      const REAL next = lcp_unknown(p->z[i], p->w[i], diagonal, p->lower[i], p->upper[i]);
      p->deltas[i] = next - p->z[i];
      p->z[i] = next;
    }
    cpu_lcp_publish(&self->team->done, before + end);
    CPU_LCP(add_columns)(p, i, end, own->first, own->end);
  }
}

static void CPU_LCP(own_blocks)(const CPU_LCP(problem) * p, const cpu_lcp_member *self,
                                const CPU_LCP(share) * own, size_t before) {
  for (size_t begin = own->first; begin < own->last; begin += p->block) {
    const size_t end = begin + p->block < own->last ? begin + p->block : own->last;
    REAL w[CPU_LCP_BLOCK] = {0};
    memcpy(w, p->w + begin, (end - begin) * sizeof *w);
    CPU_LCP(solve_block)(p, begin / p->block, w, p->z + begin, p->deltas + begin);
    cpu_lcp_publish(&self->team->done, before + end);
    CPU_LCP(add_columns)(p, begin, end, own->first, own->end);
  }
}

/* Adds the changes of the other members' unknowns first .. last - 1, as they become available. */
static void CPU_LCP(follow)(const CPU_LCP(problem) * p, const cpu_lcp_member *self, const CPU_LCP(share) * own,
                            size_t before, size_t first, size_t last) {
  while (first < last) {
    const size_t solved = cpu_lcp_wait(self, &self->team->done, before + first + 1) - before;
    const size_t end = solved < last ? solved : last;
    CPU_LCP(add_columns)(p, first, end, own->first, own->end);
    first = end;
  }
}

static void CPU_LCP(sweep_columns)(const CPU_LCP(problem) * p, const cpu_lcp_member *self, int sweeps,
                                   int by_blocks) {
  const CPU_LCP(share) own = CPU_LCP(share_of)(p, self);
  for (size_t sweep = 0; sweep < (size_t)sweeps; sweep++) {
    const size_t before = sweep * p->n;
    if (sweep % CPU_LCP(renewal) == 0) {
      cpu_lcp_wait(self, &self->team->done, before);
      CPU_LCP(renew)(p, &own);
      cpu_lcp_meet(self, sweep + 1);
    }
    CPU_LCP(follow)(p, self, &own, before, 0, own.first);
    if (by_blocks)
      CPU_LCP(own_blocks)(p, self, &own, before);
    else
      CPU_LCP(own_unknowns)(p, self, &own, before);
    CPU_LCP(follow)(p, self, &own, before, own.last, p->n);
  }
}

/* ---- The matrix by columns ---- */

static double CPU_LCP(own_entry)(const CPU_LCP(problem) * p, size_t i) {
  return (double)(p->dimension > 1 ? CPU_LCP(own_columns)(p, i)[0] : p->matrix[i * p->stride + i]);
}

int CPU_LCP(is_symmetric)(const ts_lcp *lcp, double slack) {
  for (size_t k = 0; k < (size_t)lcp->batch; k++) {
    const CPU_LCP(problem) p = CPU_LCP(problem_of)(lcp, k);
    for (size_t b = 0; b < p.blocks; b++)
      for (size_t i = b * p.block; i < p.n; i++)
        for (size_t j = b * p.block; j < (b + 1) * p.block && j < i; j++) {
          const REAL a = p.matrix[i * p.stride + j], c = p.matrix[j * p.stride + i];
          if (!(a < c || a > c)) continue;
          const double most = slack * (CPU_LCP(own_entry)(&p, i) + CPU_LCP(own_entry)(&p, j));
          if (fabs((double)a - (double)c) > most) return 0;
        }
  }
  return 1;
}

/* For rows first .. last - 1, including the zeros after the last row. */
void CPU_LCP(transpose)(const ts_lcp *lcp, size_t k, size_t first, size_t last) {
  const cpu_lcp *impl = lcp->impl;
  const CPU_LCP(problem) p = CPU_LCP(problem_of)(lcp, k);
  REAL *columns = (REAL *)impl->columns + k * impl->rows * p.stride;
  const size_t end = last < p.n ? last : p.stride;
  for (size_t begin = 0; begin < p.n; begin += CPU_LCP_BLOCK)
    for (size_t j = begin; j < p.n && j < begin + CPU_LCP_BLOCK; j++)
      for (size_t i = first; i < end; i++) columns[j * p.stride + i] = i < p.n ? p.matrix[i * p.stride + j] : 0;
}
