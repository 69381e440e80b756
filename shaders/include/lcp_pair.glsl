// Complementarity problems in pairs: a Pair has the four numbers of a quad, a Scalar one of them. Four times the same in a Pair
// would cost four times as much, of which drivers notice nothing. Textures have second ones with the second parts.
#undef NUMBER
#undef PAIR_OF_NUMBERS
#define NUMBER float
#define PAIR_OF_NUMBERS Scalar
#include "include/exact_functions.glsl"
#include "include/pair_functions.glsl"
#undef NUMBER
#define NUMBER VALUE

uniform sampler2D low_entries, low_lower_bounds, low_upper_bounds;

const Pair NOTHING = Pair(vec4(0), vec4(0));

Pair as_pair(vec4 v) { return Pair(v, vec4(0)); }
Pair as_pair(Pair v) { return v; }

Pair pair_at(sampler2D high, sampler2D low, ivec2 at) { return Pair(fetch_texel(high, at), fetch_texel(low, at)); }
Pair entry_at(ivec2 at) { return pair_at(entries, low_entries, at); }
Pair least_at(ivec2 quad) { return pair_at(lower_bounds, low_lower_bounds, quad); }
Pair most_at(ivec2 quad) { return pair_at(upper_bounds, low_upper_bounds, quad); }

Scalar pick(Pair v, int channel) { return Scalar(v.high[channel], v.low[channel]); }
Pair put(Pair v, int channel, Scalar x) {
  v.high[channel] = x.high;
  v.low[channel] = x.low;
  return v;
}

// The sum of the four.
Scalar total(Pair v) { return add(add(pick(v, 0), pick(v, 1)), add(pick(v, 2), pick(v, 3))); }

Scalar row_product(sampler2D quads, sampler2D low_quads, int row, int problem) {
  ivec2 at = matrix_of(problem) + ivec2(row, 0);
  Pair sums = NOTHING;
  for (int k = 0; k < QUAD_COUNT; k++)
    sums = add_loosely(sums, multiply(entry_at(at + ivec2(0, k)), pair_at(quads, low_quads, ivec2(k, problem))));
  return total(normalise(sums));
}

bool is_less(Scalar a, Scalar b) { return a.high < b.high || (a.high == b.high && a.low < b.low); }

Scalar project(Scalar z, Scalar least, Scalar most) {
  if (is_less(z, least)) return least;
  if (is_less(most, z)) return most;
  return z;
}

Scalar solve_unknown(Scalar z, Scalar w, Scalar diagonal, Scalar least, Scalar most) {
  return project(subtract(z, divide(w, diagonal)), least, most);
}
