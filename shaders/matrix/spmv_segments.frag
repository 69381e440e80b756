// y = A x with the storage of Bolz et al. 2003, section 3.1.1. Let i be the texel of the row:
//   j = R[i];  y[i] = A_i[i] x[i] + sum over c < length of A_j[j + c] x[C[j + c]]
// Reads the indirection R (starts), the segments A_j (entries) and their pointers C (pointers).
#include "include/spmv.glsl"

uniform sampler2D entries;
uniform usampler2D pointers, starts;

// N entries with independent fetches. Software rasterizers execute every case of a switch and do not benefit from early
// fetches: they use PLAIN_LOOP.
#define ADD(N)                                                                      \
  {                                                                                 \
    float a[N];                                                                     \
    uint c[N];                                                                      \
    for (int k = 0; k < N; k++) a[k] = fetch_texel(entries, j + ivec2(k, 0)).r;   \
    for (int k = 0; k < N; k++) c[k] = texelFetch(pointers, j + ivec2(k, 0), 0).r;  \
    for (int k = 0; k < N; k++) add_product(sum, a[k], fetch_x(c[k]));                        \
    j.x += N;                                                                       \
  }

void main() {
  ivec2 i = texel();
  if (IS_ZERO) {
    WRITE_ZERO;
    return;
  }
  ivec2 j = unpack(texelFetch(starts, i, 0).r);
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
  if (HAS_SPILL) add_pieces(sum, 1.0, sums, unpack(texelFetch(pointers, j, 0).r));
#endif
  add_diagonal(sum, i);
  finish(i, sum);
}
