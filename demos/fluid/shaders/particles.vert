/* Particles as points, at the places that their texture holds. */
uniform sampler2D particles;
uniform ivec2 particles_origin;
uniform int columns;
uniform vec2 domain; /* in metres */
uniform float size;  /* in pixels */
out float age;

void main() {
  vec4 here = texelFetch(particles, particles_origin + ivec2(gl_VertexID % columns, gl_VertexID / columns), 0);
  age = here.z;
  gl_Position = vec4(2.0 * here.xy / domain - 1.0, 0.0, 1.0);
  gl_PointSize = size;
}
