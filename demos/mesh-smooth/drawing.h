/* Pictures of a smoother's mesh without a window. If the backend is OpenGL they are drawn from the solution's
 * texture, otherwise in a separate OpenGL context. Functions return 0, or 1 with one line in `message`. */
#ifndef DRAWING_H
#define DRAWING_H

#include "mesh_view.h"
#include "smoother.h"

typedef struct drawing drawing;

int drawing_open(const smoother *s, const mesh_look *look, int width, int height, drawing **out,
                 char message[MESH_MESSAGE]);
void drawing_close(drawing **out); /* call before the smoother is destroyed */

/* Draws the present mesh, and writes it to a PNG file unless `path` is NULL. */
int drawing_make(drawing *d, const char *path, char message[MESH_MESSAGE]);
/* The path of the last picture's positions to OpenGL (view_shared.h); NULL before the first picture. */
const char *drawing_way(const drawing *d);

#endif
