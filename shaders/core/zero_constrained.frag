// x (input0) at free indices, and 0 at constrained indices for any x.
#include "include/pass.glsl"
#include "include/tiling.glsl"

out vec4 result;

#ifdef CHANNELS
#include "include/channels.glsl"
void main() {
  ivec2 i = texel();
  result = choose_channels(FREE_CHANNELS(i), widen(FETCH0(i)), 0.0);
}
#else
void main() {
  ivec2 i = texel();
  result = is_free(i) ? widen(FETCH0(i)) : vec4(0);
}
#endif
