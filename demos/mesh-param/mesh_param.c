/* The program mesh-param: flattens a triangle mesh by least-squares conformal maps, in a window or without
 * one. */
#include "mesh_param.h"

#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "program.h"
#include "progress.h"

const mesh_repair_words repair_words = {.thin = "that the weight is bounded",
                                        .odd_edge = "the mesh is open there"};

static void note_cut(const flattening *f, const char *name) {
  const cut_report *cut = &f->cut;
  if (!cut->edges) return;
  message_note("%s: %d closed part%s and %d handle%s cut open along %d edges", name, (int)cut->closed,
               cut->closed == 1 ? "" : "s", (int)cut->handles, cut->handles == 1 ? "" : "s", (int)cut->edges);
}

/* Sets the pins of the command line. It counts vertices as the file does, before duplicates were merged. */
static int set_pins(const program_options *o, const int32_t *vertex_of_original, int32_t vertices,
                    flattening *f, char why[MESH_MESSAGE]) {
  flattening_pin *pins = malloc(((size_t)o->pin_count + 1) * sizeof *pins);
  if (!pins) return mesh_fail(why, "out of memory for %d pins", (int)o->pin_count);
  int failed = 0;
  for (int32_t i = 0; i < o->pin_count && !failed; i++) {
    pins[i] = o->pins[i];
    if (pins[i].vertex >= vertices)
      failed =
          mesh_fail(why, "--pin at vertex %d, expected one of 0 to %d", (int)pins[i].vertex, (int)vertices - 1);
    else
      pins[i].vertex = vertex_of_original[pins[i].vertex];
  }
  if (!failed) failed = flattening_set_pins(f, pins, o->pin_count, why) || flattening_update(f, why);
  free(pins);
  return failed;
}

int open_flattening(const program_options *options, int may_cut, load_report *report, flattening *f) {
  const flattening_options how = {.cut = may_cut, .start = options->flattening.start};
  char why[MESH_MESSAGE];
  int32_t *vertex_of_original = NULL;
  mesh m;
  *f = (flattening){0};
  if (options->load.path) progress_begin("reading %.50s", options->load.path);
  if (load_mesh(&options->load, &m, &vertex_of_original, report, why)) return progress_fail(why);
  progress_begin("charts of %d triangles", (int)m.triangle_count);
  int failed = flattening_create(&m, &how, f, why);
  if (!failed && options->pin_count)
    failed = set_pins(options, vertex_of_original, report->file_vertices, f, why);
  free(vertex_of_original);
  progress_clear();
  if (failed) {
    message("%s: %s", report->name, why);
    flattening_destroy(f);
    return 1;
  }
  load_note(report, &repair_words);
  if (options->flattening.cut) note_cut(f, report->name);
  return 0;
}

int main(int argc, char **argv) {
  program_options options;
  program_begin("mesh-param");
  options_parse(argc, argv, &options);
  const int status = run_program(&options, &options.run);
  free(options.pins);
  return status;
}
