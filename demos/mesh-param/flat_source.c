#include "flat_source.h"

#include <stdlib.h>

/* Number of indices of a one-component vector per texel of GL_R32F, GL_RG32F or GL_RGBA32F. */
static int indices_of_texel(const ts_gl_texture *texture) {
  enum { R32F = 0x822E, RG32F = 0x8230 };
  return texture->internal_format == R32F ? 1 : texture->internal_format == RG32F ? 2 : 4;
}

static const char *find_texels(flat_source *s, ts_vector *places) {
  const size_t count = 4 * (size_t)s->vertices;
  const uint32_t shared_by = (uint32_t)indices_of_texel(&s->texture);
  int32_t *texels = malloc((count + 1) * sizeof *texels);
  if (!texels) return "out of memory";
  const ts_status status = ts_gl_space_get_texels(ts_vector_get_space(places), texels, count);
  for (uint32_t v = 0; v < (uint32_t)s->vertices && status == TS_OK; v++) {
    const int32_t *at = texels + 4 * (size_t)v;
    uint32_t *where = s->where + 4 * (size_t)v;
    for (size_t k = 0; k < 2; k++) where[k] = (uint32_t)at[2 * k] | (uint32_t)at[2 * k + 1] << 16;
    where[2] = 2 * v % shared_by | (2 * v + 1) % shared_by << 4;
  }
  free(texels);
  return status == TS_OK ? NULL : ts_last_error(s->context);
}

/* In linear memory the position is the index. */
static void count_places(flat_source *s) {
  for (uint32_t v = 0; v < (uint32_t)s->vertices; v++) {
    uint32_t *where = s->where + 4 * (size_t)v;
    where[0] = 2 * v;
    where[1] = 2 * v + 1;
    where[2] = 0;
  }
}

const char *flat_source_open(flat_source *s, const flattening *f, ts_context *context, int shared,
                             flattening_places *places) {
  *s = (flat_source){.solved = *places, .context = context, .vertices = f->c.vertices};
  *places = (flattening_places){0};
  if (!s->solved.places) return NULL;
  s->where = malloc(4 * ((size_t)s->vertices + 1) * sizeof *s->where);
  const char *why = s->where ? NULL : "out of memory";
  const ts_status status =
      shared ? ts_gl_vector_get_texture(s->solved.places, &s->texture) : TS_ERROR_UNSUPPORTED;
  if (!why && status == TS_OK)
    why = find_texels(s, s->solved.places);
  else if (!why && status == TS_ERROR_UNSUPPORTED)
    count_places(s);
  else if (!why)
    why = ts_last_error(context);
  for (int32_t k = 0; k < f->c.count && !why; k++)
    for (int32_t v = 0; v < f->c.chart[k].vertices; v++)
      s->where[4 * (size_t)(f->c.chart[k].first_vertex + v) + 3] = (uint32_t)k;
  /* The drawing context sees the texture only after all commands have finished. */
  if (!why && ts_context_finish(context) != TS_OK) why = ts_last_error(context);
  if (why) flat_source_close(s);
  return why;
}

void flat_source_close(flat_source *s) {
  flattening_places_free(&s->solved);
  free(s->where);
  *s = (flat_source){0};
}
