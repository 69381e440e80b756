// The off-diagonal entries of a mesh operator's matrix, one per fragment. They replace the old entries:
//   a_ij = -factor (cot(x_i, x_previous, x_j) + cot(x_i, x_next, x_j)), or with CURVE -factor / |x_i - x_j|
// Reads corners, which have the layout of the entries, and x (input0). Writes value bits and pointer, or only the value
// with VALUES.
#include "include/pass.glsl"
#include "include/mesh.glsl"

#ifdef VALUES
out vec4 entry;
#else
out uvec4 entry;
#endif

void main() {
  uvec4 c = texelFetch(corners, texel(), 0);
  if (c.x == NO_CORNER) discard;
  // Both entries of an edge use its ends in the same order, so that they have the same bits.
  uvec4 o = c.x < c.y ? c : c.yxwz;
  vec3 i = position(o.x), j = position(o.y);
#ifdef CURVE
  float value = -FACTOR / max(distance(i, j), SHORTEST);
#else
  float value = -FACTOR * (cotangent(i, position(o.z), j) + cotangent(i, position(o.w), j));
#endif
#ifdef VALUES
  entry = vec4(value, 0, 0, 0);
#else
  entry = uvec4(floatBitsToUint(value), c.y, 0, 0);
#endif
}
