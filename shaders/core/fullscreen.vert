// One triangle over the viewport. The coefficients of the pass are evaluated here, once: constants, or with SLOTS
//   coefficient = scale * numerator / denominator, 0 where the denominator is 0, a slot that is absent counts as 1.
// p[3] and p[4] hold a coefficient each: bits of the scale, the slots' texels as x | y << 16 or -1, and in w bit 0 for a
// numerator and bit 1 for a denominator that is a block of 16 x 8 partial sums; the other bits of p[3].w are the number of slots.
#ifdef GATHER
#extension GL_ARB_texture_gather : enable
#endif

uniform ivec4 p[8];
#ifdef ONE_TEXTURE
uniform sampler2D slot0;
#else
uniform sampler2D slot0, slot1, slot2, slot3;
#endif

flat out vec4 a, b;

#ifndef SLOTS
void evaluate() {
  a = vec4(intBitsToFloat(p[3].x));
  b = vec4(intBitsToFloat(p[4].x));
}
#else
#ifdef GATHER
// Eight texels by four: half of a row of quads.
vec4 sum_of_quads(sampler2D slots, ivec2 at, vec2 scale) {
  vec4 quads[4];
  for (int x = 0; x < 4; x++) quads[x] = textureGather(slots, vec2(at + 2 * ivec2(x, 0) + 1) * scale);
  return (quads[0] + quads[1]) + (quads[2] + quads[3]);
}

// The sum of 8 x 4 quads in pairs. Rasterizers in software take long to compile 32 gathers: they have a loop whose count (8)
// compilers do not know.
float sum_of_block(sampler2D slots, ivec2 first, int count) {
  vec2 scale = 1.0 / vec2(textureSize(slots, 0));
#ifdef PLAIN_LOOP
  vec4 row, two_rows, sum;
  for (int k = 0; k < count; k++) {
    vec4 half_row = sum_of_quads(slots, first + ivec2(8 * (k & 1), k & 6), scale);
    row = (k & 1) == 0 ? half_row : row + half_row;
    if ((k & 1) == 1) two_rows = (k & 2) == 0 ? row : two_rows + row;
    if ((k & 3) == 3) sum = (k & 4) == 0 ? two_rows : sum + two_rows;
  }
#else
  vec4 rows[4];
  for (int y = 0; y < 4; y++)
    rows[y] = sum_of_quads(slots, first + ivec2(0, 2 * y), scale) + sum_of_quads(slots, first + ivec2(8, 2 * y), scale);
  vec4 sum = (rows[0] + rows[1]) + (rows[2] + rows[3]);
#endif
  return (sum.x + sum.y) + (sum.z + sum.w);
}
#endif

// `is_block`: 8 or 0.
vec4 slot(sampler2D slots, int packed_texel, int is_block) {
  if (packed_texel == -1) return vec4(1);
  ivec2 at = ivec2(packed_texel & 0xffff, int(uint(packed_texel) >> 16));
#ifdef GATHER
  if (is_block != 0) return vec4(sum_of_block(slots, at, is_block), 0, 0, 0);
#endif
  return texelFetch(slots, at, 0);
}

// What the slots hold: numerator and denominator of a, of b.
vec4 values[4];

#ifdef ONE_TEXTURE
// All slots lie in it. Rasterizers in software take long to compile what reads a slot: they have it once, in a loop whose count
// they do not know.
void read_slots() {
  for (int k = 0; k < p[3].w >> 2; k++) {
    ivec4 c = k < 2 ? p[3] : p[4];
    vec4 v = slot(slot0, (k & 1) == 0 ? c.y : c.z, (c.w << (3 - (k & 1))) & 8);
    if (k == 0) values[0] = v;
    if (k == 1) values[1] = v;
    if (k == 2) values[2] = v;
    if (k == 3) values[3] = v;
  }
}
#else
void read_slots() {
  values[0] = slot(slot0, p[3].y, p[3].w << 3 & 8);
  values[1] = slot(slot1, p[3].z, p[3].w << 2 & 8);
  values[2] = slot(slot2, p[4].y, p[4].w << 3 & 8);
  values[3] = slot(slot3, p[4].z, p[4].w << 2 & 8);
}
#endif

vec4 coefficient(ivec4 c, vec4 numerator, vec4 denominator) {
  bvec4 zero = equal(denominator, vec4(0));
  return intBitsToFloat(c.x) * mix(numerator / mix(denominator, vec4(1), zero), vec4(0), zero);
}

#ifdef ONE_REDUCTION
// a = alpha = delta / dq and b = beta = alpha qmq / dq - 1 from the slots delta, dq, qmq. The difference leaves an error of
// about 1e-7 in beta, which matters where the residual falls by orders of magnitude in one step: what remains of it would
// be no larger than the error times d. There beta is 0 and the directions restart, as they do for negative and undefined ones.
// Where a component is solved, its numbers sink below the smallest normal float, which some units take for 0.
#define SMALLEST_NORMAL 1.1754944e-38
#define SMALLEST_BETA 1e-5
void evaluate() {
  read_slots();
  vec4 delta = values[0], dq = values[1], qmq = values[2];
  dq = mix(dq, vec4(0), lessThan(abs(dq), vec4(SMALLEST_NORMAL)));
  a = coefficient(p[3], delta, dq);
  vec4 beta = a * coefficient(p[4], qmq, dq) - 1.0;
  b = mix(vec4(0), beta, greaterThan(beta, vec4(SMALLEST_BETA)));
}
#else
void evaluate() {
  read_slots();
  a = coefficient(p[3], values[0], values[1]);
  b = coefficient(p[4], values[2], values[3]);
}
#endif
#endif

void main() {
  evaluate();
#ifdef CHANNELS
  // One component, in every channel of a texel.
  a = a.xxxx;
  b = b.xxxx;
#endif
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
