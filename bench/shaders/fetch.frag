// Texel fetches: in every round each fragment sums up 16 texels of `source`,
//
//   base + step * (i, j),  i, j = 0 .. 3,  base = (fragment + round * shift) & mask.
//
//   step = 1                        16 neighbouring fragments also read the 16 texels: most fetches hit a cache
//   step = a quarter of the texture every texel is read once, in slabs, like the entries of a matrix
//
// QUADS: one textureGather reads a quad of 2 x 2 texels, and the numbers above count quads. Each fetch is
// followed by one or two additions.
#ifdef UNSIGNED
uniform usampler2D source;
#else
uniform sampler2D source;
#endif
uniform int rounds;
uniform int step_texels;
uniform int mask;
uniform ivec2 shift;
out float result;

#ifdef QUADS
#define READ(at) textureGather(source, vec2(2 * (at) + 1) / vec2(textureSize(source, 0)))
#else
#define READ(at) texelFetch(source, at, 0).SWIZZLE
#endif

void main() {
  ivec2 texel = ivec2(gl_FragCoord.xy);
  VALUE sum = VALUE(0);
  for (int r = 0; r < rounds; ++r) {
    ivec2 row = texel & mask;
    for (int j = 0; j < 4; ++j) {
      ivec2 at = row;
      for (int i = 0; i < 4; ++i) {
        sum += READ(at);
        at.x += step_texels;
      }
      row.y += step_texels;
    }
    texel += shift;
  }
  result = float(TOTAL(sum));
}
