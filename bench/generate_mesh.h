/* The matrices of the two applications of Buatois et al. 2008, section 3.2, on generated meshes: a
 * least-squares conformal map (Levy, Petitjean, Ray and Maillot 2002) and discrete smooth interpolation (Mallet
 * 1992).
 *
 * A mesh is a bumpy sheet with vertices slightly off a grid. The diagonal of each grid cell has a random
 * direction, so vertices have 4 to 8 neighbours. They are numbered line by line. */
#ifndef BENCH_GENERATE_MESH_H
#define BENCH_GENERATE_MESH_H

#include "generate.h"

/* Both create a matrix of exactly `rows` rows. Return 0. Return 2 if memory is exhausted or the entries exceed
 * a 32-bit offset, and 3 with fewer rows than GENERATED_MESH_ROWS per chart. */

/* u and v of each vertex are adjacent, with two conditions per triangle, divided by twice its area. The mesh
 * has `charts` sheets of about equal size. Two opposite corners of each are pinned and are not unknowns. A row
 * has 14 entries on average, in blocks of 2 x 2. `b`, unless NULL, receives the right-hand side of `rows`
 * elements. */
int generate_lscm(generated_matrix *A, int32_t rows, int32_t charts, double *b);

/* The near-null space for one chart and an even number of rows, rows x GENERATED_LSCM_VECTORS: a shift along u,
 * one along v, and the sheet seen from above, scaled and rotated. */
enum { GENERATED_LSCM_VECTORS = 4 };
void generate_lscm_near_null(int32_t rows, double *near_null);

/* x of all vertices, then y, then z. Each vertex should be the mean of its neighbours, and every hundredth at
 * its place, with a weight of 0.01. A row has about 20 entries. */
int generate_dsi(generated_matrix *A, int32_t rows);

#endif
