/* The update of an unknown or a contact in a sweep; lcp_map.h has the matching natural map. The includer
 * defines REAL, the type of the computation, and LCP_FUNCTION, a prefix of each function. The header declares
 * nothing that is independent of REAL, so C++ may include it once per REAL. */
#ifndef LCP_FUNCTION
#error "LCP_FUNCTION and REAL are to be defined before lcp_law.h is included"
#endif

#ifndef LCP_SQRT
#define LCP_SQRT(x) ((REAL)sqrt((double)(x)))
#endif
#define LCP_EPSILON ((REAL)(sizeof(REAL) == 4 ? 1.2e-7 : 2.3e-16))
/* Between this and its inverse, squares have full precision. */
#define LCP_LEAST_SQUARE ((REAL)(sizeof(REAL) == 4 ? 1e-30 : 1e-280))
#define LCP_ROOT_STEPS 60 /* maximum steps of Halley and bisection for a sliding contact; few as a rule */
/* After a step of this size the error is proportional to its cube, which is below rounding. */
#define LCP_LAST_STEP ((REAL)(sizeof(REAL) == 4 ? 4e-3 : 5e-6))
#define LCP_REDUCED 14         /* numbers stored by lcp_contact_reduce */
#define LCP_PROJECTION_STEPS 8 /* fixed-point steps of one contact in one sweep */

/* ---- Unknowns with bounds ---- */

/* P for an unknown with bounds. */
LCP_FUNCTION REAL lcp_clamp(REAL z, REAL lower, REAL upper) {
  return z < lower ? lower : z > upper ? upper : z;
}

/* The new z_i. w = w_i = q_i + sum of M_ij z_j over all j. */
LCP_FUNCTION REAL lcp_unknown(REAL z, REAL w, REAL diagonal, REAL lower, REAL upper) {
  return lcp_clamp(z - w / diagonal, lower, upper);
}

/* ---- Momentum of a unit, see lcp_accelerate.c ----
 * z: the result of a sweep from `from`; last: the result of the previous sweep. The caller arranges the
 * unknowns in its own layout and sums the products over the unit. */

LCP_FUNCTION void lcp_momentum_add(REAL z, REAL from, REAL last, REAL *ahead, REAL *straight) {
  const REAL step = z - last;
  *ahead += (z - from) * step;
  *straight += (from - last) * step;
}

LCP_FUNCTION REAL lcp_momentum_count(REAL count, REAL ahead, REAL straight) {
  return ahead >= 0 && straight >= 0 ? count + 1 : (REAL)(int)(count / 3);
}

LCP_FUNCTION REAL lcp_momentum_weight(REAL count) {
  return count / (count + 3);
}

/* The start of the next sweep. */
LCP_FUNCTION REAL lcp_momentum_from(REAL z, REAL last, REAL count) {
  return z + lcp_momentum_weight(count) * (z - last);
}

/* ---- Coulomb's cone ----
 * Vectors of a contact have `dimension` numbers, 2 or 3, the normal one first. */

LCP_FUNCTION REAL lcp_absolute(REAL x) {
  return x < 0 ? -x : x;
}

/* Scales if squares would overflow or vanish. */
LCP_FUNCTION REAL lcp_length(REAL x, REAL y) {
  const REAL squares = x * x + y * y;
  if (squares > LCP_LEAST_SQUARE && squares < 1 / LCP_LEAST_SQUARE) return LCP_SQRT(squares);
  const REAL a = lcp_absolute(x), b = lcp_absolute(y), most = a > b ? a : b, least = a > b ? b : a;
  if (!(most > 0) || !(least > 0)) return most + least; /* also NaN */
  return most * LCP_SQRT(1 + least / most * (least / most));
}

/* Whether the length of (x, y) is at most `length`. */
LCP_FUNCTION int lcp_is_within(REAL x, REAL y, REAL length) {
  const REAL squares = x * x + y * y;
  if (squares > LCP_LEAST_SQUARE && squares < 1 / LCP_LEAST_SQUARE)
    return length > 0 && length * length >= squares;
  return lcp_length(x, y) <= length;
}

LCP_FUNCTION REAL lcp_tangent_length(const REAL *x, int dimension) {
  return dimension == 2 ? lcp_absolute(x[1]) : lcp_length(x[1], x[2]);
}

/* x = P(x), the nearest point with ||x_t|| <= mu x_n. */
LCP_FUNCTION void lcp_project(REAL *x, REAL mu, int dimension) {
  const REAL tangent = lcp_tangent_length(x, dimension);
  if (x[0] >= 0 && tangent <= mu * x[0]) return;
  const REAL along = (x[0] + mu * tangent) / (1 + mu * mu);
  const REAL normal = along <= 0 ? 0 : along; /* propagates NaN */
  const REAL scale = tangent > 0 ? mu * normal / tangent : 0;
  x[0] = normal;
  for (int k = 1; k < dimension; k++) x[k] *= scale;
}

/* r = P(r - step (u_n + mu ||u_t||, u_t)). The fixed points of De Saxce's form are the solutions. */
LCP_FUNCTION void lcp_fixed_point(REAL *r, const REAL *u, REAL mu, REAL step, int dimension) {
  r[0] -= step * (u[0] + mu * lcp_tangent_length(u, dimension));
  for (int k = 1; k < dimension; k++) r[k] -= step * u[k];
  lcp_project(r, mu, dimension);
}

/* ---- One contact ----
 * Coulomb's law for u = W r + b. W is the contact's block of M, row by row, and b its velocity without its own
 * reaction. */

/* A few fixed-point steps from r. The step length is the inverse of a bound on the block's eigenvalues. */
LCP_FUNCTION void lcp_contact_projection(REAL *r, const REAL *W, const REAL *b, REAL mu, int dimension) {
  REAL bound = 0, u[3];
  for (int i = 0; i < dimension; i++) {
    REAL sum = 0;
    for (int j = 0; j < dimension; j++) sum += lcp_absolute(W[i * dimension + j]);
    bound = sum > bound ? sum : bound;
  }
  for (int step = 0; step < LCP_PROJECTION_STEPS; step++) {
    for (int i = 0; i < dimension; i++) {
      u[i] = b[i];
      for (int j = 0; j < dimension; j++) u[i] += W[i * dimension + j] * r[j];
    }
    lcp_fixed_point(r, u, mu, 1 / bound, dimension);
  }
}

/* A contact that slides against the unit vector `along`, or sticks on the boundary of the cone. Solves W_nn r_n
 * + W_nt r_t = -b_n with r_t = -mu r_n along. Returns 0 if no reaction does so. */
LCP_FUNCTION int lcp_contact_slide(REAL *r, const REAL *W, const REAL *b, REAL mu, const REAL *along,
                                   int dimension) {
  REAL stiffness = W[0];
  for (int k = 1; k < dimension; k++) stiffness -= mu * W[k] * along[k - 1];
  if (!(stiffness > 4 * LCP_EPSILON * W[0])) return 0;
  r[0] = -b[0] / stiffness;
  for (int k = 1; k < dimension; k++) r[k] = -mu * r[0] * along[k - 1];
  return r[0] - r[0] < 1; /* finite */
}

/* Precomputes at most LCP_REDUCED numbers from a block W alone: W_tn / W_nn and 1 / S, where S is the Schur
 * complement of W_nn. If S is 0 up to rounding, 1 / S gives the smallest reaction. 0: S is negative. */
LCP_FUNCTION void lcp_contact_reduce_2(REAL *reduced, const REAL *W) {
  const REAL S = W[3] - W[1] * W[2] / W[0], least = 4 * LCP_EPSILON * lcp_absolute(W[3]);
  reduced[0] = W[2] / W[0];
  reduced[1] = S < -4 * least ? 0 : 1 / (S > least ? S : least);
}

/* u_n = 0 eliminates the normal reaction: u_t = S r_t + c. If r_t = -c / S is within the cone the contact
 * sticks; otherwise it slides against c. */
LCP_FUNCTION int lcp_contact_exact_2(REAL *r, const REAL *W, const REAL *reduced, const REAL *b, REAL mu) {
  const REAL c = b[1] - reduced[0] * b[0], along = c < 0 ? -1 : 1;
  const REAL tangent = lcp_absolute(c) > 0 ? -c * reduced[1] : 0, push = -(b[0] + W[1] * tangent);
  if (!(reduced[1] > 0)) return 0;
  if (lcp_absolute(c) > 0 && !(lcp_absolute(tangent) * W[0] <= mu * push))
    return lcp_contact_slide(r, W, b, mu, &along, 2);
  r[0] = push / W[0], r[1] = tangent;
  return 1;
}

/* p / ||v|| - 1 at s, where v = adj(S + s) c and p = mu (-b_n det(S + s) + W_nt v) / W_nn. All are scaled, see
 * lcp_contact_exact_3, so that squares stay far from the limits of REAL. Sets `along` to v / ||v||, and
 * `slopes` to the first two derivatives, the derivative of ||v||, and 1 / ||v||. */
LCP_FUNCTION REAL lcp_contact_excess(REAL s, const REAL *S, const REAL *c, const REAL *p, REAL *along,
                                     REAL *slopes) {
  const REAL a = S[0] + s, d = S[3] + s, v[2] = {d * c[0] - S[1] * c[1], a * c[1] - S[2] * c[0]};
  const REAL square = v[0] * v[0] + v[1] * v[1];
  const REAL inverse = LCP_SQRT(square) * (1 / square); /* the root and the quotient overlap */
  const REAL ratio = (p[0] * (a * d - S[1] * S[2]) + p[1] * v[0] + p[2] * v[1]) * inverse;
  const REAL slope = p[0] * (a + d) + p[1] * c[0] + p[2] * c[1];
  along[0] = v[0] * inverse;
  along[1] = v[1] * inverse;
  slopes[2] = along[0] * c[0] + along[1] * c[1];
  slopes[3] = inverse;
  slopes[0] = (slope - ratio * slopes[2]) * inverse;
  const REAL bend = (c[0] * c[0] + c[1] * c[1] - slopes[2] * slopes[2]) * inverse; /* of ||v|| */
  slopes[1] = (2 * p[0] - 2 * slopes[0] * slopes[2] - ratio * bend) * inverse;
  return ratio - 1;
}

/* Finds the root of the excess between `low`, where it is negative, and `high`, and sets `along` to the
 * direction of sliding. Halley's method starts at s; a step that leaves the interval becomes a bisection. After
 * a small enough step only rounding remains. As v is a straight line, the direction there does not need another
 * square root. */
LCP_FUNCTION int lcp_contact_direction(REAL *along, REAL s, REAL low, REAL high, const REAL *S, const REAL *c,
                                       const REAL *p) {
  REAL slopes[4];
  for (int step = 0; step < LCP_ROOT_STEPS; step++) {
    const REAL excess = lcp_contact_excess(s, S, c, p, along, slopes);
    if (lcp_absolute(excess) <= 4 * LCP_EPSILON || high - low <= 4 * LCP_EPSILON * high) break;
    if (excess < 0)
      low = s;
    else
      high = s;
    const REAL square = slopes[0] * slopes[0], curve = excess * slopes[1];
    const REAL next = s - 2 * excess * slopes[0] / (2 * square - curve), change = (next - s) * slopes[3];
    if (!(next > low && next < high)) {
      s = low + (high - low) / 2;
      continue;
    }
    s = next;
    if (lcp_absolute(excess) <= LCP_LAST_STEP && lcp_absolute(change) <= LCP_LAST_STEP &&
        lcp_absolute(curve) <= LCP_LAST_STEP * square) {
      const REAL cc = c[0] * c[0] + c[1] * c[1], longer = change * (2 * slopes[2] + change * cc); /* ||v||^2 */
      const REAL scale = 1 - longer / 2 + (REAL)0.375 * longer * longer;
      for (int k = 0; k < 2; k++) along[k] = (along[k] + change * c[k]) * scale;
      break;
    }
  }
  return (S[0] + s) * (S[3] + s) - S[1] * S[2] > 0 && along[0] * along[0] + along[1] * along[1] > 0;
}

/* Rotates x into the axes of lcp_contact_reduce_3, or with `back` out of them. */
LCP_FUNCTION void lcp_contact_turn(REAL *x, const REAL *axis, int back) {
  const REAL first = x[0], sine = back ? -axis[1] : axis[1];
  x[0] = axis[0] * first + sine * x[1];
  x[1] = axis[0] * x[1] - sine * first;
}

/* Precomputes LCP_REDUCED numbers in three dimensions. Scaled S is diagonal except for its nonsymmetric part,
 * so adj(S + s) c does not cancel. An eigenvalue below rounding is raised to rounding. The numbers in order:
 *
 *   S / trace, in the axes of its symmetric part
 *   the first axis
 *   W_nt / W_nn and W_tn / W_nn, in these axes
 *   trace / W_nn
 *   trace, or 0 if W is too far from positive semidefinite
 *   1 / (trace det S)
 *   1 / W_nn */
LCP_FUNCTION void lcp_contact_reduce_3(REAL *reduced, const REAL *W) {
  REAL *S = reduced, *axis = reduced + 4, *of_normal = reduced + 6, *to_normal = reduced + 8;
  const REAL rounding = 16 * LCP_EPSILON * (lcp_absolute(W[4]) + lcp_absolute(W[8]));
  const REAL first = W[4] - W[3] * W[1] / W[0], last = W[8] - W[6] * W[2] / W[0];
  const REAL right = W[5] - W[3] * W[2] / W[0], left = W[7] - W[6] * W[1] / W[0];
  const REAL half = (first - last) / 2, mean = (right + left) / 2, spread = lcp_length(half, mean);
  REAL trace = first + last;
  const REAL least = trace / 2 - spread;
  axis[0] = 1, axis[1] = 0;
  S[0] = S[3] = LCP_EPSILON, S[1] = S[2] = 0;
  if (!(least >= -rounding)) {
    trace = 0;
  } else if (!(trace > rounding)) {
    trace = W[0];
  } else {
    if (spread > 0) {
      const REAL x = half >= 0 ? half + spread : lcp_absolute(mean), y = half >= 0 ? mean : spread - half;
      const REAL length = lcp_length(x, y), sign = half < 0 && mean < 0 ? -1 : 1;
      axis[0] = x / length, axis[1] = sign * y / length;
    }
    S[0] = (trace / 2 + spread) / trace;
    S[3] = (least > rounding ? least : rounding) / trace;
    if (lcp_absolute(right - left) > rounding) S[1] = (right - left) / 2 / trace, S[2] = -S[1];
  }
  of_normal[0] = W[1] / W[0], of_normal[1] = W[2] / W[0];
  to_normal[0] = W[3] / W[0], to_normal[1] = W[6] / W[0];
  lcp_contact_turn(of_normal, axis, 0);
  lcp_contact_turn(to_normal, axis, 0);
  reduced[10] = trace / W[0];
  reduced[11] = trace;
  reduced[12] = trace > 0 ? 1 / (trace * (S[0] * S[3] - S[1] * S[2])) : 0;
  reduced[13] = 1 / W[0];
}

/* r from its tangential part -scale v. */
LCP_FUNCTION int lcp_contact_stick(REAL *r, const REAL *W, const REAL *reduced, const REAL *b, const REAL *v,
                                   REAL scale) {
  r[1] = -scale * v[0], r[2] = -scale * v[1];
  r[0] = -(b[0] + W[1] * r[1] + W[2] * r[2]) * reduced[13];
  return r[0] - r[0] < 1; /* finite */
}

/* Estimates s from the last reaction and the new c: u_t . r_t = -s r_t . r_t. It is near the root when sweeps
 * converge. `factor` scales r_t like S. NaN if the last reaction is 0. */
LCP_FUNCTION REAL lcp_contact_guess(const REAL *r, REAL factor, const REAL *S, const REAL *axis,
                                    const REAL *c) {
  REAL t[2] = {r[1] * factor, r[2] * factor};
  lcp_contact_turn(t, axis, 0);
  const REAL u[2] = {S[0] * t[0] + S[1] * t[1] + c[0], S[2] * t[0] + S[3] * t[1] + c[1]};
  return -(u[0] * t[0] + u[1] * t[1]) / (t[0] * t[0] + t[1] * t[1]);
}

/* As in two dimensions, but with an unknown direction of sliding. u_t = -s r_t with s >= 0 gives r_t = -v(s) /
 * det(S + s), v = adj(S + s) c. The boundary of the cone is p(s) = ||v(s)||.
 *
 * The excess of p over ||v|| is negative at 0 if the contact does not stick, and positive above a bound, for
 * every mu. So a root lies between. Divided by ||v||, the excess is a straight line for S = sigma I. S is
 * scaled by its trace; c, and b_n with it, to a length of c of about 1. r holds the last reaction. */
LCP_FUNCTION int lcp_contact_exact_3(REAL *r, const REAL *W, const REAL *reduced, const REAL *b, REAL mu) {
  const REAL *S = reduced, *axis = reduced + 4, *of_normal = reduced + 6, *to_normal = reduced + 8;
  const REAL det = S[0] * S[3] - S[1] * S[2], trace = reduced[11], force = -b[0] * reduced[10];
  REAL c[2] = {b[1], b[2]}, along[2];
  lcp_contact_turn(c, axis, 0);
  c[0] -= to_normal[0] * b[0], c[1] -= to_normal[1] * b[0];
  REAL v[2] = {S[3] * c[0] - S[1] * c[1], S[0] * c[1] - S[2] * c[0]};
  const REAL most = mu * (force * det + of_normal[0] * v[0] + of_normal[1] * v[1]);
  if (!(lcp_absolute(v[0]) + lcp_absolute(v[1]) > 0)) return lcp_contact_stick(r, W, reduced, b, v, 0);
  if (!(trace > 0)) return 0;
  if (lcp_is_within(v[0], v[1], most)) {
    lcp_contact_turn(v, axis, 1);
    return lcp_contact_stick(r, W, reduced, b, v, reduced[12]);
  }
  const REAL guess = lcp_contact_guess(r, trace, S, axis, c);
  const REAL scale = 1 / (lcp_absolute(c[0]) + lcp_absolute(c[1]));
  const REAL p[3] = {mu * (force * scale), mu * of_normal[0], mu * of_normal[1]};
  c[0] *= scale, c[1] *= scale;
  /* Above 1 / epsilon, S + s equals s in rounding and the direction is c, so no larger root is sought. */
  const REAL bound = (1 + lcp_absolute(p[1]) + lcp_absolute(p[2])) / p[0], end = 1 / LCP_EPSILON;
  const REAL high = bound < end ? bound : end;
  const REAL start = guess > 0 && guess < high ? guess : 0;
  if (!lcp_contact_direction(along, start, 0, high, S, c, p)) return 0;
  lcp_contact_turn(along, axis, 1);
  return lcp_contact_slide(r, W, b, mu, along, 3);
}

/* A step towards the exact solution without a root: s is lcp_contact_guess. The sweeps have the same fixed
 * points and converge as fast. If the last reaction r gives no estimate, s is 0: the contact slides against the
 * reaction that would hold it. */
LCP_FUNCTION int lcp_contact_follow_3(REAL *r, const REAL *W, const REAL *reduced, const REAL *b, REAL mu) {
  const REAL *S = reduced, *axis = reduced + 4, *of_normal = reduced + 6, *to_normal = reduced + 8;
  const REAL det = S[0] * S[3] - S[1] * S[2], trace = reduced[11];
  REAL c[2] = {b[1], b[2]};
  lcp_contact_turn(c, axis, 0);
  c[0] -= to_normal[0] * b[0], c[1] -= to_normal[1] * b[0];
  REAL v[2] = {S[3] * c[0] - S[1] * c[1], S[0] * c[1] - S[2] * c[0]};
  const REAL most = mu * (of_normal[0] * v[0] + of_normal[1] * v[1] - b[0] * reduced[10] * det);
  if (!(trace > 0)) return 0;
  if (lcp_is_within(v[0], v[1], most)) {
    lcp_contact_turn(v, axis, 1);
    return lcp_contact_stick(r, W, reduced, b, v, reduced[12]);
  }
  const REAL guess = lcp_contact_guess(r, trace, S, axis, c), s = guess > 0 ? guess : 0;
  v[0] = (S[3] + s) * c[0] - S[1] * c[1], v[1] = (S[0] + s) * c[1] - S[2] * c[0];
  const REAL inverse = 1 / LCP_SQRT(v[0] * v[0] + v[1] * v[1]);
  v[0] *= inverse, v[1] *= inverse;
  if (!(v[0] * v[0] + v[1] * v[1] > (REAL)0.5)) return 0;
  lcp_contact_turn(v, axis, 1);
  return lcp_contact_slide(r, W, b, mu, v, 3);
}

LCP_FUNCTION void lcp_contact_reduce(REAL *reduced, const REAL *W, int dimension) {
  if (dimension == 2)
    lcp_contact_reduce_2(reduced, W);
  else
    lcp_contact_reduce_3(reduced, W);
}

/* The contact's reaction r, updated from the last one. It is 0 if b_n >= 0. `exact` solves the law by cases,
 * and uses the projection if the block is too far from positive semidefinite. `exact` 2 follows the last
 * reaction if possible, which suffices for sweeps that do not stop on their own. `reduced` holds the numbers of
 * W, or is NULL if they are not stored. */
LCP_FUNCTION void lcp_contact_of(REAL *r, const REAL *W, const REAL *reduced, const REAL *b, REAL mu,
                                 int dimension, int exact) {
  REAL found[3] = {0, 0, 0}, own[LCP_REDUCED] = {0};
  int is_found = b[0] >= 0;
  if (!is_found && !(mu > 0)) found[0] = -b[0] / W[0], is_found = 1;
  if (!is_found && exact > 1 && reduced && dimension == 3) {
    for (int k = 0; k < 3; k++) found[k] = r[k];
    is_found = lcp_contact_follow_3(found, W, reduced, b, mu);
  }
  if (!is_found && exact) {
    if (!reduced) lcp_contact_reduce(own, W, dimension);
    const REAL *of_block = reduced ? reduced : own;
    for (int k = 0; k < dimension; k++) found[k] = r[k];
    is_found = dimension == 2 ? lcp_contact_exact_2(found, W, of_block, b, mu)
                              : lcp_contact_exact_3(found, W, of_block, b, mu);
  }
  if (!is_found) {
    lcp_contact_projection(r, W, b, mu, dimension);
    return;
  }
  for (int k = 0; k < dimension; k++) r[k] = found[k];
}

LCP_FUNCTION void lcp_contact(REAL *r, const REAL *W, const REAL *b, REAL mu, int dimension, int exact) {
  lcp_contact_of(r, W, 0, b, mu, dimension, exact);
}
