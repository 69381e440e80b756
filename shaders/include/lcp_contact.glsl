// Contacts with friction, of which a quad holds one of 3 unknowns or two of 2. The same text serves single precision, with
// REAL a float and QUAD a vec4, and pairs, with a Scalar and a Pair.
#include "include/lcp.glsl"
#include "include/lcp_law.glsl"

#define CONTACTS_OF_QUAD (QUAD_ROWS / DIMENSION)

#ifdef PAIR
#define QUAD Pair
#define QUAD_AT(k, at) pair_at(input##k, low##k, at)
#define Q_AT(i) pick(as_pair(FETCH_PAIR(0, i)), 0)
#define WRITE(v) result = (v).high, result_low = (v).low

QUAD add_products(QUAD sums, QUAD a, QUAD b) { return add_loosely(sums, multiply(a, b)); }
REAL total_of(QUAD sums) { return total(normalise(sums)); }
#else
#define QUAD vec4
#define QUAD_AT(k, at) fetch_texel(input##k, at)
#define Q_AT(i) FETCH(0, i)
#define WRITE(v) result = (v)

const QUAD NOTHING = vec4(0);
QUAD entry_at(ivec2 at) { return fetch_texel(entries, at); }
QUAD least_at(ivec2 quad) { return fetch_texel(lower_bounds, quad); }
REAL pick(QUAD v, int channel) { return v[channel]; }
QUAD put(QUAD v, int channel, REAL x) {
  v[channel] = x;
  return v;
}
QUAD add_products(QUAD sums, QUAD a, QUAD b) { return sums + a * b; }
REAL total_of(QUAD sums) { return (sums.x + sums.y) + (sums.z + sums.w); }
#endif

#if DIMENSION > 1
REAL friction_of(int quad, int channel, int problem) { return pick(least_at(ivec2(quad, problem)), channel); }

// The contact's block of M, whose columns begin at a channel of a quad; `at` is the texel of its first row there.
void read_block(out REAL W[BLOCK], ivec2 at, int channel) {
  for (int k = 0; k < DIMENSION; k++) {
    QUAD row = entry_at(at + ivec2(k, 0));
    for (int l = 0; l < DIMENSION; l++) W[k * DIMENSION + l] = pick(row, channel + l);
  }
}

// The contact's reaction from the velocity w with its own reaction r, which is taken off.
void solve_contact(inout REAL r[DIMENSION], REAL W[BLOCK], REAL w[DIMENSION], REAL mu) {
  for (int k = 0; k < DIMENSION; k++)
    for (int l = 0; l < DIMENSION; l++) w[k] = subtract_product(w[k], W[k * DIMENSION + l], r[l]);
  lcp_contact(r, W, w, mu);
}
#endif
