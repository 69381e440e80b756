/* A camera that orbits a target: a trackball without gimbal lock, pan, zoom and fit. Needs no OpenGL. */
#ifndef CAMERA_H
#define CAMERA_H

typedef struct camera {
  float target[3];
  float rotation[4]; /* quaternion x, y, z, w: world to eye */
  float distance;
  float field_of_view; /* of the shorter side, in radians */
  float size;          /* of the scene; sets the near and far planes and the speed of panning */
} camera;

/* Looks at a box from slightly above and to the side. */
void camera_fit(camera *c, const float low[3], const float high[3]);
/* Looks from `eye` at `target` with z up. `size` is the size of the scene. */
void camera_look_at(camera *c, const float eye[3], const float target[3], float size);
/* These take a pointer motion from (x0, y0) to (x1, y1), in pixels of a window of width x height. */
void camera_orbit(camera *c, float x0, float y0, float x1, float y1, int width, int height);
/* Orbits with z up, from just above the horizon to straight down. */
void camera_turn(camera *c, float x0, float y0, float x1, float y1, int width, int height);
void camera_pan(camera *c, float x0, float y0, float x1, float y1, int width, int height);
void camera_zoom(camera *c, float steps); /* positive: closer */
/* Projects a point to pixels from the window's upper left. Returns 0 if the point is behind the camera. */
int camera_project(const camera *c, const float point[3], int width, int height, float *x, float *y);
/* The pixel (x, y) shows points origin + t direction, t > 0. */
void camera_ray(const camera *c, float x, float y, int width, int height, float origin[3], float direction[3]);
/* Moves a point with the pointer, in the plane that contains it and is parallel to the screen. */
void camera_drag(const camera *c, float x0, float y0, float x1, float y1, int width, int height,
                 float point[3]);
/* Column-major matrices for OpenGL. */
void camera_view_matrix(const camera *c, float m[16]);
void camera_projection_matrix(const camera *c, int width, int height, float m[16]);

#endif
