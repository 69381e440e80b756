/* The natural map z - P(z - w) of an unknown or a contact, in double whatever the sweeps compute in: the test
 * of every backend but OpenGL, whose shaders/include/lcp_map.glsl has the same formulas, and of the command.
 * LCP_MAP_FUNCTION stands before each function.
 *
 * P(z - w) is never formed: z - w is z once w is below an ulp of z, and z - P(z - w) is 0 then, however large w
 * is next to q. */
#ifndef LCP_MAP_FUNCTION
#error "LCP_MAP_FUNCTION is to be defined before lcp_map.h is included"
#endif

/* The median of z - lower, w and z - upper. NaN stays. */
LCP_MAP_FUNCTION double lcp_map_unknown(double z, double w, double lower, double upper) {
  return w > z - lower ? z - lower : w < z - upper ? z - upper : w;
}

/* sum + error = the sums that were there, and a b, but for rounding of `error`. */
LCP_MAP_FUNCTION void lcp_map_add_product(double a, double b, double *sum, double *error) {
  const double product = a * b, rest = fma(a, b, -product), before = *sum;
  const double total = before + product, part = total - before;
  *sum = total;
  *error += ((before - (total - part)) + (product - part)) + rest;
}

/* ||r_t|| - mu r_n. A contact that slides has a reaction on the boundary of its cone: where r is much larger
 * than u this is what rounding r has left, and must not be lost in rounding of its own. */
LCP_MAP_FUNCTION double lcp_map_gap(const double *r, double mu, int dimension) {
  const double second = dimension > 2 ? r[2] : 0, length = sqrt(r[1] * r[1] + second * second);
  const double most = mu * r[0], rest = fma(mu, r[0], -most);
  double sum = 0, error = 0;
  if (dimension == 2) return fabs(r[1]) - most - rest;
  if (!(most > 0) || !(length > most / 2 && length < most * 2)) return length - most;
  lcp_map_add_product(r[1], r[1], &sum, &error);
  lcp_map_add_product(second, second, &sum, &error);
  lcp_map_add_product(-most, most, &sum, &error);
  return (sum + (error - 2 * most * rest)) / (length + most);
}

/* r - P(r - (u_n + mu ||u_t||, u_t)), P onto ||r_t|| <= mu r_n. With y = r - ..., T = ||y_t||, k = 1 / sqrt(1 +
 * mu^2), m = mu k it is what is subtracted if y is in the cone, r if it is in the polar cone, and otherwise
 *
 *   normal  k (k u_n + m (||u_t|| + ||r_t|| - T - gap)),   tangent  u_t + (k (k (gap + T - ||r_t||) + m u_n)
 *                                                                         + m^2 ||u_t||) y_t / T
 *
 * where gap = ||r_t|| - mu r_n, and T - ||r_t|| = u_t (u_t - 2 r_t) / (T + ||r_t||).
 *
 * A large mu hides the normal's part: u_n < 0 counts for as little as 1 / mu. So a tenth of min(r_n, u_n),
 * which is within sqrt(1 + mu^2) times the map, stands for the contact if it is larger; up to mu = 10 it is
 * not. */
LCP_MAP_FUNCTION void lcp_map_contact(double *map, const double *r, const double *u, double mu, int dimension) {
  const double r2 = dimension > 2 ? r[2] : 0, u2 = dimension > 2 ? u[2] : 0;
  const double y1 = r[1] - u[1], y2 = r2 - u2;
  const double R = sqrt(r[1] * r[1] + r2 * r2), U = sqrt(u[1] * u[1] + u2 * u2), T = sqrt(y1 * y1 + y2 * y2);
  const double k = mu > 1 ? 1 / mu / sqrt(1 + 1 / mu / mu) : 1 / sqrt(1 + mu * mu),
               m = mu > 1 ? 1 / sqrt(1 + 1 / mu / mu) : mu * k;
  const double gap = lcp_map_gap(r, mu, dimension);
  const double longer = T + R > 0 ? (u[1] * (u[1] - 2 * r[1]) + u2 * (u2 - 2 * r2)) / (T + R) : 0; /* T - R */
  const double beyond = k * (gap + longer) + m * u[0]; /* of the cone, less m mu U */
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
