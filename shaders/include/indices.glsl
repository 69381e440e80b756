// With INDICES, texels that belong to no index stay 0: where a coefficient is infinite or no number, a times the 0 that they
// hold would be NaN, and so would all sums from then on. Needs include/pass.glsl; the tiling is in p[5] and p[6].
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
