// One level of a reduction. A fragment adds up, or takes the maximum of, BLOCK.x x BLOCK.y quads of 2 x 2 texels of the
// source (the pyramid of Bolz et al. 2003, 3.1.3, with larger steps). The distance between its quads is the size of the
// result. Neighbouring fragments then fetch neighbouring texels, which suits texture caches.
//
// The first level forms the terms: x y (TERM_DOT), x y w (TERM_DOT3), x x (TERM_SQUARE), x x y (TERM_SQUARE2), x
// (TERM_SUM), |x| (TERM_ABS), x at indices only (TERM_MASKED). Later levels read the sums (TERM_SUM) or maxima
// (TERM_ABS, TERM_SUM) of the previous level.
//
// Sizes are uniforms, so that one program serves every level of every vector. The exceptions are BLOCK and FLAGS on
// hardware, where a loop of known length is a tenth faster (H200) and compilers are fast. The other defines select the
// work of the inner loop. EXACT: the blocks tile the source. ODD: its width or height is odd (as with some grids), and
// the last quads are cut. GATHER: textureGather fetches quads of one component. Maxima do not use it, because they must
// see subnormal numbers, and a gather may return 0 for them. CHANNELS: the components are channels of one, which the
// LAST level combines.
#if defined(GATHER) && COMPONENTS == 1 && !defined(TERM_MASKED) && !defined(MAXIMUM)
#extension GL_ARB_texture_gather : enable
#define BY_GATHER
#endif
#include "include/pass.glsl"
#include "include/tiling.glsl"

#define SOURCE_SIZE p[6].zw
#ifndef BLOCK
#define BLOCK p[7].xy
#define FLAGS p[7].z
#endif
#define IS_SINGLE ((FLAGS & 1) != 0) // the first texel of the target receives the result, the others 0
#define IS_ROOT ((FLAGS & 2) != 0)   // take the square root of the result
#define LOWEST -3.402823466e38

out vec4 result;

float square(float v) { return v * v; }
vec2 square(vec2 v) { return v * v; }
vec3 square(vec3 v) { return v * v; }
vec4 square(vec4 v) { return v * v; }

#ifdef MAXIMUM
#include "include/larger.glsl"
vec2 larger(vec2 m, vec2 x) { return vec2(larger(m.x, x.x), larger(m.y, x.y)); }
vec3 larger(vec3 m, vec3 x) { return vec3(larger(m.xy, x.xy), larger(m.z, x.z)); }
vec4 larger(vec4 m, vec4 x) { return vec4(larger(m.xy, x.xy), larger(m.zw, x.zw)); }
vec2 magnitude(vec2 x) { return uintBitsToFloat(floatBitsToUint(x) & 0x7fffffffu); }
vec3 magnitude(vec3 x) { return uintBitsToFloat(floatBitsToUint(x) & 0x7fffffffu); }
vec4 magnitude(vec4 x) { return uintBitsToFloat(floatBitsToUint(x) & 0x7fffffffu); }
#ifdef TERM_ABS
#define IDENTITY 0
#else
#define IDENTITY LOWEST
#endif
#define COMBINE(m, x) larger(m, x)
#else
#define IDENTITY 0
#define COMBINE(s, x) ((s) + (x))
#endif

#if defined(TERM_DOT)
#define TERM(i) (READ0(i) * READ1(i))
#elif defined(TERM_DOT3)
#define TERM(i) (READ0(i) * READ1(i) * READ2(i))
#elif defined(TERM_SQUARE)
#define TERM(i) square(READ0(i))
#elif defined(TERM_SQUARE2)
#define TERM(i) (square(READ0(i)) * READ1(i))
#elif defined(TERM_ABS)
#define TERM(i) magnitude(READ0(i))
#elif defined(TERM_MASKED) && defined(CHANNELS)
#include "include/channels.glsl"
#define TERM(i) (choose_channels(INDEX_CHANNELS(i), widen(READ0(i)), LOWEST) PICK)
#elif defined(TERM_MASKED)
#define TERM(i) (is_index(i) ? READ0(i) : VALUE(LOWEST))
#else
#define TERM(i) READ0(i)
#endif

#ifdef BY_GATHER
// Four sums, one per texel of a quad.
#define SUM vec4
#define GATHER_QUAD(values, origin, q) textureGather(values, vec2(origin + 2 * (q) + 1) / vec2(textureSize(values, 0)))
#define READ0(q) GATHER_QUAD(input0, INPUT0_ORIGIN, q)
#define READ1(q) GATHER_QUAD(input1, INPUT1_ORIGIN, q)
#define READ2(q) GATHER_QUAD(input2, INPUT2_ORIGIN, q)
#ifdef ODD
vec4 cut(vec4 v, ivec2 beyond) {
  if (beyond.x > 0) v.yz = vec2(IDENTITY);
  if (beyond.y > 0) v.xy = vec2(IDENTITY);
  return v;
}
#define QUAD(q) cut(TERM(q), 2 * (q) + 2 - SOURCE_SIZE)
#else
#define QUAD(q) TERM(q)
#endif
#define FINAL(s) COMBINE(COMBINE(s.x, s.y), COMBINE(s.z, s.w))
#else
#define SUM VALUE
#define READ0 FETCH0
#define READ1 FETCH1
#define READ2 FETCH2
#ifdef ODD
#define OTHER(i) (all(lessThan(i, SOURCE_SIZE)) ? TERM(i) : VALUE(IDENTITY))
#else
#define OTHER(i) TERM(i)
#endif
VALUE quad(ivec2 q) {
  ivec2 i = 2 * q;
  VALUE low = COMBINE(TERM(i), OTHER(i + ivec2(1, 0)));
  VALUE high = COMBINE(OTHER(i + ivec2(0, 1)), OTHER(i + ivec2(1, 1)));
  return COMBINE(low, high);
}
#define QUAD(q) quad(q)
#define FINAL(s) (s)
#endif

// Quad `at` of the block; the distance between quads is `apart`.
SUM quad_of_block(ivec2 at, ivec2 first, ivec2 apart) {
  ivec2 q = first + at * apart;
#ifdef EXACT
  return QUAD(q);
#else
  ivec2 size = (SOURCE_SIZE + 1) >> 1;
  SUM value = QUAD(min(q, size - 1)); // always fetched, so that the fetch does not wait for the comparison
  return all(lessThan(q, size)) ? value : SUM(IDENTITY);
#endif
}

#define BATCH 4 // quads with independent fetches

// Whole batches, then the remaining quads one by one. The loop counts batches: if it counts quads, a reduction takes up
// to a twentieth longer on an H200.
#ifdef PLAIN_LOOP
SUM reduce_block(ivec2 first, ivec2 apart) {
  SUM sum = SUM(IDENTITY), batch = sum;
  int number = 0, batched = BLOCK.x * BLOCK.y / BATCH * BATCH;
  for (int y = 0; y < BLOCK.y; y++)
    for (int x = 0; x < BLOCK.x; x++, number++) {
      SUM term = quad_of_block(ivec2(x, y), first, apart);
#ifdef MAXIMUM // their order does not matter
      sum = COMBINE(sum, term);
#else
      bool alone = number >= batched;
      batch = alone || number % BATCH == 0 ? term : batch + term;
      if (alone || number % BATCH == BATCH - 1) sum += batch;
#endif
    }
  return sum;
}
#else
#define COUNT (BLOCK.x * BLOCK.y)
#define QUAD_NUMBER(k) quad_of_block(ivec2((k) % BLOCK.x, (k) / BLOCK.x), first, apart)
SUM reduce_block(ivec2 first, ivec2 apart) {
  SUM sum = SUM(IDENTITY);
  for (int k = 0; k < COUNT / BATCH; k++) {
    SUM terms[BATCH];
    for (int n = 0; n < BATCH; n++) terms[n] = QUAD_NUMBER(k * BATCH + n);
    SUM batch = terms[0];
    for (int n = 1; n < BATCH; n++) batch = COMBINE(batch, terms[n]);
    sum = COMBINE(sum, batch);
  }
  for (int k = COUNT / BATCH * BATCH; k < COUNT; k++) sum = COMBINE(sum, QUAD_NUMBER(k));
  return sum;
}
#endif

void main() {
  ivec2 first = texel();
  if (IS_SINGLE && first != ivec2(0)) {
    result = vec4(0);
    return;
  }
  SUM sum = reduce_block(first, IS_SINGLE ? ivec2(1) : TARGET_SIZE);
#if defined(CHANNELS) && defined(LAST)
  VALUE ends = FINAL(sum);
#if COMPONENTS == 4
  float total = COMBINE(COMBINE(ends.x, ends.y), COMBINE(ends.z, ends.w));
#else
  float total = COMBINE(ends.x, ends.y);
#endif
#else
  VALUE total = FINAL(sum);
#endif
  result = widen(IS_ROOT ? sqrt(total) : total);
}
