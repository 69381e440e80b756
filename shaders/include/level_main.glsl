// A pass over a whole field of the grid OUT: value(i) at every point i, 0 in the border. With VECTOR, the target is a
// vector over the grid.
out vec4 result;

void main() {
#ifdef VECTOR
  result = vec4(value(texel()), 0, 0, 0);
#elif defined(FOUR_POINTS)
  ivec2 first = point_at(texel(), OUT);
  vec4 values = vec4(0);
  for (int k = 0; k < 4; k++) {
    ivec2 i = point_of(first, k);
    if (!outside(i, OUT)) values[k] = value(i);
  }
  result = values;
#else
  ivec2 i = point_at(texel(), OUT);
  result = vec4(outside(i, OUT) ? 0.0 : value(i), 0, 0, 0);
#endif
}
