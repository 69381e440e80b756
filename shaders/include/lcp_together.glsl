// Fragments of a subgroup that tell each other values, where the driver has KHR_shader_subgroup (TOGETHER). To be included before
// anything else, since it enables extensions.
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

// Whether the fragments of the quad's block are in one subgroup; those beside the block count for nothing.
bool is_whole(ivec2 quad) {
  return subgroupBallotBitCount(subgroupBallot(quad.x - FIRST_QUAD < BLOCK_QUADS)) == uint(BLOCK_QUADS);
}
#endif
