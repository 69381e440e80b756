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

// The rounding error that an exact map may hide: a fraction of an unknown's contribution to its own w. ROUNDS: on drivers
// without pairs, this is needed in single precision too.
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
// Makes a contact's map longer by the rounding error of its gap, ||r_t|| - mu r_n. The norm is then an upper bound even if
// rounding hides how far r is from its cone.
void lcp_map_lengthen(inout REAL map[DIMENSION], REAL error) {
#if defined(PAIR) || defined(ROUNDS)
  REAL size = lcp_length(map[0], lcp_tangent_length(map));
  if (!is_positive(error) || !is_finite(size)) return;
  if (is_less(size, error)) {
    for (int i = 1; i < DIMENSION; i++) map[i] = real(0.0);
    map[0] = add(size, error);
  } else {
    for (int i = 0; i < DIMENSION; i++) map[i] = add(map[i], product(map[i], divide(error, size)));
  }
#endif
}

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
  REAL gap = cross_product(k, R, m, r[0]); // multiplied by k, which is a quotient like m
  float rounding = 8.0 * LCP_ROUNDING * rough(product(k, R));
  if (is_positive(sum)) longer = divide(change, sum);
  REAL beyond = add(gap, add(product(k, longer), product(m, u[0])));
  REAL outside = add(beyond, product3(m, mu, U));
  if (rough(outside) <= 0.0 && (is_positive(mu) || !is_less(r[0], u[0]))) {
    map = u;
    map[0] = add(u[0], product(mu, U));
  } else if (rough(subtract(product(m, subtract(T, U)), product(k, subtract(u[0], r[0])))) <= 0.0) {
    map = r;
  } else {
    if (is_positive(T)) along = divide(add(product(k, beyond), product3(m, m, U)), T);
    map[0] = cross_product(k, add(product(k, u[0]), product(m, subtract(U, longer))), m, gap);
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
  if (rough(outside) > -rounding) lcp_map_lengthen(map, real(rounding));
}
#endif
