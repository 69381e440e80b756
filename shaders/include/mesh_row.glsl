// A row of a mesh operator's matrix: the positions of its entries in both formats. The corners have the layout of the
// entries. With JAGGED, entries hold value bits and pointer. Otherwise they hold the value, and pointers are in a
// separate texture.
#include "include/spmv.glsl"
#include "include/mesh.glsl"

// The sum of the pieces of a split row.
VALUE fetch_sum(uint pointer) { return fetch_texel(sums, unpack(pointer)) PICK; }

#ifdef JAGGED
uniform usampler2D entries;
#define FIRST_ENTRY(i) (base + inside(i))
#define NEXT_ENTRY ivec2(1 << LOG2_WIDTH, 0)
float value_at(ivec2 at) { return uintBitsToFloat(texelFetch(entries, at, 0).r); }
uint pointer_at(ivec2 at) { return texelFetch(entries, at, 0).g; }
#else
uniform sampler2D entries;
uniform usampler2D pointers;
#define FIRST_ENTRY(i) (base + inside(i) * ivec2(LENGTH + (loop.y & 1), 1))
#define NEXT_ENTRY ivec2(1, 0)
float value_at(ivec2 at) { return texelFetch(entries, at, 0).r; }
uint pointer_at(ivec2 at) { return texelFetch(pointers, at, 0).r; }
#endif
