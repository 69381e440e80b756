/* Pictures of a smoother's mesh without a window: from the solution's own texture where the backend is OpenGL,
 * else in an OpenGL context opened for that alone. Functions return 0, or 1 with one line in `message`. */
#ifndef DRAWING_H
#define DRAWING_H

#include "mesh_view.h"
#include "smoother.h"

typedef struct drawing drawing;

int drawing_open(const smoother *s, const mesh_look *look, int width, int height, drawing **out,
                 char message[MESH_MESSAGE]);
void drawing_close(drawing **out); /* before the smoother goes */

/* Draws the mesh as it is now, and into a PNG file unless `path` is NULL. */
int drawing_make(drawing *d, const char *path, char message[MESH_MESSAGE]);
/* How the positions of the last picture came to OpenGL (view_shared.h); NULL before the first one. */
const char *drawing_way(const drawing *d);

#endif
