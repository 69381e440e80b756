// 1 if the fragments of a block are in one subgroup when drawn as in lcp_block.frag, otherwise 0.
#include "include/lcp_together.glsl"

void main() { write(put(NOTHING, 0, real(is_whole(own_quad()) ? 1.0 : 0.0))); }
