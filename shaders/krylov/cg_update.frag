// The vectors of a CG iteration with one reduction (src/common/krylov/cg.c), one per draw. A single program serves all
// of them, because changing programs takes time. a is alpha and b is beta:
//   e + alpha d                     reads e (input0) and d (input1)
//   r - alpha q                     reads r and q; SIGN is -1
//   m (r - alpha q) + beta d        with IS_DIRECTION; reads r, q, d and, with SCALED, m
#include "include/pass.glsl"

#define IS_DIRECTION (p[5].x != 0)
#define SIGN float(p[5].y)

flat in vec4 a, b;
out vec4 result;

void main() {
  ivec2 i = texel();
  VALUE v = FETCH0(i) + SIGN * (a PICK * FETCH1(i));
  if (IS_DIRECTION) {
#ifdef SCALED
    v *= FETCH3(i);
#endif
    v += b PICK * FETCH2(i);
  }
  result = widen(v);
}
