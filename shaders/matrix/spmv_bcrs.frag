// y = A x for compressed rows of blocks (Buatois et al. 2008), stored like the entries of the jagged format. Block k of
// block row I is in slab k of the row's rectangle, at the row's position in it:
//   y_I = A_II x_I + sum over k < length of A_k x[pointer_k]      2 x 2 or 4 x 4 numbers times the 2 or 4 of a texel
// Reads entries, diagonal (blocks) and pointers. With CHANNELS, for blocks that contain constrained rows, also reads
// the unconstrained channels.
#include "include/spmv.glsl"
#include "include/bcrs.glsl"
#ifdef CHANNELS
#include "include/channels.glsl"
#endif

uniform sampler2D entries;
uniform usampler2D pointers;

// N blocks with independent fetches; PLAIN_LOOP as in spmv_jagged.frag.
#define ADD(N)                                                \
  {                                                           \
    Block b[N];                                               \
    X_VALUE x[N];                                             \
    for (int k = 0; k < N; k++) {                             \
      ivec2 e = at + ivec2(k << LOG2_WIDTH, 0);               \
      x[k] = fetch_x(texelFetch(pointers, e, 0).r);           \
      FETCH_BLOCK(b[k], entries, e);                          \
    }                                                         \
    for (int k = 0; k < N; k++) ADD_BLOCK(sum, b[k], x[k])    \
    at.x += N << LOG2_WIDTH;                                  \
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
  for (int k = LENGTH >> 2; k > 0; k--) ADD(4)
  switch (LENGTH & 3) {
  case 1: ADD(1) break;
  case 2: ADD(2) break;
  case 3: ADD(3) break;
  }
#endif
#ifdef SPILL
  if (HAS_SPILL) add_pieces(sum, 1.0, sums, unpack(texelFetch(pointers, at, 0).r));
#endif
#ifdef DIAGONAL
  {
    Block b;
    X_VALUE x = FETCH_X(i);
    FETCH_BLOCK(b, diagonal, i);
    ADD_BLOCK(sum, b, x)
  }
#endif
  finish(i, sum);
#ifdef CHANNELS
  result = choose_channels(FREE_CHANNELS(i), result, 0.0);
#ifdef PAIR
  result_low = choose_channels(FREE_CHANNELS(i), result_low, 0.0);
#endif
#endif
}
