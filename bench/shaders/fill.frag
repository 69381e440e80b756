// Writes one value to every texel of the target.
uniform vec4 value;
out vec4 result;

void main() { result = value; }
