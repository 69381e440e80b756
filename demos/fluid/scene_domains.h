/* The scenes themselves: what scene.c lists. Every domain is one metre high. */
#ifndef SCENE_DOMAINS_H
#define SCENE_DOMAINS_H

#include "scene.h"

/* Fills in what differs from a closed box of fluid at rest. Returns 0, or 1 without memory. */
typedef int scene_domain_fn(scene_setup *setup);
typedef int scene_splats_fn(const scene_setup *setup, int step, scene_splat *splats, int most);

scene_domain_fn scene_splat_domain, scene_step_domain, scene_cylinder_domain, scene_smoke_domain,
    scene_cavity_domain;
scene_splats_fn scene_splat_script, scene_step_push, scene_cylinder_push, scene_smoke_push;

#endif
