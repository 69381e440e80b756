// The data for the velocity and the law of a contact in a sparse problem. Include after include/lcp_sparse.glsl.

// The contact at a place: its block of M, its reaction and its velocity. With blocks of M, the velocity excludes the
// effect of the reaction. Reads q (input0), the factor of the blocks, z or v (input1), and z (input2).
void read_contact(out REAL W[DIMENSION * DIMENSION], out REAL r[DIMENSION], out REAL u[DIMENSION], ivec2 at, uvec4 contact,
                  bool is_after) {
  QUAD sums[DIMENSION], z = QUAD_AT2(at);
  for (int i = 0; i < DIMENSION; i++) sums[i] = NOTHING;
  for (int k = int(contact.x); k < int(contact.y); k++) {
    uvec4 pointer = texelFetch(pointers, numbered(k), 0);
    ivec2 from = unpack(is_after ? pointer.g : pointer.r);
    for (int t = 0; t < TEXELS; t++) {
      QUAD x = QUAD_AT1(ivec2(TEXELS * from.x + t, from.y));
      for (int i = 0; i < DIMENSION; i++)
        sums[i] = add_products(sums[i], entry_at(numbered((k * DIMENSION + i) * TEXELS + t)), x);
    }
  }
  for (int i = 0; i < DIMENSION; i++) {
    QUAD row = diagonal_at(ivec2(DIMENSION * at.x + i, at.y));
    r[i] = pick(z, i);
    u[i] = add(Q_AT(texel_of((int(contact.z) - 1) * DIMENSION + i)), total_of(sums[i]));
    for (int k = 0; k < DIMENSION; k++) W[i * DIMENSION + k] = pick(row, k);
  }
}

// u += W r
void add_own(inout REAL u[DIMENSION], REAL W[DIMENSION * DIMENSION], REAL r[DIMENSION]) {
  for (int i = 0; i < DIMENSION; i++)
    for (int k = 0; k < DIMENSION; k++) u[i] = add(u[i], product(W[i * DIMENSION + k], r[k]));
}

// mu or a bound.
REAL limit_at(ivec2 at, int channel) { return pick(diagonal_at(ivec2(DIMENSION * at.x, at.y)), channel); }
