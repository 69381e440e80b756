// Spaces of blocks: a texel holds the numbers of 2 or 4 neighbouring indices, its channels. Which of them have an index is in
// bits 0 to 3 of `channels`, which have an equation in bits 4 to 7.
uniform usampler2D channels;

#define INDEX_CHANNELS(i) texelFetch(channels, i, 0).r
#define FREE_CHANNELS(i) (texelFetch(channels, i, 0).r >> 4)

// The channels of v whose bits are set, `other` in the rest.
vec4 choose_channels(uint bits, vec4 v, float other) {
  return vec4((bits & 1u) != 0u ? v.x : other, (bits & 2u) != 0u ? v.y : other, (bits & 4u) != 0u ? v.z : other,
              (bits & 8u) != 0u ? v.w : other);
}
