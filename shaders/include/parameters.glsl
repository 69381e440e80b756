#ifndef PARAMETERS_GLSL
#define PARAMETERS_GLSL
// Parameters that the host sets for every pass (src/gl/core/gl_pass.c). With PAIR, also p[8] and p[9], the positions of
// the inputs' second parts, and p[10]: bits of the second parts of the coefficients' scales, and which slots have a
// second part.
#ifdef PAIR
uniform ivec4 p[11];
#else
uniform ivec4 p[8];
#endif
#endif
