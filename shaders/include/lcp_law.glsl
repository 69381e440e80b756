// The new reaction of a contact in a sweep. This follows src/lcp/lcp_law.h function by function; see there for an
// explanation of the cases. Here the root of a sliding contact is found by Newton's method, there by Halley's.
// DIMENSION is 2 or 3, or 1 for the numbers alone. EXACT_LOCAL selects the local solver by cases. Numbers are REAL: a
// float, or a Scalar in pairs, so that the same code serves both. Every loop is bounded. A number is tested for being
// finite by its size, because compilers may assume that there are no NaNs.

#define LCP_ROOT_STEPS 60
#define LCP_PROJECTION_STEPS 8

// ---- Numbers ----

#ifdef PAIR
#define REAL Scalar
#define LCP_EPSILON 1.5e-14 // for products and quotients of pairs

REAL real(float v) { return Scalar(v, 0.0); }
float rough(REAL v) { return v.high; }
REAL negate(REAL v) { return Scalar(-v.high, -v.low); }
REAL product(REAL a, REAL b) { return normalise(multiply(a, b)); }
// By Newton's steps, like divide; v is positive.
REAL root(REAL v) {
  REAL s = Scalar(sqrt(v.high), 0.0);
  for (int k = 0; k < 2; k++) {
    REAL rest = subtract(v, multiply(s, s));
    s = add(s, Scalar(rest.high / (2.0 * s.high), 0.0));
  }
  return s;
}
#else
#define REAL float
#define LCP_EPSILON 1.2e-7

REAL real(float v) { return v; }
float rough(REAL v) { return v; }
REAL negate(REAL v) { return -v; }
REAL add(REAL a, REAL b) { return a + b; }
REAL subtract(REAL a, REAL b) { return a - b; }
REAL product(REAL a, REAL b) { return a * b; }
REAL divide(REAL a, REAL b) { return a / b; }
REAL root(REAL v) { return sqrt(v); }
bool is_less(REAL a, REAL b) { return a < b; }
#endif

bool is_positive(REAL v) { return rough(v) > 0.0; }
bool is_negative(REAL v) { return rough(v) < 0.0; }
bool is_finite(REAL v) { return abs(rough(v)) < 3.0e38; }
REAL product3(REAL a, REAL b, REAL c) { return product(product(a, b), c); }
// a - b c, and a d - b c
REAL subtract_product(REAL a, REAL b, REAL c) { return subtract(a, product(b, c)); }
REAL cross_product(REAL a, REAL d, REAL b, REAL c) { return subtract(product(a, d), product(b, c)); }

REAL lcp_absolute(REAL x) {
  if (is_negative(x)) return negate(x);
  return x;
}

#if DIMENSION > 1
// ---- Coulomb's cone ----

// Scaled, so that squares neither overflow nor underflow.
REAL lcp_length(REAL x, REAL y) {
  REAL most = lcp_absolute(x), least = lcp_absolute(y);
  if (is_less(most, least)) {
    REAL kept = most;
    most = least;
    least = kept;
  }
  if (!is_positive(least)) return add(most, least);
  REAL ratio = divide(least, most);
  return product(most, root(add(real(1.0), product(ratio, ratio))));
}

REAL lcp_tangent_length(REAL x[DIMENSION]) {
#if DIMENSION == 2
  return lcp_absolute(x[1]);
#else
  return lcp_length(x[1], x[2]);
#endif
}

void lcp_project(inout REAL x[DIMENSION], REAL mu) {
  REAL tangent = lcp_tangent_length(x);
  if (is_negative(x[0]) || is_less(product(mu, x[0]), tangent)) {
    REAL normal = divide(add(x[0], product(mu, tangent)), add(real(1.0), product(mu, mu))), scale = real(0.0);
    if (is_negative(normal)) normal = real(0.0); // keeps NaN
    if (is_positive(tangent)) scale = divide(product(mu, normal), tangent);
    x[0] = normal;
    for (int k = 1; k < DIMENSION; k++) x[k] = product(x[k], scale);
  }
}

// r = P(r - step (u_n + mu ||u_t||, u_t))
void lcp_fixed_point(inout REAL r[DIMENSION], REAL u[DIMENSION], REAL mu, REAL stride) {
  r[0] = subtract_product(r[0], stride, add(u[0], product(mu, lcp_tangent_length(u))));
  for (int k = 1; k < DIMENSION; k++) r[k] = subtract_product(r[k], stride, u[k]);
  lcp_project(r, mu);
}

// ---- One contact: Coulomb's law for u = W r + b ----

#define BLOCK (DIMENSION * DIMENSION)

void lcp_contact_projection(inout REAL r[DIMENSION], REAL W[BLOCK], REAL b[DIMENSION], REAL mu) {
  REAL bound = real(0.0), u[DIMENSION];
  for (int i = 0; i < DIMENSION; i++) {
    REAL sum = real(0.0);
    for (int j = 0; j < DIMENSION; j++) sum = add(sum, lcp_absolute(W[i * DIMENSION + j]));
    if (is_less(bound, sum)) bound = sum;
  }
  REAL stride = divide(real(1.0), bound);
  for (int k = 0; k < LCP_PROJECTION_STEPS; k++) {
    for (int i = 0; i < DIMENSION; i++) {
      u[i] = b[i];
      for (int j = 0; j < DIMENSION; j++) u[i] = add(u[i], product(W[i * DIMENSION + j], r[j]));
    }
    lcp_fixed_point(r, u, mu, stride);
  }
}

#ifdef EXACT_LOCAL
bool lcp_contact_slide(out REAL r[DIMENSION], REAL W[BLOCK], REAL b[DIMENSION], REAL mu, REAL along[DIMENSION - 1]) {
  REAL stiffness = W[0];
  for (int k = 1; k < DIMENSION; k++) stiffness = subtract_product(stiffness, mu, product(W[k], along[k - 1]));
  r[0] = divide(negate(b[0]), stiffness);
  for (int k = 1; k < DIMENSION; k++) r[k] = negate(product3(mu, r[0], along[k - 1]));
  return rough(stiffness) > 4.0 * LCP_EPSILON * rough(W[0]) && is_finite(r[0]);
}

#if DIMENSION == 2
bool lcp_contact_exact(out REAL r[DIMENSION], REAL W[BLOCK], REAL b[DIMENSION], REAL mu) {
  REAL c = subtract(b[1], divide(product(W[2], b[0]), W[0]));
  REAL S = subtract(W[3], divide(product(W[1], W[2]), W[0])), along[1] = REAL[1](real(is_negative(c) ? -1.0 : 1.0));
  float least = LCP_EPSILON * abs(rough(W[3]));
  r[0] = divide(negate(b[0]), W[0]);
  r[1] = real(0.0);
  if (rough(S) < -16.0 * least) return false;
  if (rough(S) <= 4.0 * least) S = real(4.0 * least); // a singular block: its smallest reaction, up to rounding
  if (!is_positive(lcp_absolute(c))) return true;
  r[1] = divide(negate(c), S);
  r[0] = divide(negate(add(b[0], product(W[1], r[1]))), W[0]);
  if (is_less(product(mu, r[0]), lcp_absolute(r[1]))) return lcp_contact_slide(r, W, b, mu, along);
  return is_finite(r[1]);
}
#else
REAL lcp_contact_excess(REAL s, REAL S[4], REAL c[2], REAL p[3], out REAL v[2], out REAL derivative) {
  REAL a = add(S[0], s), d = add(S[3], s);
  v[0] = cross_product(d, c[0], S[1], c[1]);
  v[1] = cross_product(a, c[1], S[2], c[0]);
  REAL size = lcp_length(v[0], v[1]);
  REAL value = add(product(p[0], cross_product(a, d, S[1], S[2])), add(product(p[1], v[0]), product(p[2], v[1])));
  REAL slope = add(product(p[0], add(a, d)), add(product(p[1], c[0]), product(p[2], c[1])));
  value = divide(value, size);
  derivative = add(product(v[0], c[0]), product(v[1], c[1]));
  derivative = divide(subtract_product(slope, value, divide(derivative, size)), size);
  return subtract(value, real(1.0));
}

bool lcp_contact_direction(out REAL along[2], REAL high, REAL S[4], REAL c[2], REAL p[3]) {
  REAL low = real(0.0), s = low, derivative, v[2];
  for (int k = 0; k < LCP_ROOT_STEPS; k++) {
    REAL excess = lcp_contact_excess(s, S, c, p, v, derivative);
    if (abs(rough(excess)) <= 4.0 * LCP_EPSILON) break;
    if (rough(subtract(high, low)) <= 4.0 * LCP_EPSILON * rough(high)) break;
    if (is_negative(excess))
      low = s;
    else
      high = s;
    s = subtract(s, divide(excess, derivative));
    if (!(is_less(low, s) && is_less(s, high))) s = add(low, product(subtract(high, low), real(0.5)));
  }
  REAL size = lcp_length(v[0], v[1]);
  along[0] = divide(v[0], size);
  along[1] = divide(v[1], size);
  return is_positive(size) && is_positive(cross_product(add(S[0], s), add(S[3], s), S[1], S[2]));
}

// W_ij without the contribution of the normal direction: an entry of the Schur complement of W_nn.
REAL lcp_contact_schur(REAL W[BLOCK], int i, int j) {
  return subtract(W[3 * i + j], divide(product(W[3 * i], W[j]), W[0]));
}

REAL lcp_contact_reduce(out REAL S[4], out REAL axis[2], REAL W[BLOCK]) {
  float rounding = 16.0 * LCP_EPSILON * (abs(rough(W[4])) + abs(rough(W[8])));
  REAL first = lcp_contact_schur(W, 1, 1), last = lcp_contact_schur(W, 2, 2), right = lcp_contact_schur(W, 1, 2),
       left = lcp_contact_schur(W, 2, 1), one_half = real(0.5);
  REAL trace = add(first, last), half_trace = product(trace, one_half), part = product(subtract(first, last), one_half),
       mean = product(add(right, left), one_half), skew = product(subtract(right, left), one_half);
  REAL spread = lcp_length(part, mean), least = subtract(half_trace, spread);
  axis = REAL[2](real(1.0), real(0.0));
  S = REAL[4](real(LCP_EPSILON), real(0.0), real(0.0), real(LCP_EPSILON));
  if (rough(least) < -rounding) return real(0.0);
  if (rough(trace) <= rounding) return W[0];
  // Close to sigma I, any axes are suitable. In pairs, numbers that small may also have lost their second parts.
  if (rough(spread) > 0.001 * LCP_EPSILON * rough(trace)) {
    bool is_first = !is_negative(part);
    REAL x = lcp_absolute(mean), y = subtract(spread, part);
    if (is_first) {
      x = add(part, spread);
      y = mean;
    }
    REAL size = lcp_length(x, y);
    axis[0] = divide(x, size);
    axis[1] = divide(y, size);
    if (!is_first && is_negative(mean)) axis[1] = negate(axis[1]);
  }
  if (rough(least) < rounding) least = real(rounding);
  S[0] = divide(add(half_trace, spread), trace);
  S[3] = divide(least, trace);
  if (2.0 * abs(rough(skew)) > rounding) {
    S[1] = divide(skew, trace);
    S[2] = negate(S[1]);
  }
  return trace;
}

// Rotates into the axes of lcp_contact_reduce; with the sine negated, rotates back.
void lcp_contact_turn(inout REAL x, inout REAL y, REAL cosine, REAL sine) {
  REAL first = x;
  x = add(product(cosine, first), product(sine, y));
  y = cross_product(cosine, y, sine, first);
}

bool lcp_contact_stick(out REAL r[DIMENSION], REAL W[BLOCK], REAL b[DIMENSION], REAL v[2], REAL scale) {
  r[1] = negate(product(scale, v[0]));
  r[2] = negate(product(scale, v[1]));
  r[0] = divide(negate(add(b[0], add(product(W[1], r[1]), product(W[2], r[2])))), W[0]);
  return is_finite(r[0]);
}

bool lcp_contact_exact(out REAL r[DIMENSION], REAL W[BLOCK], REAL b[DIMENSION], REAL mu) {
  REAL S[4], axis[2], derivative, v[2] = REAL[2](real(0.0), real(0.0)), along[2], p[3];
  REAL c[2] = REAL[2](subtract(b[1], divide(product(W[3], b[0]), W[0])), subtract(b[2], divide(product(W[6], b[0]), W[0])));
  REAL size = lcp_length(c[0], c[1]);
  if (!is_positive(size)) return lcp_contact_stick(r, W, b, v, real(0.0));
  REAL trace = lcp_contact_reduce(S, axis, W), back = negate(axis[1]);
  if (!is_positive(trace)) return false;
  for (int k = 0; k < 2; k++) c[k] = divide(c[k], size);
  p[0] = negate(product3(mu, divide(b[0], size), divide(trace, W[0])));
  for (int k = 1; k < 3; k++) p[k] = divide(product(mu, W[k]), W[0]);
  lcp_contact_turn(c[0], c[1], axis[0], axis[1]);
  lcp_contact_turn(p[1], p[2], axis[0], axis[1]);
  if (!is_negative(lcp_contact_excess(real(0.0), S, c, p, v, derivative))) {
    lcp_contact_turn(v[0], v[1], axis[0], back);
    return lcp_contact_stick(r, W, b, v, divide(divide(size, trace), cross_product(S[0], S[3], S[1], S[2])));
  }
  REAL bound = divide(add(real(1.0), lcp_length(p[1], p[2])), p[0]);
  if (!(rough(bound) < 1.0 / LCP_EPSILON)) bound = real(1.0 / LCP_EPSILON);
  if (!lcp_contact_direction(along, bound, S, c, p)) return false;
  lcp_contact_turn(along[0], along[1], axis[0], back);
  return lcp_contact_slide(r, W, b, mu, along);
}
#endif
#endif

// Computes the contact's reaction r, starting from the last one.
void lcp_contact(inout REAL r[DIMENSION], REAL W[BLOCK], REAL b[DIMENSION], REAL mu) {
  REAL found[DIMENSION];
  for (int k = 0; k < DIMENSION; k++) found[k] = real(0.0);
  bool is_found = rough(b[0]) >= 0.0;
  if (!is_found && !is_positive(mu)) {
    found[0] = divide(negate(b[0]), W[0]);
    is_found = true;
  }
#ifdef EXACT_LOCAL
  if (!is_found) is_found = lcp_contact_exact(found, W, b, mu);
#endif
  if (is_found)
    r = found;
  else
    lcp_contact_projection(r, W, b, mu);
}
#endif // DIMENSION > 1
