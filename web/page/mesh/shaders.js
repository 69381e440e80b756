// Shaders of the mesh's picture: the surface and its map, and lines.

const VERSION = '#version 300 es\nprecision highp float;\n'

// The map is drawn with the same shader: its places are those of `uv`.
export const SURFACE_VERTEX = `${VERSION}
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 3) in float angle;
uniform mat4 view, projection;
uniform bool isMap;
out vec3 at, facing;
out vec2 place;
out float distortion;
void main() {
  vec4 eye = view * vec4(position, 1.0);
  at = eye.xyz;
  facing = mat3(view) * normal;
  place = uv;
  distortion = angle;
  gl_Position = projection * (isMap ? vec4(uv, 0.0, 1.0) : eye);
}`

export const SURFACE_FRAGMENT = `${VERSION}
uniform int colours;      // 0: plain, 1: checker, 2: angles
uniform float squares;
uniform bool isMap, isDark, isFaceted;
in vec3 at, facing;
in vec2 place;
in float distortion;
out vec4 colour;

// A smooth path through colours: hue by place, so that a square is found on both sides.
vec3 tint(vec2 p) {
  vec3 a = mix(vec3(0.96, 0.43, 0.20), vec3(0.15, 0.62, 0.94), p.x);
  vec3 b = mix(vec3(0.98, 0.80, 0.25), vec3(0.45, 0.30, 0.86), p.x);
  return mix(a, b, p.y);
}

// A checker whose edges are as wide as a pixel; grey where the squares are smaller.
float checker(vec2 p) {
  vec2 width = max(fwidth(p), 1e-6), wave = 2.0 * abs(fract(0.5 * p) - 0.5);
  vec2 sharp = clamp((wave - 0.5) / width, -0.5, 0.5) * 2.0;
  return mix(0.5 - 0.5 * sharp.x * sharp.y, 0.5, smoothstep(0.6, 1.6, max(width.x, width.y)));
}

// From calm to hot: 1, 1.25, 2 and above.
vec3 heat(float ratio) {
  float t = clamp(log2(ratio), 0.0, 1.0);
  vec3 calm = vec3(0.20, 0.62, 0.78), warm = vec3(0.98, 0.84, 0.38), hot = vec3(0.86, 0.16, 0.22);
  return t < 0.32 ? mix(calm, warm, t / 0.32) : mix(warm, hot, (t - 0.32) / 0.68);
}

vec3 paint() {
  if (colours == 2) return heat(distortion);
  if (colours == 1) return tint(place) * mix(0.42, 1.12, checker(place * squares));
  return vec3(0.80, 0.81, 0.84);
}

vec3 shade(vec3 base) {
  vec3 n = isFaceted ? cross(dFdx(at), dFdy(at)) : facing;
  n = normalize(n);
  vec3 eye = normalize(-at);
  bool isInside = !gl_FrontFacing;
  if (isFaceted ? dot(n, eye) < 0.0 : isInside) n = -n;
  vec3 key = normalize(vec3(-0.45, 0.65, 0.75)), rim = normalize(vec3(0.8, 0.25, -0.35));
  float lit = max(dot(n, key), 0.0), sky = 0.5 + 0.5 * n.y;
  float gloss = pow(max(dot(n, normalize(key + eye)), 0.0), 42.0);
  vec3 ambient = mix(vec3(0.23, 0.19, 0.20), vec3(0.40, 0.45, 0.54), sky);
  vec3 light = ambient + vec3(0.84, 0.79, 0.72) * lit + vec3(0.20, 0.30, 0.46) * max(dot(n, rim), 0.0);
  vec3 result = base * light + vec3(0.20) * gloss;
  result += vec3(0.10, 0.14, 0.20) * pow(1.0 - max(dot(n, eye), 0.0), 3.0);
  return isInside ? result * vec3(0.62, 0.55, 0.55) : result;
}

void main() {
  vec3 base = paint();
  colour = vec4(isMap ? mix(base, isDark ? vec3(0.1) : vec3(1.0), colours == 0 ? 0.45 : 0.06) : shade(base), 1.0);
}`

export const LINE_VERTEX = `${VERSION}
layout(location = 0) in vec3 position;
layout(location = 2) in vec2 uv;
uniform mat4 view, projection;
uniform bool isMap;
void main() {
  gl_Position = projection * (isMap ? vec4(uv, 0.0, 1.0) : view * vec4(position, 1.0));
  gl_Position.z -= 0.0004 * gl_Position.w;
}`

export const LINE_FRAGMENT = `${VERSION}
uniform vec4 paint;
out vec4 colour;
void main() { colour = paint; }`

export const BACKDROP_VERTEX = `${VERSION}
out vec2 place;
void main() {
  place = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0;
  gl_Position = vec4(2.0 * place - 1.0, 1.0, 1.0);
}`

export const BACKDROP_FRAGMENT = `${VERSION}
uniform vec3 low, high;
in vec2 place;
out vec4 colour;
void main() {
  float grain = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) - 0.5; // against banding
  float t = length((place - vec2(0.42, 0.60)) * vec2(1.1, 1.0));
  colour = vec4(mix(high, low, smoothstep(0.0, 0.95, t)) + grain / 255.0, 1.0);
}`
