// The diagonal of a matrix of stencils into every component of a vector. Reads the centre coefficients.
#include "include/pass.glsl"

uniform sampler2D stencil_centre;
out vec4 result;

void main() { result = widen(VALUE(fetch_texel(stencil_centre, texel()).r)); }
