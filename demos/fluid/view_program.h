/* The programs that a fluid is drawn with, and the samples that they read. */
#ifndef VIEW_PROGRAM_H
#define VIEW_PROGRAM_H

#include "view_fields.h"
#include "view_gl.h"

/* view_gl_program with samples.glsl before both sources. `buffers`: samples lie in buffers, not in textures. */
const char *view_program_use(unsigned *program, view_gl_source vertex, view_gl_source fragment,
                             const char *defines, int buffers, const char *const *samplers);

/* Samples as a sampler reads them, at one of the units. */
void view_program_bind(int unit, const view_texture *t);
/* Where they begin: the uniform `name` of the program in use. */
void view_program_origin(unsigned program, const char *name, const view_texture *t);
/* What velocity_x and velocity_y of samples.glsl need. */
void view_program_velocity(unsigned program, const simulation *s, const view_texture *velocity);

#endif
