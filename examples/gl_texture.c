/* Shows a field that never leaves the GPU: the library works in the application's OpenGL context, which
 * reads a vector, such as the dye of a fluid, from its texture.
 * Build: cc gl_texture.c $(pkg-config --cflags --libs texsolve glfw3 glew) -lOpenGL. Run: ./a.out
 * Needs a display. Prints the red of two pixels after 30 frames: where the dye was, and to the right. */
#include <stdio.h>
#include <GL/glew.h>
#include <GLFW/glfw3.h>
#include <texsolve/fluid.h>
#include <texsolve/gl.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 128 };

static int red_at(int x, int y) {
  unsigned char pixel[4] = {0};
  glReadPixels(x, y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
  return pixel[0];
}

int main(void) {
  const ts_gl_desc gl = {.platform = TS_GL_PLATFORM_CURRENT};
  const ts_context_desc device = {.backend = "gl", .gl = &gl};
  const ts_fluid_desc box = {.width = N, .height = N};
  const float to_the_right[2] = {1, 0}, red[3] = {1, 0, 0};
  ts_context *context = NULL;
  ts_fluid *fluid = NULL;
  ts_gl_texture dye;
  GLuint framebuffer = 0;

  if (!glfwInit()) return fprintf(stderr, "no display\n"), 1;
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  GLFWwindow *window = glfwCreateWindow(N, N, "fluid", NULL, NULL);
  glfwMakeContextCurrent(window);
  if (!window || glewInit() != GLEW_OK) return fprintf(stderr, "no OpenGL\n"), 1;
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);

  CHECK(ts_context_create(&device, &context));
  CHECK(ts_fluid_create(context, &box, &fluid));
  CHECK(ts_fluid_splat(fluid, 0.5, 0.5, 0.1, to_the_right, red, 0));
  for (int frame = 0; frame < 30; frame++) {
    glfwSwapBuffers(window);              // shows the last frame
    CHECK(ts_fluid_step(fluid, 0, NULL)); // does not wait, and restores the program's OpenGL state
    CHECK(ts_gl_vector_get_texture(ts_fluid_get_dye(fluid), &dye));
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, dye.texture, 0);
    glBlitFramebuffer(dye.x, dye.y, dye.x + N, dye.y + N, 0, 0, N, N, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  }
  glBindFramebuffer(GL_READ_FRAMEBUFFER, 0); // the window
  const int middle = red_at(N / 2, N / 2), right = red_at(5 * N / 8, N / 2);
  printf("red in the middle %d, to the right %d\n", middle, right);
  ts_fluid_destroy(&fluid);
  ts_context_destroy(&context);
  glfwTerminate();
  return right <= middle;
}
