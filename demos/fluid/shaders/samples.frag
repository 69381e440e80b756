/* Samples for field.frag to interpolate. Red, green and blue hold the light of the dye; for other fields red
 * holds the value's position in the colour range. Alpha is the share of wall. FIELD is a fluid_field. With
 * MEASURE the output is the field's magnitude. */
in vec2 across;
uniform SAMPLES data, walls;
uniform ivec2 data_origin, walls_origin;
uniform float cell_size, range;
out vec4 colour;

float number(vec2 cell) {
#if FIELD == FIELD_SPEED
  return length(vec2(velocity_x(cell), velocity_y(cell)));
#elif FIELD == FIELD_VORTICITY
  vec2 east = vec2(0.5, 0.0), north = vec2(0.0, 0.5);
  return (velocity_y(cell + east) - velocity_y(cell - east) - velocity_x(cell + north) +
          velocity_x(cell - north)) / cell_size;
#elif FIELD == FIELD_DYE
  return 0.0;
#else
  return sample_between(data, data_origin, vec2(0.5), cells - 1, cell).r;
#endif
}

/* Dye glows on a dark ground; heat makes it redder. Light above the screen's maximum keeps its hue. */
vec3 dye(vec2 cell) {
  vec4 here = max(sample_between(data, data_origin, vec2(0.5), cells - 1, cell), 0.0);
  vec3 light = here.rgb + here.a * vec3(0.16, 0.05, 0.0) * min(1.0, 4.0 * dot(here.rgb, vec3(1.0)));
  float most = max(max(light.r, light.g), max(light.b, 1e-6));
  light *= (1.0 - exp(-1.6 * most)) / most / (1.0 - exp(-1.6));
  return min(vec3(0.035, 0.04, 0.06) + light, vec3(1.0));
}

void main() {
  vec2 cell = across * vec2(cells);
  float inside = sample_between(walls, walls_origin, vec2(0.5), cells - 1, cell).r;
#ifdef MEASURE
  colour = vec4(inside > 0.0 ? 0.0 : abs(number(cell)));
#elif FIELD == FIELD_DYE
  colour = vec4(dye(cell), inside);
#else
  /* Keep values beyond the range, within the limits of half floats. They are clamped after the
   * interpolation. */
  float place = clamp(number(cell) / range, -1e4, 1e4);
#if FIELD != FIELD_SPEED
  place = 0.5 + 0.5 * place;
#endif
  colour = vec4(place, 0.0, 0.0, inside);
#endif
}
