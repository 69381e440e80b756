/* Mesh files, and the repair of their meshes. The first byte selects the format: o, p, f or s. */
#include <stdlib.h>

#include "fuzz.h"
#include "mesh_file.h"
#include "mesh_repair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mesh m;
  mesh_measures measures;
  mesh_repair_report report;
  char message[MESH_MESSAGE];
  if (size < 1) return 0;
  const char *const ending = *data == 'o' ? "obj" : *data == 'p' ? "ply" : *data == 'f' ? "off" : "stl";
  if (mesh_file_read(fuzz_file(ending, data + 1, size - 1), &m, NULL, message)) return 0;
  for (int32_t i = 0; i < 3 * m.triangle_count; i++)
    if (m.triangles[i] < 0 || m.triangles[i] >= m.vertex_count) abort();
  if (!mesh_repair(&m, &(mesh_repair_options){.keep_duplicates = size % 2}, &report, NULL, message))
    mesh_measure(&m, &measures, message);
  mesh_destroy(&m);
  return 0;
}
