/* A field of the fluid in colours, with its walls. FIELD is a fluid_field; with MEASURE, the field's numbers. */
in vec2 across;
uniform SAMPLES data, walls;
uniform sampler2D colours;
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

/* Dye glows on a dark ground, the hotter the redder; what is brighter than a screen keeps its hue. */
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
#else
  vec3 wall = vec3(0.42, 0.44, 0.47), fluid;
#if FIELD == FIELD_DYE
  fluid = dye(cell);
#elif FIELD == FIELD_SPEED
  fluid = texture(colours, vec2((0.5 + 255.0 * clamp(number(cell) / range, 0.0, 1.0)) / 256.0, 0.75)).rgb;
#else
  float x = clamp(0.5 + 0.5 * number(cell) / range, 0.0, 1.0);
  fluid = texture(colours, vec2((0.5 + 255.0 * x) / 256.0, 0.25)).rgb;
#endif
  float edge = max(fwidth(inside), 1e-4);
  colour = vec4(mix(fluid, wall, smoothstep(0.5 - edge, 0.5 + edge, inside)), 1.0);
#endif
}
