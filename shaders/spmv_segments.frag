// y = A x with the storage of Bolz et al. 2003, section 3.1.1. With i the texel of the row:
//   j = R[i];  y[i] = A_i[i] x[i] + sum over c < length of A_j[j + c] x[C[j + c]]
// Reads the indirection R (starts), the segments A_j (entries) and C (pointers), which count texels row by row in a
// texture 2^p[6].z wide.
#include "include/spmv.glsl"

uniform sampler2D entries;
uniform usampler2D pointers, starts;

ivec2 place(uint number) { return ivec2(int(number & ((1u << p[6].z) - 1u)), int(number >> p[6].z)); }

void main() {
  ivec2 i = texel();
  if (IS_ZERO) {
    result = vec4(0);
    return;
  }
  uint j = texelFetch(starts, i, 0).r;
  VALUE sum = diagonal_term(i);
  for (int c = 0; c < LENGTH; c++, j++) {
    ivec2 at = place(j);
    sum += texelFetch(entries, at, 0).r * fetch_x(texelFetch(pointers, at, 0).r);
  }
#ifdef SPILL
  if (HAS_SPILL != 0) sum += fetch_sum(texelFetch(pointers, place(j), 0).r);
#endif
  finish(i, sum);
}
