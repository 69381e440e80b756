/* Opens what cannot be flattened as it is: closed parts, and parts with handles. */
#ifndef CUT_H
#define CUT_H

#include "charts.h"

typedef struct cut_report {
  int32_t closed;  /* parts without a boundary that were cut */
  int32_t handles; /* of all parts that were cut */
  int32_t edges;   /* that the cuts run along */
} cut_report;

/* Charts that are disks with or without holes. A closed part without handles is opened along a shortest path
 * between two vertices far apart; one with handles along loops through one vertex, two a handle, as short as a
 * tree of shortest paths from there has them (Erickson and Whittlesey: Greedy optimal homotopy and homology
 * generators, SODA 2005). With `may_cut` 0 such a part is refused: the message says which and what would help.
 * Returns 0, or 1 with the message. */
int cut_into_disks(const mesh *m, int may_cut, charts *c, cut_report *report, char message[MESH_MESSAGE]);

#endif
