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

#define QUAD Pair
#define QUAD_AT(k, at) pair_at(input##k, low##k, (at) + INPUT##k##_ORIGIN)
#define Q_AT(at) pick(as_pair(FETCH_PAIR(0, at)), 0)

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

Pair add_products(Pair sums, Pair a, Pair b) { return add_loosely(sums, multiply(a, b)); }
Scalar total_of(Pair sums) {
  sums = normalise(sums);
  return add(add(pick(sums, 0), pick(sums, 1)), add(pick(sums, 2), pick(sums, 3)));
}

bool is_less(Scalar a, Scalar b) { return a.high < b.high || (a.high == b.high && a.low < b.low); }
