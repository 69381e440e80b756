// What both formats of a matrix share: the rectangle that the fragment is in, and y = A x or r = b - A x.
// Reads x (input0) and, with RESIDUAL, b (input1); the diagonal, in the layout of the result; with SPILL the sums of
// split rows.
#ifdef PRECISE
#extension GL_ARB_gpu_shader5 : enable
#endif
#include "include/pass.glsl"

uniform sampler2D diagonal, sums;

#define X_ORIGIN_PACKED uint(p[7].x)

flat in ivec2 loop; // length; 1 for a spill + 2 for no equations
flat in ivec2 base; // of the rectangle's entries
out vec4 result;

#define LENGTH loop.x
#define HAS_SPILL ((loop.y & 1) != 0)
#define IS_ZERO ((loop.y & 2) != 0)

// The place of texel i in its rectangle.
ivec2 inside(ivec2 i) { return i & ivec2((1 << LOG2_WIDTH) - 1, (1 << LOG2_HEIGHT) - 1); }

ivec2 unpack(uint pointer) { return ivec2(int(pointer & 0xffffu), int(pointer >> 16)); }

// x_j from its pointer: x and y lie in 16 bits each, so one addition moves both to the vector's region.
VALUE fetch_x(uint pointer) { return texelFetch(input0, unpack(pointer + X_ORIGIN_PACKED), 0) PICK; }

VALUE fetch_sum(uint pointer) { return texelFetch(sums, unpack(pointer), 0) PICK; }

// The sum of a row. With PRECISE, which goes with RESIDUAL, products and sums keep their rounding errors in a second
// number (Dekker 1971, Knuth's two-sum): b - A x is the difference of nearly equal numbers when x is good, and a solver
// that begins again from it gets x right to the last bit or two.
#ifdef PRECISE
VALUE low = VALUE(0);

void add_product(inout VALUE high, float factor, VALUE x) {
  precise VALUE product = factor * x;
  precise float f = 4097.0 * factor;
  precise float f_high = f - (f - factor);
  precise float f_low = factor - f_high;
  precise VALUE v = 4097.0 * x;
  precise VALUE x_high = v - (v - x);
  precise VALUE x_low = x - x_high;
  precise VALUE product_low = ((f_high * x_high - product) + f_high * x_low + f_low * x_high) + f_low * x_low;
  precise VALUE sum = high + product;
  precise VALUE part = sum - high;
  precise VALUE sum_low = (high - (sum - part)) + (product - part);
  high = sum;
  low += sum_low + product_low;
}
#else
void add_product(inout VALUE sum, float factor, VALUE x) { sum += factor * x; }
#endif

void add_diagonal(inout VALUE sum, ivec2 i) {
#ifdef DIAGONAL
  add_product(sum, texelFetch(diagonal, i, 0).r, FETCH(0, i));
#endif
}

void finish(ivec2 i, VALUE sum) {
#ifdef PRECISE
  precise VALUE rest = (FETCH(1, i) - sum) - low;
  sum = rest;
#elif defined(RESIDUAL)
  sum = FETCH(1, i) - sum;
#endif
  result = widen(sum);
}
