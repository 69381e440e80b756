// The four numbers whose bits are in p[5] into a slot: into its first texel, 0 into the others of a block.
uniform ivec4 p[8];

out vec4 result;

void main() { result = ivec2(gl_FragCoord.xy) == p[0].xy ? intBitsToFloat(p[5]) : vec4(0); }
