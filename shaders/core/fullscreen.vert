// One triangle over the viewport. The coefficients of the pass are evaluated here, once, from device slots:
//   coefficient = scale * numerator / denominator, 0 where the denominator is 0, a slot that is absent counts as 1.
// p[3] and p[4] hold a coefficient each: bits of the scale, the slots' texels as x | y << 16 or -1, and in w bit 0 for a
// numerator and bit 1 for a denominator that is a block of 16 x 8 partial sums.
#ifdef GATHER
#extension GL_ARB_texture_gather : enable
#endif

uniform ivec4 p[8];
uniform sampler2D slot0, slot1, slot2, slot3;

flat out vec4 a, b;

#ifdef GATHER
float sum_of_block(sampler2D slots, ivec2 first) {
  vec2 scale = 1.0 / vec2(textureSize(slots, 0));
  vec4 sums[4];
  for (int y = 0; y < 4; y++) {
    vec4 row[8];
    for (int x = 0; x < 8; x++) row[x] = textureGather(slots, vec2(first + 2 * ivec2(x, y) + 1) * scale);
    sums[y] = ((row[0] + row[1]) + (row[2] + row[3])) + ((row[4] + row[5]) + (row[6] + row[7]));
  }
  vec4 sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return (sum.x + sum.y) + (sum.z + sum.w);
}
#endif

vec4 slot(sampler2D slots, int packed_texel, bool is_block) {
  if (packed_texel == -1) return vec4(1);
  ivec2 at = ivec2(packed_texel & 0xffff, int(uint(packed_texel) >> 16));
#ifdef GATHER
  if (is_block) return vec4(sum_of_block(slots, at), 0, 0, 0);
#endif
  return texelFetch(slots, at, 0);
}

vec4 coefficient(ivec4 c, vec4 numerator, vec4 denominator) {
  bvec4 zero = equal(denominator, vec4(0));
  return intBitsToFloat(c.x) * mix(numerator / mix(denominator, vec4(1), zero), vec4(0), zero);
}

#ifdef ONE_REDUCTION
// a = alpha = delta / dq and b = beta = alpha qmq / dq - 1 from the slots delta, dq, qmq. The difference leaves an error of
// about 1e-7 in beta, which matters where the residual falls by orders of magnitude in one step: what remains of it would
// be no larger than the error times d. There beta is 0 and the directions begin anew, as they do for negative and undefined ones.
// Where a component is solved, its numbers sink below the smallest normal float, which some units take for 0.
#define SMALLEST_NORMAL 1.1754944e-38
#define SMALLEST_BETA 1e-5
void evaluate() {
  vec4 delta = slot(slot0, p[3].y, (p[3].w & 1) != 0);
  vec4 dq = slot(slot1, p[3].z, (p[3].w & 2) != 0);
  vec4 qmq = slot(slot2, p[4].y, (p[4].w & 1) != 0);
  dq = mix(dq, vec4(0), lessThan(abs(dq), vec4(SMALLEST_NORMAL)));
  a = coefficient(p[3], delta, dq);
  vec4 beta = a * coefficient(p[4], qmq, dq) - 1.0;
  b = mix(vec4(0), beta, greaterThan(beta, vec4(SMALLEST_BETA)));
}
#else
void evaluate() {
  a = coefficient(p[3], slot(slot0, p[3].y, (p[3].w & 1) != 0), slot(slot1, p[3].z, (p[3].w & 2) != 0));
  b = coefficient(p[4], slot(slot2, p[4].y, (p[4].w & 1) != 0), slot(slot3, p[4].z, (p[4].w & 2) != 0));
}
#endif

void main() {
  evaluate();
#ifdef LANES
  // One component, in every lane of a texel.
  a = a.xxxx;
  b = b.xxxx;
#endif
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
