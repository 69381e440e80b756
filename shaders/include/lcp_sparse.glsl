// Sparse complementarity problems: the nonzero blocks of M, or with FACTORS those of M = H M_0^-1 H^T by contact and
// body (src/lcp/lcp_sparse.h). Contacts have DIMENSION unknowns, 1 without friction. Positions ("places") are x | y <<
// 16. Texel k of a texture with numbered texels is at numbered(k).
//   contacts     texel of a place: the contact's first block, its end, and the contact's number + 1, or 0 for none
//   z            texel of a place: the contact's unknowns
//   diagonal     DIMENSION texels per place: the rows of the contact's block of M; the first one also holds its mu or bounds
//   entries      DIMENSION rows of TEXELS texels per block: M or H; for velocities G = H M_0^-1
//   pointers     texel of a block: the place of its factor, during a sweep and after one
//   places       texel of a contact's number: its place
//   incidences   texel of a place: the place of the contact, the number of the block, the place of the body's previous
//                velocity, and 1, or 2 for the first contact of the body in a sweep, or 0 for none
//   v            TEXELS texels per place: the body's velocity after this contact and all before it
// p[5], p[6].xy = the tiling of the vectors; p[6].z = log2 of the width of textures with numbered texels; p[6].w = 1 to
// compute all of v; p[7].xy = offset from the position that a pass draws to the place it computes.
#include "include/lcp_contact.glsl"

uniform sampler2D diagonal;
uniform usampler2D contacts, pointers, places, incidences;

#define LOG2_WIDTH p[6].z
#define RENEWS (p[6].w != 0)
#define SHIFT p[7].xy

ivec2 numbered(int k) { return ivec2(k & ((1 << LOG2_WIDTH) - 1), k >> LOG2_WIDTH); }
ivec2 unpack(uint at) { return ivec2(at & 0xffffu, at >> 16); }

#ifdef PAIR
#ifndef SINGLE_ENTRIES
uniform sampler2D low_diagonal;
#endif
QUAD diagonal_at(ivec2 at) { return OWN_AT(diagonal, low_diagonal, at); }
QUAD fill(REAL x) { return Pair(vec4(x.high), vec4(x.low)); }
QUAD normalised(QUAD sums) { return normalise(sums); }
#else
QUAD diagonal_at(ivec2 at) { return fetch_texel(diagonal, at); }
QUAD fill(REAL x) { return vec4(x); }
QUAD normalised(QUAD sums) { return sums; }
#endif
