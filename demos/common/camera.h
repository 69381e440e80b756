/* A camera that turns about a point: orbit (a trackball, no gimbal lock), pan, zoom, fit. No OpenGL. */
#ifndef CAMERA_H
#define CAMERA_H

typedef struct camera {
  float target[3];
  float rotation[4]; /* quaternion x, y, z, w: world to eye */
  float distance;
  float field_of_view; /* of the shorter side, radians */
  float size;          /* of what is looked at: near and far planes, speed of panning */
} camera;

/* Looks at a box from a little above and aside. */
void camera_fit(camera *c, const float low[3], const float high[3]);
/* From a place and at another, with z up; `size` is that of what there is to see. */
void camera_look_at(camera *c, const float eye[3], const float target[3], float size);
/* Moves of the pointer in pixels from (x0, y0) to (x1, y1) in a window of width x height. */
void camera_orbit(camera *c, float x0, float y0, float x1, float y1, int width, int height);
/* The same with z staying up, from just above the horizon to straight down. */
void camera_turn(camera *c, float x0, float y0, float x1, float y1, int width, int height);
void camera_pan(camera *c, float x0, float y0, float x1, float y1, int width, int height);
void camera_zoom(camera *c, float steps); /* positive: nearer */
/* Where a point is in the window, in pixels from its upper left. Returns 0 where it lies behind the camera. */
int camera_project(const camera *c, const float point[3], int width, int height, float *x, float *y);
/* What a pixel shows lies at origin + t direction, t > 0. */
void camera_ray(const camera *c, float x, float y, int width, int height, float origin[3], float direction[3]);
/* Moves a point with the pointer, in the plane through it that the screen is parallel to. */
void camera_drag(const camera *c, float x0, float y0, float x1, float y1, int width, int height,
                 float point[3]);
/* Column-major matrices for OpenGL. */
void camera_view_matrix(const camera *c, float m[16]);
void camera_projection_matrix(const camera *c, int width, int height, float m[16]);

#endif
