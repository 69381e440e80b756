// A diagonal block in sequence (Courtecuisse and Allard 2009, III.C): the new z of a quad, of unknowns or contacts. Reads w
// (input0) and z (input1). QUADS_OF_BLOCK is the most that a block has.
//
// Fragments know nothing of each other: each one solves the other quads of the block too. With TOGETHER those of a subgroup do
// know: each one adds up the w of its own quad only, and the others tell it their changes.
#include "include/lcp_together.glsl"

// A quad of the block; `m` is its own part of M.
struct Quad {
  QUAD w, old, least, most;
  Entries m;
};

Quad quad_at(ivec2 matrix, int number, int problem) {
  Quad quad;
  int i = FIRST_QUAD + number;
  quad.w = QUAD_AT(0, place_of(i, problem));
  quad.old = QUAD_AT(1, place_of(i, problem));
  quad.least = least_at(ivec2(i, problem));
#if DIMENSION == 1
  quad.most = most_at(ivec2(i, problem));
#endif
  quad.m = entries_at(matrix, i, i);
  return quad;
}

// Its new z. Nothing is fetched here: that would wait for all that was fetched ahead.
#if DIMENSION == 1
QUAD solve_quad(Quad quad, QUAD sums[QUAD_ROWS]) {
  QUAD w = add_totals(quad.w, sums), z = NOTHING;
  for (int c = 0; c < QUAD_ROWS; c++) {
    REAL old = pick(quad.old, c), next = solve_unknown(old, pick(w, c), pick(quad.m.rows[c], c), pick(quad.least, c),
                                                       pick(quad.most, c)), change = subtract(next, old);
    z = put(z, c, next);
    for (int e = c + 1; e < QUAD_ROWS; e++) w = put(w, e, add(pick(w, e), product(pick(quad.m.rows[e], c), change)));
  }
  return z;
}
#else
QUAD solve_quad(Quad quad, QUAD sums[QUAD_ROWS]) {
  QUAD w = add_totals(quad.w, sums), z = NOTHING, d = NOTHING;
  for (int c = 0; c < QUAD_ROWS; c += DIMENSION) {
    REAL W[BLOCK], u[DIMENSION], r[DIMENSION];
    for (int k = 0; k < DIMENSION; k++) {
      for (int l = 0; l < DIMENSION; l++) W[k * DIMENSION + l] = pick(quad.m.rows[c + k], c + l);
      u[k] = add(pick(w, c + k), total_of(add_products(NOTHING, quad.m.rows[c + k], d)));
      r[k] = pick(quad.old, c + k);
    }
    solve_contact(r, W, u, pick(quad.least, c));
    for (int k = 0; k < DIMENSION; k++) {
      z = put(z, c + k, r[k]);
      d = put(d, c + k, subtract(r[k], pick(quad.old, c + k)));
    }
  }
  return z;
}
#endif

#ifdef TOGETHER
struct Own {
  Quad quad;
  int number; // in the block
  QUAD z, sums[QUAD_ROWS];
};

// Quad k of the block, and what its change adds to the own quad's w. After the own quad that is no longer of use.
void solve_next(inout Own own, int k, Entries m) {
  uint invocation = subgroupBallotFindLSB(subgroupBallot(own.number == k));
  QUAD z = own.quad.old;
#if DIMENSION > 1
  if (own.number == k) // or all would iterate
#endif
    z = solve_quad(own.quad, own.sums);
  if (own.number == k) own.z = z;
  add_rows(own.sums, m, shuffle(subtract(z, own.quad.old), invocation));
}

QUAD solve_together(ivec2 matrix, ivec2 quad) {
  Own own;
  own.number = quad.x - FIRST_QUAD;
  own.quad = quad_at(matrix, own.number, quad.y);
  own.z = own.quad.old;
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
QUAD solve_alone(ivec2 matrix, ivec2 quad) {
  QUAD changes[QUADS_OF_BLOCK], sums[QUAD_ROWS], z = NOTHING;
  int own = quad.x - FIRST_QUAD;
  for (int k = 0; k < QUADS_OF_BLOCK; k++) changes[k] = NOTHING; // or drivers warn of what no loop reads
  for (int k = 0; k < BLOCK_QUADS; k++) {
    for (int c = 0; c < QUAD_ROWS; c++) sums[c] = NOTHING;
    for (int j = 0; j < k; j++) add_rows(sums, entries_at(matrix, FIRST_QUAD + k, FIRST_QUAD + j), changes[j]);
    Quad other = quad_at(matrix, k, quad.y);
    QUAD next = solve_quad(other, sums);
    changes[k] = subtract(next, other.old);
    if (k == own) z = next;
  }
  return z;
}

void main() {
  ivec2 quad = own_quad(), matrix = matrix_of(quad.y);
  QUAD z;
#ifdef TOGETHER
  bool is_inside = quad.x - FIRST_QUAD < BLOCK_QUADS; // or beside the block
  if (subgroupBallotBitCount(subgroupBallot(is_inside)) == uint(BLOCK_QUADS))
    z = solve_together(matrix, quad);
  else
#endif
    z = solve_alone(matrix, quad);
  write(z);
}
