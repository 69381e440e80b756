// A level's field from a vector over the grid (input0).
#include "include/level.glsl"

float value(ivec2 i) { return fetch_texel(input0, i + INPUT0_ORIGIN).r; }

#define OUT FINE
#include "include/level_main.glsl"
