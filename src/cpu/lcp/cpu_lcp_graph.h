/* Sweeps by rows of blocks (Courtecuisse and Allard 2009, III.A with one thread, III.D and IV.A), in one type.
 *
 * Rows are numbered over all sweeps: row r is block r mod g in sweep r / g. It needs the blocks of the previous
 * g rows, oldest first: from its own block in the previous sweep to the block of row r - 1. So one counter of
 * completed rows shows which blocks are available. No block is overwritten before all rows have read it. */
typedef struct CPU_LCP(row) {
  size_t number, position; /* r, and the number of the g blocks that are in the sums */
  REAL lanes[CPU_LCP_BLOCK][CPU_LCP_LANES];
} CPU_LCP(row);

static void CPU_LCP(begin_row)(CPU_LCP(row) * row, size_t number) {
  row->number = number;
  row->position = 0;
  memset(row->lanes, 0, sizeof row->lanes);
}

/* The number of a row's blocks that are available when `done` rows are complete. */
static size_t CPU_LCP(ready)(const CPU_LCP(row) * row, size_t blocks, size_t done) {
  return done + blocks > row->number ? done + blocks - row->number : 0;
}

/* The rows of block b, including zero rows up to a multiple of four. */
static size_t CPU_LCP(rows_of)(const CPU_LCP(problem) * p, size_t b) {
  const size_t left = (p->n - b * p->block + 3) / 4 * 4;
  return left < p->block ? left : p->block;
}

/* Adds blocks to a row's sums, up to the block at position `to`. */
static void CPU_LCP(advance)(const CPU_LCP(problem) * p, CPU_LCP(row) * row, const REAL *z, size_t to) {
  const size_t g = p->blocks, b = row->number % g, rows = CPU_LCP(rows_of)(p, b);
  const REAL *m = p->matrix + b * p->block * p->stride;
  while (row->position < to) {
    const size_t block = (b + row->position) % g;
    const size_t most = g - block, left = to - row->position, count = left < most ? left : most;
    const size_t first = block * p->block, last = (block + count) * p->block;
    CPU_LCP(add_rows)(m, rows, p->stride, z, first, last < p->stride ? last : p->stride, row->lanes);
    row->position += count;
  }
}

/* Solves the diagonal block. */
static void CPU_LCP(finish_row)(const CPU_LCP(problem) * p, CPU_LCP(row) * row, REAL *z) {
  const size_t b = row->number % p->blocks, begin = b * p->block, left = p->n - begin;
  REAL w[CPU_LCP_BLOCK] = {0}, deltas[CPU_LCP_BLOCK];
  CPU_LCP(sum_rows)(p->q + begin, left < p->block ? left : p->block, row->lanes, w);
  CPU_LCP(solve_block)(p, b, w, z + begin, deltas);
}

/* The member's next row after r. Every sweep assigns it the same blocks. */
static size_t CPU_LCP(next_row)(const CPU_LCP(problem) * p, const cpu_lcp_member *self, size_t r) {
  const size_t g = p->blocks;
  return r % g + self->members < g ? r + self->members : (r / g + 1) * g + self->rank;
}

/* Called when `row` has to wait for a block: adds a block to the next row, or waits. */
static void CPU_LCP(wait_row)(const CPU_LCP(problem) * p, const cpu_lcp_member *self, const CPU_LCP(row) * row,
                              CPU_LCP(row) * ahead, size_t done) {
  if (ahead && ahead->position < CPU_LCP(ready)(ahead, p->blocks, done))
    CPU_LCP(advance)(p, ahead, p->z, ahead->position + 1);
  else
    cpu_lcp_wait(self, &self->team->done, row->number + row->position + 1 - p->blocks);
}

/* `looks_ahead`: works on the next row while waiting. */
static void CPU_LCP(sweep_graph)(const CPU_LCP(problem) * p, const cpu_lcp_member *self, int sweeps,
                                 int looks_ahead) {
  const size_t g = p->blocks, end = g * (size_t)sweeps;
  CPU_LCP(row) rows[2];
  int at = 0;
  if (self->rank >= g) return;
  CPU_LCP(begin_row)(&rows[0], self->rank);
  while (rows[at].number < end) {
    CPU_LCP(row) *row = &rows[at], *next = &rows[1 - at];
    CPU_LCP(begin_row)(next, CPU_LCP(next_row)(p, self, row->number));
    CPU_LCP(row) *ahead = looks_ahead && next->number < end ? next : NULL;
    while (row->position < g) {
      const size_t done = cpu_lcp_read(&self->team->done), ready = CPU_LCP(ready)(row, g, done);
      if (ready > row->position)
        CPU_LCP(advance)(p, row, p->z, ready);
      else
        CPU_LCP(wait_row)(p, self, row, ahead, done);
    }
    CPU_LCP(finish_row)(p, row, p->z);
    cpu_lcp_publish(&self->team->done, row->number + 1);
    at = 1 - at;
  }
}

/* ---- Without waiting ---- */

/* Copies the blocks that another member has published since the last call, at most all of its blocks. */
static void CPU_LCP(look_at)(const CPU_LCP(problem) * p, const cpu_lcp_member *self, size_t other,
                             const _Atomic(REAL) *shared, size_t *seen, REAL *z) {
  const size_t own = (p->blocks - other + self->members - 1) / self->members; /* blocks of the other member */
  const size_t done = cpu_lcp_read(&self->team->progress[other]);
  for (size_t k = done - *seen > own ? done - own : *seen; k < done; k++) {
    const size_t begin = (other + k % own * self->members) * p->block;
    for (size_t i = begin; i < p->n && i < begin + p->block; i++)
      z[i] = atomic_load_explicit(&shared[i], memory_order_relaxed);
  }
  *seen = done;
}

/* Each member has a copy of z and refreshes it before each row. The numbers of a contact in it may be from two
 * sweeps. `done` counts the members that have copied p->z. Once all have, p->z may be overwritten. */
static void CPU_LCP(sweep_relaxed)(const CPU_LCP(problem) * p, const cpu_lcp_member *self, int sweeps, REAL *z,
                                   _Atomic(REAL) *shared) {
  size_t seen[CPU_LCP_MEMBERS] = {0}, count = 0;
  const size_t end = p->blocks * (size_t)sweeps;
  CPU_LCP(row) row;
  memcpy(z, p->z, p->stride * sizeof *z);
  atomic_fetch_add(&self->team->done.value, 1);
  for (size_t r = self->rank; r < end; r = CPU_LCP(next_row)(p, self, r)) {
    const size_t begin = r % p->blocks * p->block;
    for (size_t k = 0; k < self->members; k++)
      if (k != self->rank) CPU_LCP(look_at)(p, self, k, shared, &seen[k], z);
    CPU_LCP(begin_row)(&row, r);
    CPU_LCP(advance)(p, &row, z, p->blocks);
    CPU_LCP(finish_row)(p, &row, z);
    for (size_t i = begin; i < p->n && i < begin + p->block; i++)
      atomic_store_explicit(&shared[i], z[i], memory_order_relaxed);
    cpu_lcp_publish(&self->team->progress[self->rank], ++count);
  }
  cpu_lcp_wait(self, &self->team->done, self->members);
  for (size_t b = self->rank; b < p->blocks; b += self->members) {
    const size_t begin = b * p->block, left = p->n - begin;
    memcpy(p->z + begin, z + begin, (left < p->block ? left : p->block) * sizeof *z);
  }
}
