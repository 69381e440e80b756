// The state of a row from the quads of w (input0) and z (input1).
#include "include/lcp.glsl"

void main() {
  ivec2 i = place(), at = place_of(quad_of(i.x), i.y);
  int channel = channel_of(i.x);
  write(put(put(NOTHING, 0, pick(QUAD_AT0(at), channel)), 1, pick(QUAD_AT1(at), channel)));
}
