// Complementarity problems in pairs. A Pair holds the four numbers of a quad, a Scalar one of them. A Pair with four
// equal numbers would cost four times as much, because drivers do not detect it. Each texture has a second one with the
// second parts.
#undef NUMBER
#undef PAIR_OF_NUMBERS
#define NUMBER float
#define PAIR_OF_NUMBERS Scalar
#include "include/exact_functions.glsl"
#include "include/pair_functions.glsl"
#undef NUMBER
#define NUMBER VALUE

#define QUAD Pair
// An input without a second part contains plain numbers. The same applies to the textures of a problem in single
// precision; for such a problem only an exact residual is computed in pairs.
#ifdef LOW0
#define QUAD_AT0(at) pair_at(input0, low0, (at) + INPUT0_ORIGIN)
#else
#define QUAD_AT0(at) as_pair(fetch_texel(input0, (at) + INPUT0_ORIGIN))
#endif
#ifdef LOW1
#define QUAD_AT1(at) pair_at(input1, low1, (at) + INPUT1_ORIGIN)
#else
#define QUAD_AT1(at) as_pair(fetch_texel(input1, (at) + INPUT1_ORIGIN))
#endif
#ifdef LOW2
#define QUAD_AT2(at) pair_at(input2, low2, (at) + INPUT2_ORIGIN)
#else
#define QUAD_AT2(at) as_pair(fetch_texel(input2, (at) + INPUT2_ORIGIN))
#endif
#ifdef SINGLE_ENTRIES
#define OWN_AT(name, low_name, at) as_pair(fetch_texel(name, at))
#else
uniform sampler2D low_entries, low_lower_bounds, low_upper_bounds;
#define OWN_AT(name, low_name, at) pair_at(name, low_name, at)
#endif
#define Q_AT(at) pick(as_pair(FETCH_PAIR0(at)), 0)

const Pair NOTHING = Pair(vec4(0), vec4(0));

Pair as_pair(vec4 v) { return Pair(v, vec4(0)); }
Pair as_pair(Pair v) { return v; }

Pair pair_at(sampler2D high, sampler2D low, ivec2 at) { return Pair(fetch_texel(high, at), fetch_texel(low, at)); }
Pair entry_at(ivec2 at) { return OWN_AT(entries, low_entries, at); }
Pair least_at(ivec2 quad) { return OWN_AT(lower_bounds, low_lower_bounds, quad); }
Pair most_at(ivec2 quad) { return OWN_AT(upper_bounds, low_upper_bounds, quad); }

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
