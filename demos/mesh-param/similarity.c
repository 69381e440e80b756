#include "charts.h"

#include <math.h>
#include <stddef.h>

similarity similarity_fit(const double *from, const double *to, int32_t count) {
  double middle[2] = {0}, wanted[2] = {0}, square = 0, dot = 0, cross = 0;
  for (size_t i = 0; i < 2 * (size_t)count; i++) {
    middle[i % 2] += from[i] / count;
    wanted[i % 2] += to[i] / count;
  }
  for (size_t i = 0; i < 2 * (size_t)count; i += 2) {
    const double x = from[i] - middle[0], y = from[i + 1] - middle[1];
    const double u = to[i] - wanted[0], v = to[i + 1] - wanted[1];
    square += x * x + y * y;
    dot += x * u + y * v;
    cross += x * v - y * u;
  }
  similarity s = {.a = square > 0 ? dot / square : 1, .b = square > 0 ? cross / square : 0};
  if (!(hypot(s.a, s.b) > 0)) s.a = 1;
  s.move[0] = wanted[0] - (s.a * middle[0] - s.b * middle[1]);
  s.move[1] = wanted[1] - (s.b * middle[0] + s.a * middle[1]);
  return s;
}

similarity similarity_then(const similarity *first, const similarity *second) {
  const double *p = first->move;
  return (similarity){.a = second->a * first->a - second->b * first->b,
                      .b = second->b * first->a + second->a * first->b,
                      .move = {second->a * p[0] - second->b * p[1] + second->move[0],
                               second->b * p[0] + second->a * p[1] + second->move[1]}};
}

similarity similarity_inverse(const similarity *s) {
  const double square = s->a * s->a + s->b * s->b, a = s->a / square, b = -s->b / square;
  return (similarity){
      .a = a, .b = b, .move = {-(a * s->move[0] - b * s->move[1]), -(b * s->move[0] + a * s->move[1])}};
}

void similarity_apply(const similarity *s, double *uv, int32_t count) {
  for (int32_t v = 0; v < count; v++) {
    double *p = uv + 2 * (size_t)v;
    const double x = p[0], y = p[1];
    p[0] = s->a * x - s->b * y + s->move[0];
    p[1] = s->b * x + s->a * y + s->move[1];
  }
}

similarity similarity_of_pins(const chart *at, const unsigned char *pinned, const double *uv) {
  double middle[2] = {0}, farthest = 0;
  int32_t count = 0;
  for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++) count += pinned[v] != 0;
  for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++)
    for (size_t k = 0; k < 2 && pinned[v]; k++) middle[k] += uv[2 * (size_t)v + k] / count;
  for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++)
    if (pinned[v])
      farthest = fmax(farthest, hypot(uv[2 * (size_t)v] - middle[0], uv[2 * (size_t)v + 1] - middle[1]));
  return (similarity){.a = farthest > 0 ? farthest : 1, .move = {middle[0], middle[1]}};
}
