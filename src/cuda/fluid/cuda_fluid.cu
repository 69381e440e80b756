/* Velocities of a fluid: advection, forces, projection, prescribed values. A thread computes both components at
 * a point. */
#include "cuda_fluid.cuh"

/* A face without a prescribed velocity, and its position. */
struct fluid_face {
  int i, j, point; /* periodic copies are mapped to the original */
  float2 at;
};

template <int component> FLUID_INLINE fluid_face face_at(const tsi_fluid_domain &d, int i, int j) {
  const bool staggered = d.layout == TS_FLUID_LAYOUT_STAGGERED;
  if (d.periodic_x && i == d.width) i = 0;
  if (d.periodic_y && j == d.height) j = 0;
  return {i, j, j * (d.width + 1) + i,
          make_float2((float)i + (staggered && component == 0 ? 0 : 0.5f),
                      (float)j + (staggered && component == 1 ? 0 : 0.5f))};
}

/* Sets every face to its prescribed velocity, or to value.at<component>(domain, face). */
template <typename Value>
__global__ static void for_faces(const __grid_constant__ tsi_fluid_domain d, float2 *out,
                                 const float2 *prescribed, const __grid_constant__ Value value) {
  const int i = fluid_i(), j = fluid_j();
  if (i > d.width || j > d.height) return;
  const int k = j * (d.width + 1) + i;
  float2 result = prescribed[k];
  if (!(result.x < TSI_FLUID_FREE)) result.x = value.template at<0>(d, face_at<0>(d, i, j));
  if (!(result.y < TSI_FLUID_FREE)) result.y = value.template at<1>(d, face_at<1>(d, i, j));
  out[k] = result;
}

template <typename Value>
static ts_status run_stage(const char *name, const tsi_fluid_domain *domain, ts_vector *out,
                           const ts_vector *prescribed, const Value &value) {
  TSI_TRY(cuda_launch(out->context, name, for_faces<Value>, fluid_blocks(domain->width + 1, domain->height + 1),
                      fluid_block(), *domain, cuda_two(out), cuda_two(prescribed), value));
  return TS_OK;
}

/* ---- Advection ---- */

template <int component>
FLUID_INLINE float2 velocity_at_face(const tsi_fluid_domain &d, const float2 *velocity, const fluid_face &f) {
  const float own = fluid_part<component>(__ldg(velocity + f.point));
  const float other = fluid_velocity_sample<1 - component>(d, velocity, f.at).value;
  return component == 0 ? make_float2(own, other) : make_float2(other, own);
}

struct advected {
  const float2 *velocity;
  float cells; /* dt / h */

  template <int component> __device__ float at(const tsi_fluid_domain &d, const fluid_face &f) const {
    const float2 here = velocity_at_face<component>(d, velocity, f);
    const float2 from = fluid_trace(d, velocity, f.at, here, cells);
    return fluid_velocity_sample<component>(d, velocity, from).value;
  }
};

struct corrected {
  const float2 *velocity, *carried;
  float cells;

  template <int component> __device__ float at(const tsi_fluid_domain &d, const fluid_face &f) const {
    const float2 here = velocity_at_face<component>(d, velocity, f);
    const float2 from = fluid_trace(d, velocity, f.at, here, cells);
    const float2 to = fluid_trace(d, velocity, f.at, here, -cells);
    const float ahead = fluid_part<component>(__ldg(carried + f.point));
    if (fluid_is_outside(d, from) || fluid_is_outside(d, to)) return ahead;
    const fluid_sample before = fluid_velocity_sample<component>(d, velocity, from);
    const float returned = fluid_velocity_sample<component>(d, carried, to).value;
    const float value = ahead + 0.5f * (fluid_part<component>(__ldg(velocity + f.point)) - returned);
    /* Comparisons instead of fminf keep a NaN. */
    return value < before.low ? before.low : value > before.high ? before.high : value;
  }
};

ts_status cuda_fluid_advect(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            const ts_vector *prescribed, float dt) {
  const advected value = {cuda_two(velocity), dt / domain->cell_size};
  return run_stage("fluid_advect", domain, out, prescribed, value);
}

ts_status cuda_fluid_correct(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                             const ts_vector *prescribed, const ts_vector *carried, float dt) {
  const corrected value = {cuda_two(velocity), cuda_two(carried), dt / domain->cell_size};
  return run_stage("fluid_correct", domain, out, prescribed, value);
}

/* ---- Forces ---- */

struct forced {
  const float2 *velocity;
  const float4 *dye;
  const float *vorticity; /* NULL: no confinement */
  tsi_fluid_forces forces;

  template <int component> __device__ float in_cell(const tsi_fluid_domain &d, int i, int j) const {
    float force = 0;
    if (component == 1) {
      const float4 here = __ldg(dye + fluid_cell(d, i, j));
      force = forces.buoyancy * here.w - forces.smoke_weight * ((here.x + here.y + here.z) / 3);
    }
    if (vorticity) {
      const float *w = vorticity;
      const float x = fabsf(__ldg(w + fluid_cell(d, i + 1, j))) - fabsf(__ldg(w + fluid_cell(d, i - 1, j)));
      const float y = fabsf(__ldg(w + fluid_cell(d, i, j + 1))) - fabsf(__ldg(w + fluid_cell(d, i, j - 1)));
      const float omega = __ldg(w + fluid_cell(d, i, j));
      const float length = sqrtf(x * x + y * y) + 1e-3f * fabsf(omega);
      if (length > 0) force += forces.confinement * omega * (component == 0 ? y : -x) / length;
    }
    return force;
  }

  template <int component> __device__ float at(const tsi_fluid_domain &d, const fluid_face &f) const {
    const float v = fluid_part<component>(__ldg(velocity + f.point)) + forces.gravity[component];
    const float here = in_cell<component>(d, f.i, f.j);
    if (d.layout == TS_FLUID_LAYOUT_COLLOCATED) return v + here;
    const int horizontal = component == 0;
    return v + 0.5f * (here + in_cell<component>(d, f.i - horizontal, f.j - !horizontal));
  }
};

ts_status cuda_fluid_forces(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            const ts_vector *prescribed, const ts_vector *dye, const ts_vector *vorticity,
                            const tsi_fluid_forces *forces) {
  const forced value = {cuda_two(velocity), cuda_four(dye), vorticity ? cuda_data(vorticity) : NULL, *forces};
  return run_stage("fluid_forces", domain, out, prescribed, value);
}

/* ---- Projection ---- */

struct projected {
  const float2 *velocity, *prescribed;
  const float *pressure;
  float cells;

  /* The pressure beyond cell (i, j) towards `side`. It is the neighbour's, or the cell's own at a boundary or a
   * solid. At an outlet it is the negative of the cell's own, so that the pressure halfway is 0. */
  template <int side> __device__ float beside(const tsi_fluid_domain &d, int i, int j) const {
    const float here = __ldg(pressure + fluid_cell(d, i, j));
    int x = i + (side == TSI_RIGHT) - (side == TSI_LEFT), y = j + (side == TSI_TOP) - (side == TSI_BOTTOM);
    const ts_fluid_boundary_kind kind = d.boundaries[side].kind;
    if ((x < 0 || x >= d.width || y < 0 || y >= d.height) && kind != TS_FLUID_BOUNDARY_PERIODIC)
      return kind == TS_FLUID_BOUNDARY_OUTLET ? -here : here;
    x = fluid_nearest(x, d.width, d.periodic_x);
    y = fluid_nearest(y, d.height, d.periodic_y);
    if (d.layout == TS_FLUID_LAYOUT_COLLOCATED && __ldg(&prescribed[y * (d.width + 1) + x].x) < TSI_FLUID_FREE)
      return here;
    return __ldg(pressure + y * d.width + x);
  }

  template <int component> __device__ float at(const tsi_fluid_domain &d, const fluid_face &f) const {
    constexpr int before = component == 0 ? TSI_LEFT : TSI_BOTTOM, behind = before + 1;
    const float v = fluid_part<component>(__ldg(velocity + f.point));
    if (d.layout == TS_FLUID_LAYOUT_COLLOCATED)
      return v - 0.5f * cells * (beside<behind>(d, f.i, f.j) - beside<before>(d, f.i, f.j));
    /* The face is between cell (i, j) and the previous one; one of them may be outside. */
    const bool is_last = component == 0 ? f.i == d.width : f.j == d.height;
    const int i = f.i - (is_last && component == 0), j = f.j - (is_last && component == 1);
    const float here = __ldg(pressure + fluid_cell(d, i, j));
    if (is_last) return v - cells * (beside<behind>(d, i, j) - here);
    return v - cells * (here - beside<before>(d, i, j));
  }
};

ts_status cuda_fluid_project(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                             const ts_vector *prescribed, const ts_vector *pressure, float dt) {
  const projected value = {cuda_two(velocity), cuda_two(prescribed), cuda_data(pressure),
                           dt / domain->cell_size};
  return run_stage("fluid_project", domain, out, prescribed, value);
}

/* ---- Prescribed values ---- */

__global__ static void boundary(float *velocity, const float *prescribed, size_t count) {
  const size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count && prescribed[k] < TSI_FLUID_FREE) velocity[k] = prescribed[k];
}

ts_status cuda_fluid_boundary(const tsi_fluid_domain *domain, ts_vector *velocity,
                              const ts_vector *prescribed) {
  (void)domain;
  const size_t count = cuda_count(velocity);
  TSI_TRY(cuda_launch(velocity->context, "fluid_boundary", boundary, cuda_blocks_for(count), CUDA_THREADS,
                      cuda_data(velocity), cuda_data(prescribed), count));
  return TS_OK;
}

/* ---- Components ---- */

__global__ static void split(float *out, const float *velocity, int wide, int high, int points) {
  const int i = fluid_i(), j = fluid_j();
  if (i < wide && j < high) out[j * wide + i] = velocity[2 * (j * points + i)];
}

ts_status cuda_fluid_split(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           int component) {
  const tsi_grid *grid = &out->space->grid;
  TSI_TRY(cuda_launch(out->context, "fluid_split", split, fluid_blocks(grid->width, grid->height),
                      fluid_block(), cuda_data(out), cuda_data(velocity) + component, grid->width, grid->height,
                      domain->width + 1));
  return TS_OK;
}

/* Periodic copies: only u has one in the last column, and only v in the last row. */
__global__ static void merge(const __grid_constant__ tsi_fluid_domain d, float2 *out, const float *u,
                             const float *v, int wide, int high) {
  const int i = fluid_i(), j = fluid_j();
  if (i > d.width || j > d.height) return;
  const bool staggered = d.layout == TS_FLUID_LAYOUT_STAGGERED;
  const bool copied_i = i == wide, copied_j = j == high;
  const int from = (copied_j ? 0 : j) * wide + (copied_i ? 0 : i);
  const bool has_u = !copied_j && (!copied_i || staggered), has_v = !copied_i && (!copied_j || staggered);
  out[j * (d.width + 1) + i] = make_float2(has_u ? u[from] : 0, has_v ? v[from] : 0);
}

ts_status cuda_fluid_merge(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *u,
                           const ts_vector *v) {
  const tsi_grid *grid = &u->space->grid;
  TSI_TRY(cuda_launch(out->context, "fluid_merge", merge, fluid_blocks(domain->width + 1, domain->height + 1),
                      fluid_block(), *domain, cuda_two(out), cuda_data(u), cuda_data(v), grid->width,
                      grid->height));
  return TS_OK;
}

const tsi_fluid_ops cuda_fluid_ops = {TSI_FLUID_OPERATIONS(TSI_ENTRY, cuda_fluid_)};
