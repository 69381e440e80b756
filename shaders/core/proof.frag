// The four numbers with bits in p[5].
uniform ivec4 p[8];

out vec4 result;

void main() { result = intBitsToFloat(p[5]); }
