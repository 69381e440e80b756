// An element-wise pass over pairs: its coefficients, and both parts of its output.
#include "include/pair.glsl"
#include "include/indices.glsl"

flat in vec4 a, b, a_low, b_low;
layout(location = 0) out vec4 result;
layout(location = 1) out vec4 result_low;

#define PAIR_A Pair(a PICK, a_low PICK)
#define PAIR_B Pair(b PICK, b_low PICK)

void write(Pair v, ivec2 i) {
  result = at_indices(v.high, i);
  result_low = at_indices(v.low, i);
}
