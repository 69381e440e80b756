/* Rows sent to another rank in one piece of memory: header, columns, values, offsets. */
#ifndef MULTI_ROW_BLOCK_H
#define MULTI_ROW_BLOCK_H

#include "multi.h"

typedef struct multi_row_block_header {
  int32_t rows, entries, doubles; /* doubles: whether the values are doubles; -1: there are no values */
  char choice[164];               /* aligns the data after it to 8 bytes */
} multi_row_block_header;

typedef struct multi_row_block {
  const multi_row_block_header *header;
  void *values;
  int64_t *columns;
  int32_t *offsets;
} multi_row_block;

static inline size_t multi_value_bytes(int32_t doubles) {
  return doubles < 0 ? 0 : doubles ? sizeof(double) : sizeof(float);
}

static inline size_t multi_row_block_bytes(const multi_row_block_header *h) {
  return sizeof *h + (size_t)h->entries * (multi_value_bytes(h->doubles) + sizeof(int64_t)) +
         ((size_t)h->rows + 1) * sizeof(int32_t);
}

static inline multi_row_block multi_row_block_at(void *memory) {
  const multi_row_block_header *h = memory;
  char *at = (char *)memory + sizeof *h;
  multi_row_block block = {.header = h};
  block.columns = (int64_t *)(void *)at;
  at += (size_t)h->entries * sizeof(int64_t);
  block.values = h->doubles < 0 ? NULL : at;
  block.offsets = (int32_t *)(void *)(at + (size_t)h->entries * multi_value_bytes(h->doubles));
  return block;
}

#endif
