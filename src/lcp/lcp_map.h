/* The natural map z - P(z - w) of an unknown or a contact, in double regardless of the sweeps' precision. All
 * backends except OpenGL test with it, and so does the command; shaders/include/lcp_map.glsl has the same
 * formulas. LCP_MAP_FUNCTION precedes each function.
 *
 * P(z - w) is never formed. If w is below an ulp of z, z - w rounds to z, and z - P(z - w) would be 0 even for
 * a w that is large relative to q. */
#ifndef LCP_MAP_FUNCTION
#error "LCP_MAP_FUNCTION is to be defined before lcp_map.h is included"
#endif

/* The median of z - lower, w and z - upper. Propagates NaN. */
LCP_MAP_FUNCTION double lcp_map_unknown(double z, double w, double lower, double upper) {
  return w > z - lower ? z - lower : w < z - upper ? z - upper : w;
}

/* Adds a b to sum + error, exactly except for the rounding of `error`. */
LCP_MAP_FUNCTION void lcp_map_add_product(double a, double b, double *sum, double *error) {
  const double product = a * b, low = fma(a, b, -product), before = *sum;
  const double total = before + product, part = total - before;
  *sum = total;
  *error += ((before - (total - part)) + (product - part)) + low;
}

/* ||r_t|| - mu r_n. The reaction of a sliding contact is on the boundary of its cone. If r is much larger than
 * u, this gap is the rounding error of r, and must not vanish in rounding of its own. */
LCP_MAP_FUNCTION double lcp_map_gap(const double *r, double mu, int dimension) {
  const double second = dimension > 2 ? r[2] : 0, length = sqrt(r[1] * r[1] + second * second);
  const double most = mu * r[0], low = fma(mu, r[0], -most);
  double sum = 0, error = 0;
  if (dimension == 2) return fabs(r[1]) - most - low;
  if (!(most > 0) || !(length > most / 2 && length < most * 2)) return length - most;
  lcp_map_add_product(r[1], r[1], &sum, &error);
  lcp_map_add_product(second, second, &sum, &error);
  lcp_map_add_product(-most, most, &sum, &error);
  return (sum + (error - 2 * most * low)) / (length + most);
}

/* r - P(r - (u_n + mu ||u_t||, u_t)), with P onto ||r_t|| <= mu r_n. Let y = r - (u_n + mu ||u_t||, u_t), T =
 * ||y_t||, k = 1 / sqrt(1 + mu^2) and m = mu k. The result is r - y if y is in the cone, r if y is in the polar
 * cone, and otherwise
 *
 *   normal  k (k u_n + m (||u_t|| + ||r_t|| - T - gap)),   tangent  u_t + (k (k (gap + T - ||r_t||) + m u_n)
 *                                                                         + m^2 ||u_t||) y_t / T
 *
 * where gap = ||r_t|| - mu r_n, and T - ||r_t|| = u_t (u_t - 2 r_t) / (T + ||r_t||).
 *
 * A large mu hides the normal part: u_n < 0 is weighted by as little as 1 / mu. So a tenth of min(r_n, u_n)
 * replaces the map of a contact if it is larger. It is within sqrt(1 + mu^2) times the map, and not larger up
 * to mu = 10. */
LCP_MAP_FUNCTION void lcp_map_contact(double *map, const double *r, const double *u, double mu, int dimension) {
  const double r2 = dimension > 2 ? r[2] : 0, u2 = dimension > 2 ? u[2] : 0;
  const double y1 = r[1] - u[1], y2 = r2 - u2;
  const double R = sqrt(r[1] * r[1] + r2 * r2), U = sqrt(u[1] * u[1] + u2 * u2), T = sqrt(y1 * y1 + y2 * y2);
  const double k = mu > 1 ? 1 / mu / sqrt(1 + 1 / mu / mu) : 1 / sqrt(1 + mu * mu),
               m = mu > 1 ? 1 / sqrt(1 + 1 / mu / mu) : mu * k;
  const double gap = lcp_map_gap(r, mu, dimension);
  const double longer = T + R > 0 ? (u[1] * (u[1] - 2 * r[1]) + u2 * (u2 - 2 * r2)) / (T + R) : 0; /* T - R */
  const double beyond = k * (gap + longer) + m * u[0]; /* from the cone, minus m mu U */
  double found[3];
  if (beyond + m * (mu * U) <= 0 && (mu > 0 || r[0] >= u[0])) {
    found[0] = u[0] + mu * U, found[1] = u[1], found[2] = u2;
  } else if (m * (T - U) + k * (r[0] - u[0]) <= 0) {
    found[0] = r[0], found[1] = r[1], found[2] = r2;
  } else {
    const double along = T > 0 ? (k * beyond + m * m * U) / T : 0;
    found[0] = k * (k * u[0] + m * (U - longer - gap));
    found[1] = u[1] + along * y1, found[2] = u2 + along * y2;
  }
  const double normal = (r[0] < u[0] ? r[0] : u[0]) * 0.0995;
  if (normal * normal > found[0] * found[0] + found[1] * found[1] + found[2] * found[2])
    found[0] = normal, found[1] = found[2] = 0;
  for (int i = 0; i < dimension && i < 3; i++) map[i] = found[i];
}
