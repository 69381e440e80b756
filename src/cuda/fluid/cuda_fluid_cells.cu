/* A fluid's fields in cells: divergence, vorticity, speed. One thread per cell. */
#include "cuda_fluid.cuh"

/* Sets every cell: 0 in walls, otherwise value(domain, i, j, index of the cell). */
template <typename Value>
__global__ static void for_cells(const __grid_constant__ tsi_fluid_domain d, float *out, const float2 *walls,
                                 const __grid_constant__ Value value) {
  const int i = fluid_i(), j = fluid_j();
  if (i >= d.width || j >= d.height) return;
  const int k = j * d.width + i;
  out[k] = __ldg(&walls[k].x) != 0 ? 0 : value.at(d, i, j, k);
}

template <typename Value>
static ts_status run_cells(const char *name, const tsi_fluid_domain *domain, ts_vector *out,
                           const ts_vector *walls, const Value &value) {
  TSI_TRY(cuda_launch(out->context, name, for_cells<Value>, fluid_blocks(domain->width, domain->height),
                      fluid_block(), *domain, cuda_data(out), cuda_two(walls), value));
  return TS_OK;
}

/* ---- Divergence ---- */

struct divergence {
  const float2 *velocity, *walls;
  const float *compatibility; /* may be NULL */
  float scale;

  /* Collocated: the velocity beyond cell (i, j) towards `side`. A wall or a solid has its velocity halfway to
   * the neighbour. */
  template <int side> __device__ float2 beside(const tsi_fluid_domain &d, int i, int j) const {
    const float2 here = __ldg(velocity + j * (d.width + 1) + i);
    int x = i + (side == TSI_RIGHT) - (side == TSI_LEFT), y = j + (side == TSI_TOP) - (side == TSI_BOTTOM);
    const ts_fluid_boundary s = d.boundaries[side];
    if ((x < 0 || x >= d.width || y < 0 || y >= d.height) && s.kind != TS_FLUID_BOUNDARY_PERIODIC) {
      if (s.kind == TS_FLUID_BOUNDARY_WALL)
        return make_float2(2 * s.velocity[0] - here.x, 2 * s.velocity[1] - here.y);
      if (s.kind == TS_FLUID_BOUNDARY_OUTLET) return here;
      return side / 2 == 0 ? make_float2(-here.x, here.y) : make_float2(here.x, -here.y);
    }
    x = fluid_nearest(x, d.width, 1);
    y = fluid_nearest(y, d.height, 1);
    const float2 there = __ldg(velocity + y * (d.width + 1) + x);
    if (__ldg(&walls[y * d.width + x].x) == 0) return there;
    return make_float2(2 * there.x - here.x, 2 * there.y - here.y);
  }

  /* The divergence times h. */
  __device__ float differences(const tsi_fluid_domain &d, int i, int j) const {
    if (d.layout == TS_FLUID_LAYOUT_STAGGERED) {
      const float2 *at = velocity + j * (d.width + 1) + i;
      const float2 here = __ldg(at);
      return (__ldg(&at[1].x) - here.x) + (__ldg(&at[d.width + 1].y) - here.y);
    }
    return 0.5f * ((beside<TSI_RIGHT>(d, i, j).x - beside<TSI_LEFT>(d, i, j).x) +
                   (beside<TSI_TOP>(d, i, j).y - beside<TSI_BOTTOM>(d, i, j).y));
  }

  __device__ float at(const tsi_fluid_domain &d, int i, int j, int k) const {
    return scale * (differences(d, i, j) / d.cell_size - (compatibility ? __ldg(compatibility + k) : 0));
  }
};

ts_status cuda_fluid_divergence(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                                const ts_vector *walls, const ts_vector *compatibility, float scale) {
  const divergence value = {cuda_two(velocity), cuda_two(walls),
                            compatibility ? cuda_data(compatibility) : NULL, scale};
  return run_cells("fluid_divergence", domain, out, walls, value);
}

/* ---- Vorticity and speed ---- */

struct vorticity {
  const float2 *velocity;

  __device__ float at(const tsi_fluid_domain &d, int i, int j, int) const {
    const float v =
        fluid_centre_velocity(d, velocity, i + 1, j).y - fluid_centre_velocity(d, velocity, i - 1, j).y;
    const float u =
        fluid_centre_velocity(d, velocity, i, j + 1).x - fluid_centre_velocity(d, velocity, i, j - 1).x;
    return 0.5f * (v - u) / d.cell_size;
  }
};

struct speed {
  const float2 *velocity;

  __device__ float at(const tsi_fluid_domain &d, int i, int j, int) const {
    const float2 v = fluid_centre_velocity(d, velocity, i, j);
    return sqrtf(v.x * v.x + v.y * v.y);
  }
};

ts_status cuda_fluid_vorticity(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                               const ts_vector *walls) {
  const vorticity value = {cuda_two(velocity)};
  return run_cells("fluid_vorticity", domain, out, walls, value);
}

ts_status cuda_fluid_speed(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           const ts_vector *walls) {
  const speed value = {cuda_two(velocity)};
  return run_cells("fluid_speed", domain, out, walls, value);
}
