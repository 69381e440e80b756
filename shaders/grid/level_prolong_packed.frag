// x = x + S e, or x = S e without ADD, at four points of parity p[7].xy. Points without an equation keep their x. Reads
// x (input0), and e (input1), a field of the coarse grid. Reads the weights of a cell as in level_prolong.frag (with
// BILINEAR 1/2 and 1/4), and the centres of the fine coefficients. Parts that a parity does not need are loops of zero
// rounds, as in level_packed.frag.
#include "include/level.glsl"

uniform sampler2D weights0, weights1;
out vec4 result;

#define ODD_X p[7].x
#define ODD_Y p[7].y

vec4 e_at(ivec2 t, ivec2 parity) { return fetch_texel(input1, t + 1 + parity * pitch(COARSE) + INPUT1_ORIGIN); }

// e at four consecutive coarse points in row J, starting at 4 x, and at their eastern neighbours if points are between
// them.
void fetch_row(int x, int J, out vec4 here, out vec4 east) {
  ivec2 t = ivec2(x >> 1, J >> 1);
  int up = J & 1;
  vec4 even = e_at(t, ivec2(0, up)), odd = e_at(t, ivec2(1, up));
  bool first = (x & 1) == 0;
  here = first ? vec4(even.x, odd.x, even.y, odd.y) : vec4(even.z, odd.z, even.w, odd.w);
  east = vec4(0);
  for (int round = 0; round < ODD_X; round++) {
    vec4 beyond = e_at(ivec2((x + 1) >> 1, t.y), ivec2(0, up));
    east = vec4(here.yzw, first ? beyond.z : beyond.x);
  }
}

vec4 interpolate(ivec2 t) {
  vec4 here, east, north = vec4(0), beyond = vec4(0);
  fetch_row(t.x, t.y, here, east);
  for (int round = 0; round < ODD_Y; round++) fetch_row(t.x, t.y + 1, north, beyond);
#ifdef BILINEAR
  float weight = ODD_X + ODD_Y == 2 ? 0.25 : ODD_X + ODD_Y == 1 ? 0.5 : 1.0;
  return weight * (here + east + north + beyond);
#else
  vec4 sum = here;
  for (int k = 0; k < 4 * (ODD_X | ODD_Y); k++) {
    ivec2 I = min(ivec2(4 * t.x + k, t.y), COARSE.xy - 1);
    vec4 weights = vec4(0);
    for (int round = 0; round < (ODD_X & ODD_Y); round++) weights = fetch_texel(weights1, I);
    for (int round = 0; round < (ODD_X ^ ODD_Y); round++) {
      weights = fetch_texel(weights0, I);
      weights = ODD_X == 1 ? vec4(weights.xy, 0, 0) : vec4(weights.z, 0, weights.w, 0);
    }
    sum[k] = dot(weights, vec4(here[k], east[k], north[k], beyond[k]));
  }
  return sum;
#endif
}

void main() {
  ivec2 t = texel(), at = t + 1 + p[7].xy * pitch(FINE);
  vec4 x = fetch_texel(input0, at + INPUT0_ORIGIN), centre = fetch_texel(stencil_centre, at), e = interpolate(t);
#ifdef ADD
  e += x;
#endif
  result = mix(e, x, equal(centre, vec4(0)));
}
