/* Interpolates a field from the samples made by samples.frag. With LIGHT they are colours. Walls are drawn over
 * the field. */
in vec2 across;
uniform sampler2D field, table;
uniform float row; /* of the colour table */
out vec4 colour;

void main() {
  vec4 here = texture(field, across);
#ifdef LIGHT
  vec3 fluid = here.rgb;
#else
  vec3 fluid = texture(table, vec2((0.5 + 255.0 * clamp(here.r, 0.0, 1.0)) / 256.0, row)).rgb;
#endif
  float edge = max(fwidth(here.a), 1e-4);
  colour = vec4(mix(fluid, vec3(0.42, 0.44, 0.47), smoothstep(0.5 - edge, 0.5 + edge, here.a)), 1.0);
}
