/* A disk with a light rim. */
uniform vec3 paint;
out vec4 colour;

void main() {
  float away = length(2.0 * gl_PointCoord - 1.0);
  if (away > 1.0) discard;
  colour = vec4(away > 0.62 ? vec3(1.0) : paint, 1.0);
}
