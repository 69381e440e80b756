// x = x + S e, or without ADD x = S e, at four points of the parity (ODD_X, ODD_Y). Points without equation keep their x.
// Reads x (input0), e (input1), a field of the coarse grid, the weights of a cell as level_prolong.frag does (with BILINEAR
// 1/2 and 1/4), and the centres of the fine coefficients.
#include "include/level.glsl"

uniform sampler2D weights0, weights1;
out vec4 result;

vec4 e_at(ivec2 t, ivec2 parity) { return fetch_texel(input1, t + 1 + parity * pitch(COARSE) + INPUT1_ORIGIN); }

// e at four neighbouring coarse points in row J, from 4 x on, and at those to the east of them.
void fetch_row(int x, int J, out vec4 here, out vec4 east) {
  ivec2 t = ivec2(x >> 1, J >> 1);
  int up = J & 1;
  vec4 even = e_at(t, ivec2(0, up)), odd = e_at(t, ivec2(1, up));
  bool first = (x & 1) == 0;
  here = first ? vec4(even.x, odd.x, even.y, odd.y) : vec4(even.z, odd.z, even.w, odd.w);
#if ODD_X
  vec4 beyond = e_at(ivec2((x + 1) >> 1, t.y), ivec2(0, up));
  east = vec4(here.yzw, first ? beyond.z : beyond.x);
#else
  east = vec4(0);
#endif
}

vec4 interpolate(ivec2 t) {
  vec4 here, east, north = vec4(0), beyond = vec4(0);
  fetch_row(t.x, t.y, here, east);
#if ODD_Y
  fetch_row(t.x, t.y + 1, north, beyond);
#endif
#if !ODD_X && !ODD_Y
  return here;
#elif defined(BILINEAR)
#if ODD_X && ODD_Y
  return 0.25 * (here + east + north + beyond);
#else
  return 0.5 * (here + east + north);
#endif
#else
  vec4 sum;
  for (int k = 0; k < 4; k++) {
    ivec2 I = min(ivec2(4 * t.x + k, t.y), COARSE.xy - 1);
#if ODD_X && ODD_Y
    sum[k] = dot(fetch_texel(weights1, I), vec4(here[k], east[k], north[k], beyond[k]));
#elif ODD_X
    sum[k] = dot(fetch_texel(weights0, I).xy, vec2(here[k], east[k]));
#else
    sum[k] = dot(fetch_texel(weights0, I).zw, vec2(here[k], north[k]));
#endif
  }
  return sum;
#endif
}

void main() {
  ivec2 t = texel(), at = t + 1 + ivec2(ODD_X, ODD_Y) * pitch(FINE);
  vec4 x = fetch_texel(input0, at + INPUT0_ORIGIN), centre = fetch_texel(stencil_centre, at), e = interpolate(t);
#ifdef ADD
  e += x;
#endif
  result = mix(e, x, equal(centre, vec4(0)));
}
