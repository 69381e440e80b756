// Complementarity problems in pairs: four numbers at a time, of a quad or four times the same one. Textures have second ones
// with the second parts.
uniform sampler2D low_entries, low_lower_bounds, low_upper_bounds;

const Pair NOTHING = Pair(vec4(0), vec4(0));

Pair as_pair(vec4 v) { return Pair(v, vec4(0)); }
Pair as_pair(Pair v) { return v; }

Pair pair_at(sampler2D high, sampler2D low, ivec2 at) { return Pair(fetch_texel(high, at), fetch_texel(low, at)); }
Pair entry_at(ivec2 at) { return pair_at(entries, low_entries, at); }
Pair least_at(ivec2 quad) { return pair_at(lower_bounds, low_lower_bounds, quad); }
Pair most_at(ivec2 quad) { return pair_at(upper_bounds, low_upper_bounds, quad); }

Pair splat(Pair v, int channel) { return Pair(vec4(v.high[channel]), vec4(v.low[channel])); }

// The sum of the four, four times.
Pair total(Pair v) {
  v = add(v, Pair(v.high.yxwz, v.low.yxwz));
  return add(v, Pair(v.high.zwxy, v.low.zwxy));
}

Pair row_product(sampler2D quads, sampler2D low_quads, int row, int problem) {
  ivec2 at = matrix_of(problem) + ivec2(row, 0);
  Pair sums = NOTHING;
  for (int k = 0; k < QUAD_COUNT; k++)
    sums = add_loosely(sums, multiply(entry_at(at + ivec2(0, k)), pair_at(quads, low_quads, ivec2(k, problem))));
  return total(normalise(sums));
}

bool is_less(Pair a, Pair b) { return a.high.x < b.high.x || (a.high.x == b.high.x && a.low.x < b.low.x); }

// Of four times the same.
Pair project(Pair z, Pair least, Pair most) {
  if (is_less(z, least)) return least;
  if (is_less(most, z)) return most;
  return z;
}

Pair solve_unknown(Pair z, Pair w, Pair diagonal, Pair least, Pair most) {
  return project(subtract(z, divide(w, diagonal)), least, most);
}
