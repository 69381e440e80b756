// y = A x, the jagged format: entry k of row i lies in slab k of the row's rectangle, at the row's place in it:
//   y_i = a_ii x_i + sum over k < length of value_k x[pointer_k]
// Reads entries: value bits and pointer in one RG32UI texel.
#include "include/spmv.glsl"

uniform usampler2D entries;

void main() {
  ivec2 i = texel();
  if (IS_ZERO) {
    result = vec4(0);
    return;
  }
  ivec2 rectangle = i >> RECTANGLE_LOG2;
  int r = rectangle.y * RECTANGLES_X + rectangle.x - strip.x;
  int row = r / strip.w;
  ivec2 inside = i & ((ivec2(1) << RECTANGLE_LOG2) - 1);
  ivec2 at = base + inside +
             ivec2((r - row * strip.w) * (LENGTH + HAS_SPILL) << RECTANGLE_LOG2.x, row << RECTANGLE_LOG2.y);
  int step_x = 1 << RECTANGLE_LOG2.x;
  VALUE sum = diagonal_term(i);
  for (int k = 0; k < LENGTH; k++, at.x += step_x) {
    uvec2 entry = texelFetch(entries, at, 0).rg;
    sum += uintBitsToFloat(entry.r) * fetch_x(entry.g);
  }
#ifdef SPILL
  if (HAS_SPILL != 0) sum += fetch_sum(texelFetch(entries, at, 0).g);
#endif
  finish(i, sum);
}
