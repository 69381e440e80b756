// Texel fetches: each fragment adds up 16 texels of `source` in every round,
//
//   base + step * (i, j),  i, j = 0 .. 3,  base = (stride * fragment + round * shift) & mask.
//
// step = 1             the 16 texels are read by 16 neighbouring fragments too: most come from a cache
// step = a quarter of the texture   every texel is read once, in slabs, as entries of a matrix are
// stride = 4           neighbouring fragments read texels that are 4 apart
//
// A fetch costs an addition or two beside itself. EDGE, the 4 above, is a constant on hardware, where unrolled loops
// keep more fetches under way, and the uniform `edge` on software rasterizers, which run short code faster.
#ifdef UNSIGNED
uniform usampler2D source;
#else
uniform sampler2D source;
#endif
uniform int edge;
uniform int rounds;
uniform int stride;
uniform int step_texels;
uniform int mask;
uniform ivec2 shift;
out float result;

void main() {
  ivec2 texel = ivec2(gl_FragCoord.xy) * ivec2(stride, 1);
  VALUE sum = VALUE(0);
  for (int r = 0; r < rounds; ++r) {
    ivec2 row = texel & mask;
    for (int j = 0; j < EDGE; ++j) {
      ivec2 at = row;
      for (int i = 0; i < EDGE; ++i) {
        sum += texelFetch(source, at, 0).SWIZZLE;
        at.x += step_texels;
      }
      row.y += step_texels;
    }
    texel += shift;
  }
  result = float(TOTAL(sum));
}
