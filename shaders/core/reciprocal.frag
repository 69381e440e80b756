// out_i = 1 / x_i, or 0 if x_i is 0. Reads x (input0).
#ifdef PAIR
#include "include/pair_pass.glsl"

Pair as_pair(Pair x) { return x; }
Pair as_pair(VALUE x) { return Pair(x, VALUE(0)); }

void main() {
  ivec2 i = texel();
  Pair x = as_pair(FETCH_PAIR0(i));
  bvec4 zero = equal(widen(x.high), vec4(0));
  x.high = mix(widen(x.high), vec4(1), zero) PICK;
  Pair inverse = divide(Pair(VALUE(1), VALUE(0)), x);
  result = mix(widen(inverse.high), vec4(0), zero);
  result_low = mix(widen(inverse.low), vec4(0), zero);
}
#else
#include "include/pass.glsl"

out vec4 result;

void main() {
  vec4 x = widen(FETCH0(texel()));
  bvec4 zero = equal(x, vec4(0));
  result = mix(1.0 / mix(x, vec4(1), zero), vec4(0), zero);
}
#endif
