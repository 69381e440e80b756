// g = SCALE (M x - A x) from differences: g_i = sum over entries of a_ij SCALE (x_i - x_j). Reads entries, x (input0),
// and with SPILL the sums of split rows.
#include "include/mesh_row.glsl"

void main() {
  ivec2 i = texel();
  result = vec4(0);
  if (IS_ZERO) return;
  ivec2 at = FIRST_ENTRY(i);
  vec3 x = SCALE * FETCH0(i), sum = vec3(0);
  for (int k = 0; k < LENGTH; k++, at += NEXT_ENTRY) sum += value_at(at) * (x - SCALE * fetch_x(pointer_at(at)));
#ifdef SPILL
  if (HAS_SPILL) sum += fetch_sum(pointer_at(at));
#endif
  result = widen(sum);
}
