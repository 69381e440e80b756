/* Draws particles as points. The samples are their positions. */
uniform SAMPLES particles;
uniform ivec2 particles_origin;
uniform int columns;
uniform vec2 domain; /* in metres */
uniform float size;  /* in pixels */
out float age;

void main() {
  vec4 here = sample_at(particles, particles_origin, ivec2(gl_VertexID % columns, gl_VertexID / columns));
  age = here.z;
  gl_Position = vec4(2.0 * here.xy / domain - 1.0, 0.0, 1.0);
  gl_PointSize = size;
}
