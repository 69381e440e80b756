// Whether the fragments of a block are in one subgroup when they are drawn as lcp_block.frag is: 1 or 0.
#include "include/lcp_together.glsl"

void main() { write(put(NOTHING, 0, real(is_whole(own_quad()) ? 1.0 : 0.0))); }
