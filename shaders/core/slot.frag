// Writes the four numbers with bits in p[5] to a slot: to its first texel, and 0 to the other texels of a block.
uniform ivec4 p[8];

out vec4 result;

void main() { result = ivec2(gl_FragCoord.xy) == p[0].xy ? intBitsToFloat(p[5]) : vec4(0); }
