/* The textures of sparse complementarity problems: which contacts are drawn at once, the positions of contacts
 * and body velocities, and the numbers. */
#include <string.h>

#include "gl_lcp_sparse.h"

typedef struct maker {
  const ts_lcp *lcp;
  const tsi_lcp_sparse *s;
  gl_lcp_order *order;
  int32_t *memory;   /* the block that holds the arrays below */
  int32_t *sorted;   /* contacts in the order of the steps */
  int32_t *start;    /* step k: sorted[start[k]] .. sorted[start[k + 1] - 1] */
  int32_t *active;   /* units of a colour with contacts left */
  uint32_t *own;     /* per block: its incidence */
  uint32_t *before;  /* per block: the incidence of the body's previous contact */
  uint32_t *last;    /* per body: its last incidence; later, the last one so far */
  int32_t *has_some; /* per body: whether it has an incidence so far */
} maker;

static const char what[] = "the textures of sparse contacts";

static ts_status gl_lcp_sparse_start(maker *m, const ts_lcp *lcp, const tsi_lcp_sparse *s) {
  const size_t contacts = (size_t)s->contacts, bodies = (size_t)s->bodies;
  const size_t blocks = s->mass_blocks ? (size_t)s->row_start[contacts] : 0;
  const size_t numbers = 3 * contacts + 1 + 2 * blocks + 2 * bodies;
  *m = (maker){.lcp = lcp, .s = s};
  m->order = tsi_calloc(lcp->context, 1, sizeof *m->order);
  m->memory = tsi_calloc(lcp->context, numbers, sizeof *m->memory);
  if (!m->order || !m->memory) return tsi_out_of_memory(lcp->context, what, numbers * sizeof *m->memory);
  m->sorted = m->memory, m->start = m->sorted + contacts, m->active = m->start + contacts + 1;
  m->has_some = m->active + contacts;
  m->own = (uint32_t *)(m->has_some + bodies), m->before = m->own + blocks, m->last = m->before + blocks;
  m->order->texels = s->mass_blocks ? (s->width - 1) / 4 + 1 : 1;
  return TS_OK;
}

/* ---- Positions ---- */

/* Contacts of one unit are in consecutive steps. The units of a colour share steps. */
static void sort_contacts(maker *m, const tsi_lcp_steps *colours) {
  const int32_t *unit_start = m->s->unit_start;
  int32_t filled = 0, steps = 0;
  for (int32_t colour = 0; colour < colours->count; colour++) {
    int32_t left = colours->start[colour + 1] - colours->start[colour];
    memcpy(m->active, colours->units + colours->start[colour], (size_t)left * sizeof *m->active);
    for (int32_t k = 0; left > 0; k++) {
      const int32_t count = left;
      m->start[steps++] = filled;
      left = 0;
      for (int32_t i = 0; i < count; i++) {
        const int32_t unit = m->active[i], contact = unit_start[unit] + k;
        m->sorted[filled++] = contact;
        if (contact + 1 < unit_start[unit + 1]) m->active[left++] = unit;
      }
    }
  }
  m->start[steps] = filled;
  m->order->count = steps;
}

/* Places rectangles side by side until a row is full. A rectangle with more texels than a row starts a new
 * row. */
typedef struct packer {
  int width, x, y;
} packer;

static gl_lcp_rectangle pack(packer *p, int count) {
  if (p->x > 0 && p->x + count > p->width) p->x = 0, p->y++;
  gl_lcp_rectangle r = {.x = p->x, .y = p->y, .width = count, .height = 1};
  p->x += count;
  if (count > p->width) {
    r.width = p->width, r.height = (count - 1) / p->width + 1;
    p->x = 0, p->y += r.height;
  }
  return r;
}

static uint32_t place_in(const packer *p, gl_lcp_rectangle r, int k) {
  const int x = r.x + k;
  return (uint32_t)(x % p->width) | (uint32_t)(r.y + x / p->width) << 16;
}

/* Rows of textures with one number per texel. */
static int rows_of(const gl_lcp_order *o, size_t texels) {
  return texels ? (int)((texels - 1) >> o->log2_width) + 1 : 1;
}

static size_t numbered(const gl_lcp_order *o, size_t texels) {
  return (size_t)rows_of(o, texels) << o->log2_width;
}

/* A width for `count` items of `texels` texels each, if at most half of the texels are gaps. */
static int width_for(const maker *m, int64_t count, int texels) {
  int width = 16;
  while ((int64_t)width * width < 4 * count &&
         2 * (int64_t)width * texels <= m->lcp->context->caps.max_texture_size)
    width *= 2;
  return width;
}

static ts_status place_contacts(maker *m) {
  gl_lcp_order *o = m->order;
  packer contacts = {.width = width_for(m, m->s->contacts, m->s->dimension)};
  const size_t places = numbered(o, (size_t)m->s->contacts);
  o->steps = tsi_calloc(m->lcp->context, (size_t)o->count, sizeof *o->steps);
  o->place = tsi_calloc(m->lcp->context, places, sizeof *o->place);
  if (!o->steps || !o->place) return tsi_out_of_memory(m->lcp->context, what, places * sizeof *o->steps);
  for (int k = 0; k < o->count; k++) {
    const int32_t first = m->start[k], count = m->start[k + 1] - first;
    o->steps[k].contacts = pack(&contacts, count);
    for (int32_t i = 0; i < count; i++)
      o->place[m->sorted[first + i]] = place_in(&contacts, o->steps[k].contacts, i);
  }
  o->width = contacts.width;
  o->height = contacts.y + (contacts.x > 0);
  return TS_OK;
}

static void place_incidences(maker *m) {
  gl_lcp_order *o = m->order;
  const int32_t *row_start = m->s->row_start;
  packer incidences = {.width = width_for(m, row_start[m->s->contacts], o->texels)};
  for (int k = 0; k < o->count; k++) {
    int32_t count = 0;
    for (int32_t i = m->start[k]; i < m->start[k + 1]; i++)
      count += row_start[m->sorted[i] + 1] - row_start[m->sorted[i]];
    o->steps[k].incidences = pack(&incidences, count);
    count = 0;
    for (int32_t i = m->start[k]; i < m->start[k + 1]; i++)
      for (int32_t b = row_start[m->sorted[i]]; b < row_start[m->sorted[i] + 1]; b++)
        m->last[m->s->columns[b]] = m->own[b] = place_in(&incidences, o->steps[k].incidences, count++);
  }
  o->incidences_width = incidences.width;
  o->incidences_height = incidences.y + (incidences.x > 0);
}

/* ---- Textures of positions ---- */

/* Creates a texture from `texels` and frees them. */
static ts_status create_filled(const maker *m, GLenum format, int width, int height, void *texels,
                               gl_texture **texture) {
  if (!texels) return tsi_out_of_memory(m->lcp->context, what, (size_t)width * (size_t)height);
  const ts_status status = gl_texture_create(m->lcp->context, format, width, height, what, texture);
  if (status == TS_OK) gl_texture_write(gl_of(m->lcp->context), *texture, 0, 0, width, height, texels);
  tsi_free(m->lcp->context, texels);
  return status;
}

static size_t at(uint32_t place, int width) {
  return (size_t)(place >> 16) * (size_t)width + (place & 0xffff);
}

static ts_status create_contacts(const maker *m) {
  gl_lcp_order *o = m->order;
  const tsi_lcp_sparse *s = m->s;
  uint32_t *texels = tsi_calloc(m->lcp->context, 4 * (size_t)o->width * (size_t)o->height, sizeof *texels);
  for (int32_t c = 0; texels && c < s->contacts; c++) {
    uint32_t *texel = texels + 4 * at(o->place[c], o->width);
    texel[0] = (uint32_t)s->row_start[c];
    texel[1] = (uint32_t)s->row_start[c + 1];
    texel[2] = (uint32_t)c + 1;
  }
  TSI_TRY(create_filled(m, GL_RGBA32UI, o->width, o->height, texels, &o->contacts));
  const int rows = rows_of(o, (size_t)s->contacts);
  TSI_TRY(gl_texture_create(m->lcp->context, GL_R32UI, 1 << o->log2_width, rows, what, &o->places));
  gl_texture_write(gl_of(m->lcp->context), o->places, 0, 0, 1 << o->log2_width, rows, o->place);
  return TS_OK;
}

/* On entry, m->last describes all contacts. It is then updated from the first contact on. */
static ts_status create_incidences(maker *m) {
  gl_lcp_order *o = m->order;
  const size_t numbers = 4 * (size_t)o->incidences_width * (size_t)o->incidences_height;
  uint32_t *texels = tsi_calloc(m->lcp->context, numbers, sizeof *texels);
  for (int32_t i = 0; texels && i < m->s->contacts; i++) {
    const int32_t contact = m->sorted[i];
    for (int32_t b = m->s->row_start[contact]; b < m->s->row_start[contact + 1]; b++) {
      const int32_t body = m->s->columns[b];
      uint32_t *texel = texels + 4 * at(m->own[b], o->incidences_width);
      texel[0] = o->place[contact];
      texel[1] = (uint32_t)b;
      texel[2] = m->before[b] = m->last[body];
      texel[3] = m->has_some[body] ? 1 : 2;
      m->last[body] = m->own[b], m->has_some[body] = 1;
    }
  }
  return create_filled(m, GL_RGBA32UI, o->incidences_width, o->incidences_height, texels, &o->incidences);
}

/* For each block: the position of its factor during a sweep, and the position after a sweep. */
static ts_status create_pointers(const maker *m) {
  gl_lcp_order *o = m->order;
  const size_t blocks = (size_t)m->s->row_start[m->s->contacts];
  uint32_t *texels = tsi_calloc(m->lcp->context, 2 * numbered(o, blocks), sizeof *texels);
  for (size_t b = 0; texels && b < blocks; b++) {
    const int32_t column = m->s->columns[b];
    texels[2 * b] = m->s->mass_blocks ? m->before[b] : o->place[column];
    texels[2 * b + 1] = m->s->mass_blocks ? m->last[column] : o->place[column];
  }
  return create_filled(m, GL_RG32UI, 1 << o->log2_width, rows_of(o, blocks), texels, &o->pointers);
}

/* ---- Textures of numbers ---- */

static ts_status create_blocks(const maker *m, const double *blocks, gl_texture **textures) {
  const gl_lcp_order *o = m->order;
  const size_t width = (size_t)m->s->width, stride = 4 * (size_t)o->texels;
  const size_t rows = (size_t)m->s->row_start[m->s->contacts] * (size_t)m->s->dimension;
  const size_t texels = rows * (size_t)o->texels;
  for (int part = 0; part < gl_lcp_of(m->lcp)->parts; part++) {
    float *numbers = tsi_calloc(m->lcp->context, 4 * numbered(o, texels), sizeof *numbers);
    for (size_t k = 0; numbers && k < rows * width; k++)
      numbers[k / width * stride + k % width] = gl_lcp_part(blocks[k], part);
    TSI_TRY(create_filled(m, GL_RGBA32F, 1 << o->log2_width, rows_of(o, texels), numbers, &textures[part]));
  }
  return TS_OK;
}

static ts_status create_parts(const maker *m, int parts, int width, int height, gl_texture **textures) {
  for (int part = 0; part < parts; part++)
    TSI_TRY(gl_texture_create(m->lcp->context, GL_RGBA32F, width, height, what, &textures[part]));
  return TS_OK;
}

static ts_status create_state(const maker *m, int width, int height, gl_texture **textures) {
  return create_parts(m, gl_lcp_of(m->lcp)->parts, width, height, textures);
}

static ts_status create_states(const maker *m) {
  gl_lcp_order *o = m->order;
  const int parts = m->lcp->context->caps.pairs ? GL_LCP_PARTS : 1; /* target of exact residuals */
  const int has_factors = m->s->mass_blocks != NULL;
  TSI_TRY(create_state(m, o->width * m->s->dimension, o->height, o->diagonal));
  TSI_TRY(create_state(m, o->width, o->height, o->z[0]));
  if (has_factors) {
    TSI_TRY(create_state(m, o->width, o->height, o->z[1]));
    TSI_TRY(create_state(m, o->incidences_width * o->texels, o->incidences_height, o->v));
    if (parts > gl_lcp_of(m->lcp)->parts)
      TSI_TRY(create_parts(m, parts, o->incidences_width * o->texels, o->incidences_height, o->exact_v));
  }
  if (m->lcp->context->caps.texture_barrier) return TS_OK;
  int width = 1, height = 1;
  for (int k = 0; k < o->count; k++) {
    const gl_lcp_rectangle r = has_factors ? o->steps[k].incidences : o->steps[k].contacts;
    if (r.width * o->texels > width) width = r.width * o->texels;
    if (r.height > height) height = r.height;
  }
  return create_parts(m, parts, width, height, o->step);
}

/* A contact's block of M, one texel per row. The texels that remain in the first row hold its mu, or its
 * bounds. */
static void fill_diagonal(const ts_lcp *lcp, const gl_lcp_order *o, int part, float *texels) {
  const tsi_lcp_sparse *s = lcp->sparse;
  const size_t d = (size_t)s->dimension;
  for (size_t c = 0; c < (size_t)s->contacts; c++) {
    float *texel = texels + 4 * d * at(o->place[c], o->width);
    for (size_t k = 0; k < d * d; k++) texel[k / d * 4 + k % d] = gl_lcp_part(s->diagonal[c * d * d + k], part);
    if (d > 1) {
      texel[d] = gl_lcp_part(lcp->friction[c], part);
      continue;
    }
    texel[1] = gl_lcp_part(tsi_lcp_bound(lcp, lcp->lower, c, 0), part);
    texel[2] = gl_lcp_part(tsi_lcp_bound(lcp, lcp->upper, c, (double)INFINITY), part);
  }
}

static ts_status write_diagonal(const ts_lcp *lcp, const gl_lcp_order *o) {
  ts_context *context = lcp->context;
  const int width = o->width * lcp->dimension;
  const size_t numbers = 4 * (size_t)width * (size_t)o->height;
  float *texels = tsi_calloc(context, numbers, sizeof *texels);
  if (!texels) return tsi_out_of_memory(context, what, numbers * sizeof *texels);
  for (int part = 0; part < gl_lcp_of(lcp)->parts; part++) {
    fill_diagonal(lcp, o, part, texels);
    gl_texture_write(gl_of(context), o->diagonal[part], 0, 0, width, o->height, texels);
  }
  tsi_free(context, texels);
  return gl_check(context, "writing sparse contacts");
}

/* ---- Orders ---- */

static void release(const ts_lcp *lcp, gl_lcp_order *o) {
  ts_context *context = lcp->context;
  if (!o) return;
  gl_texture_release(context, o->contacts);
  gl_texture_release(context, o->incidences);
  gl_texture_release(context, o->pointers);
  gl_texture_release(context, o->places);
  for (int part = 0; part < GL_LCP_PARTS; part++) {
    gl_texture_release(context, o->blocks[part]);
    gl_texture_release(context, o->mass_blocks[part]);
    gl_texture_release(context, o->diagonal[part]);
    gl_texture_release(context, o->z[0][part]);
    gl_texture_release(context, o->z[1][part]);
    gl_texture_release(context, o->v[part]);
    gl_texture_release(context, o->exact_v[part]);
    gl_texture_release(context, o->step[part]);
  }
  tsi_free(context, o->steps);
  tsi_free(context, o->place);
  tsi_free(context, o);
}

static ts_status make(maker *m, const tsi_lcp_steps *steps) {
  gl_lcp_order *o = m->order;
  const tsi_lcp_sparse *s = m->s;
  const int64_t blocks = s->row_start[s->contacts];
  int64_t most = blocks * s->dimension * o->texels; /* of texels with one number */
  if (s->contacts > most) most = s->contacts;
  while ((int64_t)1 << (2 * o->log2_width) < most) o->log2_width++;
  sort_contacts(m, steps);
  TSI_TRY(place_contacts(m));
  TSI_TRY(create_contacts(m));
  if (s->mass_blocks) {
    place_incidences(m);
    TSI_TRY(create_incidences(m));
    TSI_TRY(create_blocks(m, s->mass_blocks, o->mass_blocks));
  }
  TSI_TRY(create_pointers(m));
  TSI_TRY(create_blocks(m, s->blocks, o->blocks));
  TSI_TRY(create_states(m));
  return write_diagonal(m->lcp, o);
}

static ts_status gl_lcp_sparse_create(const ts_lcp *lcp, ts_lcp_scheme scheme, gl_lcp_order **order) {
  const tsi_lcp_steps *steps;
  const int is_colour = scheme == TS_LCP_SCHEME_COLOUR;
  TSI_TRY(tsi_lcp_steps_of(lcp, is_colour ? TS_LCP_SCHEME_COLOUR : TS_LCP_SCHEME_GRAPH, &steps));
  maker m;
  ts_status status = gl_lcp_sparse_start(&m, lcp, lcp->sparse);
  if (status == TS_OK) status = make(&m, steps);
  tsi_free(lcp->context, m.memory);
  if (status < 0)
    release(lcp, m.order);
  else
    *order = m.order;
  return status;
}

ts_status gl_lcp_order_of(const ts_lcp *lcp, ts_lcp_scheme scheme, gl_lcp_order **order) {
  gl_lcp_order **kept = &gl_lcp_of(lcp)->orders[scheme != TS_LCP_SCHEME_COLOUR];
  if (!*kept) TSI_TRY(gl_lcp_sparse_create(lcp, scheme, kept));
  *order = *kept;
  return TS_OK;
}

void gl_lcp_forget_sparse(ts_lcp *lcp) {
  gl_lcp *impl = gl_lcp_of(lcp);
  for (int k = 0; k < 2; k++) {
    release(lcp, impl->orders[k]);
    impl->orders[k] = NULL;
  }
}

ts_status gl_lcp_write_sparse(ts_lcp *lcp, tsi_lcp_sparse *sparse) {
  ts_lcp other = *lcp;
  gl_lcp_order *order = NULL;
  other.sparse = sparse;
  TSI_TRY(gl_lcp_sparse_create(&other, TS_LCP_SCHEME_COLOUR, &order));
  gl_lcp_forget_sparse(lcp);
  gl_lcp_of(lcp)->orders[0] = order;
  return TS_OK;
}

ts_status gl_lcp_write_limits_sparse(const ts_lcp *lcp) {
  for (int k = 0; k < 2; k++)
    if (gl_lcp_of(lcp)->orders[k]) TSI_TRY(write_diagonal(lcp, gl_lcp_of(lcp)->orders[k]));
  return TS_OK;
}
