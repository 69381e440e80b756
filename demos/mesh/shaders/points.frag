/* A disc with a dark edge; a marked one also has a light ring. */
flat in vec3 inside;
flat in float ring;
out vec4 colour;

void main() {
  float r = 1.6 * length(2.0 * gl_PointCoord - 1.0); /* the disc's radius is 1 */
  float soft = fwidth(r);
  vec3 c = mix(inside, vec3(0.08), smoothstep(0.7, 0.7 + soft, r));
  if (ring > 0.5) c = mix(c, vec3(1.0), smoothstep(1.0, 1.0 + soft, r));
  float last = ring > 0.5 ? 1.5 : 1.0;
  colour = vec4(c, 1.0 - smoothstep(last - soft, last, r));
}
