/* The matrices of the two applications of Buatois et al. 2008, section 3.2: a least-squares conformal map
 * (Levy, Petitjean, Ray and Maillot 2002) and discrete smooth interpolation (Mallet 1992), on generated meshes.
 *
 * A mesh is a bumpy sheet whose vertices lie a little off a grid; the diagonal of each of the grid's cells goes
 * one way or the other by chance, so that vertices have 4 to 8 neighbours. They are numbered line by line. */
#ifndef BENCH_GENERATE_MESH_H
#define BENCH_GENERATE_MESH_H

#include "generate.h"

/* Both make a matrix of exactly `rows` rows. Return 0; 2 without memory or with more entries than a 32-bit
 * offset counts; 3 with fewer rows than GENERATED_MESH_ROWS, a chart. */

/* u and v of each vertex, side by side: two conditions a triangle, over twice its area. The mesh is `charts`
 * sheets of about one size, each with the vertices in two opposite corners pinned, which are no unknowns. A row
 * has 14 entries on average, in blocks of 2 x 2. `b`, unless NULL, gets the right-hand side, `rows` elements.
 */
int generate_lscm(generated_matrix *A, int32_t rows, int32_t charts, double *b);

/* What the matrix of one chart and an even number of rows almost maps to 0, rows x GENERATED_LSCM_VECTORS: a
 * shift along u, one along v, and the sheet seen from above, which may grow and turn. */
enum { GENERATED_LSCM_VECTORS = 4 };
void generate_lscm_near_null(int32_t rows, double *near_null);

/* x of all vertices, then y, then z: each vertex is to be the mean of its neighbours, and every hundredth where
 * it is, with a weight of 0.01. A row has about 20 entries. */
int generate_dsi(generated_matrix *A, int32_t rows);

#endif
