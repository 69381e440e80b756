/* The window of mesh-param: the mesh and its image side by side; pins are picked and moved. */
#ifndef WINDOW_H
#define WINDOW_H

#include "mesh_param.h"

/* Functions return 0, or 1 with one line in `message`. */
int param_window_open(int width, int height, char message[MESH_MESSAGE]); /* 0 x 0: 1400 x 800 */
/* Until the user closes it. A mesh that is dropped on the window replaces the flattening. */
int param_window_run(flattening *f, const char *name, const program_options *options,
                     char message[MESH_MESSAGE]);
void param_window_close(void);

#endif
