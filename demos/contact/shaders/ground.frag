/* The ground, with a faint square grid that fades into the background. */
in vec3 point;
uniform vec2 middle;
uniform float reach, grid; /* m */
out vec4 shown;

void main() {
  vec2 at = point.xy / grid, wide = fwidth(at);
  vec2 away = abs(fract(at - 0.5) - 0.5) / wide; /* distance to the nearest lines, in pixels */
  float line = (1.0 - smoothstep(0.3, 1.3, min(away.x, away.y))) * (1.0 - smoothstep(0.05, 0.35, max(wide.x, wide.y)));
  vec3 paint = vec3(0.62, 0.62, 0.615) * (1.0 - 0.13 * line);
  vec3 c = display(lit(paint, point, vec3(0.0, 0.0, 1.0), 1.0 / gl_FragCoord.w, 0.0));
  float far = smoothstep(0.25, 0.95, distance(point.xy, middle) / reach);
  shown = vec4(mix(c, background(), far), 1.0);
}
