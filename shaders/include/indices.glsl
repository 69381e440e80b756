// With INDICES, texels without an index remain 0. Otherwise an infinite or NaN coefficient a would turn their 0 into
// NaN, and all later sums too. Requires include/pass.glsl; the tiling is in p[5] and p[6].
#ifdef INDICES
#include "include/tiling.glsl"
#ifdef CHANNELS
#include "include/channels.glsl"
vec4 at_indices(VALUE v, ivec2 i) { return choose_channels(INDEX_CHANNELS(i), widen(v), 0.0); }
#else
vec4 at_indices(VALUE v, ivec2 i) { return is_index(i) ? widen(v) : vec4(0); }
#endif
#else
vec4 at_indices(VALUE v, ivec2 i) { return widen(v); }
#endif
