// The natural map of an unknown or a contact, without cancellation. See src/lcp/lcp_map.h for the formulas. Include
// after include/lcp.glsl.

#ifdef PAIR
#define LCP_ROUNDING 7.1e-15
#else
#define LCP_ROUNDING 6.0e-8
#endif

REAL lcp_map_unknown(REAL z, REAL w, REAL least, REAL most) {
  REAL highest = subtract(z, least), lowest = subtract(z, most);
  if (!is_finite(w)) return w; // otherwise the code may become a minimum and a maximum, which drop NaN
  if (is_less(highest, w)) return highest;
  if (is_less(w, lowest)) return lowest;
  return w;
}

// The rounding error that an exact map may hide: a fraction of an unknown's contribution to its own w, or of a reaction
// near the edge of its cone. ROUNDS: on drivers without pairs, this is needed in single precision too.
REAL lcp_map_rounding(REAL map, REAL own) {
#if defined(PAIR) || defined(ROUNDS)
  REAL error = real(LCP_ROUNDING * abs(rough(own)));
  if (is_negative(map)) return subtract(map, error);
  return add(map, error);
#else
  return map;
#endif
}

#if DIMENSION > 1
void lcp_map_contact(out REAL map[DIMENSION], REAL r[DIMENSION], REAL u[DIMENSION], REAL mu) {
  REAL y[DIMENSION], one = real(1.0), k, m, change = real(0.0), longer = real(0.0), along = real(0.0);
  for (int i = 0; i < DIMENSION; i++) y[i] = subtract(r[i], u[i]);
  for (int i = 1; i < DIMENSION; i++) change = add(change, product(u[i], subtract(subtract(u[i], r[i]), r[i])));
  REAL R = lcp_tangent_length(r), U = lcp_tangent_length(u), T = lcp_tangent_length(y), sum = add(T, R);
  if (is_less(one, mu)) {
    REAL inverse = divide(one, mu);
    m = divide(one, root(add(one, product(inverse, inverse))));
    k = product(inverse, m);
  } else {
    k = divide(one, root(add(one, product(mu, mu))));
    m = product(mu, k);
  }
  REAL gap = cross_product(k, R, m, r[0]); // multiplied by k
  if (is_positive(sum)) longer = divide(change, sum);
  REAL beyond = add(gap, add(product(k, longer), product(m, u[0])));
  if (rough(add(beyond, product3(m, mu, U))) <= 0.0 && (is_positive(mu) || !is_less(r[0], u[0]))) {
    map = u;
    map[0] = add(u[0], product(mu, U));
  } else if (rough(subtract(product(m, subtract(T, U)), product(k, subtract(u[0], r[0])))) <= 0.0) {
    map = r;
  } else {
    if (is_positive(T)) along = divide(add(product(k, beyond), product3(m, m, U)), T);
    map[0] = cross_product(k, add(product(k, u[0]), product(m, subtract(U, longer))), m, gap);
    map[0] = lcp_map_rounding(map[0], product3(real(4.0), k, R)); // k and m are quotients
    for (int i = 1; i < DIMENSION; i++) map[i] = add(u[i], product(along, y[i]));
  }
  for (int i = 0; i < DIMENSION; i++)
    if (!is_finite(u[i])) map[0] = u[i];
  if (!is_finite(map[0])) return;
  REAL normal = u[0];
  if (is_less(r[0], u[0])) normal = r[0];
  normal = product(normal, real(0.0995));
  if (is_less(lcp_length(map[0], lcp_tangent_length(map)), lcp_absolute(normal))) {
    for (int i = 1; i < DIMENSION; i++) map[i] = real(0.0);
    map[0] = normal;
  }
}
#endif
