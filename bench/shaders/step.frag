// A pass that depends on the previous one: adds one to the texel at `offset` from here.
uniform sampler2D source;
uniform ivec2 offset;
out float result;

void main() { result = texelFetch(source, ivec2(gl_FragCoord.xy) + offset, 0).r + 1.0; }
