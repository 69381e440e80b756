// What both formats of a matrix share: the rectangle that the fragment is in, and y = A x or r = b - A x.
// Reads x (input0) and, with RESIDUAL, b (input1); the diagonal, in the layout of the result; with SPILL the sums of
// split rows.
#ifdef PRECISE
#include "include/exact.glsl"
#endif
#include "include/pass.glsl"
#include "include/row_sum.glsl"

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
VALUE fetch_x(uint pointer) { return fetch_texel(input0, unpack(pointer + X_ORIGIN_PACKED)) PICK; }

VALUE fetch_sum(uint pointer) { return fetch_texel(sums, unpack(pointer)) PICK; }

void add_diagonal(inout VALUE sum, ivec2 i) {
#ifdef DIAGONAL
  add_product(sum, fetch_texel(diagonal, i).r, FETCH(0, i));
#endif
}

void finish(ivec2 i, VALUE sum) {
#ifdef PRECISE
  ROUNDED(VALUE rest, FETCH(1, i) - sum);
  sum = rest - low;
#elif defined(RESIDUAL)
  sum = FETCH(1, i) - sum;
#endif
  result = widen(sum);
}
