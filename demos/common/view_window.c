#include <GL/glew.h>

#include "view_window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "view_gl.h"

static void explain(char *why, size_t size) {
  const char *description = NULL;
  glfwGetError(&description);
  snprintf(why, size, "%s", description ? description : "unknown reason");
  /* GLFW's message ends with a blank if the name of the display is empty. */
  size_t length = strlen(why);
  while (length > 0 && why[length - 1] == ' ') why[--length] = 0;
}

/* GLFW_SCALE_TO_MONITOR multiplies the requested size by the screen's scale. Limit the result to the screen. */
static void fit_screen(int *width, int *height) {
  GLFWmonitor *monitor = glfwGetPrimaryMonitor();
  int x, y, free_width = 0, free_height = 0;
  float scale_x = 1, scale_y = 1;
  if (!monitor) return;
  glfwGetMonitorWorkarea(monitor, &x, &y, &free_width, &free_height);
  glfwGetMonitorContentScale(monitor, &scale_x, &scale_y);
  if (scale_x > 1) free_width = (int)((float)free_width / scale_x);
  if (scale_y > 1) free_height = (int)((float)free_height / scale_y);
  if (free_width > 0 && *width > free_width) *width = free_width;
  if (free_height > 0 && *height > free_height) *height = free_height;
}

GLFWwindow *view_window_open(const char *title, int width, int height, const int least[2], char *why,
                             size_t size) {
  if (!glfwInit()) {
    explain(why, size);
    return NULL;
  }
  glfwDefaultWindowHints();
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  fit_screen(&width, &height);
  GLFWwindow *window = glfwCreateWindow(width, height, title, NULL, NULL);
  if (!window) {
    explain(why, size);
    glfwTerminate();
    return NULL;
  }
  glfwSetWindowSizeLimits(window, least[0], least[1], GLFW_DONT_CARE, GLFW_DONT_CARE);
  glfwMakeContextCurrent(window);
  glfwSwapInterval(1);
  const char *fault = view_gl_load();
  if (!fault) {
    /* Show an empty window now, because the program may need seconds until it draws. */
    glClearColor(0.945f, 0.95f, 0.955f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glfwSwapBuffers(window);
    return window;
  }
  snprintf(why, size, "%s", fault);
  view_window_close(window);
  return NULL;
}

void view_window_close(GLFWwindow *window) {
  if (!window) return;
  glfwDestroyWindow(window);
  glfwTerminate();
}

float view_window_scale(GLFWwindow *window) {
  float x, y;
  glfwGetWindowContentScale(window, &x, &y);
  return fmaxf(x, 1);
}
