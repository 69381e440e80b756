#ifndef PASS_GLSL // include/exact.glsl includes it too
#define PASS_GLSL
// Common to all passes: the parameters, the inputs, and functions to fetch them.
//
// COMPONENTS is 1 to 4. A vector is a region of a texture; i is the fragment's texel inside the region.

#include "include/parameters.glsl"

#define TARGET_ORIGIN p[0].xy
#define TARGET_SIZE p[0].zw
#define INPUT0_ORIGIN p[1].xy
#define INPUT1_ORIGIN p[1].zw
#define INPUT2_ORIGIN p[2].xy
#define INPUT3_ORIGIN p[2].zw

#if COMPONENTS == 1
#define VALUE float
#define PICK .r
#elif COMPONENTS == 2
#define VALUE vec2
#define PICK .rg
#elif COMPONENTS == 3
#define VALUE vec3
#define PICK .rgb
#else
#define VALUE vec4
#define PICK .rgba
#endif

uniform sampler2D input0, input1, input2, input3;

// Texel i. On a software rasterizer, the nearest-neighbour filter, which stays within the texture, takes half as long
// as texelFetch, which checks the bounds for every fragment.
vec4 fetch_texel(sampler2D s, ivec2 i) {
#ifdef NEAREST
  return textureLod(s, (vec2(i) + 0.5) * (1.0 / vec2(textureSize(s, 0))), 0.0);
#else
  return texelFetch(s, i, 0);
#endif
}

// Input k at i. (GLSL ES cannot paste names.)
#define FETCH0(i) (fetch_texel(input0, (i) + INPUT0_ORIGIN) PICK)
#define FETCH1(i) (fetch_texel(input1, (i) + INPUT1_ORIGIN) PICK)
#define FETCH2(i) (fetch_texel(input2, (i) + INPUT2_ORIGIN) PICK)
#define FETCH3(i) (fetch_texel(input3, (i) + INPUT3_ORIGIN) PICK)

ivec2 texel() { return ivec2(gl_FragCoord.xy) - TARGET_ORIGIN; }

vec4 widen(float v) { return vec4(v, 0, 0, 0); }
vec4 widen(vec2 v) { return vec4(v, 0, 0); }
vec4 widen(vec3 v) { return vec4(v, 0); }
vec4 widen(vec4 v) { return v; }
#endif
