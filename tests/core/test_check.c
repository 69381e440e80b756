/* The check backend finds the faults that it exists for. It wraps a CPU backend with faulty operations, each
 * wrong in one respect, and must report every one of them by name. Around the correct backend it reports
 * nothing, and its counts are those of the calls. */
#include <texsolve/mesh.h>

#include "check/core/check.h"
#include "cpu/core/cpu.h"
#include "helpers.h"
#include "mesh/mesh_operator.h"
#include "mesh_samples.h"

enum { size = 77, components = 3 };

typedef struct fixture {
  ts_context *context;
  ts_matrix *matrix;
  ts_vector *x, *y, *z;
  ts_scalars *slots;
  tsi_ops faulty; /* the check backend uses it after break_backend */
  tsi_mesh_ops faulty_mesh;
} fixture;

static int open_fixture(fixture *f) {
  memset(f, 0, sizeof *f);
  const ts_context_desc desc = {.backend = "check:cpu"};
  if (!CHECK_OK(NULL, ts_context_create(&desc, &f->context))) return 0;
  ref_matrix m = ref_grid(7, 11);
  unsigned char constrained[size] = {0};
  constrained[5] = constrained[40] = 1;
  const ts_matrix_desc matrix_desc = {.csr = ref_csr(&m), .constrained = constrained};
  CHECK_OK(f->context, ts_matrix_create(f->context, &matrix_desc, &f->matrix));
  ref_free(&m);
  if (!f->matrix) return 0;
  float *values = ref_values((size_t)size * components, 1, 1, 2);
  f->x = make_vector(ts_matrix_get_row_space(f->matrix), components, values);
  f->y = make_vector(ts_matrix_get_row_space(f->matrix), components, values);
  f->z = make_vector(ts_matrix_get_row_space(f->matrix), components, values);
  free(values);
  f->slots = make_scalars(f->context, 4);
  f->faulty = *tsi_check_inner(f->context);
  f->faulty_mesh = *f->faulty.mesh;
  f->faulty.mesh = &f->faulty_mesh;
  return f->x && f->y && f->z && f->slots;
}

/* From now on the check backend wraps the operations in f->faulty. */
static void break_backend(fixture *f) {
  ((check_state *)f->context->check)->inner = &f->faulty;
}

static void close_fixture(fixture *f) {
  if (f->context) ((check_state *)f->context->check)->inner = &tsi_cpu_ops;
  ts_scalars_destroy(&f->slots);
  ts_vector_destroy(&f->x);
  ts_vector_destroy(&f->y);
  ts_vector_destroy(&f->z);
  ts_matrix_destroy(&f->matrix);
  if (f->context) CHECK_INT(f->context->bytes_device, 0);
  ts_context_destroy(&f->context);
}

/* ---- Faulty operations: each omits one thing or does one thing too many ---- */

/* Sets one component of one texel. The CPU backend stores texels row by row, so their number is the index. */
static ts_status put(ts_vector *v, int index, int component, float value) {
  float texels[size * components];
  TSI_TRY(tsi_cpu_ops.vector_read(v, texels));
  texels[index * components + component] = value;
  return tsi_cpu_ops.vector_write(v, texels);
}

static float get(const ts_vector *v, int index, int component) {
  float texels[size * components];
  return tsi_cpu_ops.vector_read(v, texels) == TS_OK ? texels[index * components + component] : 0;
}

static ts_status fill_nothing(ts_vector *y, float value) {
  (void)y;
  (void)value;
  return TS_OK;
}

static ts_status multiply_all_but_last(ts_vector *out, const ts_vector *x, const ts_vector *y) {
  const float before = get(out, size - 1, 2);
  TSI_TRY(tsi_cpu_ops.multiply(out, x, y));
  return put(out, size - 1, 2, before);
}

/* Multiplies a term whose coefficient is 0 instead of dropping it. */
static ts_status axpby_reads_dropped(ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b,
                                     const ts_vector *y) {
  if (b.scale != 0) return tsi_cpu_ops.axpby(out, a, x, b, y);
  const float value = a.scale * get(x, 9, 1) + b.scale * get(y, 9, 1);
  TSI_TRY(tsi_cpu_ops.axpby(out, a, x, b, y));
  return put(out, 9, 1, value);
}

static ts_status spmv_constrained(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  TSI_TRY(cpu_format_csr.kind->spmv(y, A, x));
  return put(y, 40, 0, 1.5f);
}

static ts_status reduce_dirty(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x,
                              const ts_vector *y) {
  TSI_TRY(tsi_cpu_ops.reduce(out, index, kind, x, y));
  double values[4];
  TSI_TRY(tsi_cpu_ops.scalars_read_begin(out, index, 1));
  TSI_TRY(tsi_cpu_ops.scalars_read_end(out, values));
  return tsi_cpu_ops.scalars_write(out, index, 1,
                                   (const float[4]){(float)values[0], (float)values[1], (float)values[2], 7});
}

static ts_status reduce_nothing(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x,
                                const ts_vector *y) {
  (void)out, (void)index, (void)kind, (void)x, (void)y;
  return TS_OK;
}

static ts_status vector_create_dirty(ts_vector *v) {
  TSI_TRY(tsi_cpu_ops.vector_create(v));
  return put(v, 3, 1, 0.25f);
}

static void wrong_vector_operations(void) {
  fixture f;
  if (open_fixture(&f)) {
    f.faulty.fill = fill_nothing;
    f.faulty.multiply = multiply_all_but_last;
    f.faulty.axpby = axpby_reads_dropped;
    break_backend(&f);
    CHECK_FAILS(f.context, ts_vector_fill(f.y, 1), TS_ERROR_DEVICE, "fill did not write", "(0, 0)");
    CHECK_FAILS(f.context, ts_vector_multiply(f.z, f.x, f.x), TS_ERROR_DEVICE,
                "multiply did not write component 2", "(76, 0)");
    /* In place, a skipped component keeps its old value, which cannot be recognised. */
    CHECK_OK(f.context, ts_vector_multiply(f.x, f.x, f.x));
    CHECK_FAILS(f.context, ts_vector_axpby(f.z, ts_constant(2), f.x, ts_constant(0)), TS_ERROR_DEVICE,
                "axpby did not write component 1", "(9, 0)");
  }
  close_fixture(&f);
}

static void wrong_products(void) {
  fixture f;
  if (open_fixture(&f)) {
    tsi_matrix_kind faulty = *cpu_format_csr.kind;
    faulty.spmv = spmv_constrained;
    CHECK(((const check_kind *)f.matrix->kind)->inner == cpu_format_csr.kind);
    ((check_kind *)f.matrix->kind)->inner = &faulty;
    CHECK_FAILS(f.context, ts_matrix_multiply(f.y, f.matrix, f.x), TS_ERROR_DEVICE, "spmv left 1.5", "(40, 0)",
                "constrained row");
  }
  close_fixture(&f);
}

static void wrong_reductions(void) {
  fixture f;
  if (open_fixture(&f)) {
    f.faulty.reduce = reduce_dirty;
    break_backend(&f);
    CHECK_FAILS(f.context, ts_vector_sum(f.slots, 2, f.x), TS_ERROR_DEVICE,
                "reduce left 7 in component 3 of slot 2");
    f.faulty.reduce = reduce_nothing;
    CHECK_FAILS(f.context, ts_vector_sum(f.slots, 1, f.x), TS_ERROR_DEVICE,
                "reduce did not write component 0 of slot 1");
  }
  close_fixture(&f);
}

/* ---- Pairs ---- */

static ts_status axpby_high_only(ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b,
                                 const ts_vector *y) {
  ts_vector high = tsi_first_part(out);
  return tsi_cpu_ops.axpby(&high, a, x, b, y);
}

static ts_status multiply_overlapping(ts_vector *out, const ts_vector *x, const ts_vector *y) {
  TSI_TRY(tsi_cpu_ops.multiply(out, x, y));
  return put(out->low, 9, 1, 1e-3f);
}

static ts_status spmv_constrained_low(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  TSI_TRY(cpu_format_csr.kind->spmv(y, A, x));
  return put(y->low, 40, 0, 1.5f);
}

static ts_status reduce_high_only(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x,
                                  const ts_vector *y) {
  ts_scalars high = *out;
  high.low = NULL;
  return tsi_cpu_ops.reduce(&high, index, kind, x, y);
}

static ts_status reduce_overlapping(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x,
                                    const ts_vector *y) {
  TSI_TRY(tsi_cpu_ops.reduce(out, index, kind, x, y));
  return tsi_cpu_ops.scalars_write(out->low, index, 1, (const float[4]){0, 1, 0, 0});
}

static void wrong_pairs(void) {
  fixture f;
  if (open_fixture(&f)) {
    ts_space *space = ts_matrix_get_row_space(f.matrix);
    ts_vector *x = make_parts(space, components, 3, NULL), *y = make_parts(space, components, 3, NULL);
    ts_scalars *slots = make_pair_scalars(f.context, 3);
    CHECK_OK(f.context, ts_vector_fill(x, 1 + 1e-9));
    CHECK_OK(f.context, ts_vector_multiply(y, x, x));
    CHECK_OK(f.context, ts_vector_dot(slots, 0, x, x));
    CHECK_OK(f.context, ts_matrix_multiply(y, f.matrix, x));
    f.faulty.axpby = axpby_high_only;
    f.faulty.multiply = multiply_overlapping;
    f.faulty.reduce = reduce_high_only;
    break_backend(&f);
    CHECK_FAILS(f.context, ts_vector_axpby(y, ts_constant(2), x, ts_constant(0)), TS_ERROR_DEVICE,
                "axpby did not write component 0", "(0, 0)");
    CHECK_FAILS(f.context, ts_vector_multiply(y, x, x), TS_ERROR_DEVICE, "multiply left 0.001 in component 1",
                "(9, 0)", "more than an ulp");
    CHECK_FAILS(f.context, ts_vector_dot(slots, 1, x, x), TS_ERROR_DEVICE,
                "reduce did not write component 0 of slot 1");
    f.faulty.reduce = reduce_overlapping;
    CHECK_FAILS(f.context, ts_vector_dot(slots, 2, x, x), TS_ERROR_DEVICE,
                "reduce left 1 in the low part of component 1 of slot 2");
    tsi_matrix_kind faulty = *cpu_format_csr.kind;
    faulty.spmv = spmv_constrained_low;
    ((check_kind *)f.matrix->kind)->inner = &faulty;
    CHECK_FAILS(f.context, ts_matrix_multiply(y, f.matrix, x), TS_ERROR_DEVICE, "spmv left 1.5", "(40, 0)",
                "constrained row");
    ts_scalars_destroy(&slots);
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
  }
  close_fixture(&f);
}

static void wrong_creation(void) {
  fixture f;
  if (open_fixture(&f)) {
    const size_t bytes = f.context->bytes_device;
    f.faulty.vector_create = vector_create_dirty;
    break_backend(&f);
    ts_vector *v = NULL;
    const ts_vector_desc desc = {.components = components};
    CHECK_FAILS(f.context, ts_vector_create(ts_matrix_get_row_space(f.matrix), &desc, &v), TS_ERROR_DEVICE,
                "vector_create left 0.25", "(3, 0)");
    CHECK(v == NULL);
    CHECK_INT(f.context->bytes_device, bytes);
  }
  close_fixture(&f);
}

/* ---- Meshes ---- */

static ts_status assemble_all_but_one(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                                      float shortest) {
  float *values = ((cpu_matrix *)op->matrix->impl)->values, kept = values[9];
  TSI_TRY(tsi_cpu_ops.mesh->assemble(op, x, scale, factor, shortest));
  if (!isnan(factor)) values[9] = isnan(kept) ? kept : values[9];
  return TS_OK;
}

static ts_status assemble_over_x(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                                 float shortest) {
  TSI_TRY(tsi_cpu_ops.mesh->assemble(op, x, scale, factor, shortest));
  cpu_data(x)[7] += 1;
  return TS_OK;
}

static ts_status force_nothing(ts_vector *g, const tsi_mesh_operator *op, const ts_vector *x, float scale) {
  (void)g, (void)op, (void)x, (void)scale;
  return TS_OK;
}

static void wrong_meshes(void) {
  fixture f;
  mesh_sample m = mesh_sphere(1);
  if (open_fixture(&f)) {
    const ts_mesh_flow_desc desc = {.vertices = m.vertices, .triangles = m.triangles, .triangle_vertices = m.t};
    ts_mesh_flow *flow = NULL;
    CHECK_OK(f.context, ts_mesh_flow_create(f.context, &desc, &flow));
    ts_vector *x = make_vector(ts_mesh_flow_get_space(flow), 3, m.x);
    tsi_check_counts *counts = tsi_check_counts_of(f.context);
    const uint64_t operations = counts->operations;
    CHECK_OK(f.context, ts_mesh_flow_assemble(flow, x, 0.01));
    CHECK_INT(counts->operations - operations, 1);
    f.faulty_mesh.assemble = assemble_all_but_one;
    break_backend(&f);
    CHECK_FAILS(f.context, ts_mesh_flow_assemble(flow, x, 0.01), TS_ERROR_DEVICE,
                "mesh_assemble did not write");
    f.faulty_mesh.assemble = assemble_over_x;
    CHECK_FAILS(f.context, ts_mesh_flow_assemble(flow, x, 0.01), TS_ERROR_DEVICE, "mesh_assemble left",
                "(2, 0)", "only read");
    f.faulty_mesh.assemble = tsi_cpu_ops.mesh->assemble;
    f.faulty_mesh.force = force_nothing;
    CHECK_FAILS(f.context, ts_mesh_flow_step(flow, x, 0.01, NULL), TS_ERROR_DEVICE, "mesh_force did not write");
    ts_vector_destroy(&x);
    ts_mesh_flow_destroy(&flow);
  }
  mesh_free(&m);
  close_fixture(&f);
}

static void right_backend(void) {
  fixture f;
  if (open_fixture(&f)) {
    ts_context *context = f.context;
    tsi_check_counts *counts = tsi_check_counts_of(context);
    REQUIRE(counts != NULL);
    *counts = (tsi_check_counts){0};
    const uint64_t before = context->host_synchronisations;
    CHECK_OK(context, ts_vector_fill(f.y, 2));
    CHECK_OK(context, ts_vector_axpby(f.y, ts_constant(2), f.x, ts_constant(0)));
    CHECK_OK(context, ts_vector_dot(f.slots, 0, f.x, f.y));
    CHECK_INT(counts->since_wait, 3);
    float values[4];
    CHECK_OK(context, ts_scalars_read(f.slots, 0, ts_host(values, 4)));
    CHECK_INT(counts->since_wait, 0);
    CHECK_OK(context, ts_matrix_multiply(f.y, f.matrix, f.x));
    CHECK_OK(context, ts_matrix_residual(f.y, f.y, f.matrix, f.x));
    CHECK_OK(context, ts_context_finish(context));
    CHECK_INT(counts->operations, 5);
    CHECK_INT(counts->longest, 3);
    CHECK_INT(counts->host_synchronisations, 2);
    CHECK_INT(context->host_synchronisations - before, 2);
  }
  close_fixture(&f);
}

/* A new space may be allocated at the address of a destroyed one. The backend must forget the old one's
 * data. */
static void spaces_come_and_go(void) {
  const ts_context_desc desc = {.backend = "check:cpu"};
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  for (int32_t n = 1; n < 40; n += 3) {
    ts_space *space = make_space(context, n);
    ts_vector *v = make_vector(space, 1, NULL);
    CHECK_OK(context, ts_vector_fill(v, 1));
    ts_vector_destroy(&v);
    ts_space_destroy(&space);
  }
  CHECK(((check_state *)context->check)->spaces == NULL);
  ts_context_destroy(&context);
}

static void names(void) {
  ts_context *context = NULL;
  ts_context_desc desc = {.backend = "check:nothing"};
  CHECK_FAILS(NULL, ts_context_create(&desc, &context), TS_ERROR_INVALID_ARGUMENT, "check:nothing");
  desc.backend = "check:cpu:x";
  CHECK_FAILS(NULL, ts_context_create(&desc, &context), TS_ERROR_INVALID_ARGUMENT, "check:cpu:x");
  desc.backend = "check:check:cpu";
  CHECK_FAILS(NULL, ts_context_create(&desc, &context), TS_ERROR_INVALID_ARGUMENT, "check:check:cpu");
  desc.backend = "check:cpu:1";
  CHECK_FAILS(NULL, ts_context_create(&desc, &context), TS_ERROR_UNAVAILABLE, "device 1");
  desc.backend = "cpu";
  CHECK_OK(NULL, ts_context_create(&desc, &context));
  CHECK(tsi_check_counts_of(context) == NULL);
  CHECK(tsi_check_inner(context) == &tsi_cpu_ops);
  ts_context_destroy(&context);
}

TEST_MAIN_ON_HOST(CASES(wrong_vector_operations, wrong_products, wrong_reductions, wrong_pairs, wrong_creation,
                        wrong_meshes, right_backend, spaces_come_and_go, names))
