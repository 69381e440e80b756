// lcp_block.frag with contacts: the new z of a quad and by how much it changes, or in pairs the new z only. Reads the state
// (input0). Every fragment solves all of the block, not only what is up to its own quad: the last one has to anyway, and with
// loops of different lengths around those of the law Mesa's softpipe computed wrong reactions.
#include "include/lcp_contact.glsl"

layout(location = 0) out vec4 result;
#ifdef PAIR
layout(location = 1) out vec4 result_low;
#else
layout(location = 1) out vec4 change;
#endif

void main() {
  ivec2 i = place(), origin = matrix_of(i.y);
  QUAD changes[QUADS_OF_BLOCK], z = NOTHING, d = NOTHING;
  int own = i.x - FIRST_QUAD;
  for (int k = 0; k < QUADS_OF_BLOCK; k++) changes[k] = NOTHING; // or drivers warn of what no loop reads
  for (int k = 0; k < BLOCK_QUADS; k++) {
    int quad = FIRST_QUAD + k;
    d = NOTHING;
    for (int c = 0; c < QUAD_ROWS; c += DIMENSION) {
      int first = QUAD_ROWS * quad + c;
      ivec2 at = origin + ivec2(first, FIRST_QUAD);
      REAL W[BLOCK], w[DIMENSION], old[DIMENSION], r[DIMENSION];
      read_block(W, at + ivec2(0, k), c);
      for (int e = 0; e < DIMENSION; e++) {
        QUAD state = QUAD_AT(0, ivec2(first + e, i.y)), sums = NOTHING;
        for (int j = 0; j < k; j++) sums = add_products(sums, entry_at(at + ivec2(e, j)), changes[j]);
        sums = add_products(sums, entry_at(at + ivec2(e, k)), d);
        w[e] = add(pick(state, 0), total_of(sums));
        old[e] = pick(state, 1);
      }
      r = old;
      solve_contact(r, W, w, friction_of(quad, c, i.y));
      for (int e = 0; e < DIMENSION; e++) {
        z = put(z, c + e, r[e]);
        d = put(d, c + e, subtract(r[e], old[e]));
      }
    }
    changes[k] = d;
    if (k == own) {
      WRITE(z);
#ifndef PAIR
      change = d;
#endif
    }
  }
}
