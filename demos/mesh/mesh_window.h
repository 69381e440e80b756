/* Parts that the windows of mesh programs share. */
#ifndef MESH_WINDOW_H
#define MESH_WINDOW_H

#include "app.h"
#include "mesh_load.h"
#include "view_shared.h"

/* Files that can be opened, for an app_program. */
#define MESH_FILE_KIND "meshes"
#define MESH_FILE_PATTERNS "*.obj *.ply *.off *.stl *.OBJ *.PLY *.OFF *.STL"

typedef struct mesh_window {
  char name[MESH_MESSAGE];
  app_file mesh; /* the exported file */
} mesh_window;

/* Sets the title. Names files after the mesh, with these endings, unless `output` and `picture` give names. */
void mesh_window_name(mesh_window *m, app *a, const char *name, const char *mesh_ending,
                      const char *picture_ending, const char *output, const char *picture);
/* Shows a note about the opened mesh and its repairs. */
void mesh_window_tell(app *a, const load_report *report, const mesh_repair_words *words, const mesh *loaded);
/* The first lines of the controls, and the section with files. */
void mesh_window_lines(const mesh_window *m, const mesh *shown, const char *device, view_way way);
void mesh_window_files(mesh_window *m, app *a, const char *tip, void (*write_mesh)(window_state *w));
/* The last buttons of the controls. */
void mesh_window_end(app *a, void (*fit)(window_state *w));
/* Loads a mesh. Returns 0, or 1 with the reason in the note. */
int mesh_window_load(app *a, const char *path, int keep_duplicates, mesh *m, load_report *report);
void mesh_window_tell_error(app *a, const char *path, const char *message);
/* Exports the mesh with `write` and shows a note. `write` returns 0, or 1 with one line in `message`. */
void mesh_window_export(mesh_window *m, app *a, const mesh *shown,
                        int (*write)(window_state *w, const char *path, char message[MESH_MESSAGE]));

#endif
