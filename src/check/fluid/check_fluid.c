/* The watched operations on fluids. Each must write all of its output and must not change the velocity that it
 * reads. */
#include "check/core/check.h"

static const tsi_fluid_ops *inner_of(const ts_vector *v) {
  return check_state_of(v->context)->inner->fluid;
}

/* An operation that writes all of `out` without reading it, and does not change `read`. */
#define WATCH(name, read, parameters, arguments)                                                               \
  ts_status check_fluid_##name parameters {                                                                    \
    TSI_TRY(check_poison(out));                                                                                \
    TSI_TRY(check_remember(read));                                                                             \
    TSI_TRY(inner_of(out)->name arguments);                                                                    \
    check_count(out->context, "fluid_" #name);                                                                 \
    TSI_TRY(check_unchanged("fluid_" #name, read));                                                            \
    return check_vector("fluid_" #name, out, 0);                                                               \
  }

WATCH(advect, velocity,
      (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *prescribed,
       float dt),
      (domain, out, velocity, prescribed, dt))
WATCH(correct, velocity,
      (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *prescribed,
       const ts_vector *carried, float dt),
      (domain, out, velocity, prescribed, carried, dt))
WATCH(vorticity, velocity,
      (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *walls),
      (domain, out, velocity, walls))
WATCH(forces, velocity,
      (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *prescribed,
       const ts_vector *dye, const ts_vector *vorticity, const tsi_fluid_forces *forces),
      (domain, out, velocity, prescribed, dye, vorticity, forces))
WATCH(divergence, velocity,
      (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *walls,
       const ts_vector *compatibility, float scale),
      (domain, out, velocity, walls, compatibility, scale))
WATCH(project, velocity,
      (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *prescribed,
       const ts_vector *pressure, float dt),
      (domain, out, velocity, prescribed, pressure, dt))
WATCH(split, velocity,
      (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, int component),
      (domain, out, velocity, component))
WATCH(merge, u, (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *u, const ts_vector *v),
      (domain, out, u, v))
WATCH(transport, dye,
      (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *dye, const ts_vector *velocity,
       const ts_vector *walls, const ts_vector *carried, const tsi_fluid_transport *transport),
      (domain, out, dye, velocity, walls, carried, transport))
WATCH(particles, particles,
      (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *particles, const ts_vector *velocity,
       const ts_vector *walls, const tsi_fluid_particles *step),
      (domain, out, particles, velocity, walls, step))
WATCH(speed, velocity,
      (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *walls),
      (domain, out, velocity, walls))

static ts_status in_place(const char *operation, const ts_vector *v) {
  check_count(v->context, operation);
  return check_vector(operation, v, 0);
}

ts_status check_fluid_stamp_velocity(const tsi_fluid_domain *domain, ts_vector *velocity,
                                     const ts_vector *prescribed, const tsi_fluid_stamp *stamp) {
  TSI_TRY(check_remember(prescribed));
  TSI_TRY(inner_of(velocity)->stamp_velocity(domain, velocity, prescribed, stamp));
  TSI_TRY(check_unchanged("fluid_stamp_velocity", prescribed));
  return in_place("fluid_stamp_velocity", velocity);
}

ts_status check_fluid_stamp_dye(const tsi_fluid_domain *domain, ts_vector *dye, const tsi_fluid_stamp *stamp) {
  TSI_TRY(inner_of(dye)->stamp_dye(domain, dye, stamp));
  return in_place("fluid_stamp_dye", dye);
}

ts_status check_fluid_boundary(const tsi_fluid_domain *domain, ts_vector *velocity,
                               const ts_vector *prescribed) {
  TSI_TRY(check_remember(prescribed));
  TSI_TRY(inner_of(velocity)->boundary(domain, velocity, prescribed));
  TSI_TRY(check_unchanged("fluid_boundary", prescribed));
  return in_place("fluid_boundary", velocity);
}
