/* A light neutral gradient, brightest behind the mesh. */
in vec2 across;
out vec4 colour;

void main() {
  vec2 away = across - vec2(0.5, 0.55);
  float bright = 1.0 - 0.9 * dot(away, away);
  vec3 c = mix(vec3(0.74, 0.77, 0.81), vec3(0.96, 0.965, 0.97), clamp(bright, 0.0, 1.0));
  /* Dither by half a grey level, to hide the steps of 8-bit colours. */
  float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
  colour = vec4(c + noise / 255.0, 1.0);
}
