// One stage of the sums of split rows: sum t adds up entries t, t + count, t + 2 count, ... of the stage.
// p[6] = count, length, log2 of the width of entries, log2 of the width of the sums. Reads entries (value bits and
// pointer) and their factors from input0: x, or with LATER the sums of the previous stage. With LOG2_BLOCK, the values
// are blocks in the texture diagonal. With PRECISE or PAIR, the sums have the parts defined in include/row_sum.glsl.
#ifdef PAIR
#include "include/pair.glsl"
#elif defined(PRECISE)
#include "include/exact.glsl"
#endif
#include "include/pass.glsl"
#ifdef LATER
#define SUMS
#endif
#include "include/row_sum.glsl"
#ifdef LOG2_BLOCK
#include "include/bcrs.glsl"
uniform sampler2D diagonal;
#endif

uniform usampler2D entries;
layout(location = 0) out vec4 result;
#if ROW_PARTS > 1
layout(location = 1) out vec4 result_low;
#endif
#if ROW_PARTS > 2
layout(location = 2) out vec4 result_lowest;
#endif

#ifdef LOW0
#define X_VALUE Pair
#define FETCH_X(at) Pair(fetch_texel(input0, at) PICK, fetch_texel(low0, at + LOW0_ORIGIN - INPUT0_ORIGIN) PICK)
#else
#define X_VALUE VALUE
#define FETCH_X(at) (fetch_texel(input0, at) PICK)
#endif

void main() {
  ivec2 i = texel();
  int t = (i.y << p[6].w) + i.x;
  VALUE sum = VALUE(0);
  if (t < p[6].x) {
    int number = t;
    for (int k = 0; k < p[6].y; k++, number += p[6].x) {
      ivec2 at = ivec2(number & ((1 << p[6].z) - 1), number >> p[6].z);
      uvec2 entry = texelFetch(entries, at, 0).rg;
      uint pointer = entry.g + uint(p[7].x);
      ivec2 from = ivec2(int(pointer & 0xffffu), int(pointer >> 16));
#ifdef LATER
      add_pieces(sum, uintBitsToFloat(entry.r), input0, from);
#else
      X_VALUE x = FETCH_X(from);
#ifdef LOG2_BLOCK
      Block b;
      FETCH_BLOCK(b, diagonal, at);
      ADD_BLOCK(sum, b, x)
#else
      add_product(sum, uintBitsToFloat(entry.r), x);
#endif
#endif
    }
  }
  result = widen(sum);
#if ROW_PARTS > 1
  result_low = widen(low);
#endif
#if ROW_PARTS > 2
  result_lowest = widen(lowest);
#endif
}
