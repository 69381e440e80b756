/* Images of meshes with a known appearance: a square sheet seen from the front, and a sphere. */
#include <GL/glew.h>

#include <texsolve/gl.h>

#include "application.h"
#include "helpers.h"
#include "colours.h"
#include "mesh_generate.h"
#include "mesh_view.h"
#include "view_gl.h"

enum { width = 160, height = 120, side = 10 };

static unsigned char picture[3 * width * height], other[3 * width * height];
static ts_context *context;
static mesh_view *view;
static mesh body;
static float *start;

static void make_current(void) {
  if (test_is_application())
    application_make_current();
  else
    CHECK_OK(context, ts_gl_make_current(context));
}

/* Opens a view of `body`, which has unit coordinates already. Returns 0 if this is impossible. */
static int open_view(void) {
  context = test_open();
  if (!context) return 0;
  make_current();
  start = malloc(3 * sizeof *start * (size_t)body.vertex_count);
  for (int32_t k = 0; k < 3 * body.vertex_count; k++) start[k] = (float)body.positions[k];
  const char *why = view_gl_load();
  if (!why) why = mesh_view_create(&body, start, &view);
  if (why) test_fail(__FILE__, __LINE__, "%s", why);
  return !why;
}

static void close_view(void) {
  mesh_view_destroy(&view);
  mesh_destroy(&body);
  free(start);
  start = NULL;
  test_close(&context);
}

/* A square in the plane z = 0 with its front side up, or with `turned` down. */
static int open_sheet(int turned) {
  char message[MESH_MESSAGE];
  int32_t count = 0;
  if (mesh_create(side * side, 2 * (side - 1) * (side - 1), &body, message)) return 0;
  for (int k = 0; k < side * side; k++) {
    body.positions[3 * k] = 0.7 * ((double)(k % side) / (side - 1) - 0.5);
    body.positions[3 * k + 1] = 0.7 * ((double)(k / side) / (side - 1) - 0.5);
  }
  for (int y = 0; y + 1 < side; y++)
    for (int x = 0; x + 1 < side; x++) {
      const int32_t a = y * side + x, quad[6] = {a, a + 1, a + side, a + 1, a + side + 1, a + side};
      for (int k = 0; k < 6; k++) body.triangles[count++] = quad[turned ? 5 - k : k];
    }
  return open_view();
}

static const double radius = 0.28867513459; /* of a sphere in a box with a diagonal of 1 */

static int open_sphere(int inside_out) {
  char message[MESH_MESSAGE];
  if (mesh_generate("sphere:2562", &body, message)) {
    test_fail(__FILE__, __LINE__, "%s", message);
    return 0;
  }
  for (int32_t k = 0; k < 3 * body.vertex_count; k++) body.positions[k] *= radius;
  for (int32_t t = 0; inside_out && t < body.triangle_count; t++) {
    const int32_t b = body.triangles[3 * t + 1];
    body.triangles[3 * t + 1] = body.triangles[3 * t + 2];
    body.triangles[3 * t + 2] = b;
  }
  return open_view();
}

/* From the front, the square sheet fills most of the image's height. */
static camera front(void) {
  static const float low[3] = {-0.35f, -0.35f, 0}, high[3] = {0.35f, 0.35f, 0};
  camera c;
  camera_fit(&c, low, high);
  for (int k = 0; k < 4; k++) c.rotation[k] = k == 3;
  return c;
}

static void draw(mesh_look *look, unsigned char *rgb) {
  const camera c = front();
  make_current();
  const char *why = mesh_view_picture(view, &c, look, width, height, rgb);
  if (why) test_fail(__FILE__, __LINE__, "%s", why);
}

static const unsigned char *pixel(const unsigned char *rgb, int x, int y) {
  return rgb + 3 * (y * width + x);
}

static int differing(int from, int to) {
  int count = 0;
  for (int y = 0; y < height; y++)
    for (int x = from; x < to; x++) count += memcmp(pixel(picture, x, y), pixel(other, x, y), 3) != 0;
  return count;
}

/* The background is a light neutral grey. The mesh's colours are warmer or darker. */
static int is_background(const unsigned char *p) {
  return p[0] > 180 && p[2] >= p[0];
}

/* Sets the view's positions to `start` plus a constant offset. */
static void shift(float x, float y, float z) {
  const float by[3] = {x, y, z};
  const size_t count = 3 * (size_t)body.vertex_count;
  float *moved = malloc(count * sizeof *moved);
  for (size_t k = 0; k < count; k++) moved[k] = start[k] + by[k % 3];
  make_current();
  const char *why = mesh_view_use_host(view, moved);
  if (why) test_fail(__FILE__, __LINE__, "%s", why);
  free(moved);
}

/* ---- Shape, sides, shading ---- */

static void where_the_sheet_is(void) {
  mesh_look look = {0};
  if (open_sheet(0)) {
    draw(&look, picture);
    const unsigned char *lit = pixel(picture, width / 2, height / 2);
    CHECK(lit[0] > 120 && lit[0] > lit[1] && lit[1] > lit[2]);
    CHECK(is_background(pixel(picture, 3, height / 2)));
    CHECK(is_background(pixel(picture, width / 2, 1)));
    CHECK(!is_background(pixel(picture, width / 2, 12)));
    CHECK(!is_background(pixel(picture, width / 2 - height / 2 + 12, height / 2)));
    shift(0.35f, 0, 0); /* the left half becomes empty */
    draw(&look, other);
    CHECK(is_background(pixel(other, width / 2 - 4, height / 2)));
    CHECK(!is_background(pixel(other, width / 2 + 4, height / 2)));
    shift(0, 0.35f, 0); /* upwards, because images begin with the top row */
    draw(&look, other);
    CHECK(!is_background(pixel(other, width / 2, height / 2 - 4)));
    CHECK(is_background(pixel(other, width / 2, height / 2 + 4)));
  }
  close_view();
}

static void back_sides(void) {
  mesh_look look = {0};
  if (open_sheet(1)) {
    draw(&look, picture);
    const unsigned char *back = pixel(picture, width / 2, height / 2);
    CHECK(!is_background(back));
    CHECK(back[2] > back[0]); /* bluish */
  }
  close_view();
}

static void sides_of_a_sphere(void) {
  mesh_look look = {0};
  if (open_sphere(0)) draw(&look, picture);
  close_view();
  CHECK(pixel(picture, width / 2, height / 2)[0] > pixel(picture, width / 2, height / 2)[2]);
  /* The light is at the upper left, so the lower right is darker. */
  CHECK(pixel(picture, width / 2 - 22, height / 2 - 22)[0] >
        pixel(picture, width / 2 + 22, height / 2 + 22)[0] + 40);
  /* With its front sides inside it looks the same. */
  if (open_sphere(1)) draw(&look, other);
  close_view();
  int worst = 0;
  for (int k = 0; k < 3 * width * height; k++) {
    const int difference = abs(picture[k] - other[k]);
    worst = difference > worst ? difference : worst;
  }
  CHECK(worst <= 2);
}

static void shading_and_wireframe(void) {
  mesh_look smooth = {0}, flat = {.shading = MESH_SHADING_FLAT}, lines = {.wireframe = 1};
  if (open_sheet(0)) {
    draw(&smooth, picture);
    draw(&flat, other);
    CHECK_INT(differing(0, width), 0); /* a plane has one normal */
    draw(&lines, other);
    int darker = 0, same = 0;
    for (int x = width / 2 - 30; x < width / 2 + 30; x++) {
      const int difference = pixel(picture, x, height / 2)[1] - pixel(other, x, height / 2)[1];
      darker += difference > 25;
      same += difference == 0;
    }
    CHECK(darker >= 10 && same >= 10); /* five or six squares, each with an edge and a diagonal */
  }
  close_view();
  if (open_sphere(0)) {
    draw(&smooth, picture);
    draw(&flat, other);
    CHECK(differing(0, width) > 2000);
  }
  close_view();
}

/* ---- Colours ---- */

/* A coloured pixel has the paint's colour in the light of the plain image. */
static void check_paint(const unsigned char *coloured, const unsigned char *plain,
                        const unsigned char paint[3]) {
  static const double plain_paint[3] = {0.83, 0.80, 0.75};
  for (int k = 0; k < 3; k++) CHECK_CLOSE(coloured[k], plain[k] * paint[k] / (255 * plain_paint[k]), 6);
}

static void colour_of_distance(void) {
  mesh_look plain = {0}, moved = {.colour = MESH_COLOUR_DISPLACEMENT};
  unsigned char paint[3];
  if (open_sheet(0)) {
    draw(&moved, other);
    CHECK_CLOSE(moved.range, 0, 0); /* nothing has moved */
    shift(0.06f, 0, 0.08f);
    draw(&plain, picture);
    moved.range = 0;
    draw(&moved, other);
    CHECK_CLOSE(moved.range, 0.1, 1e-12);
    colour_sequential(1, paint);
    check_paint(pixel(other, width / 2, height / 2), pixel(picture, width / 2, height / 2), paint);
    moved.range = 0.4;
    draw(&moved, other);
    CHECK_CLOSE(moved.range, 0.4, 0);
    colour_sequential(0.25f, paint);
    check_paint(pixel(other, width / 2, height / 2), pixel(picture, width / 2, height / 2), paint);
  }
  close_view();
}

static void colour_of_curvature(void) {
  mesh_look plain = {0}, bent = {.colour = MESH_COLOUR_CURVATURE};
  unsigned char paint[3];
  for (int inside_out = 0; inside_out < 2; inside_out++) {
    if (open_sphere(inside_out)) {
      draw(&plain, picture);
      bent.range = 0;
      draw(&bent, other);
      CHECK_CLOSE(bent.range, 4, 0); /* 1 / radius = 3.46, rounded up */
      bent.range = 4 / radius;
      draw(&bent, other);
      colour_diverging(0.5f + 0.5f / 4, paint);
      check_paint(pixel(other, width / 2, height / 2), pixel(picture, width / 2, height / 2), paint);
    }
    close_view();
  }
  if (open_sheet(0)) {
    draw(&plain, picture);
    bent.range = 0.001;
    draw(&bent, other);
    colour_diverging(0.5f, paint);
    check_paint(pixel(other, width / 2, height / 2), pixel(picture, width / 2, height / 2), paint);
    check_paint(pixel(other, width / 2, 12), pixel(picture, width / 2, 12), paint); /* also at the border */
  }
  close_view();
}

static void legend(void) {
  mesh_look look = {.colour = MESH_COLOUR_DISPLACEMENT, .range = 1};
  if (open_sheet(0)) {
    draw(&look, picture);
    look.legend = 1;
    draw(&look, other);
    CHECK_INT(differing(0, width / 4), 0); /* the panel covers 106 of the 160 columns */
    CHECK(differing(width / 2, width) > 3000);
  }
  close_view();
}

/* ---- The location of positions ---- */

static void before_and_after(void) {
  mesh_look look = {0}, both = {.before_after = 1, .split = 0.25f};
  const int middle = width / 4;
  if (open_sheet(0)) {
    shift(0, 0.2f, 0);
    draw(&both, picture);
    draw(&look, other);
    CHECK_INT(differing(middle + 2, width), 0);
    CHECK(differing(0, middle - 2) > 100);
    shift(0, 0, 0);
    draw(&look, other);
    CHECK_INT(differing(0, middle - 2), 0);
    CHECK(pixel(picture, middle, 2)[0] < 60); /* the line */
  }
  close_view();
}

/* A bump drawn from the texture of a vector, which has sorted rows, looks the same as from the host. The
 * library works after drawing has changed the context. */
static void texture_and_host(void) {
  mesh_look look = {.wireframe = 1, .colour = MESH_COLOUR_CURVATURE, .range = 20};
  if (open_sheet(0)) {
    const size_t vertices = (size_t)body.vertex_count;
    float *moved = malloc(3 * vertices * sizeof *moved);
    int32_t *texels = malloc(2 * vertices * sizeof *texels);
    ref_matrix reference = ref_random_spd(body.vertex_count, 5, 3);
    ts_matrix *matrix = make_matrix(context, &reference, TS_FORMAT_AUTO);
    ts_vector *x = make_vector(ts_matrix_get_row_space(matrix), 3, start);
    ts_gl_texture texture;
    CHECK_OK(context, ts_gl_vector_get_texture(x, &texture));
    CHECK_OK(context, ts_gl_space_get_texels(ts_vector_get_space(x), texels, 2 * vertices));
    make_current();
    CHECK(mesh_view_use_texture(view, &texture, texels) == NULL);
    draw(&look, picture);
    for (size_t v = 0; v < vertices; v++) {
      const float *p = start + 3 * v;
      moved[3 * v] = p[0];
      moved[3 * v + 1] = p[1];
      moved[3 * v + 2] = 0.1f * expf(-30 * (p[0] * p[0] + p[1] * p[1]));
    }
    CHECK_OK(context, ts_vector_write(x, ts_host(moved, 3 * vertices)));
    mesh_view_changed(view);
    draw(&look, other);
    CHECK(differing(0, width) > 1000);
    memcpy(picture, other, sizeof picture);

    float *read = read_vector(x);
    CHECK(memcmp(read, moved, 3 * vertices * sizeof *moved) == 0);
    make_current();
    CHECK(mesh_view_use_host(view, read) == NULL);
    draw(&look, other);
    CHECK_INT(differing(0, width), 0);
    free(read);
    free(moved);
    free(texels);
    ts_vector_destroy(&x);
    ts_matrix_destroy(&matrix);
    ref_free(&reference);
  }
  close_view();
}

/* Three texels per vertex in a buffer, as CUDA shares them, look the same as from the host, also after
 * switching back. */
static void buffer_and_host(void) {
  mesh_look look = {.wireframe = 1, .colour = MESH_COLOUR_CURVATURE, .range = 20};
  if (open_sheet(0.3f)) {
    const size_t bytes = 3 * sizeof *start * (size_t)body.vertex_count;
    unsigned buffer, texture;
    look.before_after = 1;
    look.split = 0.5f;
    draw(&look, picture);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_TEXTURE_BUFFER, buffer);
    glBufferData(GL_TEXTURE_BUFFER, (GLsizeiptr)bytes, start, GL_STATIC_DRAW);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_BUFFER, texture);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_R32F, buffer);
    CHECK(mesh_view_use_buffer(view, texture) == NULL);
    draw(&look, other);
    CHECK_INT(differing(0, width), 0);
    const float nowhere = 5;
    glBindBuffer(GL_TEXTURE_BUFFER, buffer);
    glBufferSubData(GL_TEXTURE_BUFFER, 0, sizeof nowhere, &nowhere);
    mesh_view_changed(view);
    draw(&look, other);
    CHECK(differing(0, width) > 10);
    CHECK(mesh_view_use_host(view, start) == NULL);
    draw(&look, other);
    CHECK_INT(differing(0, width), 0);
    glDeleteTextures(1, &texture);
    glDeleteBuffers(1, &buffer);
  }
  close_view();
}

/* ---- The camera ---- */

static void camera_moves(void) {
  static const float low[3] = {-0.1f, -0.4f, -0.2f}, high[3] = {0.3f, 0.4f, 0.2f};
  camera c;
  float before[16], after[16];
  camera_fit(&c, low, high);
  camera_view_matrix(&c, before);
  for (int k = 0; k < 3; k++) /* orthogonal: a rotation */
    CHECK_CLOSE(before[k] * before[k] + before[4 + k] * before[4 + k] + before[8 + k] * before[8 + k], 1, 1e-6);
  /* The middle of the box is in the middle of the image, and its corners are inside. */
  CHECK_CLOSE(before[0] * 0.1f + before[12], 0, 1e-6);
  float projection[16];
  camera_projection_matrix(&c, 400, 300, projection);
  for (int corner = 0; corner < 8; corner++) {
    float eye[3];
    for (int row = 0; row < 3; row++) {
      eye[row] = before[12 + row];
      for (int k = 0; k < 3; k++) eye[row] += before[4 * k + row] * (corner >> k & 1 ? high[k] : low[k]);
    }
    CHECK(fabsf(projection[0] * eye[0]) < -eye[2] && fabsf(projection[5] * eye[1]) < -eye[2]);
  }
  camera_orbit(&c, 100, 100, 180, 130, 400, 300);
  camera_view_matrix(&c, after);
  CHECK(fabsf(after[0] - before[0]) > 0.05f);
  camera_orbit(&c, 180, 130, 100, 100, 400, 300);
  camera_pan(&c, 10, 10, 60, 40, 400, 300);
  camera_zoom(&c, 3);
  camera_zoom(&c, -3);
  camera_pan(&c, 60, 40, 10, 10, 400, 300);
  camera_view_matrix(&c, after);
  for (int k = 0; k < 16; k++) CHECK_CLOSE(after[k], before[k], 1e-5);
  /* A point follows the pointer by 50 pixels to the right and 30 down. */
  camera_pan(&c, 10, 10, 60, 40, 400, 300);
  camera_view_matrix(&c, after);
  const float x = projection[0] * (after[12] - before[12]) / c.distance,
              y = projection[5] * (after[13] - before[13]) / c.distance;
  CHECK_CLOSE(200 * x, 50, 0.01);
  CHECK_CLOSE(150 * y, -30, 0.01);
}

TEST_MAIN(CASES(where_the_sheet_is, back_sides, sides_of_a_sphere, shading_and_wireframe, colour_of_distance,
                colour_of_curvature, legend, before_and_after, texture_and_host, buffer_and_host, camera_moves))
