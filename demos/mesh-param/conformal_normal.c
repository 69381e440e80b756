#include "conformal_normal.h"

#include <math.h>

#include "conformal.h"

static const double rounding = 1e-13;

static int32_t add(const unsigned char *pinned, int32_t vertex, int part, double number, int32_t at,
                   sparse *A) {
  if (pinned[vertex]) return at;
  A->column[at] = 2 * vertex + part;
  A->value[at] = number;
  return at + 1;
}

/* Conditions by the roots of their weights, and below them a row of the identity for each pinned unknown. */
static int state(const mesh *m, const charts *c, const unsigned char *pinned, sparse *A) {
  int32_t rows = 2 * m->triangle_count, row = 0, at = 0;
  for (int32_t v = 0; v < c->vertices; v++) rows += pinned[v] ? 2 : 0;
  if (sparse_create(rows, 2 * c->vertices, 12 * (int64_t)m->triangle_count + rows, A)) return 1;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    const conformal_condition condition = conformal_condition_of(m, t);
    const double root = sqrt(condition.weight);
    for (int part = 0; part < 2; part++) {
      for (int k = 0; k < 3; k++) {
        const int32_t v = c->corner[3 * (size_t)t + (size_t)k];
        const double re = root * condition.re[k], im = root * condition.im[k];
        at = add(pinned, v, 0, part ? im : re, at, A);
        at = add(pinned, v, 1, part ? re : -im, at, A);
      }
      A->offsets[++row] = at;
    }
  }
  for (int32_t i = 0; i < 2 * c->vertices; i++) {
    if (!pinned[i / 2]) continue;
    A->column[at] = i;
    A->value[at++] = 1;
    A->offsets[++row] = at;
  }
  return 0;
}

int conformal_normal(const mesh *m, const charts *c, const unsigned char *pinned, sparse *N) {
  sparse A, At;
  if (state(m, c, pinned, &A)) return 1;
  int failed = sparse_transpose(&A, &At);
  if (!failed) {
    failed = sparse_multiply(&At, &A, N) || sparse_prune(N, rounding);
    sparse_free(&At);
  }
  sparse_free(&A);
  return failed;
}
