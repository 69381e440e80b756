/* Rigid bodies, what touches, and how a step of time moves them. Metres, kilograms, seconds; z is up. */
#ifndef WORLD_H
#define WORLD_H

#ifdef __cplusplus
extern "C" {
#endif

/* A wedge is a prism with a trapezoid as its base, the stone of an arch. */
typedef enum body_shape { BODY_BOX, BODY_SPHERE, BODY_WEDGE, BODY_SHAPES } body_shape;

typedef struct body {
  body_shape shape;
  /* Box: half its edges. Sphere: half[0] is the radius, the others are the same. Wedge: half its edges, of
   * which those along x are half[0] at z = half[2] and taper * half[0] at z = -half[2]; see body_corners. */
  double half[3], taper;
  double mass;                      /* 0: fixed */
  double inertia[3];                /* about its own axes, which are principal */
  double position[3], rotation[4];  /* of the centre of mass; unit quaternion w, x, y, z */
  double velocity[3], spin[3];      /* m/s, rad/s; world axes */
  float colour[3];                  /* sRGB; of a fixed body as well */
  double axes[3][3], inverse[3][3]; /* body_matrix, body_inverse_inertia as world_begin found them */
  int touches, hit;                 /* contacts of the last step; whether one was an impact */
  double before[2][3];              /* velocity and spin before it */
  double shift[3], twist[3];        /* what the last step adds against penetration: m, a vector of rotation */
  int shifted;                      /* whether it does */
} body;

typedef struct contact {
  int a, b; /* bodies; the reaction acts on a, and its opposite on b */
  double point[3];
  double axes[3][3];     /* the normal, from b to a, and two tangents */
  double gap;            /* below 0: penetration */
  double approach;       /* relative velocity along the normal before the step; below 0: coming closer */
  double depth, pressed; /* what would penetrate after the step, and the pseudo-impulse against it */
  double reaction[3];    /* impulse of the last step along the axes, N s; by the step it is a force */
  double local[2][3];    /* where it is on a and on b, in their own axes */
} contact;

/* What a unit of pseudo-impulse at a contact moves: of a and of b its arm, the rotation, the inverse mass. */
typedef struct press {
  double arm[2][3], turn[2][3], inverse_mass[2];
  double inverse; /* of what it moves at the contact */
} press;

typedef struct world {
  body *bodies;
  int count, capacity;
  contact *contacts; /* of the last step */
  press *presses;    /* of world_separate, one a contact */
  int contact_count, contact_capacity;
  double time, step; /* s */
  double gravity;    /* m/s^2, along -z */
  double friction, restitution;
  /* The pointer's pull on a body: held < 0 is none. `grip` is a point of the body in its own axes. */
  int held;
  double grip[3], target[3];
} world;

/* Another body at rest, with the mass and the inertia of its shape; density 0: fixed. NULL without memory; it
 * moves when the next one is added. */
body *world_add(world *w, body_shape shape, const double half[3], double taper, const double position[3],
                double density);
/* Room for so many contacts. Returns 0, or 1 without memory. */
int world_reserve_contacts(world *w, int count);
void world_destroy(world *w); /* what is in it */

/* ---- A step, in this order: the detector fills the contacts in between, and the solver their reactions ----
 */

/* What does not change until the bodies move: their axes and the inverses of their inertia. */
void world_begin(world *w);
/* Adds gravity, the gyroscopic torque and the pointer's pull to all velocities. */
void world_accelerate(world *w);
/* Adds the reactions to the velocities, moves the bodies, and takes back part of what penetrates. */
void world_advance(world *w);
/* Of that, the displacements that take back part of what will penetrate, into the bodies. */
void world_separate(world *w);
/* Of a relative to b along the normal, at the contact. */
double world_relative_velocity(const world *w, const contact *c);

typedef struct world_energy {
  double kinetic, potential; /* J; the latter 0 at z = 0 */
} world_energy;
world_energy world_energy_of(const world *w);

/* ---- Of one body ---- */

void body_matrix(const body *b, double rows[3][3]); /* from its axes to the world's */
void body_point(const body *b, const double local[3], double world_point[3]);
void body_local(const body *b, const double world_point[3], double local[3]);
void body_velocity_at(const body *b, const double world_point[3], double velocity[3]);
/* The 8 corners of a box or a wedge in its own axes: bit 0 of the index is x, bit 1 y, bit 2 z. */
void body_corners(const body *b, double corners[8][3]);
/* Symmetric inverse of the inertia in world axes; 0 of a fixed body. */
void body_inverse_inertia(const body *b, double rows[3][3]);
/* A turn by `angle` about a unit axis, before what it is turned by already. */
void body_turn(body *b, const double axis[3], double angle);
/* The same by a vector of rotation, and a displacement. */
void body_move(body *b, const double displacement[3], const double rotation[3]);
/* Sets the mass and the inertia; density 0: fixed. */
void body_weigh(body *b, double density);

#ifdef __cplusplus
}
#endif
#endif
