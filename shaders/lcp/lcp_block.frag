// A diagonal block in sequence (Courtecuisse and Allard 2009, III.C): the new z of a quad, of unknowns or contacts.
// Reads w (input0) and z (input1). QUADS_OF_BLOCK is the maximum number of quads in a block.
//
// Fragments cannot communicate, so each one solves the other quads of the block too. With TOGETHER, fragments of a
// subgroup communicate: each one adds up only the w of its own quad, and receives the changes of the others. A program
// contains only one of the two methods. With both, the registers of the second made the first slower (0.66 ms per sweep
// on an H100 for 3000 unknowns, instead of 0.54).
#include "include/lcp_together.glsl"

// The new z from the old z and w; `m` is the quad's diagonal block of M.
#if DIMENSION == 1
QUAD solve_quad(QUAD old, QUAD w, Entries m, ivec2 quad) {
  QUAD least = least_at(quad), most = most_at(quad), z = NOTHING;
  for (int c = 0; c < QUAD_ROWS; c++) {
    REAL next = solve_unknown(pick(old, c), pick(w, c), pick(m.rows[c], c), pick(least, c), pick(most, c));
    REAL change = subtract(next, pick(old, c));
    z = put(z, c, next);
    for (int e = c + 1; e < QUAD_ROWS; e++) w = put(w, e, add(pick(w, e), product(pick(m.rows[e], c), change)));
  }
  return z;
}
#else
QUAD solve_quad(QUAD old, QUAD w, Entries m, ivec2 quad) {
  QUAD z = NOTHING, d = NOTHING;
  for (int c = 0; c < QUAD_ROWS; c += DIMENSION) {
    REAL W[BLOCK], u[DIMENSION], r[DIMENSION];
    for (int k = 0; k < DIMENSION; k++) {
      for (int l = 0; l < DIMENSION; l++) W[k * DIMENSION + l] = pick(m.rows[c + k], c + l);
      u[k] = add(pick(w, c + k), total_of(add_products(NOTHING, m.rows[c + k], d)));
      r[k] = pick(old, c + k);
    }
    solve_contact(r, W, u, friction_of(quad.x, c, quad.y));
    for (int k = 0; k < DIMENSION; k++) {
      z = put(z, c + k, r[k]);
      d = put(d, c + k, subtract(r[k], pick(old, c + k)));
    }
  }
  return z;
}
#endif

#ifdef TOGETHER
#if DIMENSION == 1 && !defined(PAIR)
#define AHEAD 8
#else
#define AHEAD 1
#endif

struct Own {
  ivec2 quad; // quad and problem
  int number; // index in the block
  QUAD w, old, z, sums[QUAD_ROWS];
  Entries m;
#if DIMENSION == 1
  QUAD least, most, inverse;
#endif
};

// The new z of the own quad, from its w with the newest values of all other quads.
#if DIMENSION == 1
#ifdef PAIR
REAL project_quickly(REAL z, REAL least, REAL most) { return project(z, least, most); }
#else
REAL project_quickly(REAL z, REAL least, REAL most) { return min(max(z, least), most); }
#endif

QUAD solve_own(Own own, QUAD w) {
  QUAD z = NOTHING;
  for (int c = 0; c < QUAD_ROWS; c++) {
    REAL free = subtract(pick(own.old, c), product(pick(w, c), pick(own.inverse, c)));
    REAL next = project_quickly(free, pick(own.least, c), pick(own.most, c)), change = subtract(next, pick(own.old, c));
    if (is_finite(free))
      z = put(z, c, next);
    else // project_quickly may hide this
      z = put(z, c, free);
    for (int e = c + 1; e < QUAD_ROWS; e++) w = put(w, e, add(pick(w, e), product(pick(own.m.rows[e], c), change)));
  }
  return z;
}
#else
QUAD solve_own(Own own, QUAD w) { return solve_quad(own.old, w, own.m, own.quad); }
#endif

// Solves quad k of the block and adds its change to the own quad's w. After the own quad, that w is no longer used.
void solve_next(inout Own own, int k, Entries m) {
  uint invocation = subgroupBallotFindLSB(subgroupBallot(own.number == k));
  QUAD z = own.old;
#if DIMENSION > 1
  if (own.number == k) // otherwise all fragments would iterate
#endif
    z = solve_own(own, add_totals(own.w, own.sums));
  if (own.number == k) own.z = z;
  add_rows(own.sums, m, shuffle(subtract(z, own.old), invocation));
}

QUAD solve_together(ivec2 quad) {
  ivec2 here = place_of(quad.x, quad.y), matrix = matrix_of(quad.y);
  Own own;
  own.quad = quad;
  own.number = quad.x - FIRST_QUAD;
  own.w = QUAD_AT0(here);
  own.old = own.z = QUAD_AT1(here);
  own.m = entries_at(matrix, quad.x, quad.x);
  for (int c = 0; c < QUAD_ROWS; c++) own.sums[c] = NOTHING;
#if DIMENSION == 1
  own.least = least_at(quad);
  own.most = most_at(quad);
  own.inverse = NOTHING;
  for (int c = 0; c < QUAD_ROWS; c++) own.inverse = put(own.inverse, c, divide(real(1.0), pick(own.m.rows[c], c)));
#endif
  // Entries are fetched ahead, to hide the latency of a fetch.
  Entries m[AHEAD];
  for (int a = 0; a < AHEAD; a++) m[a] = entries_at(matrix, quad.x, FIRST_QUAD + a);
  for (int k = 0; k < BLOCK_QUADS; k += AHEAD)
    for (int a = 0; a < AHEAD; a++) {
      Entries next = entries_at(matrix, quad.x, FIRST_QUAD + k + AHEAD + a);
      solve_next(own, k + a, m[a]);
      m[a] = next;
    }
  return own.z;
}
#else
// Computes the whole block, not only the quads up to the own one. The last quad needs the whole block anyway, and with
// loops of different lengths Mesa's softpipe computed wrong numbers.
QUAD solve_alone(ivec2 quad) {
  ivec2 matrix = matrix_of(quad.y);
  QUAD changes[QUADS_OF_BLOCK], sums[QUAD_ROWS], z = NOTHING;
  int own = quad.x - FIRST_QUAD;
  for (int k = 0; k < QUADS_OF_BLOCK; k++) changes[k] = NOTHING; // otherwise drivers warn about elements that no loop reads
  for (int k = 0; k < BLOCK_QUADS; k++) {
    int other = FIRST_QUAD + k;
    ivec2 here = place_of(other, quad.y);
    for (int c = 0; c < QUAD_ROWS; c++) sums[c] = NOTHING;
    for (int j = 0; j < k; j++) add_rows(sums, entries_at(matrix, other, FIRST_QUAD + j), changes[j]);
    QUAD old = QUAD_AT1(here);
    QUAD next = solve_quad(old, add_totals(QUAD_AT0(here), sums), entries_at(matrix, other, other), ivec2(other, quad.y));
    changes[k] = subtract(next, old);
    if (k == own) z = next;
  }
  return z;
}
#endif

void main() {
  ivec2 quad = own_quad();
#ifdef TOGETHER
  // lcp_whole.frag has found that the block's subgroup is whole. If it is not whole now, the result is NaN instead of a
  // wrong number.
  QUAD z = NOTHING;
  for (int c = 0; c < QUAD_ROWS; c++) z = put(z, c, real(uintBitsToFloat(0x7fc00000u)));
  if (is_whole(quad)) z = solve_together(quad);
#else
  QUAD z = solve_alone(quad);
#endif
  write(z);
}
