// A diagonal block in sequence (Courtecuisse and Allard 2009, III.C): the new z of a quad, of unknowns or contacts. Reads w
// (input0) and z (input1). QUADS_OF_BLOCK is the most that a block has.
//
// Fragments know nothing of each other: each one solves the other quads of the block too. With TOGETHER those of a subgroup do
// know: each one adds up the w of its own quad only, and the others tell it their changes.
#include "include/lcp_together.glsl"

// The new z from the old one and w; `m` is the quad's own part of M.
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
struct Own {
  ivec2 quad; // and problem
  int number; // in the block
  QUAD w, old, z, sums[QUAD_ROWS];
  Entries m;
};

// Quad k of the block, and what its change adds to the own quad's w. After the own quad that is no longer of use.
void solve_next(inout Own own, int k, Entries m) {
  uint invocation = subgroupBallotFindLSB(subgroupBallot(own.number == k));
  QUAD z = own.old;
#if DIMENSION > 1
  if (own.number == k) // or all would iterate
#endif
    z = solve_quad(own.old, add_totals(own.w, own.sums), own.m, own.quad);
  if (own.number == k) own.z = z;
  add_rows(own.sums, m, shuffle(subtract(z, own.old), invocation));
}

QUAD solve_together(ivec2 quad) {
  ivec2 here = place_of(quad.x, quad.y), matrix = matrix_of(quad.y);
  Own own;
  own.quad = quad;
  own.number = quad.x - FIRST_QUAD;
  own.w = QUAD_AT(0, here);
  own.old = own.z = QUAD_AT(1, here);
  own.m = entries_at(matrix, quad.x, quad.x);
  for (int c = 0; c < QUAD_ROWS; c++) own.sums[c] = NOTHING;
  // Entries are fetched ahead by as much as a fetch takes. Unknowns of floats are solved in a quarter of that.
  Entries a = entries_at(matrix, quad.x, FIRST_QUAD);
#if DIMENSION == 1 && !defined(PAIR)
  Entries b = entries_at(matrix, quad.x, FIRST_QUAD + 1), c = entries_at(matrix, quad.x, FIRST_QUAD + 2),
          d = entries_at(matrix, quad.x, FIRST_QUAD + 3);
  for (int k = 0; k < BLOCK_QUADS; k += 4) {
    int next = FIRST_QUAD + k + 4;
    Entries next_a = entries_at(matrix, quad.x, next), next_b = entries_at(matrix, quad.x, next + 1),
            next_c = entries_at(matrix, quad.x, next + 2), next_d = entries_at(matrix, quad.x, next + 3);
    solve_next(own, k, a);
    solve_next(own, k + 1, b);
    solve_next(own, k + 2, c);
    solve_next(own, k + 3, d);
    a = next_a;
    b = next_b;
    c = next_c;
    d = next_d;
  }
#else
  for (int k = 0; k < BLOCK_QUADS; k++) {
    Entries next = entries_at(matrix, quad.x, FIRST_QUAD + k + 1);
    solve_next(own, k, a);
    a = next;
  }
#endif
  return own.z;
}
#endif

// All of the block, not only what is up to the own quad: the last one has to anyway, and with loops of different lengths Mesa's
// softpipe computed wrong numbers.
QUAD solve_alone(ivec2 quad) {
  ivec2 matrix = matrix_of(quad.y);
  QUAD changes[QUADS_OF_BLOCK], sums[QUAD_ROWS], z = NOTHING;
  int own = quad.x - FIRST_QUAD;
  for (int k = 0; k < QUADS_OF_BLOCK; k++) changes[k] = NOTHING; // or drivers warn of what no loop reads
  for (int k = 0; k < BLOCK_QUADS; k++) {
    int other = FIRST_QUAD + k;
    ivec2 here = place_of(other, quad.y);
    for (int c = 0; c < QUAD_ROWS; c++) sums[c] = NOTHING;
    for (int j = 0; j < k; j++) add_rows(sums, entries_at(matrix, other, FIRST_QUAD + j), changes[j]);
    QUAD old = QUAD_AT(1, here);
    QUAD next = solve_quad(old, add_totals(QUAD_AT(0, here), sums), entries_at(matrix, other, other), ivec2(other, quad.y));
    changes[k] = subtract(next, old);
    if (k == own) z = next;
  }
  return z;
}

void main() {
  ivec2 quad = own_quad();
  QUAD z;
#ifdef TOGETHER
  bool is_inside = quad.x - FIRST_QUAD < BLOCK_QUADS; // or beside the block
  if (subgroupBallotBitCount(subgroupBallot(is_inside)) == uint(BLOCK_QUADS))
    z = solve_together(quad);
  else
#endif
    z = solve_alone(quad);
  write(z);
}
