// One level of a reduction of pairs. Like reduce.frag for numbers, with the same terms, blocks and defines. Every
// partial sum is a pair.
#if defined(GATHER) && COMPONENTS == 1 && !defined(MAXIMUM)
#extension GL_ARB_texture_gather : enable
#define BY_GATHER
#define NUMBER vec4 // the texels of a quad
#endif
#include "include/pair.glsl"
#include "include/tiling.glsl"

#define SOURCE_SIZE p[6].zw
#ifndef BLOCK
#define BLOCK p[7].xy
#define FLAGS p[7].z
#endif
#define IS_SINGLE ((FLAGS & 1) != 0) // the first texel of the target receives the result, the others 0
#define IS_ROOT ((FLAGS & 2) != 0)   // take the square root of the result
#define LOWEST -3.402823466e38

layout(location = 0) out vec4 result;
layout(location = 1) out vec4 result_low;

#ifdef MAXIMUM
#include "include/larger.glsl"
// Compares the high parts, and the low parts if the high parts are equal.
Pair add_term(Pair m, Pair x) {
  vec4 high = widen(m.high), low = widen(m.low), x_high = widen(x.high), x_low = widen(x.low);
  for (int c = 0; c < 4; c++) {
    float most = larger(high[c], x_high[c]);
    if (order(high[c]) == order(x_high[c]))
      low[c] = max(low[c], x_low[c]);
    else if (order(most) == order(x_high[c]))
      low[c] = x_low[c];
    high[c] = most;
  }
  return Pair(high PICK, low PICK);
}
#define add_batch add_term
// The sign of a pair is the sign of its high part.
Pair magnitude(Pair x) {
  vec4 high = widen(x.high), low = widen(x.low);
  for (int c = 0; c < 4; c++) {
    if ((floatBitsToUint(high[c]) & 0x80000000u) != 0u) low[c] = -low[c];
    high[c] = magnitude(high[c]);
  }
  return Pair(high PICK, low PICK);
}
#else
Pair add_term(Pair s, Pair x) { return add_loosely(s, x); }
Pair add_batch(Pair s, Pair x) { return add(s, x); }
#endif
#if defined(MAXIMUM) && !defined(TERM_ABS)
#define IDENTITY Pair(NUMBER(LOWEST), NUMBER(0))
#else
#define IDENTITY Pair(NUMBER(0), NUMBER(0))
#endif

Pair square(Pair x) { return multiply(x, x); }

#ifdef TERM_MASKED
#ifdef CHANNELS
#include "include/channels.glsl"
Pair masked(Pair x, ivec2 i) {
  uint bits = INDEX_CHANNELS(i);
  return Pair(choose_channels(bits, widen(x.high), LOWEST) PICK, choose_channels(bits, widen(x.low), 0.0) PICK);
}
#else
Pair masked(Pair x, ivec2 i) {
  if (is_index(i)) return x;
  return IDENTITY;
}
#endif
#endif

#if defined(TERM_DOT)
#define TERM(i) multiply(READ0(i), READ1(i))
#elif defined(TERM_DOT3)
#define TERM(i) multiply(multiply(READ0(i), READ1(i)), READ2(i))
#elif defined(TERM_SQUARE)
#define TERM(i) square(READ0(i))
#elif defined(TERM_SQUARE2)
#define TERM(i) multiply(square(READ0(i)), READ1(i))
#elif defined(TERM_ABS)
#define TERM(i) magnitude(READ0(i))
#elif defined(TERM_MASKED)
#define TERM(i) masked(READ0(i), i)
#else
#define TERM(i) READ0(i)
#endif

#ifdef BY_GATHER
#define GATHER_QUAD(values, origin, q) textureGather(values, vec2(origin + 2 * (q) + 1) / vec2(textureSize(values, 0)))
#define READ0(q) Pair(GATHER_QUAD(input0, INPUT0_ORIGIN, q), GATHER_QUAD(low0, LOW0_ORIGIN, q))
#ifdef LOW1
#define READ1(q) Pair(GATHER_QUAD(input1, INPUT1_ORIGIN, q), GATHER_QUAD(low1, LOW1_ORIGIN, q))
#else
#define READ1(q) GATHER_QUAD(input1, INPUT1_ORIGIN, q)
#endif
#ifdef LOW2
#define READ2(q) Pair(GATHER_QUAD(input2, INPUT2_ORIGIN, q), GATHER_QUAD(low2, LOW2_ORIGIN, q))
#else
#define READ2(q) GATHER_QUAD(input2, INPUT2_ORIGIN, q)
#endif

Pair quad(ivec2 q) {
  Pair terms = TERM(q);
#ifdef ODD
  ivec2 beyond = 2 * q + 2 - SOURCE_SIZE;
  if (beyond.x > 0) terms.high.yz = terms.low.yz = vec2(0);
  if (beyond.y > 0) terms.high.xy = terms.low.xy = vec2(0);
#endif
  return terms;
}

Pair add_channels(Pair s) {
  s = add(s, Pair(s.high.yxwz, s.low.yxwz));
  return add(s, Pair(s.high.zwxy, s.low.zwxy));
}
#else
#define READ0 FETCH_PAIR0
#define READ1 FETCH_PAIR1
#define READ2 FETCH_PAIR2

Pair other(ivec2 i) {
#ifdef ODD
  if (any(greaterThanEqual(i, SOURCE_SIZE))) return IDENTITY;
#endif
  return TERM(i);
}
Pair quad(ivec2 q) {
  ivec2 i = 2 * q;
  Pair row = add_term(TERM(i), other(i + ivec2(1, 0)));
  return add_term(row, add_term(other(i + ivec2(0, 1)), other(i + ivec2(1, 1))));
}

#if COMPONENTS == 4
Pair add_channels(Pair s) {
  s = add_batch(s, Pair(s.high.yxwz, s.low.yxwz));
  return add_batch(s, Pair(s.high.zwxy, s.low.zwxy));
}
#elif COMPONENTS == 2
Pair add_channels(Pair s) { return add_batch(s, Pair(s.high.yx, s.low.yx)); }
#endif
#endif

Pair quad_of_block(ivec2 at, ivec2 first, ivec2 apart) {
  ivec2 q = first + at * apart;
#ifdef EXACT
  return quad(q);
#else
  ivec2 size = (SOURCE_SIZE + 1) >> 1;
  Pair value = quad(min(q, size - 1)); // as in reduce.frag
  if (all(lessThan(q, size))) return value;
  return IDENTITY;
#endif
}

// Processes one quad after another. Batches with independent fetches are not faster, and drivers take seconds to
// compile them.
Pair reduce_block(ivec2 first, ivec2 apart) {
  Pair sum = IDENTITY;
  ivec2 at = ivec2(0);
  for (int k = 0; k < BLOCK.x * BLOCK.y; k++) {
    sum = add_batch(sum, quad_of_block(at, first, apart));
    at = at.x + 1 < BLOCK.x ? at + ivec2(1, 0) : ivec2(0, at.y + 1);
  }
  return sum;
}

// Each step of Heron's method doubles the number of correct bits. The root of 0 is 0.
Pair square_root(Pair a) {
  Pair root = Pair(sqrt(a.high), NUMBER(0));
  for (int k = 0; k < 2; k++) {
    Pair rest = subtract(a, multiply(root, root));
    root = add(root, Pair(rest.high / (2.0 * root.high + 1e-37), NUMBER(0)));
  }
  return root;
}

void main() {
  ivec2 first = texel();
  result = result_low = vec4(0);
  if (IS_SINGLE && first != ivec2(0)) return;
  Pair sum = reduce_block(first, IS_SINGLE ? ivec2(1) : TARGET_SIZE);
#if defined(BY_GATHER) || (defined(CHANNELS) && defined(LAST))
  sum = add_channels(sum);
#endif
#ifndef MAXIMUM
  sum = normalise(sum);
  if (IS_ROOT) sum = square_root(sum);
#endif
#if defined(BY_GATHER) || (defined(CHANNELS) && defined(LAST))
  result.r = sum.high.x;
  result_low.r = sum.low.x;
#else
  result = widen(sum.high);
  result_low = widen(sum.low);
#endif
}
