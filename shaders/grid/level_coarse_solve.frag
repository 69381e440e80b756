// x[i] = sum over the grid's points j of inverse[i, j] b[j]. Row i of the inverse is row i.y width + i.x of its
// texture. It holds one grid row after another, with four points j of a grid row per texel. Reads b (input0).
//
// There are few fragments here and fetches are slow, so the fetches of several texels are started together. If texels
// hold four points, these share the fetches of b.
#include "include/level.glsl"

uniform sampler2D inverse;

#define TEXELS_A_ROW ((FINE.x + 3) / 4)
#define TEXELS (TEXELS_A_ROW * FINE.y)

// The factors of texel t in a row of the inverse.
vec4 b_of(int t) {
  ivec2 i = ivec2(4 * (t % TEXELS_A_ROW), t / TEXELS_A_ROW);
  vec4 b = vec4(0);
  for (int k = 0; k < 4; k++) b[k] = field(input0, INPUT0_ORIGIN, min(i + ivec2(k, 0), FINE.xy - 1), FINE);
  return t < TEXELS ? b * vec4(lessThan(ivec4(i.x) + ivec4(0, 1, 2, 3), ivec4(FINE.x))) : vec4(0);
}

vec4 a_of(int t, int row) { return fetch_texel(inverse, ivec2(min(t, TEXELS - 1), row)); }

#ifdef FOUR_POINTS
out vec4 result;

void main() {
  ivec2 first = point_at(texel(), FINE);
  ivec4 rows;
  vec4 inside, sum = vec4(0);
  for (int k = 0; k < 4; k++) {
    ivec2 i = point_of(first, k);
    inside[k] = outside(i, FINE) ? 0.0 : 1.0;
    i = clamp(i, ivec2(0), FINE.xy - 1);
    rows[k] = i.y * FINE.x + i.x;
  }
  for (int t = 0; t < TEXELS; t += 2) {
    vec4 b = b_of(t), c = b_of(t + 1);
    for (int k = 0; k < 4; k++) sum[k] += dot(a_of(t, rows[k]), b) + dot(a_of(t + 1, rows[k]), c);
  }
  result = inside * sum;
}
#else
float value(ivec2 i) {
  int row = i.y * FINE.x + i.x;
  vec4 sum = vec4(0);
  for (int t = 0; t < TEXELS; t += 4)
    sum += (a_of(t, row) * b_of(t) + a_of(t + 1, row) * b_of(t + 1)) +
           (a_of(t + 2, row) * b_of(t + 2) + a_of(t + 3, row) * b_of(t + 3));
  return dot(sum, vec4(1));
}

#define OUT FINE
#include "include/level_main.glsl"
#endif
