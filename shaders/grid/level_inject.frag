// coarse x[I] = x[2 I] (input0) at coarse points without an equation that are fine points, 0 elsewhere. Reads the
// centres of the coarse coefficients.
#include "include/level.glsl"

uniform sampler2D coarse_centre;

float value(ivec2 I) {
#if defined(LAYERED) || defined(PARITIES)
  ivec2 at = place(I, COARSE);
#else
  ivec2 at = I;
#endif
  bool given = channel(fetch_texel(coarse_centre, at), I) == 0.0 && !outside(2 * I, FINE);
  return given ? FIELD0(2 * I, FINE) : 0.0;
}

#define OUT COARSE
#include "include/level_main.glsl"
