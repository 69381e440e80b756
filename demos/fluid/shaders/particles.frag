/* Particles fade in, so that new ones do not flicker. */
in float age;
uniform vec4 ink;
out vec4 colour;

void main() {
  colour = vec4(ink.rgb, ink.a * smoothstep(0.0, 0.15, age));
}
