#include "mesh_load.h"

#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "mesh_generate.h"
#include "message.h"
#include "progress.h"

void load_resolve(load_options *o, const char *program, const char *otherwise) {
  if (o->path && o->generate)
    arguments_usage("'%.80s' and --generate %.80s are both given, expected one of them", o->path, o->generate);
  char why[MESH_MESSAGE];
  if (o->generate && mesh_can_generate(o->generate, why)) arguments_usage("--generate %s", why);
  if (o->path || o->generate) return;
  if (!otherwise) arguments_usage("no mesh given, expected `%s FILE' or --generate", program);
  o->generate = otherwise;
}

static int read_or_generate(const load_options *o, mesh *m, load_report *report, char message[MESH_MESSAGE]) {
  if (o->path) {
    snprintf(report->name, sizeof report->name, "%.*s", MESH_MESSAGE - 1, o->path);
    return mesh_file_read(o->path, m, &report->file, message);
  }
  snprintf(report->name, sizeof report->name, "generated %.*s", MESH_MESSAGE - 20, o->generate);
  return mesh_generate(o->generate, m, message);
}

/* Adds the file's name to a message of a function that does not know it. */
static void name_file(const load_report *report, char message[MESH_MESSAGE]) {
  char text[2 * MESH_MESSAGE];
  snprintf(text, sizeof text, "%s: %s", report->name, message);
  snprintf(message, MESH_MESSAGE, "%.*s", MESH_MESSAGE - 1, text);
}

int load_mesh(const load_options *options, mesh *m, int32_t **vertex_of_original, load_report *report,
              char message[MESH_MESSAGE]) {
  const mesh_repair_options repair = {.keep_duplicates = options->keep_duplicates};
  *m = (mesh){0};
  if (vertex_of_original) *vertex_of_original = NULL;
  *report = (load_report){0};
  const double begin = seconds_now();
  if (read_or_generate(options, m, report, message)) return 1;
  report->file_vertices = m->vertex_count;
  report->file_triangles = m->triangle_count;
  int failed = mesh_repair(m, &repair, &report->repair, vertex_of_original, message);
  if (!failed && options->noise != 0)
    failed = mesh_add_noise(m, options->noise, (uint64_t)options->seed, message);
  report->seconds = seconds_now() - begin;
  if (!failed) return 0;
  name_file(report, message);
  mesh_destroy(m);
  if (vertex_of_original) {
    free(*vertex_of_original);
    *vertex_of_original = NULL;
  }
  return 1;
}

void load_describe(const load_report *report, const mesh_repair_words *words,
                   void (*print)(const char *line, void *user), void *user) {
  const mesh_file_report *file = &report->file;
  const int merged = (int)report->repair.merged_vertices;
  if (file->polygons)
    mesh_repair_tell(print, user, "%d polygon%s cut into triangles", (int)file->polygons,
                     file->polygons == 1 ? " was" : "s were");
  if (file->crossing)
    mesh_repair_tell(print, user,
                     "%d polygon%s itself or %s no area, so that triangles overlap (the first: face %d)",
                     (int)file->crossing, file->crossing == 1 ? " crosses" : "s cross",
                     file->crossing == 1 ? "has" : "have", (int)file->first_crossing);
  if (file->reduced)
    mesh_repair_tell(print, user, "%d polygon%s corners with a repeated vertex, which were removed",
                     (int)file->reduced, file->reduced == 1 ? " had" : "s had");
  if (file->left_out)
    mesh_repair_tell(print, user, "%d face%s with a repeated vertex in the file %s left out",
                     (int)file->left_out, file->left_out == 1 ? "" : "s", file->left_out == 1 ? "was" : "were");
  if (file->ignored_bytes)
    mesh_repair_tell(print, user, "%lld byte%s after the last triangle of the file %s ignored",
                     (long long)file->ignored_bytes, file->ignored_bytes == 1 ? "" : "s",
                     file->ignored_bytes == 1 ? "was" : "were");
  mesh_repair_describe(&report->repair, words, print, user);
  if (merged)
    mesh_repair_tell(print, user, "a written mesh has %d vertices, %d fewer than the file",
                     (int)report->file_vertices - merged, merged);
}

static void print_note(const char *line, void *user) {
  message_note("%s: %s", (const char *)user, line);
}

void load_note(const load_report *report, const mesh_repair_words *words) {
  char name[MESH_MESSAGE];
  snprintf(name, sizeof name, "%s", report->name);
  load_describe(report, words, print_note, name);
}

json_t *load_repairs(const load_report *report) {
  const mesh_repair_report *r = &report->repair;
  return json_pack("{s:i, s:i, s:i, s:i, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "polygons_cut",
                   (int)report->file.polygons, "polygons_crossing", (int)report->file.crossing,
                   "polygons_reduced", (int)report->file.reduced, "faces_left_out", (int)report->file.left_out,
                   "ignored_bytes", (json_int_t)report->file.ignored_bytes, "merged_vertices",
                   (int)r->merged_vertices, "dropped_triangles", (int)r->dropped_triangles, "flipped_triangles",
                   (int)r->flipped_triangles, "slivers", (int)r->slivers, "nonmanifold_edges",
                   (int)r->nonmanifold_edges, "unorientable_edges", (int)r->unorientable_edges, "held_vertices",
                   (int)r->held_vertices);
}
