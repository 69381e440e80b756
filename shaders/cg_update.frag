// The vectors of a CG iteration with one reduction (src/common/cg_run.c), one a draw; a is alpha and b is beta:
//   STEP +     e + alpha d                      reads e (input0) and d (input1)
//   STEP -     r - alpha q                      reads r and q
//   DIRECTION  m (r - alpha q) + beta d         reads r, q, d and, with SCALED, m
#include "include/pass.glsl"

flat in vec4 a, b;
out vec4 result;

void main() {
  ivec2 i = texel();
  VALUE v = FETCH(0, i) STEP a PICK * FETCH(1, i);
#ifdef SCALED
  v *= FETCH(3, i);
#endif
#ifdef DIRECTION
  v += b PICK * FETCH(2, i);
#endif
  result = widen(v);
}
