// The diagonal of a mesh operator's matrix, drawn like a product (Bolz et al. 2003, section 3.1.2):
//   a_ii = sum over entries of 4 A(x_i, x_previous, x_j) - a_ij, with CURVE of |x_i - x_j| - a_ij; 1 if that is 0
// Every triangle at i is the previous triangle of one entry. Reads entries, corners, x (input0), and with SPILL the
// sums of split rows.
#include "include/mesh_row.glsl"
#include "include/tiling.glsl"

void main() {
  ivec2 i = texel();
  result = vec4(0);
  if (IS_ZERO || position_of(i) >= FREE_COUNT) return;
  ivec2 at = FIRST_ENTRY(i);
  vec3 x = SCALE * FETCH0(i);
  float sum = 0.0;
  for (int k = 0; k < LENGTH; k++, at += NEXT_ENTRY) {
    uvec4 c = texelFetch(corners, at, 0);
    if (c.x != NO_CORNER) sum += mass(x, c) - value_at(at);
  }
#ifdef SPILL
  if (HAS_SPILL) sum += fetch_sum(pointer_at(at)).r;
#endif
  result.r = sum == 0.0 ? 1.0 : sum;
}
