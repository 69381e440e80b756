/* Averages nine pixels in one direction, of those at similar depth. */
in vec2 across;
uniform sampler2D openness;
uniform ivec2 along;
out vec2 seen;

void main() {
  ivec2 here = ivec2(gl_FragCoord.xy), last = textureSize(openness, 0) - 1;
  vec2 own = texelFetch(openness, here, 0).xy, slope = vec2(0.0);
  /* On a plane that is seen at an angle the depth changes linearly. */
  float before = texelFetch(openness, max(here - along, ivec2(0)), 0).y;
  float after = texelFetch(openness, min(here + along, last), 0).y;
  float change = abs(before - own.y) < abs(after - own.y) ? own.y - before : after - own.y;
  float sum = 0.0, all = 0.0;
  for (int k = -4; k <= 4; k++) {
    vec2 other = texelFetch(openness, clamp(here + k * along, ivec2(0), last), 0).xy;
    float off = (other.y - own.y - float(k) * change) / (0.02 * own.y);
    float weight = exp(-0.09 * float(k * k) - off * off);
    sum += weight * other.x;
    all += weight;
  }
  seen = vec2(sum / all, own.y);
}
