// One level of a reduction: the fragment adds up, or takes the maximum of, a block of texels of the source
// (Bolz et al. 2003, 3.1.3, with larger blocks). The rows of a block are added up first, then the rows' sums.
//
// The first level forms the terms: x y (TERM_DOT), x y w (TERM_DOT3), x (TERM_SUM), |x| (TERM_ABS), x at indices only
// (TERM_MASKED). Later levels read the sums of the level before (TERM_PARTIAL). p[6].zw is the size of the source.
// EXACT: the blocks tile the source.
#include "include/pass.glsl"
#include "include/tiling.glsl"

#define SOURCE_SIZE p[6].zw
#define LOWEST -3.402823466e38

out vec4 result;

VALUE term(ivec2 i) {
#if defined(TERM_DOT)
  return FETCH(0, i) * FETCH(1, i);
#elif defined(TERM_DOT3)
  return FETCH(0, i) * FETCH(1, i) * FETCH(2, i);
#elif defined(TERM_ABS)
  return abs(FETCH(0, i));
#elif defined(TERM_MASKED)
  return is_index(i) ? FETCH(0, i) : VALUE(LOWEST);
#else
  return FETCH(0, i);
#endif
}

#ifdef MAXIMUM
// A NaN wins, so that it is not lost.
float larger(float m, float x) { return x > m || isnan(x) ? x : m; }
vec2 larger(vec2 m, vec2 x) { return vec2(larger(m.x, x.x), larger(m.y, x.y)); }
vec3 larger(vec3 m, vec3 x) { return vec3(larger(m.xy, x.xy), larger(m.z, x.z)); }
vec4 larger(vec4 m, vec4 x) { return vec4(larger(m.xy, x.xy), larger(m.zw, x.zw)); }
#define IDENTITY VALUE(LOWEST)
#define COMBINE(m, x) larger(m, x)
#else
#define IDENTITY VALUE(0)
#define COMBINE(s, x) ((s) + (x))
#endif

void main() {
  ivec2 first = texel() * BLOCK;
  VALUE sum = IDENTITY;
  for (int y = 0; y < BLOCK.y; y++) {
    VALUE row = IDENTITY;
    for (int x = 0; x < BLOCK.x; x++) {
      ivec2 i = first + ivec2(x, y);
#ifndef EXACT
      if (any(greaterThanEqual(i, SOURCE_SIZE))) continue;
#endif
      VALUE t = term(i);
      row = COMBINE(row, t);
    }
    sum = COMBINE(sum, row);
  }
#ifdef SQUARE_ROOT
  sum = sqrt(sum);
#endif
  result = widen(sum);
}
