// Converts a plain texture of coefficients (input0) to the level's storage. PARITIES: all channels. LAYERED and PACKED:
// channel p[7].z, for four points.
#include "include/level.glsl"

#ifdef FOUR_POINTS

float value(ivec2 i) { return fetch_texel(input0, i)[p[7].z]; }

#define OUT FINE
#include "include/level_main.glsl"
#else
out vec4 result;

void main() {
  ivec2 i = point_at(texel(), FINE);
  result = outside(i, FINE) ? vec4(0) : fetch_texel(input0, i);
}
#endif
