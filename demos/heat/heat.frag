// Draws the plate over the paper, directly from the texture that holds the solution.
//
// A point of the plate is between four cells. For each of them `cells` has the texel of its unknown in the
// solution's texture, or -1 if the cell is in a hole: the solver sorts rows by their length, so texels are not
// in the plate's order. heat_picture.c does the same on the host.
uniform sampler2D solution;   // one temperature per texel
uniform ivec2 solution_at;    // first texel of the vector
uniform isampler2D cells;     // the texel of each cell's unknown
uniform sampler2D colours;    // from cold to hot
uniform sampler2D paper;      // the rest of the picture, top row first
uniform vec4 plate;           // x, y, width, height in pixels, from the top left corner
uniform vec3 holes[2];        // x, y and radius in cells
uniform float hottest;

out vec4 pixel;

void main() {
  ivec2 size = textureSize(paper, 0);
  vec2 at = vec2(gl_FragCoord.x, float(size.y) - gl_FragCoord.y);
  pixel = texelFetch(paper, ivec2(at), 0);
  vec2 place = (at - plate.xy) / plate.zw;
  if (any(lessThan(place, vec2(0.0))) || any(greaterThan(place, vec2(1.0)))) return;

  ivec2 count = textureSize(cells, 0);
  vec2 point = vec2(place.x, 1.0 - place.y) * vec2(count - 1);
  float pixels_per_cell = plate.w / float(count.y - 1);
  ivec2 low = ivec2(clamp(floor(point), vec2(0.0), vec2(count - 2)));
  vec2 f = point - vec2(low);

  // The four temperatures. Cells in a hole get the mean of the others.
  vec4 t = vec4(0.0), known = vec4(0.0);
  for (int k = 0; k < 4; k++) {
    ivec2 texel = texelFetch(cells, low + ivec2(k & 1, k >> 1), 0).xy;
    if (texel.x < 0) continue;
    t[k] = texelFetch(solution, solution_at + texel, 0).x;
    known[k] = 1.0;
  }
  float present = dot(known, vec4(1.0));
  if (present > 0.0) {
    t = mix(vec4(dot(t, known) / present), t, known);
    float below = mix(t.x, t.y, f.x), above = mix(t.z, t.w, f.x);
    float temperature = mix(below, above, f.y);
    vec2 slope = vec2(mix(t.y - t.x, t.w - t.z, f.y), above - below);

    float steps = float(textureSize(colours, 0).x);
    float v = clamp(temperature / hottest, 0.0, 1.0) * (steps - 1.0);
    pixel = texture(colours, vec2((v + 0.5) / steps, 0.5));

    // Isolines every ten degrees. They fade before they merge.
    float level = temperature / 10.0, nearest = floor(level + 0.5);
    float lines_per_pixel = max(length(slope) / 10.0 / pixels_per_cell, 1e-6);
    float away = abs(level - nearest) / lines_per_pixel;
    float strength = 0.5 * clamp(1.2 - away, 0.0, 1.0) * clamp((1.0 / lines_per_pixel - 4.0) / 6.0, 0.0, 1.0);
    if (nearest > 0.5 && nearest < 9.5) pixel.rgb = mix(pixel.rgb, vec3(nearest < 5.5), strength);
  }

  // The cells around a hole form a staircase. A slightly larger circle covers it.
  for (int k = 0; k < 2; k++) {
    float inside = (holes[k].z + 0.8 - distance(point, holes[k].xy)) * pixels_per_cell;
    pixel.rgb = mix(pixel.rgb, vec3(70.0, 68.0, 76.0) / 255.0, clamp(inside + 0.5, 0.0, 1.0));
    pixel.rgb = mix(pixel.rgb, vec3(206.0, 206.0, 208.0) / 255.0, clamp(inside - 1.2, 0.0, 1.0));
  }
}
