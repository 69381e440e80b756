// Block spaces: the channels of a texel hold the numbers of 2 or 4 consecutive indices. Bits 0 to 3 of `channels` mark
// the channels with an index, bits 4 to 7 those with an equation.
uniform usampler2D channels;

#define INDEX_CHANNELS(i) texelFetch(channels, i, 0).r
#define FREE_CHANNELS(i) (texelFetch(channels, i, 0).r >> 4)

// The channels of v with their bits set; `other` in the remaining channels.
vec4 choose_channels(uint bits, vec4 v, float other) {
  return vec4((bits & 1u) != 0u ? v.x : other, (bits & 2u) != 0u ? v.y : other, (bits & 4u) != 0u ? v.z : other,
              (bits & 8u) != 0u ? v.w : other);
}
