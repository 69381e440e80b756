/* The conditions of discrete smooth interpolation: how a vertex is to lie among its neighbours. Internal. */
#ifndef DSI_ROWS_H
#define DSI_ROWS_H

#include "dsi.h"

/* Vertex v is to be at sum weights[k] x neighbours[k] for k from offsets[v] to offsets[v + 1]; the weights add
 * up to 1. A vertex without neighbours has no condition. */
typedef struct dsi_rows {
  int32_t *offsets, *neighbours;
  double *weights;
  unsigned char *boundary; /* 1 for boundary vertices */
} dsi_rows;

int dsi_rows_create(const mesh *m, dsi_weights kind, dsi_rows *rows, char message[MESH_MESSAGE]);
void dsi_rows_free(dsi_rows *rows);

#endif
