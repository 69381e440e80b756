// Copies a part of one field to another. Reads the part (input0).
#include "include/pass.glsl"

out vec4 result;

void main() { result = fetch_texel(input0, texel() + INPUT0_ORIGIN); }
