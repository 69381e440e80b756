// y = A x for the jagged format. Entry k of row i is in slab k of the row's rectangle, at the row's position in it:
//   y_i = a_ii x_i + sum over k < length of value_k x[pointer_k]
// Reads entries: value bits and pointer in one RG32UI texel. With VALUES, the value comes from a separate texture.
#include "include/spmv.glsl"

uniform usampler2D entries;
#ifdef VALUES
uniform sampler2D values;
#define ENTRY(i) uvec2(floatBitsToUint(texelFetch(values, i, 0).r), texelFetch(entries, i, 0).g)
#else
#define ENTRY(i) texelFetch(entries, i, 0).rg
#endif

// N entries with independent fetches. Software rasterizers execute every case of a switch and do not benefit from early
// fetches: they use PLAIN_LOOP.
#define ADD(N)                                                                                  \
  {                                                                                             \
    uvec2 e[N];                                                                                 \
    for (int k = 0; k < N; k++) e[k] = ENTRY(at + ivec2(k << LOG2_WIDTH, 0));                   \
    for (int k = 0; k < N; k++) add_product(sum, uintBitsToFloat(e[k].r), fetch_x(e[k].g));     \
    at.x += N << LOG2_WIDTH;                                                                    \
  }

void main() {
  ivec2 i = texel();
  if (IS_ZERO) {
    WRITE_ZERO;
    return;
  }
  ivec2 at = base + inside(i);
  VALUE sum = VALUE(0);
#ifdef PLAIN_LOOP
  for (int k = 0; k < LENGTH; k++) ADD(1)
#else
  for (int k = LENGTH >> 3; k > 0; k--) ADD(8)
  switch (LENGTH & 7) {
  case 1: ADD(1) break;
  case 2: ADD(2) break;
  case 3: ADD(3) break;
  case 4: ADD(4) break;
  case 5: ADD(5) break;
  case 6: ADD(6) break;
  case 7: ADD(7) break;
  }
#endif
#ifdef SPILL
  if (HAS_SPILL) add_pieces(sum, 1.0, sums, unpack(texelFetch(entries, at, 0).g));
#endif
  add_diagonal(sum, i);
  finish(i, sum);
}
