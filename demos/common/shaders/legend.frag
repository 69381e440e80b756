/* A framed colour bar on a light panel, and text from a texture. */
in vec2 across;
uniform sampler2D colours;
uniform sampler2D text;
uniform int scale;
uniform vec4 bar; /* position in the panel in pixels, from the lower left: left, lower, right, upper */
uniform vec2 panel;
out vec4 colour;

void main() {
  vec2 p = across * panel;
  vec3 ink = vec3(0.16, 0.17, 0.20);
  float dark = texture(text, vec2(across.x, 1.0 - across.y)).r;
  colour = mix(vec4(0.97, 0.97, 0.975, 0.82), vec4(ink, 1.0), dark);
  vec2 outside = max(bar.xy - p, p - bar.zw);
  float away = max(outside.x, outside.y);
  if (away < 1.0) colour = vec4(ink, 1.0);
  if (away < 0.0) {
    float x = (p.y - bar.y) / (bar.w - bar.y);
    colour = vec4(texture(colours, vec2((0.5 + 255.0 * x) / 256.0, scale == 0 ? 0.25 : 0.75)).rgb, 1.0);
  }
}
