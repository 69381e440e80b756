/* The watched operations on fluids: each must write all of its output and leave the velocity that it reads as
 * it was. */
#include "check/core/check.h"

static const tsi_fluid_ops *inner_of(const ts_vector *v) {
  return check_state_of(v->context)->inner->fluid;
}

static ts_status before(ts_vector *out, const ts_vector *read) {
  TSI_TRY(check_poison(out));
  return check_remember(read);
}

static ts_status after(const char *operation, const ts_vector *out, const ts_vector *read) {
  check_count(out->context, operation);
  TSI_TRY(check_unchanged(operation, read));
  return check_vector(operation, out, 0);
}

static ts_status in_place(const char *operation, const ts_vector *v) {
  check_count(v->context, operation);
  return check_vector(operation, v, 0);
}

ts_status check_fluid_advect(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                             const ts_vector *faces, float dt) {
  TSI_TRY(before(out, velocity));
  TSI_TRY(inner_of(out)->advect(domain, out, velocity, faces, dt));
  return after("fluid_advect", out, velocity);
}

ts_status check_fluid_correct(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                              const ts_vector *faces, const ts_vector *carried, float dt) {
  TSI_TRY(before(out, velocity));
  TSI_TRY(inner_of(out)->correct(domain, out, velocity, faces, carried, dt));
  return after("fluid_correct", out, velocity);
}

ts_status check_fluid_vorticity(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                                const ts_vector *walls) {
  TSI_TRY(before(out, velocity));
  TSI_TRY(inner_of(out)->vorticity(domain, out, velocity, walls));
  return after("fluid_vorticity", out, velocity);
}

ts_status check_fluid_forces(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                             const ts_vector *faces, const ts_vector *dye, const ts_vector *vorticity,
                             const tsi_fluid_forces *forces) {
  TSI_TRY(before(out, velocity));
  TSI_TRY(inner_of(out)->forces(domain, out, velocity, faces, dye, vorticity, forces));
  return after("fluid_forces", out, velocity);
}

ts_status check_fluid_stamp_velocity(const tsi_fluid_domain *domain, ts_vector *velocity,
                                     const ts_vector *faces, const tsi_fluid_stamp *stamp) {
  TSI_TRY(check_remember(faces));
  TSI_TRY(inner_of(velocity)->stamp_velocity(domain, velocity, faces, stamp));
  TSI_TRY(check_unchanged("fluid_stamp_velocity", faces));
  return in_place("fluid_stamp_velocity", velocity);
}

ts_status check_fluid_stamp_dye(const tsi_fluid_domain *domain, ts_vector *dye, const tsi_fluid_stamp *stamp) {
  TSI_TRY(inner_of(dye)->stamp_dye(domain, dye, stamp));
  return in_place("fluid_stamp_dye", dye);
}

ts_status check_fluid_boundary(const tsi_fluid_domain *domain, ts_vector *velocity, const ts_vector *faces) {
  TSI_TRY(check_remember(faces));
  TSI_TRY(inner_of(velocity)->boundary(domain, velocity, faces));
  TSI_TRY(check_unchanged("fluid_boundary", faces));
  return in_place("fluid_boundary", velocity);
}

ts_status check_fluid_divergence(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                                 const ts_vector *walls, const ts_vector *drain, float scale) {
  TSI_TRY(before(out, velocity));
  TSI_TRY(inner_of(out)->divergence(domain, out, velocity, walls, drain, scale));
  return after("fluid_divergence", out, velocity);
}

ts_status check_fluid_project(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                              const ts_vector *faces, const ts_vector *pressure, float dt) {
  TSI_TRY(before(out, velocity));
  TSI_TRY(inner_of(out)->project(domain, out, velocity, faces, pressure, dt));
  return after("fluid_project", out, velocity);
}

ts_status check_fluid_split(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            int component) {
  TSI_TRY(before(out, velocity));
  TSI_TRY(inner_of(out)->split(domain, out, velocity, component));
  return after("fluid_split", out, velocity);
}

ts_status check_fluid_merge(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *u,
                            const ts_vector *v) {
  TSI_TRY(before(out, u));
  TSI_TRY(inner_of(out)->merge(domain, out, u, v));
  return after("fluid_merge", out, u);
}

ts_status check_fluid_transport(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *dye,
                                const ts_vector *velocity, const ts_vector *walls, const ts_vector *carried,
                                const tsi_fluid_transport *transport) {
  TSI_TRY(before(out, dye));
  TSI_TRY(inner_of(out)->transport(domain, out, dye, velocity, walls, carried, transport));
  return after("fluid_transport", out, dye);
}

ts_status check_fluid_particles(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *particles,
                                const ts_vector *velocity, const ts_vector *walls,
                                const tsi_fluid_particles *step) {
  TSI_TRY(before(out, particles));
  TSI_TRY(inner_of(out)->particles(domain, out, particles, velocity, walls, step));
  return after("fluid_particles", out, particles);
}

ts_status check_fluid_speed(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            const ts_vector *walls) {
  TSI_TRY(before(out, velocity));
  TSI_TRY(inner_of(out)->speed(domain, out, velocity, walls));
  return after("fluid_speed", out, velocity);
}
