// Copies the diagonal of a matrix to every component of a vector. Reads diagonal, which has the vector's layout.
#include "include/pass.glsl"

uniform sampler2D diagonal;
out vec4 result;

void main() { result = widen(VALUE(fetch_texel(diagonal, texel()).r)); }
