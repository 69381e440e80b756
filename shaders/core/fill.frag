// y_i = value (p[7].x as float bits) at every index, 0 in texels without an index.
#include "include/pass.glsl"
#include "include/tiling.glsl"

out vec4 y;

#ifdef CHANNELS
#include "include/channels.glsl"
void main() { y = choose_channels(INDEX_CHANNELS(texel()), vec4(intBitsToFloat(p[7].x)), 0.0); }
#else
void main() { y = is_index(texel()) ? widen(VALUE(intBitsToFloat(p[7].x))) : vec4(0); }
#endif
