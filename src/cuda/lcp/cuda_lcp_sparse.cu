/* Storage of sparse complementarity problems. */
#include "cuda_lcp_contacts.cuh"
#include "cuda_lcp_sparse.cuh"

static size_t numbers_of(const tsi_lcp_sparse *s) {
  return (size_t)s->row_start[s->contacts] * (size_t)s->dimension * (size_t)s->width;
}

static size_t diagonal_of(const tsi_lcp_sparse *s) {
  return (size_t)s->contacts * (size_t)s->dimension * (size_t)s->dimension;
}

/* Places the parts in one block of memory. If it is NULL, only returns the required bytes. */
static size_t lay_out(const tsi_lcp_sparse *s, size_t size, lcp_sparse *to, unsigned char *block) {
  const size_t contacts = (size_t)s->contacts, entries = (size_t)s->row_start[s->contacts];
  size_t used = 0;
  to->blocks = lcp_part_of(block, &used, numbers_of(s) * size);
  to->mass_blocks = s->mass_blocks ? lcp_part_of(block, &used, numbers_of(s) * size) : NULL;
  to->diagonal = lcp_part_of(block, &used, diagonal_of(s) * size);
  to->laws = lcp_part_of(block, &used, s->dimension > 1 ? contacts * LCP_LAW * size : 0);
  to->v = lcp_part_of(block, &used, (size_t)s->bodies * (size_t)s->width * size);
  to->exact_v = (double *)lcp_part_of(block, &used, (size_t)s->bodies * (size_t)s->width * 2 * sizeof(double));
  to->words = lcp_part_of(block, &used, (size_t)s->bodies * (size_t)s->width * 4 * size);
  to->row_start = (int *)lcp_part_of(block, &used, (contacts + 1) * sizeof(int));
  to->columns = (int *)lcp_part_of(block, &used, entries * sizeof(int));
  if (!s->mass_blocks) return used;
  to->body_start = (int *)lcp_part_of(block, &used, ((size_t)s->bodies + 1) * sizeof(int));
  to->body_blocks = (int *)lcp_part_of(block, &used, entries * sizeof(int));
  to->body_contacts = (int *)lcp_part_of(block, &used, entries * sizeof(int));
  return used;
}

template <typename T>
static ts_status write_numbers(ts_context *context, const double *numbers, size_t count, void *to) {
  if (sizeof(T) == sizeof(double)) return cuda_upload(context, to, numbers, count * sizeof(T));
  T *made = (T *)tsi_malloc(context, count ? count : 1, sizeof *made);
  if (!made) return tsi_out_of_memory(context, "sparse contacts", count * sizeof *made);
  for (size_t k = 0; k < count; k++) made[k] = (T)numbers[k];
  const ts_status status = cuda_upload(context, to, made, count * sizeof *made);
  tsi_free(context, made);
  return status;
}

/* Sorts the blocks by bodies. */
static void sort_by_bodies(const tsi_lcp_sparse *s, int *start, int *blocks, int *contacts) {
  for (int b = 0; b <= s->bodies; b++) start[b] = 0;
  for (int k = 0; k < s->row_start[s->contacts]; k++) start[s->columns[k] + 1]++;
  for (int b = 0; b < s->bodies; b++) start[b + 1] += start[b];
  for (int c = 0; c < s->contacts; c++)
    for (int k = s->row_start[c]; k < s->row_start[c + 1]; k++) {
      const int at = start[s->columns[k]]++;
      blocks[at] = k, contacts[at] = c;
    }
  for (int b = s->bodies; b > 0; b--) start[b] = start[b - 1];
  start[0] = 0;
}

static ts_status write_bodies(ts_context *context, const tsi_lcp_sparse *s, const lcp_sparse *to) {
  const size_t starts = (size_t)s->bodies + 1, entries = (size_t)s->row_start[s->contacts];
  int *lists = (int *)tsi_malloc(context, starts + 2 * entries, sizeof *lists);
  if (!lists) return tsi_out_of_memory(context, "sparse contacts", (starts + 2 * entries) * sizeof *lists);
  sort_by_bodies(s, lists, lists + starts, lists + starts + entries);
  ts_status status = cuda_upload(context, to->body_start, lists, starts * sizeof(int));
  if (status == TS_OK) status = cuda_upload(context, to->body_blocks, lists + starts, entries * sizeof(int));
  if (status == TS_OK)
    status = cuda_upload(context, to->body_contacts, lists + starts + entries, entries * sizeof(int));
  tsi_free(context, lists);
  return status;
}

/* The numbers of a unit's first contact, which are equal for all of its contacts. */
static int numbers_of_unit(const tsi_lcp_sparse *s, int unit) {
  const int begin = s->unit_start[unit];
  return (s->row_start[begin + 1] - s->row_start[begin]) * s->width;
}

static bool is_wide(const tsi_lcp_sparse *s) {
  bool is = !s->mass_blocks;
  for (int u = 0; u < s->units && !is; u++)
    is = numbers_of_unit(s, u) > 32 || (s->unit_start[u + 1] - s->unit_start[u]) * s->dimension > 32;
  return is;
}

template <typename T>
static __global__ __launch_bounds__(CUDA_THREADS) void reduce(const T *diagonal, int contacts, int dimension,
                                                              T *laws) {
  const int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (c >= contacts) return;
  T law[LCP_LAW] = {}, *W = law + LCP_REDUCED;
  for (int k = 0; k < dimension * dimension; k++) W[k] = diagonal[(size_t)c * dimension * dimension + k];
  lcp_law<T>::lcp_contact_reduce(law, W, dimension);
  for (int k = 0; k < LCP_LAW; k++) laws[(size_t)c * LCP_LAW + k] = law[k];
}

template <typename T>
static ts_status write(ts_context *context, const tsi_lcp_sparse *s, const lcp_sparse *to) {
  TSI_TRY(write_numbers<T>(context, s->blocks, numbers_of(s), to->blocks));
  if (s->mass_blocks) {
    TSI_TRY(write_numbers<T>(context, s->mass_blocks, numbers_of(s), to->mass_blocks));
    TSI_TRY(write_bodies(context, s, to));
  }
  TSI_TRY(write_numbers<T>(context, s->diagonal, diagonal_of(s), to->diagonal));
  if (s->dimension > 1)
    TSI_TRY(cuda_launch(context, "lcp_reduce", reduce<T>, dim3(cuda_blocks_for((size_t)s->contacts)),
                        dim3(CUDA_THREADS), (const T *)to->diagonal, s->contacts, s->dimension, (T *)to->laws));
  const size_t contacts = (size_t)s->contacts, entries = (size_t)s->row_start[s->contacts];
  TSI_TRY(cuda_upload(context, to->row_start, s->row_start, (contacts + 1) * sizeof(int)));
  return cuda_upload(context, to->columns, s->columns, entries * sizeof(int));
}

/* ---- Orders ---- */

static void make_units(const tsi_lcp_sparse *s, const int *order, lcp_unit *units) {
  for (int k = 0; k < s->units; k++) {
    const int unit = order ? order[k] : k, begin = s->unit_start[unit];
    units[k] = {begin, s->unit_start[unit + 1], s->row_start[begin], numbers_of_unit(s, unit)};
  }
}

/* `met`: a counter per body, 0 before. */
static void make_body_orders(const tsi_lcp_sparse *s, const lcp_unit *units, int *met,
                             lcp_body_order *body_orders) {
  for (int k = 0; k < s->units; k++)
    for (int b = 0; b < units[k].numbers / s->width; b++) {
      const int body = s->columns[units[k].block + b];
      body_orders[units[k].block + b] = {body, 0, met[body]++};
    }
  for (int k = 0; k < s->units; k++)
    for (int b = 0; b < units[k].numbers / s->width; b++) {
      lcp_body_order *body_order = body_orders + units[k].block + b;
      body_order->units = met[body_order->body];
    }
}

static ts_status write_order(ts_context *context, const tsi_lcp_sparse *s, bool has_body_orders,
                             const tsi_lcp_steps *steps, const lcp_order *to) {
  const size_t units = (size_t)s->units, body_orders = has_body_orders ? (size_t)s->row_start[s->contacts] : 0;
  const size_t bytes = units * sizeof(lcp_unit) + body_orders * sizeof(lcp_body_order);
  lcp_unit *made = (lcp_unit *)tsi_calloc(context, bytes + (size_t)s->bodies * sizeof(int), 1);
  if (!made) return tsi_out_of_memory(context, "an order of contacts", bytes);
  lcp_body_order *of_blocks = (lcp_body_order *)(made + units);
  make_units(s, steps ? steps->units : NULL, made);
  if (has_body_orders) make_body_orders(s, made, (int *)(of_blocks + body_orders), of_blocks);
  const ts_status status = cuda_upload(context, to->units, made, bytes);
  tsi_free(context, made);
  TSI_TRY(status);
  return steps ? cuda_upload(context, to->start, steps->start, ((size_t)steps->count + 1) * sizeof(int))
               : TS_OK;
}

static ts_status make_order(ts_context *context, const tsi_lcp_sparse *s, bool has_body_orders,
                            const tsi_lcp_steps *steps, lcp_order *order) {
  const size_t units = (size_t)s->units * sizeof(lcp_unit);
  const size_t body_orders = has_body_orders ? (size_t)s->row_start[s->contacts] * sizeof(lcp_body_order) : 0;
  lcp_order made = {};
  made.steps = steps ? steps->count : 1;
  made.bytes = units + body_orders + ((size_t)made.steps + 1) * sizeof(int);
  TSI_TRY(cuda_alloc(context, &made.block, made.bytes, "an order of contacts"));
  made.units = (lcp_unit *)made.block;
  made.body_orders = (lcp_body_order *)((unsigned char *)made.block + units);
  if (steps) made.start = (int *)((unsigned char *)made.body_orders + body_orders);
  for (int k = 0; steps && k < steps->count; k++)
    if (steps->start[k + 1] - steps->start[k] > made.most) made.most = steps->start[k + 1] - steps->start[k];
  const ts_status status = write_order(context, s, has_body_orders, steps, &made);
  if (status < 0) {
    cuda_free(context, made.block, made.bytes);
    return status;
  }
  *order = made;
  return TS_OK;
}

ts_status cuda_lcp_order_of(const ts_lcp *lcp, ts_lcp_scheme scheme, lcp_sparse *sparse,
                            const lcp_order **out) {
  const bool is_row = scheme == TS_LCP_SCHEME_ROW;
  lcp_order *order = is_row                           ? &sparse->own
                     : scheme == TS_LCP_SCHEME_COLOUR ? &sparse->colours
                                                      : &sparse->levels;
  const tsi_lcp_steps *steps = NULL;
  *out = order;
  if (order->block) return TS_OK;
  if (!is_row) TSI_TRY(tsi_lcp_steps_of(lcp, scheme, &steps));
  return make_order(lcp->context, lcp->sparse, !sparse->is_wide, steps, order);
}

/* ---- Creation and destruction ---- */

void cuda_lcp_forget_sparse(ts_context *context, lcp_sparse *sparse) {
  cuda_free(context, sparse->own.block, sparse->own.bytes);
  cuda_free(context, sparse->levels.block, sparse->levels.bytes);
  cuda_free(context, sparse->colours.block, sparse->colours.bytes);
  cuda_free(context, sparse->block, sparse->bytes);
  *sparse = {};
}

ts_status cuda_lcp_write_sparse(const ts_lcp *lcp, const tsi_lcp_sparse *s, lcp_sparse *to) {
  ts_context *context = lcp->context;
  const size_t size = lcp->is_double ? sizeof(double) : sizeof(float);
  lcp_sparse made = {};
  made.bytes = lay_out(s, size, &made, NULL);
  TSI_TRY(cuda_alloc(context, &made.block, made.bytes, "sparse contacts"));
  lay_out(s, size, &made, (unsigned char *)made.block);
  made.is_wide = is_wide(s);
  const ts_status status = lcp->is_double ? write<double>(context, s, &made) : write<float>(context, s, &made);
  if (status < 0) {
    cuda_free(context, made.block, made.bytes);
    return status;
  }
  cuda_lcp_forget_sparse(context, to);
  *to = made;
  return TS_OK;
}
