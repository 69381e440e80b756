#include "mesh_window.h"

#include <stdio.h>
#include <string.h>

void mesh_window_name(mesh_window *m, app *a, const char *name, const char *mesh_ending,
                      const char *picture_ending, const char *output, const char *picture) {
  static const char generated[] = "generated ";
  char stem[MESH_MESSAGE];
  snprintf(m->name, sizeof m->name, "%s", app_file_name(name));
  app_title(a, m->name);
  const size_t skip = strncmp(m->name, generated, sizeof generated - 1) == 0 ? sizeof generated - 1 : 0;
  snprintf(stem, sizeof stem, "%s", m->name + skip);
  char *dot = strrchr(stem, '.');
  if (dot && dot != stem) *dot = 0;
  for (char *c = stem; *c; c++)
    if (*c == ' ' || *c == ':') *c = '-';
  snprintf(m->mesh.path, sizeof m->mesh.path, "%s%s", output ? output : stem, output ? "" : mesh_ending);
  snprintf(a->picture.path, sizeof a->picture.path, "%s%s", picture ? picture : stem,
           picture ? "" : picture_ending);
}

static void add_note(const char *line, void *user) {
  app_tell_more(user, "%s", line);
}

void mesh_window_tell(app *a, const load_report *report, const mesh_repair_words *words, const mesh *loaded) {
  app_tell(a, "%s: %d vertices, %d triangles", app_file_name(report->name), (int)loaded->vertex_count,
           (int)loaded->triangle_count);
  load_describe(report, words, add_note, a);
}

void mesh_window_lines(const mesh_window *m, const mesh *shown, const char *device, view_way way) {
  char text[MESH_MESSAGE + 120];
  snprintf(text, sizeof text, "%s: %d vertices, %d triangles", m->name, (int)shown->vertex_count,
           (int)shown->triangle_count);
  ui_dim_text(text);
  if (device && device[0]) ui_dim_text(device);
  if (view_way_line(way)) ui_dim_text(view_way_line(way));
}

void mesh_window_files(mesh_window *m, app *a, const char *tip, void (*write_mesh)(window_state *w)) {
  if (!ui_section("Files")) return;
  app_open_button(a, "Open ...", 1);
  app_file_field(a, "mesh", &m->mesh, "Export", tip, write_mesh);
  app_picture_field(a);
}

void mesh_window_end(app *a, void (*fit)(window_state *w)) {
  ui_space();
  app_button(a, "Fit", 2, 1, fit);
  ui_same_line();
  app_keys_button(a, 2);
}

int mesh_window_load(app *a, const char *path, int keep_duplicates, mesh *m, load_report *report) {
  const load_options options = {.path = path, .keep_duplicates = keep_duplicates};
  char message[MESH_MESSAGE];
  const int failed = load_mesh(&options, m, NULL, report, message);
  if (failed) app_tell_error(a, message);
  return failed;
}

void mesh_window_tell_error(app *a, const char *path, const char *message) {
  char text[MESH_MESSAGE + APP_PATH];
  snprintf(text, sizeof text, "%s: %s", app_file_name(path), message);
  app_tell_error(a, text);
}

void mesh_window_export(mesh_window *m, app *a, const mesh *shown,
                        int (*write)(window_state *w, const char *path, char message[MESH_MESSAGE])) {
  char message[MESH_MESSAGE];
  if (!app_may_write(a, &m->mesh)) return;
  if (write((window_state *)a, m->mesh.path, message))
    app_tell_error(a, message);
  else
    app_tell(a, "%s: %d vertices, %d triangles%s", m->mesh.path, (int)shown->vertex_count,
             (int)shown->triangle_count, app_written(&m->mesh));
}
