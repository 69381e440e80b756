// Spaces of blocks: a texel holds the numbers of 2 or 4 neighbouring indices, its lanes. Which of them have an index is in
// bits 0 to 3 of `lanes`, which have an equation in bits 4 to 7.
uniform usampler2D lanes;

#define INDEX_LANES(i) texelFetch(lanes, i, 0).r
#define FREE_LANES(i) (texelFetch(lanes, i, 0).r >> 4)

// The lanes of v whose bits are set, `other` in the rest.
vec4 choose_lanes(uint bits, vec4 v, float other) {
  return vec4((bits & 1u) != 0u ? v.x : other, (bits & 2u) != 0u ? v.y : other, (bits & 4u) != 0u ? v.z : other,
              (bits & 8u) != 0u ? v.w : other);
}
