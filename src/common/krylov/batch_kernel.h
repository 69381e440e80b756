/* The solve of LANES systems at once on one thread. A PACK holds one number of each system, so that the same
 * instruction works on all of them and a product loads x without gathers. batch_host.c includes this header
 * once per width, with PACK, LANES and KERNEL(name) defined. Operators of a PACK are those of a double; LANE
 * accesses one number. MASK is the type of a comparison, and MASK_LANE one of its truth values.
 *
 * All lanes run until the slowest has ended. A lane that waits or has ended has r = d = 0, so that nothing
 * changes its x. No lane reads numbers of another one.
 *
 * A PACK is passed by address only: its calling convention depends on the instruction set. */

typedef struct KERNEL(group) {
  const tsi_batch_job *job;
  const tsi_batch_pattern *pattern;
  PACK *values;
  PACK *m, *b, *x, *best, *r, *d, *q, *shadow, *t, *y; /* bicgstab: d is p, q is v */
  batch_lane lanes[LANES];
} KERNEL(group);

enum { KERNEL(vectors) = 10 };

/* ---- Products and sums ---- */

/* out = A in, wq = sum w out, qq = sum out out. */
CPU_INLINE void KERNEL(multiply)(const KERNEL(group) * g, PACK *out, const PACK *in, const PACK *w, PACK *wq,
                                 PACK *qq) {
  const int32_t *offsets = g->pattern->offsets, *columns = g->pattern->columns;
  const PACK zero = {0};
  PACK with_w = zero, square = zero;
  for (int32_t i = 0; i < g->pattern->rows; i++) {
    PACK sum = zero;
    for (int32_t e = offsets[i]; e < offsets[i + 1]; e++) sum += g->values[e] * in[columns[e]];
    out[i] = sum;
    with_w += w[i] * sum;
    square += sum * sum;
  }
  *wq = with_w;
  *qq = square;
}

/* r = b - A x and the norm of each lane. */
CPU_INLINE void KERNEL(residual)(const KERNEL(group) * g, double *norms) {
  PACK unused, product_square, square = {0};
  KERNEL(multiply)(g, g->r, g->x, g->x, &unused, &product_square);
  for (int32_t i = 0; i < g->pattern->rows; i++) {
    g->r[i] = g->b[i] - g->r[i];
    square += g->r[i] * g->r[i];
  }
  for (int l = 0; l < LANES; l++) norms[l] = sqrt(LANE(square, l));
}

static void KERNEL(clear)(const PACK *vector, int32_t rows, int lane) {
  PACK *v = (PACK *)(uintptr_t)vector;
  for (int32_t i = 0; i < rows; i++) LANE(v[i], lane) = 0;
}

/* Lanes that do not take part in a phase, or no longer. */
static void KERNEL(freeze)(const KERNEL(group) * g, int lane) {
  PACK *const vectors[] = {g->r, g->d, g->q, g->shadow, g->t, g->y};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    KERNEL(clear)(vectors[k], g->pattern->rows, lane);
}

static int KERNEL(runs)(const KERNEL(group) * g, ts_method method) {
  for (int l = 0; l < LANES; l++) {
    const batch_state *s = &g->lanes[l].state;
    if (!s->ended && s->method == method && s->claim == BATCH_RUNS) return 1;
  }
  return 0;
}

/* ---- Conjugate gradients ---- */

static int KERNEL(is_positive)(const KERNEL(group) * g, batch_lane *lane, int l, double number) {
  if (batch_is_positive(&lane->state, number)) return 1;
  KERNEL(freeze)(g, l);
  return 0;
}

CPU_INLINE void KERNEL(cg)(KERNEL(group) * g, const unsigned char *takes_part) {
  const int32_t rows = g->pattern->rows;
  const PACK zero = {0};
  PACK rho = zero, dq, qq, alpha = zero, beta = zero, square, next;
  for (int l = 0; l < LANES; l++)
    if (!takes_part[l]) KERNEL(freeze)(g, l);
  for (int32_t i = 0; i < rows; i++) {
    g->d[i] = g->m[i] * g->r[i];
    rho += g->r[i] * g->d[i];
  }
  for (int l = 0; l < LANES; l++)
    if (takes_part[l]) KERNEL(is_positive)(g, &g->lanes[l], l, LANE(rho, l));
  while (KERNEL(runs)(g, TS_METHOD_CG)) {
    KERNEL(multiply)(g, g->q, g->d, g->d, &dq, &qq);
    for (int l = 0; l < LANES; l++) {
      batch_lane *lane = &g->lanes[l];
      const int runs = takes_part[l] && lane->state.claim == BATCH_RUNS;
      LANE(alpha, l) = runs && KERNEL(is_positive)(g, lane, l, LANE(dq, l)) ? LANE(rho, l) / LANE(dq, l) : 0;
    }
    square = next = zero;
    for (int32_t i = 0; i < rows; i++) {
      g->x[i] += alpha * g->d[i];
      g->r[i] -= alpha * g->q[i];
      square += g->r[i] * g->r[i];
      next += g->r[i] * g->r[i] * g->m[i];
    }
    for (int l = 0; l < LANES; l++) {
      batch_lane *lane = &g->lanes[l];
      LANE(beta, l) = 0;
      if (!takes_part[l] || lane->state.claim != BATCH_RUNS) continue;
      batch_count(&lane->state, LANE(square, l), rows, g->job->max_iterations);
      if (lane->state.claim != BATCH_RUNS)
        KERNEL(freeze)(g, l);
      else if (KERNEL(is_positive)(g, lane, l, LANE(next, l)))
        LANE(beta, l) = LANE(next, l) / LANE(rho, l);
      LANE(rho, l) = LANE(next, l);
    }
    for (int32_t i = 0; i < rows; i++) g->d[i] = g->m[i] * g->r[i] + beta * g->d[i];
  }
}

/* ---- BiCGSTAB ---- */

static int KERNEL(divides)(const KERNEL(group) * g, batch_lane *lane, int l, double number, double size) {
  if (batch_divides(&lane->state, number, size)) return 1;
  KERNEL(freeze)(g, l);
  return 0;
}

/* The scalars of the iterations. */
typedef struct KERNEL(bicgstab_scalars) {
  PACK rho, next, alpha, beta, omega, square;
  double norm_shadow[LANES];
} KERNEL(bicgstab_scalars);

CPU_INLINE void KERNEL(bicgstab_begin)(KERNEL(group) * g, KERNEL(bicgstab_scalars) * c,
                                       const unsigned char *takes_part) {
  const PACK zero = {0};
  PACK square = zero;
  c->next = c->square = zero;
  for (int l = 0; l < LANES; l++) {
    LANE(c->rho, l) = LANE(c->alpha, l) = LANE(c->omega, l) = 1;
    if (!takes_part[l]) KERNEL(freeze)(g, l);
  }
  for (int32_t i = 0; i < g->pattern->rows; i++) {
    g->shadow[i] = g->r[i];
    g->d[i] = g->q[i] = zero;
  }
  for (int l = 0; l < LANES; l++)
    for (int32_t i = 0; i < g->pattern->rows && takes_part[l] && g->lanes[l].state.in_vain; i++)
      LANE(g->shadow[i], l) = batch_shadow(&g->lanes[l].state, i, LANE(g->r[i], l));
  for (int32_t i = 0; i < g->pattern->rows; i++) {
    c->next += g->shadow[i] * g->r[i];
    c->square += g->r[i] * g->r[i];
    square += g->shadow[i] * g->shadow[i];
  }
  for (int l = 0; l < LANES; l++) c->norm_shadow[l] = sqrt(LANE(square, l));
}

/* The start of an iteration: beta. */
static void KERNEL(bicgstab_beta)(const KERNEL(group) * g, KERNEL(bicgstab_scalars) * c, batch_state *s,
                                  int l) {
  LANE(c->beta, l) = 0;
  if (s->claim != BATCH_RUNS) return;
  LANE(c->beta, l) = batch_beta(s, LANE(c->next, l), LANE(c->rho, l), LANE(c->alpha, l), LANE(c->omega, l),
                                c->norm_shadow[l] * sqrt(LANE(c->square, l)));
  LANE(c->rho, l) = LANE(c->next, l);
  if (s->claim != BATCH_RUNS) KERNEL(freeze)(g, l);
}

CPU_INLINE void KERNEL(bicgstab)(KERNEL(group) * g, const unsigned char *takes_part) {
  const int32_t rows = g->pattern->rows;
  const PACK zero = {0};
  KERNEL(bicgstab_scalars) c;
  PACK sv, vv, ts, tt;
  KERNEL(bicgstab_begin)(g, &c, takes_part);
  for (;;) {
    for (int l = 0; l < LANES; l++)
      if (takes_part[l])
        KERNEL(bicgstab_beta)(g, &c, &g->lanes[l].state, l);
      else
        LANE(c.beta, l) = LANE(c.omega, l) = 0;
    if (!KERNEL(runs)(g, TS_METHOD_BICGSTAB)) return;
    for (int32_t i = 0; i < rows; i++) {
      g->d[i] = g->r[i] + c.beta * (g->d[i] - c.omega * g->q[i]);
      g->y[i] = g->m[i] * g->d[i];
    }
    KERNEL(multiply)(g, g->q, g->y, g->shadow, &sv, &vv);
    for (int l = 0; l < LANES; l++) {
      batch_lane *lane = &g->lanes[l];
      const int runs = takes_part[l] && lane->state.claim == BATCH_RUNS;
      LANE(c.alpha, l) = 0;
      if (runs && KERNEL(divides)(g, lane, l, LANE(sv, l), c.norm_shadow[l] * sqrt(LANE(vv, l))))
        LANE(c.alpha, l) = LANE(c.rho, l) / LANE(sv, l);
    }
    for (int32_t i = 0; i < rows; i++) {
      g->x[i] += c.alpha * g->y[i];
      g->r[i] -= c.alpha * g->q[i];
      g->y[i] = g->m[i] * g->r[i];
    }
    KERNEL(multiply)(g, g->t, g->y, g->r, &ts, &tt);
    for (int l = 0; l < LANES; l++) LANE(c.omega, l) = batch_omega(LANE(ts, l), LANE(tt, l));
    c.square = c.next = zero;
    for (int32_t i = 0; i < rows; i++) {
      g->x[i] += c.omega * g->y[i];
      g->r[i] -= c.omega * g->t[i];
      c.square += g->r[i] * g->r[i];
      c.next += g->shadow[i] * g->r[i];
    }
    for (int l = 0; l < LANES; l++) {
      batch_lane *lane = &g->lanes[l];
      if (!takes_part[l] || lane->state.claim != BATCH_RUNS) continue;
      batch_count(&lane->state, LANE(c.square, l), rows, g->job->max_iterations);
      if (lane->state.claim == BATCH_RUNS && LANE(c.omega, l) == 0) lane->state.claim = BATCH_BROKEN;
      if (lane->state.claim != BATCH_RUNS) KERNEL(freeze)(g, l);
    }
  }
}

/* ---- Phases ---- */

static void KERNEL(copy)(PACK *to, const PACK *from, int32_t rows, const unsigned char *lanes) {
  int all = 1;
  for (int l = 0; l < LANES; l++) all &= lanes[l];
  if (all) {
    memcpy(to, from, (size_t)rows * sizeof *to);
    return;
  }
  for (int l = 0; l < LANES; l++)
    for (int32_t i = 0; i < rows && lanes[l]; i++) LANE(to[i], l) = ((const double *)&from[i])[l];
}

/* Saves x where it is the best so far, and restores the best one elsewhere. Returns whether a lane that
 * continues was restored. */
static int KERNEL(check)(KERNEL(group) * g, const double *norms) {
  unsigned char is_best[LANES], is_worse[LANES];
  int worse = 0, goes_on = 0;
  for (int l = 0; l < LANES; l++) {
    batch_state *s = &g->lanes[l].state;
    const int was_ended = s->ended;
    is_best[l] = was_ended || batch_check(s, norms[l], g->job->max_iterations) ? 1 : 0;
    is_worse[l] = !is_best[l];
    worse |= is_worse[l];
    if (is_worse[l] && !s->ended) goes_on = 1;
  }
  KERNEL(copy)(g->best, g->x, g->pattern->rows, is_best);
  if (worse) KERNEL(copy)(g->x, g->best, g->pattern->rows, is_worse);
  return goes_on;
}

/* The lanes of a method that continue; returns whether there are any. */
static int KERNEL(begin_phase)(KERNEL(group) * g, ts_method method, unsigned char *takes_part) {
  int some = 0;
  for (int l = 0; l < LANES; l++) {
    batch_state *s = &g->lanes[l].state;
    takes_part[l] = !s->ended && s->method == method;
    if (!takes_part[l]) continue;
    batch_begin_phase(s);
    some = 1;
  }
  return some;
}

CPU_INLINE void KERNEL(iterate)(KERNEL(group) * g) {
  double norms[LANES];
  unsigned char by_cg[LANES], by_bicgstab[LANES];
  for (;;) {
    KERNEL(residual)(g, norms);
    if (KERNEL(check)(g, norms)) KERNEL(residual)(g, norms);
    const int some_cg = KERNEL(begin_phase)(g, TS_METHOD_CG, by_cg),
              some_bicgstab = KERNEL(begin_phase)(g, TS_METHOD_BICGSTAB, by_bicgstab);
    if (!some_cg && !some_bicgstab) return;
    if (some_cg && some_bicgstab) { /* the residual of one method's lanes is not that of the other's phase */
      KERNEL(cg)(g, by_cg);
      KERNEL(residual)(g, norms);
      KERNEL(bicgstab)(g, by_bicgstab);
    } else if (some_cg) {
      KERNEL(cg)(g, by_cg);
    } else {
      KERNEL(bicgstab)(g, by_bicgstab);
    }
  }
}

/* ---- Facts, and the whole solve ---- */

/* Whether mirrored values are equal within rounding, for all lanes at once. */
CPU_INLINE void KERNEL(find_symmetry)(KERNEL(group) * g) {
  const tsi_batch_pattern *p = g->pattern;
  const PACK zero = {0};
  MASK differs = {0};
  for (int32_t i = 0; i < p->rows; i++)
    for (int32_t e = p->offsets[i]; e < p->offsets[i + 1]; e++) {
      const int32_t j = p->columns[e], mirror = p->mirror[e];
      if (j <= i && mirror >= 0) continue;
      const PACK a = g->values[e], b = mirror >= 0 ? g->values[mirror] : zero;
      PACK excess = (a - b) * (a - b) - BATCH_SYMMETRY_RELATIVE * (a * a + b * b);
      if (p->diagonal[i] >= 0 && p->diagonal[j] >= 0)
        excess -= BATCH_SYMMETRY_DIAGONAL * g->values[p->diagonal[i]] * g->values[p->diagonal[j]];
      differs |= excess > zero;
    }
  for (int l = 0; l < LANES; l++) g->lanes[l].facts.is_symmetric = !MASK_LANE(differs, l);
}

/* Facts about the diagonal, and the preconditioner. */
CPU_INLINE void KERNEL(find_diagonal)(KERNEL(group) * g) {
  const tsi_batch_pattern *p = g->pattern;
  const PACK zero = {0};
  PACK one = zero;
  MASK is_zero = {0}, is_negative = {0};
  for (int l = 0; l < LANES; l++) LANE(one, l) = 1;
  for (int32_t i = 0; i < p->rows; i++) {
    const PACK value = p->diagonal[i] < 0 ? zero : g->values[p->diagonal[i]];
    is_zero |= value == zero;
    is_negative |= value < zero;
    g->m[i] = one / value;
  }
  for (int l = 0; l < LANES; l++) {
    batch_facts *facts = &g->lanes[l].facts;
    facts->zero_diagonal = MASK_LANE(is_zero, l) ? 1 : 0;
    facts->negative_diagonal = MASK_LANE(is_negative, l) ? 1 : 0;
    if (batch_uses_jacobi(g->job->preconditioner, facts) && !facts->zero_diagonal) continue;
    for (int32_t i = 0; i < p->rows; i++) LANE(g->m[i], l) = 1;
  }
}

static void KERNEL(load)(KERNEL(group) * g, size_t first, double *scratch) {
  for (int l = 0; l < LANES; l++) {
    const batch_view to = {LANES, (double *)g->values + l, (double *)g->b + l, (double *)g->x + l};
    batch_load(g->job, first + (size_t)l, &to, &g->lanes[l], scratch);
  }
  memset(g->best, 0, (size_t)g->pattern->rows * sizeof *g->best);
}

CPU_INLINE void KERNEL(begin)(KERNEL(group) * g) {
  const tsi_batch_job *job = g->job;
  PACK square = {0};
  KERNEL(find_diagonal)(g);
  if (job->method != TS_METHOD_BICGSTAB) KERNEL(find_symmetry)(g);
  for (int32_t i = 0; i < g->pattern->rows; i++) square += g->b[i] * g->b[i];
  for (int l = 0; l < LANES; l++) {
    batch_lane *lane = &g->lanes[l];
    batch_begin(&lane->state, job->method, job->preconditioner, &lane->facts);
    batch_set_b(&lane->state, sqrt(LANE(square, l)), job->rtol);
  }
}

/* Writes the solutions; if the array of x rounds them, their residuals are computed again. */
CPU_INLINE void KERNEL(store)(KERNEL(group) * g, size_t first) {
  int rounded = 0;
  for (int l = 0; l < LANES; l++) {
    const batch_view from = {LANES, NULL, NULL, (double *)g->x + l};
    if (first + (size_t)l < g->job->systems)
      rounded |= batch_store(g->job, first + (size_t)l, &from, &g->lanes[l]);
  }
  if (!rounded) return;
  double norms[LANES];
  KERNEL(residual)(g, norms);
  for (int l = 0; l < LANES; l++)
    if (first + (size_t)l < g->job->systems && g->lanes[l].is_rounded)
      g->job->results[first + (size_t)l].rounded_residual = batch_relative(norms[l], &g->lanes[l].state);
}

/* Solves systems first .. first + LANES - 1, as far as they exist. */
static CPU_CLONES void KERNEL(solve)(KERNEL(group) * g, size_t first, double *scratch) {
  KERNEL(load)(g, first, scratch);
  KERNEL(begin)(g);
  KERNEL(iterate)(g);
  KERNEL(store)(g, first);
}

static void KERNEL(solve_range)(const tsi_batch_job *job, size_t first, size_t last, void *block) {
  const size_t rows = (size_t)job->pattern->rows;
  KERNEL(group) g = {.job = job, .pattern = job->pattern};
  PACK *at = block;
  PACK **const vectors[KERNEL(vectors)] = {&g.m, &g.b, &g.x, &g.best, &g.r, &g.d, &g.q, &g.shadow, &g.t, &g.y};
  for (int v = 0; v < KERNEL(vectors); v++, at += rows) *vectors[v] = at;
  g.values = at;
  at += job->pattern->entries;
  for (size_t k = first; k < last; k += LANES) KERNEL(solve)(&g, k, (double *)(void *)at);
}
