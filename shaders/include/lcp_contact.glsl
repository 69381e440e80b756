// Contacts with friction. A quad holds one contact of 3 unknowns or two of 2.
#include "include/lcp.glsl"

#if DIMENSION > 1
REAL friction_of(int quad, int channel, int problem) { return pick(least_at(ivec2(quad, problem)), channel); }

// The contact's block of M; its rows start at `first`.
void read_block(out REAL W[BLOCK], ivec2 matrix, int first) {
  int channel = channel_of(first);
  for (int k = 0; k < DIMENSION; k++) {
    QUAD row = row_at(matrix, first + k, quad_of(first));
    for (int l = 0; l < DIMENSION; l++) W[k * DIMENSION + l] = pick(row, channel + l);
  }
}

// Computes the contact's reaction r from the velocity w. The contribution of its old reaction to w is subtracted first.
void solve_contact(inout REAL r[DIMENSION], REAL W[BLOCK], REAL w[DIMENSION], REAL mu) {
  for (int k = 0; k < DIMENSION; k++)
    for (int l = 0; l < DIMENSION; l++) w[k] = subtract_product(w[k], W[k * DIMENSION + l], r[l]);
  lcp_contact(r, W, w, mu);
}
#endif
