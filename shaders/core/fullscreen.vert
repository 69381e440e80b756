// One triangle over the viewport. The coefficients of the pass are evaluated here, once. They are constants, or with
// SLOTS
//   coefficient = scale * numerator / denominator, 0 if the denominator is below FLT_MIN; an absent slot counts as 1.
// p[3] and p[4] hold one coefficient each: bits of the scale, and the texels of the slots as x | y << 16, or -1. Bit 0
// of w marks a numerator, bit 1 a denominator that is a block of 16 x 8 partial sums. The other bits of p[3].w are the
// number of slots. With PAIR, scales, slots and coefficients are pairs. The second parts of slots have the positions of
// the first ones.
#ifdef GATHER
#extension GL_ARB_texture_gather : enable
#endif
#ifdef PAIR
#define VERTEX
#define NUMBER vec4
#include "include/pair.glsl"
#endif
#include "include/parameters.glsl"

// When a component has converged, its numbers fall below the smallest normal float and lose some or all digits.
#define SMALLEST_NORMAL 1.1754944e-38

#ifdef ONE_TEXTURE
uniform sampler2D slot0;
#else
uniform sampler2D slot0, slot1, slot2, slot3;
#endif

flat out vec4 a, b;
#ifdef PAIR
flat out vec4 a_low, b_low;
#endif

#ifndef SLOTS
void evaluate() {
  a = vec4(intBitsToFloat(p[3].x));
  b = vec4(intBitsToFloat(p[4].x));
#ifdef PAIR
  a_low = vec4(intBitsToFloat(p[10].x));
  b_low = vec4(intBitsToFloat(p[10].y));
#endif
}
#elif defined(PAIR)
#ifdef ONE_TEXTURE
uniform sampler2D low_slot0;
#else
uniform sampler2D low_slot0, low_slot1, low_slot2, low_slot3;
#endif

#ifdef GATHER
// The 8 x 4 quads of a block, in batches with independent fetches. `count` is 32, but the compilers of software
// rasterizers must not know that.
#ifdef PLAIN_LOOP
#define BATCH 2
#else
#define BATCH 4 // with larger batches, drivers take seconds to compile this
#endif
Pair sum_of_block(sampler2D slots, sampler2D low_slots, ivec2 first, int count, bool has_low) {
  vec2 scale = 1.0 / vec2(textureSize(slots, 0)), low_scale = 1.0 / vec2(textureSize(low_slots, 0));
  Pair sums[2];
  sums[0] = sums[1] = Pair(vec4(0), vec4(0));
#ifndef PLAIN_LOOP
  count = 32;
#endif
  for (int k = 0; k < count; k += BATCH) {
    vec4 high[BATCH], low[BATCH];
    for (int n = 0; n < BATCH; n++) {
      vec2 at = vec2(first + 2 * ivec2((k + n) & 7, (k + n) >> 3) + 1);
      high[n] = textureGather(slots, at * scale);
      low[n] = textureGather(low_slots, at * low_scale);
    }
    for (int n = 0; n < BATCH; n++)
      sums[n & 1] = add_loosely(sums[n & 1], Pair(high[n], has_low ? low[n] : vec4(0)));
  }
  Pair sum = add(sums[0], sums[1]);
  sum = add(sum, Pair(sum.high.yxwz, sum.low.yxwz));
  sum = add(sum, Pair(sum.high.zwxy, sum.low.zwxy));
  return Pair(vec4(sum.high.x, 0, 0, 0), vec4(sum.low.x, 0, 0, 0));
}
#endif

// Slot k of the pass.
Pair slot(sampler2D slots, sampler2D low_slots, int k) {
  ivec4 c = k < 2 ? p[3] : p[4];
  int packed_texel = (k & 1) == 0 ? c.y : c.z;
  if (packed_texel == -1) return Pair(vec4(1), vec4(0));
  ivec2 at = ivec2(packed_texel & 0xffff, int(uint(packed_texel) >> 16));
  bool has_low = (p[10].z >> k & 1) != 0;
#ifdef GATHER
  int count = c.w << (5 - (k & 1)) & 32;
  if (count != 0) return sum_of_block(slots, low_slots, at, count, has_low);
#endif
  vec4 low = texelFetch(low_slots, at, 0);
  return Pair(texelFetch(slots, at, 0), has_low ? low : vec4(0));
}

Pair values[4];

void read_slots() {
#ifdef ONE_TEXTURE
  for (int k = 0; k < p[3].w >> 2; k++) {
    Pair v = slot(slot0, low_slot0, k);
    if (k == 0) values[0] = v;
    if (k == 1) values[1] = v;
    if (k == 2) values[2] = v;
    if (k == 3) values[3] = v;
  }
#else
  values[0] = slot(slot0, low_slot0, 0);
  values[1] = slot(slot1, low_slot1, 1);
  values[2] = slot(slot2, low_slot2, 2);
  values[3] = slot(slot3, low_slot3, 3);
#endif
}

Pair coefficient(int scale, int low_scale, Pair numerator, Pair denominator) {
  bvec4 zero = lessThan(abs(denominator.high), vec4(SMALLEST_NORMAL));
  denominator.high = mix(denominator.high, vec4(1), zero);
  Pair value = divide(numerator, denominator);
  value = normalise(multiply(Pair(vec4(intBitsToFloat(scale)), vec4(intBitsToFloat(low_scale))), value));
  return Pair(mix(value.high, vec4(0), zero), mix(value.low, vec4(0), zero));
}

void evaluate() {
  read_slots();
  Pair first = coefficient(p[3].x, p[10].x, values[0], values[1]),
       second = coefficient(p[4].x, p[10].y, values[2], values[3]);
  a = first.high;
  b = second.high;
  a_low = first.low;
  b_low = second.low;
}
#else
#ifdef GATHER
// Eight by four texels: half of a row of quads.
vec4 sum_of_quads(sampler2D slots, ivec2 at, vec2 scale) {
  vec4 quads[4];
  for (int x = 0; x < 4; x++) quads[x] = textureGather(slots, vec2(at + 2 * ivec2(x, 0) + 1) * scale);
  return (quads[0] + quads[1]) + (quads[2] + quads[3]);
}

// The sum of 8 x 4 quads in pairs. Software rasterizers compile 32 gathers slowly. For them this is a loop, with a
// count (8) that compilers do not know.
float sum_of_block(sampler2D slots, ivec2 first, int count) {
  vec2 scale = 1.0 / vec2(textureSize(slots, 0));
#ifdef PLAIN_LOOP
  vec4 row, two_rows, sum;
  for (int k = 0; k < count; k++) {
    vec4 half_row = sum_of_quads(slots, first + ivec2(8 * (k & 1), k & 6), scale);
    row = (k & 1) == 0 ? half_row : row + half_row;
    if ((k & 1) == 1) two_rows = (k & 2) == 0 ? row : two_rows + row;
    if ((k & 3) == 3) sum = (k & 4) == 0 ? two_rows : sum + two_rows;
  }
#else
  vec4 rows[4];
  for (int y = 0; y < 4; y++)
    rows[y] = sum_of_quads(slots, first + ivec2(0, 2 * y), scale) + sum_of_quads(slots, first + ivec2(8, 2 * y), scale);
  vec4 sum = (rows[0] + rows[1]) + (rows[2] + rows[3]);
#endif
  return (sum.x + sum.y) + (sum.z + sum.w);
}
#endif

// `is_block`: 8 or 0.
vec4 slot(sampler2D slots, int packed_texel, int is_block) {
  if (packed_texel == -1) return vec4(1);
  ivec2 at = ivec2(packed_texel & 0xffff, int(uint(packed_texel) >> 16));
#ifdef GATHER
  if (is_block != 0) return vec4(sum_of_block(slots, at, is_block), 0, 0, 0);
#endif
  return texelFetch(slots, at, 0);
}

// The values of the slots: numerator and denominator of a, then of b.
vec4 values[4];

#ifdef ONE_TEXTURE
// All slots are in this texture. Software rasterizers compile slot reads slowly. For them there is one read in a loop,
// with a count that they do not know.
void read_slots() {
  for (int k = 0; k < p[3].w >> 2; k++) {
    ivec4 c = k < 2 ? p[3] : p[4];
    vec4 v = slot(slot0, (k & 1) == 0 ? c.y : c.z, (c.w << (3 - (k & 1))) & 8);
    if (k == 0) values[0] = v;
    if (k == 1) values[1] = v;
    if (k == 2) values[2] = v;
    if (k == 3) values[3] = v;
  }
}
#else
void read_slots() {
  values[0] = slot(slot0, p[3].y, p[3].w << 3 & 8);
  values[1] = slot(slot1, p[3].z, p[3].w << 2 & 8);
  values[2] = slot(slot2, p[4].y, p[4].w << 3 & 8);
  values[3] = slot(slot3, p[4].z, p[4].w << 2 & 8);
}
#endif

vec4 coefficient(ivec4 c, vec4 numerator, vec4 denominator) {
  bvec4 zero = lessThan(abs(denominator), vec4(SMALLEST_NORMAL));
  return intBitsToFloat(c.x) * mix(numerator / mix(denominator, vec4(1), zero), vec4(0), zero);
}

#ifdef ONE_REDUCTION
// a = alpha = delta / dq and b = beta = alpha qmq / dq - 1 from the slots delta, dq, qmq. The difference leaves an
// error of about 1e-7 in beta. This matters if the residual falls by orders of magnitude in one step, because the
// remaining residual is then no larger than the error times d. In that case beta is 0 and the directions restart, as
// they do if beta is negative or undefined.
#define SMALLEST_BETA 1e-5
void evaluate() {
  read_slots();
  vec4 delta = values[0], dq = values[1], qmq = values[2];
  a = coefficient(p[3], delta, dq);
  vec4 beta = a * coefficient(p[4], qmq, dq) - 1.0;
  b = mix(vec4(0), beta, greaterThan(beta, vec4(SMALLEST_BETA)));
}
#else
void evaluate() {
  read_slots();
  a = coefficient(p[3], values[0], values[1]);
  b = coefficient(p[4], values[2], values[3]);
}
#endif
#endif

void main() {
  evaluate();
#ifdef CHANNELS
  // A single component is copied to every channel of a texel.
  a = a.xxxx;
  b = b.xxxx;
#ifdef PAIR
  a_low = a_low.xxxx;
  b_low = b_low.xxxx;
#endif
#endif
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
