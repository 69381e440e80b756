/* A lit body. `pale` fades its colour, so that forces stand out. */
in vec3 normal, point, local;
flat in vec4 colour;
flat in float is_ball;
uniform float pale;
out vec4 shown;

void main() {
  vec3 paint = linear(colour.rgb);
  /* Balls have a band that makes their rolling visible. */
  float edge = fwidth(local.z), band = 1.0 - smoothstep(0.22 - edge, 0.22 + edge, abs(local.z));
  paint = mix(paint, mix(paint, vec3(0.88, 0.86, 0.81), 0.75), is_ball * band);
  paint = mix(paint, vec3(0.80, 0.80, 0.80), pale);
  vec3 c = lit(paint, point, normalize(normal), 1.0 / gl_FragCoord.w, 1.0);
  if (colour.a > 0.5) c += vec3(0.09, 0.07, 0.02);
  shown = vec4(display(c), 1.0);
}
