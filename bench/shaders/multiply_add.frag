// Multiply-adds: twelve independent chains a = a * b + c, with 16 steps of each per round. The values stay near
// c / (1 - b). One round has 192 multiply-adds.
uniform int rounds;
uniform float b;
uniform float c;
out float result;

void main() {
  vec4 p = vec4(gl_FragCoord.xyxy) * 0.001;
  vec4 q = p + 0.25;
  vec4 s = p + 0.5;
  for (int r = 0; r < rounds; ++r)
    for (int i = 0; i < 16; ++i) {
      p = p * b + c;
      q = q * b + c;
      s = s * b + c;
    }
  result = dot(p + q + s, vec4(1.0));
}
