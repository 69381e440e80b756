// Copies the diagonal of a stencil matrix to every component of a vector. Reads the centre coefficients.
#include "include/pass.glsl"

uniform sampler2D stencil_centre;
out vec4 result;

void main() { result = widen(VALUE(fetch_texel(stencil_centre, texel()).r)); }
