// Display passes of the fluid: bodies of fragment shaders for painter.js. The flow itself is computed by the library.

/** The library's staggered velocity and its pressure, at the centres of cells: (u, v, pressure, vorticity). */
export const CENTRES = `
uniform sampler2D velocity, pressure;
uniform ivec2 velocityOrigin, pressureOrigin, cells;
uniform float cellSize;
out vec4 result;
vec2 faces(ivec2 cell) { return texelFetch(velocity, velocityOrigin + clamp(cell, ivec2(0), cells), 0).rg; }
vec2 centre(ivec2 cell) {
  cell = clamp(cell, ivec2(0), cells - 1);
  return 0.5 * (faces(cell) + vec2(faces(cell + ivec2(1, 0)).x, faces(cell + ivec2(0, 1)).y));
}
void main() {
  ivec2 cell = ivec2(gl_FragCoord.xy);
  float curl = centre(cell + ivec2(1, 0)).y - centre(cell - ivec2(1, 0)).y
             - centre(cell + ivec2(0, 1)).x + centre(cell - ivec2(0, 1)).x;
  result = vec4(centre(cell), texelFetch(pressure, pressureOrigin + cell, 0).r, curl / (2.0 * cellSize));
}`

/** Fills a new fluid's staggered velocity from the centres of an old one. */
export const FACES = `
uniform sampler2D centres;
uniform vec2 cells, scale;
uniform ivec2 origin;
out vec2 result;
void main() {
  vec2 at = vec2(ivec2(gl_FragCoord.xy) - origin);
  result = scale * vec2(texture(centres, (at + vec2(0.0, 0.5)) / cells).x, texture(centres, (at + vec2(0.5, 0.0)) / cells).y);
}`

/** Dye, carried along the flow: backwards by the midpoint rule, read with a Catmull-Rom filter (or linearly), plus the
 * strokes of this frame. */
export const ADVECT = `
uniform sampler2D dye, centres, walls;
uniform vec2 domain, texel;
uniform float timeStep, keep;
uniform bool sharp;
uniform int strokes;
uniform vec4 segments[16]; // from x, y to x, y in metres
uniform vec4 colours[16];  // r, g, b, radius in metres; a negative radius: dye fills up to the colour instead of adding
out vec4 result;

vec4 linear(vec2 at) { return texture(dye, at); }

// Catmull-Rom by nine linear reads: Sigg and Hadwiger, GPU Gems 2, chapter 20, extended to a filter with negative lobes.
vec4 cubic(vec2 at) {
  vec2 p = at / texel, base = floor(p - 0.5) + 0.5, f = p - base;
  vec2 w0 = f * (-0.5 + f * (1.0 - 0.5 * f)), w1 = 1.0 + f * f * (-2.5 + 1.5 * f);
  vec2 w2 = f * (0.5 + f * (2.0 - 1.5 * f)), w3 = f * f * (-0.5 + 0.5 * f), w12 = w1 + w2;
  vec2 t0 = (base - 1.0) * texel, t3 = (base + 2.0) * texel, t12 = (base + w2 / w12) * texel;
  vec4 sum = linear(vec2(t0.x, t0.y)) * w0.x * w0.y + linear(vec2(t12.x, t0.y)) * w12.x * w0.y
           + linear(vec2(t3.x, t0.y)) * w3.x * w0.y + linear(vec2(t0.x, t12.y)) * w0.x * w12.y
           + linear(t12) * w12.x * w12.y + linear(vec2(t3.x, t12.y)) * w3.x * w12.y
           + linear(vec2(t0.x, t3.y)) * w0.x * w3.y + linear(vec2(t12.x, t3.y)) * w12.x * w3.y
           + linear(t3) * w3.x * w3.y;
  // No new extremes: the centre's four texels bound the result.
  vec4 a = linear(base * texel), b = linear((base + vec2(1.0, 0.0)) * texel);
  vec4 c = linear((base + vec2(0.0, 1.0)) * texel), d = linear((base + 1.0) * texel);
  return clamp(sum, min(min(a, b), min(c, d)), max(max(a, b), max(c, d)));
}

void main() {
  vec2 half_way = uv - 0.5 * timeStep * texture(centres, uv).xy / domain;
  vec2 from = uv - timeStep * texture(centres, half_way).xy / domain;
  vec4 value = (sharp ? cubic(from) : linear(from)) * keep;
  if (any(lessThan(from, vec2(0.0))) || any(greaterThan(from, vec2(1.0)))) value *= 0.0;
  vec2 here = uv * domain;
  for (int i = 0; i < strokes; i++) {
    vec2 a = segments[i].xy, ab = segments[i].zw - a;
    float along = clamp(dot(here - a, ab) / max(dot(ab, ab), 1e-12), 0.0, 1.0);
    vec2 away = (here - a - along * ab) / colours[i].w;
    vec3 dyed = colours[i].rgb * exp(-dot(away, away));
    value.rgb = colours[i].w < 0.0 ? max(value.rgb, dyed) : value.rgb + dyed;
  }
  result = value * (1.0 - smoothstep(0.4, 0.6, texture(walls, uv).r));
}`

/** Bands of colour to comb, as on marbled paper. */
export const BANDS = `
uniform vec2 domain;
uniform float seed;
out vec4 result;
vec3 colourOf(float k) {
  k = mod(k + seed, 5.0);
  if (k < 1.0) return vec3(0.03, 0.10, 0.32);
  if (k < 2.0) return vec3(0.98, 0.52, 0.10);
  if (k < 3.0) return vec3(0.04, 0.46, 0.55);
  if (k < 4.0) return vec3(0.95, 0.86, 0.66);
  return vec3(0.74, 0.08, 0.26);
}
void main() {
  vec2 at = uv * domain;
  float y = 26.0 * at.y + 0.55 * sin(5.0 * at.x + seed) + 0.3 * sin(13.0 * at.x + 2.0 * at.y), k = floor(y), f = y - k;
  float edge = smoothstep(0.0, fwidth(y) * 1.5, f);
  result = vec4(mix(colourOf(k - 1.0), colourOf(k), edge), 0.0);
}`

/** The bright part of the dye, for bloom. */
export const BRIGHT = `
uniform sampler2D source;
uniform vec2 texel;
uniform float threshold;
out vec4 result;
void main() {
  vec3 c = 0.25 * (texture(source, uv + texel * vec2(-1, -1)).rgb + texture(source, uv + texel * vec2(1, -1)).rgb
                 + texture(source, uv + texel * vec2(-1, 1)).rgb + texture(source, uv + texel * vec2(1, 1)).rgb);
  float top = max(c.r, max(c.g, c.b)), over = max(top - threshold, 0.0);
  result = vec4(c * over / (top + 0.2), 1.0);
}`

/** Half the size, by four linear reads. */
export const SHRINK = `
uniform sampler2D source;
uniform vec2 texel;
out vec4 result;
void main() {
  result = 0.25 * (texture(source, uv + texel * vec2(-1, -1)) + texture(source, uv + texel * vec2(1, -1))
                 + texture(source, uv + texel * vec2(-1, 1)) + texture(source, uv + texel * vec2(1, 1)));
}`

/** Twice the size, by a tent of nine reads. */
export const GROW = `
uniform sampler2D source;
uniform vec2 texel;
uniform float weight;
out vec4 result;
void main() {
  vec4 sum = vec4(0.0);
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++)
      sum += texture(source, uv + texel * vec2(x, y)) * float((2 - abs(x)) * (2 - abs(y)));
  result = sum * weight / 16.0;
}`

/** The picture: dye with shading and bloom, or a field in colours, and the walls. Dark: dye emits. Light: dye absorbs, as
 * ink on paper. */
export const PICTURE = `
uniform sampler2D dye, bloom, walls, centres;
uniform vec2 texel, wallTexel, pixels;
uniform float shading, glow, scale;
uniform int field; // 0 dye, 1 speed, 2 pressure, 3 vorticity
uniform bool light;
uniform vec3 paper;
out vec4 result;

float tall(vec2 at) {
  vec3 c = texture(dye, at).rgb;
  return log2(1.0 + 3.0 * dot(c, vec3(0.3, 0.5, 0.2)));
}

// Dark to bright through violet and orange; steps of equal lightness.
vec3 heat(float x) {
  x = clamp(x, 0.0, 1.0);
  vec3 c = vec3(0.02, 0.015, 0.06) + x * (vec3(0.9, 0.1, 1.7) + x * (vec3(2.9, 1.1, -4.9) + x * vec3(-2.85, -0.25, 3.45)));
  return clamp(c, 0.0, 1.0);
}

// Blue below 0, red above.
vec3 signs(float x) {
  x = x / (1.0 + abs(x));
  vec3 zero = light ? paper : vec3(0.05, 0.06, 0.08);
  vec3 end = x < 0.0 ? vec3(0.15, 0.45, 0.95) : vec3(0.95, 0.35, 0.12);
  return mix(zero, end, pow(abs(x), 0.8));
}

vec3 fieldColour() {
  vec4 value = texture(centres, uv);
  if (field == 1) return heat(length(value.xy) * scale / (1.0 + length(value.xy) * scale));
  return field == 2 ? signs(value.z * scale) : signs(value.w * scale);
}

vec3 dyeColour() {
  vec3 c = texture(dye, uv).rgb, around = texture(bloom, uv).rgb * glow;
  vec2 slope = vec2(tall(uv + vec2(texel.x, 0.0)) - tall(uv - vec2(texel.x, 0.0)),
                    tall(uv + vec2(0.0, texel.y)) - tall(uv - vec2(0.0, texel.y)));
  vec3 normal = normalize(vec3(-slope * shading, 0.25));
  vec3 sun = normalize(vec3(-0.45, 0.65, 0.7));
  float diffuse = clamp(0.38 + 0.88 * dot(normal, sun), 0.0, 1.25);
  float shine = pow(max(dot(reflect(-sun, normal), vec3(0.0, 0.0, 1.0)), 0.0), 22.0);
  float amount = max(c.r, max(c.g, c.b));
  diffuse = mix(1.0, diffuse, min(shading * 4.0, 1.0) * min(amount * 2.0, 1.0));
  if (light) {
    vec3 ink = (amount - c) * 1.5 + 0.10 * amount + 0.35 * (max(around.r, max(around.g, around.b)) - around);
    vec3 washed = paper * exp(-1.35 * ink);
    return washed * mix(1.0, 0.55 + 0.45 * diffuse, min(amount, 1.0)) + shine * 0.10 * min(amount, 1.0);
  }
  vec3 lit = c * diffuse + shine * 0.16 * sqrt(c) * min(shading * 4.0, 1.0) + around;
  float top = max(lit.r, max(lit.g, lit.b));
  lit *= (1.0 - exp(-1.25 * top)) / max(top, 1e-4); // hue stays, brightness saturates
  lit = mix(lit, vec3(max(lit.r, max(lit.g, lit.b))), 0.22 * smoothstep(1.2, 4.0, top));
  return paper + lit * (1.0 - paper);
}

void main() {
  vec3 c = field == 0 ? dyeColour() : fieldColour();
  float wall = texture(walls, uv).r;
  vec2 edge = vec2(texture(walls, uv + vec2(wallTexel.x, 0.0)).r - texture(walls, uv - vec2(wallTexel.x, 0.0)).r,
                   texture(walls, uv + vec2(0.0, wallTexel.y)).r - texture(walls, uv - vec2(0.0, wallTexel.y)).r);
  float width = max(fwidth(wall), 1e-3), inside = smoothstep(0.5 - width, 0.5 + width, wall);
  float bevel = dot(edge, normalize(vec2(0.5, -0.8)));
  vec3 stone = (light ? vec3(0.40, 0.42, 0.47) : vec3(0.17, 0.19, 0.24)) * (1.0 + (light ? 0.5 : 0.9) * bevel);
  if (!light) stone += texture(bloom, uv).rgb * glow * 0.5;
  c = mix(c * (1.0 - 0.35 * smoothstep(0.05, 0.5, wall) * (1.0 - inside)), stone, inside);
  if (!light) {
    vec2 out_ = uv * 2.0 - 1.0;
    c *= 1.0 - 0.10 * dot(out_, out_);
  }
  // Less than one step of 8 bits, so that soft gradients have no bands (Jimenez 2014, interleaved gradient noise).
  float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
  result = vec4(c + (noise - 0.5) / 255.0, 1.0);
}`
