/* Blue if a contact uses little of its friction, teal at about half, red if it slides. The pointer's pull is
 * orange. */
in vec3 normal;
flat in float value;
uniform vec3 sun;
out vec4 shown;

void main() {
  vec3 paint = mix(vec3(0.06, 0.25, 0.62), vec3(0.13, 0.52, 0.60), smoothstep(0.0, 0.6, value));
  paint = mix(paint, vec3(0.79, 0.10, 0.13), smoothstep(0.75, 0.99, value));
  if (value > 1.5) paint = vec3(0.93, 0.49, 0.08);
  shown = vec4(paint * (0.78 + 0.30 * max(dot(normalize(normal), sun), 0.0)), 1.0);
}
