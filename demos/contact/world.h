/* Rigid bodies, their contacts, and a time step. Metres, kilograms, seconds; z is up. */
#ifndef WORLD_H
#define WORLD_H

#ifdef __cplusplus
extern "C" {
#endif

/* A wedge is a prism with a trapezoidal base: a stone of an arch. */
typedef enum body_shape { BODY_BOX, BODY_SPHERE, BODY_WEDGE, BODY_SHAPES } body_shape;

typedef struct body {
  body_shape shape;
  /* Box: half the edge lengths. Sphere: all three are the radius. Wedge: half the edge lengths; along x the
   * half length is half[0] at z = half[2], and taper * half[0] at z = -half[2]. See body_corners. */
  double half[3], taper;
  double mass;                      /* 0: fixed */
  double inertia[3];                /* about its own axes, which are principal axes */
  double position[3], rotation[4];  /* position of the centre of mass; unit quaternion w, x, y, z */
  double velocity[3], spin[3];      /* m/s, rad/s; world axes */
  float colour[3];                  /* sRGB, also for fixed bodies */
  double axes[3][3], inverse[3][3]; /* body_matrix and body_inverse_inertia, as computed by world_begin */
  int touches, hit;                 /* number of contacts in the last step; 1 if one of them was an impact */
  double before[2][3];              /* velocity and spin before the last step */
  /* displacement of the last step against penetration: in m, and as a rotation vector */
  double shift[3], twist[3];
  int shifted; /* 1 if that is not zero */
} body;

typedef struct contact {
  int a, b; /* body indices; the reaction acts on a, the opposite one on b */
  double point[3];
  double axes[3][3];     /* the normal, from b to a, and two tangents */
  double gap;            /* negative: penetration */
  double approach;       /* normal relative velocity before the step; negative: approaching */
  double depth, pressed; /* expected penetration after the step; the pseudo-impulse against it */
  double reaction[3]; /* impulse of the last step along the axes, in N s; divided by the step it is a force */
  double local[2][3]; /* position on a and on b, in their axes */
} contact;

/* Effect of a unit pseudo-impulse at a contact, for a and b: lever arm, rotation, inverse mass. */
typedef struct press {
  double arm[2][3], turn[2][3], inverse_mass[2];
  double inverse; /* inverse of the resulting motion at the contact */
} press;

typedef struct world {
  body *bodies;
  int count, capacity;
  contact *contacts; /* of the last step */
  press *presses;    /* for world_separate, one per contact */
  int contact_count, contact_capacity;
  double time, step; /* s */
  double gravity;    /* m/s^2, along -z */
  double friction, restitution;
  /* The pointer's pull on a body. held < 0: none. `grip` is a point of the body, in the body's axes. */
  int held;
  double grip[3], target[3];
} world;

/* Adds a body at rest, with the mass and inertia of its shape. density 0: fixed. Returns NULL if memory runs
 * out. The pointer is valid until the next call. */
body *world_add(world *w, body_shape shape, const double half[3], double taper, const double position[3],
                double density);
/* Reserves room for `count` contacts. Returns 0, or 1 if memory runs out. */
int world_reserve_contacts(world *w, int count);
void world_destroy(world *w); /* frees the contents */

/* ---- A step calls these in this order. In between the detector writes the contacts, and the solver their
 * reactions ---- */

/* Computes axes and inverse inertias, which are constant until the bodies move. */
void world_begin(world *w);
/* Adds gravity, the gyroscopic torque and the pointer's pull to the velocities. */
void world_accelerate(world *w);
/* Applies the reactions to the velocities, moves the bodies, and removes part of the penetration. */
void world_advance(world *w);
/* Internal to world_advance: computes the displacements that remove part of the expected penetration. */
void world_separate(world *w);
/* Relative velocity of a with respect to b along the normal, at the contact. */
double world_relative_velocity(const world *w, const contact *c);

typedef struct world_energy {
  double kinetic, potential; /* joules; the potential energy is 0 at z = 0 */
} world_energy;
world_energy world_energy_of(const world *w);

/* ---- Single bodies ---- */

void body_matrix(const body *b, double rows[3][3]); /* from the body's axes to the world's */
void body_point(const body *b, const double local[3], double world_point[3]);
void body_local(const body *b, const double world_point[3], double local[3]);
void body_velocity_at(const body *b, const double world_point[3], double velocity[3]);
/* The 8 corners of a box or a wedge in its own axes. Bit 0 of the index is x, bit 1 y, bit 2 z. */
void body_corners(const body *b, double corners[8][3]);
/* Inverse inertia tensor in world axes; 0 for a fixed body. */
void body_inverse_inertia(const body *b, double rows[3][3]);
/* Rotates by `angle` about a unit axis in world coordinates. */
void body_turn(body *b, const double axis[3], double angle);
/* Rotates by a rotation vector, and moves. */
void body_move(body *b, const double displacement[3], const double rotation[3]);
/* Sets the mass and the inertia. density 0: fixed. */
void body_weigh(body *b, double density);

#ifdef __cplusplus
}
#endif
#endif
