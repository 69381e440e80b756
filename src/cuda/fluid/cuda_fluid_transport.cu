/* Quantities that a fluid transports: dye and temperature in cells, particles anywhere. */
#include "cuda_fluid.cuh"

/* ---- Dye ---- */

struct dye_sample {
  float4 value, low, high;
};

FLUID_INLINE float4 lower(float4 a, float4 b) {
  return make_float4(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z), fminf(a.w, b.w));
}

FLUID_INLINE float4 higher(float4 a, float4 b) {
  return make_float4(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w));
}

template <int side> FLUID_INLINE float part_inside(const tsi_fluid_domain &d, float beyond) {
  return tsi_fluid_is_open(&d, side) ? 1 - fminf(beyond, 1) : 1;
}

FLUID_INLINE dye_sample sample_dye(const tsi_fluid_domain &d, const float4 *dye, float2 p) {
  const fluid_axis x = fluid_locate(p.x - 0.5f, d.width - 1, d.periodic_x);
  const fluid_axis y = fluid_locate(p.y - 0.5f, d.height - 1, d.periodic_y);
  const float inside = part_inside<TSI_LEFT>(d, x.below) * part_inside<TSI_RIGHT>(d, x.above) *
                       part_inside<TSI_BOTTOM>(d, y.below) * part_inside<TSI_TOP>(d, y.above);
  const float4 *south = dye + y.first * d.width, *north = dye + y.second * d.width;
  const float4 sw = __ldg(south + x.first), se = __ldg(south + x.second);
  const float4 nw = __ldg(north + x.first), ne = __ldg(north + x.second);
  return {inside * fluid_mix(fluid_mix(sw, se, x.fraction), fluid_mix(nw, ne, x.fraction), y.fraction),
          lower(lower(sw, se), lower(nw, ne)), higher(higher(sw, se), higher(nw, ne))};
}

struct transport_job {
  const float2 *velocity, *walls;
  const float4 *dye, *carried; /* carried: NULL: no correction */
  float cells, color_left, temperature_left;
};

/* Walls have the mean of the surrounding fluid, so that interpolation next to them loses nothing. */
FLUID_INLINE float4 dye_of_wall(const tsi_fluid_domain &d, const transport_job &job, int i, int j) {
  float4 sum = make_float4(0, 0, 0, 0);
  float count = 0;
#pragma unroll
  for (int side = 0; side < 4; side++) {
    int x = i + (side == TSI_RIGHT) - (side == TSI_LEFT), y = j + (side == TSI_TOP) - (side == TSI_BOTTOM);
    if (d.periodic_x) x = fluid_nearest(x, d.width, 1);
    if (d.periodic_y) y = fluid_nearest(y, d.height, 1);
    if (x < 0 || x >= d.width || y < 0 || y >= d.height) continue;
    const int k = y * d.width + x;
    if (__ldg(&job.walls[k].x) != 0) continue;
    sum = sum + __ldg(job.dye + k);
    count += 1;
  }
  if (count == 0) return sum;
  return make_float4(sum.x / count, sum.y / count, sum.z / count, sum.w / count);
}

/* Comparisons instead of fminf keep a NaN. */
FLUID_INLINE float limited(float value, float low, float high) {
  return value < low ? low : value > high ? high : value;
}

FLUID_INLINE float4 dye_of_fluid(const tsi_fluid_domain &d, const transport_job &job, int i, int j) {
  const float2 p = make_float2((float)i + 0.5f, (float)j + 0.5f);
  const float2 here = fluid_centre_velocity(d, job.velocity, i, j);
  const float2 from = fluid_trace(d, job.velocity, p, here, job.cells);
  const dye_sample before = sample_dye(d, job.dye, from);
  if (!job.carried) return before.value;
  const int k = j * d.width + i;
  const float4 carried = __ldg(job.carried + k);
  const float2 to = fluid_trace(d, job.velocity, p, here, -job.cells);
  if (fluid_is_outside(d, from) || fluid_is_outside(d, to)) return carried;
  const float4 value = carried + 0.5f * (__ldg(job.dye + k) - sample_dye(d, job.carried, to).value);
  return make_float4(
      limited(value.x, before.low.x, before.high.x), limited(value.y, before.low.y, before.high.y),
      limited(value.z, before.low.z, before.high.z), limited(value.w, before.low.w, before.high.w));
}

__global__ static void transport(const __grid_constant__ tsi_fluid_domain d, float4 *out,
                                 const __grid_constant__ transport_job job) {
  const int i = fluid_i(), j = fluid_j();
  if (i >= d.width || j >= d.height) return;
  const int k = j * d.width + i;
  if (__ldg(&job.walls[k].x) != 0) {
    out[k] = dye_of_wall(d, job, i, j);
    return;
  }
  const float4 v = dye_of_fluid(d, job, i, j);
  out[k] =
      make_float4(job.color_left * v.x, job.color_left * v.y, job.color_left * v.z, job.temperature_left * v.w);
}

ts_status cuda_fluid_transport(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *dye,
                               const ts_vector *velocity, const ts_vector *walls, const ts_vector *carried,
                               const tsi_fluid_transport *step) {
  const transport_job job = {cuda_two(velocity),
                             cuda_two(walls),
                             cuda_four(dye),
                             carried ? cuda_four(carried) : NULL,
                             step->dt / domain->cell_size,
                             step->color_left,
                             step->temperature_left};
  TSI_TRY(cuda_launch(out->context, "fluid_transport", transport, fluid_blocks(domain->width, domain->height),
                      fluid_block(), *domain, cuda_four(out), job));
  return TS_OK;
}

/* ---- Particles ---- */

FLUID_INLINE float random_number(uint32_t seed, uint32_t particle, uint32_t k) {
  return (float)(tsi_fluid_hash(particle + tsi_fluid_hash(seed + k)) >> 8) * 0x1p-24f;
}

FLUID_INLINE float periodic_part(float at, float period) {
  return at - period * floorf(at / period);
}

/* Whether the cell at a position is a wall. The position is in the domain or in a periodic dimension. */
FLUID_INLINE bool is_in_wall(const tsi_fluid_domain &d, const float2 *walls, float2 p) {
  const float w = (float)d.width, h = (float)d.height;
  const float x = fminf(fmaxf(d.periodic_x ? periodic_part(p.x, w) : p.x, 0), w - 1);
  const float y = fminf(fmaxf(d.periodic_y ? periodic_part(p.y, h) : p.y, 0), h - 1);
  return __ldg(&walls[(int)y * d.width + (int)x].x) != 0;
}

__global__ static void move_particles(const __grid_constant__ tsi_fluid_domain d, float4 *out,
                                      const float4 *particles, const float2 *velocity, const float2 *walls,
                                      const tsi_fluid_particles step, uint32_t count) {
  const uint32_t particle = blockIdx.x * blockDim.x + threadIdx.x;
  if (particle >= count) return;
  const float h = d.cell_size;
  const float4 in = particles[particle];
  float2 p = make_float2(in.x / h, in.y / h);
  p = fluid_trace(d, velocity, p, fluid_velocity_at(d, velocity, p), -step.dt / h);
  float age = in.z + step.dt;
  /* Lifetimes vary from 75 % to 125 %, so that the particles do not all restart at once. */
  const float most = step.lifetime * (0.75f + 0.5f * random_number(0, particle, 0));
  if (fluid_is_outside(d, p) || is_in_wall(d, walls, p) || (most > 0 && age >= most)) {
    age = 0;
    for (uint32_t k = 1; k <= 7; k += 2) {
      p.x = (float)d.width * random_number(step.seed, particle, k);
      p.y = (float)d.height * random_number(step.seed, particle, k + 1);
      if (!is_in_wall(d, walls, p)) break;
    }
  }
  if (d.periodic_x) p.x = periodic_part(p.x, (float)d.width);
  if (d.periodic_y) p.y = periodic_part(p.y, (float)d.height);
  const float2 v = fluid_velocity_at(d, velocity, p);
  out[particle] = make_float4(p.x * h, p.y * h, age, sqrtf(v.x * v.x + v.y * v.y));
}

ts_status cuda_fluid_particles(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *particles,
                               const ts_vector *velocity, const ts_vector *walls,
                               const tsi_fluid_particles *step) {
  const size_t count = cuda_count(out) / 4;
  TSI_TRY(cuda_launch(out->context, "fluid_particles", move_particles, cuda_blocks_for(count), CUDA_THREADS,
                      *domain, cuda_four(out), cuda_four(particles), cuda_two(velocity), cuda_two(walls), *step,
                      (uint32_t)count));
  return TS_OK;
}
