// Common to all matrix formats: the rectangle that contains the fragment, and y = A x or r = b - A x, or with SMOOTH
//   out = x' + alpha w (b - A x') + gamma (x' - before),  x' = scale x
// Reads x (input0), b (input1) with RESIDUAL, w (input2) with SMOOTH, before (input3) with BEFORE. Reads the diagonal,
// in the layout of the result, and the sums of split rows with SPILL.
#ifdef PAIR
#include "include/pair.glsl"
#elif defined(PRECISE)
#include "include/exact.glsl"
#endif
#include "include/pass.glsl"
#ifdef SPILL
#define SUMS
#endif
#include "include/row_sum.glsl"

uniform sampler2D diagonal, sums;

#define X_ORIGIN_PACKED uint(p[7].x)
#define SCALE intBitsToFloat(p[7].y)
#define ALPHA intBitsToFloat(p[7].z)
#define GAMMA intBitsToFloat(p[7].w)

flat in ivec2 loop; // length; 1 for a spill + 2 for no equations
flat in ivec2 base; // of the rectangle's entries
#ifdef PAIR
#include "include/spmv_pair.glsl"
#define WRITE_ZERO result = result_low = vec4(0)
#else
out vec4 result;
#define WRITE_ZERO result = vec4(0)
#endif

#define LENGTH loop.x
#define HAS_SPILL ((loop.y & 1) != 0)
#define IS_ZERO ((loop.y & 2) != 0)

// The position of texel i in its rectangle.
ivec2 inside(ivec2 i) { return i & ivec2((1 << LOG2_WIDTH) - 1, (1 << LOG2_HEIGHT) - 1); }

ivec2 unpack(uint pointer) { return ivec2(int(pointer & 0xffffu), int(pointer >> 16)); }

// x_j from its pointer. x and y have 16 bits each, so one addition moves both to the vector's region.
#ifdef LOW0
#define X_VALUE Pair
#define FETCH_X(i) FETCH_PAIR0(i)
Pair fetch_x(uint pointer) {
  ivec2 at = unpack(pointer + X_ORIGIN_PACKED);
  return Pair(fetch_texel(input0, at) PICK, fetch_texel(low0, at + LOW0_ORIGIN - INPUT0_ORIGIN) PICK);
}
#else
#define X_VALUE VALUE
#define FETCH_X(i) FETCH0(i)
VALUE fetch_x(uint pointer) { return fetch_texel(input0, unpack(pointer + X_ORIGIN_PACKED)) PICK; }
#endif

void add_diagonal(inout VALUE sum, ivec2 i) {
#ifdef DIAGONAL
  add_product(sum, fetch_texel(diagonal, i).r, FETCH_X(i));
#endif
}

void finish(ivec2 i, VALUE sum) {
#ifdef PAIR
  finish_pair(i, sum);
  return;
#elif defined(PRECISE)
  ROUNDED(VALUE rest, FETCH1(i) - sum);
  sum = rest - low;
#elif defined(SMOOTH)
  VALUE x = SCALE * FETCH0(i), from_before = x;
#ifdef BEFORE
  from_before -= FETCH3(i);
#endif
  sum = x + ALPHA * FETCH2(i) * (FETCH1(i) - SCALE * sum) + GAMMA * from_before;
#elif defined(RESIDUAL)
  sum = FETCH1(i) - sum;
#endif
#ifndef PAIR
  result = widen(sum);
#endif
}
