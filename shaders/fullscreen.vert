// One triangle over the viewport. The coefficients of the pass are evaluated here, once, from device slots:
//   coefficient = scale * numerator / denominator, 0 where the denominator is 0, a slot that is absent counts as 1.

uniform ivec4 p[8];
uniform sampler2D slot0, slot1, slot2, slot3;

flat out vec4 a, b;

vec4 slot(sampler2D slots, int packed_texel) {
  if (packed_texel == -1) return vec4(1);
  return texelFetch(slots, ivec2(packed_texel & 0xffff, int(uint(packed_texel) >> 16)), 0);
}

vec4 coefficient(ivec4 c, vec4 numerator, vec4 denominator) {
  bvec4 zero = equal(denominator, vec4(0));
  return intBitsToFloat(c.x) * mix(numerator / mix(denominator, vec4(1), zero), vec4(0), zero);
}

void main() {
  a = coefficient(p[3], slot(slot0, p[3].y), slot(slot1, p[3].z));
  b = coefficient(p[4], slot(slot2, p[4].y), slot(slot3, p[4].z));
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
