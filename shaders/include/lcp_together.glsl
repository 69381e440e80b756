// Fragments of a subgroup that exchange values, for drivers with KHR_shader_subgroup (TOGETHER). Must be included
// first, because it enables extensions.
#ifdef TOGETHER
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_ballot : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
#endif
#include "include/lcp_contact.glsl"

#ifdef TOGETHER
#ifdef PAIR
QUAD shuffle(QUAD v, uint invocation) {
  return Pair(subgroupShuffle(v.high, invocation), subgroupShuffle(v.low, invocation));
}
#else
QUAD shuffle(QUAD v, uint invocation) { return subgroupShuffle(v, invocation); }
#endif

// Whether the fragments of the quad's block are in one subgroup. Fragments outside the block are ignored.
bool is_whole(ivec2 quad) {
  return subgroupBallotBitCount(subgroupBallot(quad.x - FIRST_QUAD < BLOCK_QUADS)) == uint(BLOCK_QUADS);
}
#endif
