// A plain texture of coefficients (input0) in the level's storage. PARITIES: all its channels. LAYERED: the channel
// p[7].z, for four points.
#include "include/level.glsl"

#ifdef LAYERED

float value(ivec2 i) { return texelFetch(input0, i, 0)[p[7].z]; }

#define OUT FINE
#include "include/level_main.glsl"
#else
out vec4 result;

void main() {
  ivec2 i = point_at(texel(), FINE);
  result = outside(i, FINE) ? vec4(0) : texelFetch(input0, i, 0);
}
#endif
