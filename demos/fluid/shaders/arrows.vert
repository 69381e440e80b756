/* Arrows of the velocity. Each has three lines: the shaft and the two sides of the head. */
uniform ivec2 arrows;   /* number of columns and rows */
uniform float longest;  /* an arrow of this speed, in m/s, reaches the next arrow */

void main() {
  int arrow = gl_VertexID / 6, corner = gl_VertexID % 6;
  vec2 place = (vec2(arrow % arrows.x, arrow / arrows.x) + 0.5) / vec2(arrows);
  vec2 cell = place * vec2(cells), reach = vec2(cells) / vec2(arrows);
  vec2 way = vec2(velocity_x(cell), velocity_y(cell)) / longest * min(reach.x, reach.y);
  float extent = length(way), most = 1.5 * min(reach.x, reach.y);
  if (extent > most) way *= most / extent;
  vec2 tip = cell + 0.5 * way, side = vec2(-way.y, way.x);
  vec2 at = tip;
  if (corner == 0) at = cell - 0.5 * way;
  if (corner == 3) at = tip - 0.3 * way + 0.17 * side;
  if (corner == 5) at = tip - 0.3 * way - 0.17 * side;
  gl_Position = vec4(2.0 * at / vec2(cells) - 1.0, 0.0, 1.0);
}
