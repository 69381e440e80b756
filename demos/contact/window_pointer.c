/* The pointer pulls and pushes bodies, throws balls and moves the camera. */
#include <math.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "window_state.h"

/* The origin of the pointer's ray, in metres, and its unit direction. */
static void ray(const window_state *w, double origin[3], double direction[3]) {
  float from[3], along[3], square = 0;
  int width, height;
  app_scene_size(&w->app, &width, &height);
  camera_ray(&w->app.camera, (float)w->app.x, (float)w->app.y, width, height, from, along);
  for (int k = 0; k < 3; k++) square += along[k] * along[k];
  for (int k = 0; k < 3; k++) {
    origin[k] = (double)from[k];
    direction[k] = (double)(along[k] / sqrtf(square));
  }
}

/* ---- Bodies ---- */

/* Grabs the body under the pointer. Returns 1 if there is a movable one. */
static int grab(window_state *w) {
  world *bodies = &w->s->world;
  double origin[3], direction[3], point[3];
  ray(w, origin, direction);
  const int picked = collision_pick(w->s->collision, origin, direction, point);
  if (picked < 0) return 0;
  body_local(&bodies->bodies[picked], point, bodies->grip);
  for (int k = 0; k < 3; k++) {
    bodies->target[k] = point[k];
    w->target[k] = (float)point[k];
  }
  bodies->held = picked;
  w->app.screen.stale = 1;
  return 1;
}

/* Applies an impulse along the pointer's ray at the grip, as if an object of half the body's mass hit it at
 * `speed`. */
static void push(window_state *w) {
  const double speed = 2.5;
  world *bodies = &w->s->world;
  body *b = &bodies->bodies[bodies->held];
  double origin[3], along[3], at[3], arm[3], turn[3], inverse[3][3];
  ray(w, origin, along);
  body_point(b, bodies->grip, at);
  body_inverse_inertia(b, inverse);
  for (int k = 0; k < 3; k++) arm[k] = at[k] - b->position[k];
  for (int k = 0; k < 3; k++) {
    b->velocity[k] += speed * along[k];
    turn[k] = arm[(k + 1) % 3] * along[(k + 2) % 3] - arm[(k + 2) % 3] * along[(k + 1) % 3];
  }
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 3; j++) b->spin[k] += b->mass * speed * inverse[k][j] * turn[j];
}

static void let_go(window_state *w) {
  const int clicked = w->moved < 4 * w->app.scale && w->pressed < 0.3;
  if (clicked && w->s->world.held >= 0) push(w);
  w->s->world.held = -1;
  w->app.screen.stale = 1;
}

void window_throw(window_state *w) {
  char message[SIMULATION_MESSAGE];
  double from[3], along[3], velocity[3];
  ray(w, from, along);
  for (int k = 0; k < 3; k++) {
    from[k] += 0.35 * (double)w->look.reach * along[k];
    velocity[k] = w->throw_speed * along[k];
  }
  velocity[2] += 0.1 * w->throw_speed; /* compensates for gravity during the flight */
  from[2] = fmax(from[2], 1.5 * w->throw_radius);
  if (simulation_throw(w->s, from, velocity, w->throw_radius, message)) app_tell_error(&w->app, message);
  w->app.screen.stale = 1;
}

/* ---- Events ---- */

void window_press(window_state *w, int button, int modifiers) {
  if (w->app.drag == DRAG_PULL) let_go(w);
  w->moved = 0;
  w->pressed = 0;
  if (button != GLFW_MOUSE_BUTTON_LEFT || (modifiers & GLFW_MOD_SHIFT)) {
    w->app.drag = APP_DRAG_PAN;
  } else if (modifiers & GLFW_MOD_CONTROL) {
    w->app.drag = APP_DRAG_NONE;
    window_throw(w);
  } else {
    w->app.drag = grab(w) ? DRAG_PULL : APP_DRAG_ORBIT;
  }
}

void window_release(window_state *w, int button) {
  (void)button;
  if (w->app.drag == DRAG_PULL) let_go(w);
}

void window_move(window_state *w, double x, double y) {
  const float x0 = (float)w->app.x, y0 = (float)w->app.y;
  int width, height;
  app_scene_size(&w->app, &width, &height);
  w->moved += hypotf((float)x - x0, (float)y - y0);
  app_drag_camera(&w->app, x, y, width, height);
  if (w->app.drag != DRAG_PULL) return;
  camera_drag(&w->app.camera, x0, y0, (float)x, (float)y, width, height, w->target);
  for (int k = 0; k < 3; k++) w->s->world.target[k] = (double)w->target[k];
}
