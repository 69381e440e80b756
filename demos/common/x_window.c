/* A helper for the tests of windows.
 *   x_window drop WINDOW PATH     drops a file as a file manager does, by the protocol XDND
 *   x_window sum WINDOW           prints a checksum of the picture right of the controls
 *   x_window pixel WINDOW X Y     prints red, green and blue, 0 to 255
 *   x_window frames WINDOW COUNT  waits until the window has handled all earlier events and then drawn COUNT
 * frames x_window handles WINDOW       counts the pixel columns of sliders' handles, and those with text on the
 * handle */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>

static Display *display;
static Window source, target;

static Atom atom(const char *name) {
  return XInternAtom(display, name, False);
}

static void tell(const char *what, long a, long b, long c, long d) {
  XEvent event = {.xclient = {.type = ClientMessage,
                              .display = display,
                              .window = target,
                              .message_type = atom(what),
                              .format = 32,
                              .data.l = {(long)source, a, b, c, d}}};
  XSendEvent(display, target, False, NoEventMask, &event);
  XFlush(display);
}

static void hand_over(const XSelectionRequestEvent *request, const char *path) {
  char text[4096];
  snprintf(text, sizeof text, "file://%s\r\n", path);
  XChangeProperty(display, request->requestor, request->property, request->target, 8, PropModeReplace,
                  (const unsigned char *)text, (int)strlen(text));
  XEvent event = {.xselection = {.type = SelectionNotify,
                                 .display = display,
                                 .requestor = request->requestor,
                                 .selection = request->selection,
                                 .target = request->target,
                                 .property = request->property,
                                 .time = request->time}};
  XSendEvent(display, request->requestor, False, NoEventMask, &event);
  XFlush(display);
}

static int drop(const char *path) {
  source = XCreateSimpleWindow(display, DefaultRootWindow(display), 0, 0, 1, 1, 0, 0, 0);
  XSetSelectionOwner(display, atom("XdndSelection"), source, CurrentTime);
  tell("XdndEnter", 5L << 24, (long)atom("text/uri-list"), 0, 0);
  tell("XdndPosition", 0, 400L << 16 | 300, CurrentTime, (long)atom("XdndActionCopy"));
  for (;;) {
    XEvent event;
    XNextEvent(display, &event);
    if (event.type == SelectionRequest) hand_over(&event.xselectionrequest, path);
    if (event.type != ClientMessage) continue;
    if (event.xclient.message_type == atom("XdndStatus")) tell("XdndDrop", 0, CurrentTime, 0, 0);
    if (event.xclient.message_type == atom("XdndFinished")) return 0;
  }
}

static int sum(void) {
  enum { left = 300, lowest = 80 };
  XWindowAttributes window;
  XGetWindowAttributes(display, target, &window);
  if (window.width <= left || window.height <= lowest) return 1;
  XImage *image = XGetImage(display, target, left, 0, (unsigned)(window.width - left),
                            (unsigned)(window.height - lowest), AllPlanes, ZPixmap);
  if (!image) return 1;
  unsigned long number = 14695981039346656037UL; /* FNV-1a, on pixels instead of bytes */
  for (int y = 0; y < image->height; y++)
    for (int x = 0; x < image->width; x++) number = (number ^ XGetPixel(image, x, y)) * 1099511628211UL;
  printf("%lx\n", number);
  XDestroyImage(image);
  return 0;
}

static int pixel(int x, int y) {
  XWindowAttributes window;
  XGetWindowAttributes(display, target, &window);
  if (x < 0 || y < 0 || x >= window.width || y >= window.height) return 1;
  XImage *image = XGetImage(display, target, x, y, 1, 1, AllPlanes, ZPixmap);
  if (!image) return 1;
  const unsigned long rgb = XGetPixel(image, 0, 0);
  printf("%lu %lu %lu\n", rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255);
  XDestroyImage(image);
  return 0;
}

/* A window manager sends _NET_WM_PING to find out if a window still handles events. GLFW handles the ping in
 * order, after all earlier events, and answers at the end of a round of events. So there is one frame between
 * consecutive answers. */
static int frames(int count) {
  const Window root = DefaultRootWindow(display);
  XSelectInput(display, root, SubstructureNotifyMask);
  for (int k = 0; k <= count; k++) {
    XEvent event = {.xclient = {.type = ClientMessage,
                                .display = display,
                                .window = target,
                                .message_type = atom("WM_PROTOCOLS"),
                                .format = 32,
                                .data.l = {(long)atom("_NET_WM_PING"), k, (long)target}}};
    XSendEvent(display, target, False, NoEventMask, &event);
    XFlush(display);
    do XNextEvent(display, &event);
    while (event.type != ClientMessage || event.xclient.message_type != atom("WM_PROTOCOLS") ||
           event.xclient.data.l[1] != k);
  }
  return 0;
}

/* The blue of a slider's handle in Dear ImGui's light style, over white. */
static int is_handle(unsigned long rgb) {
  const int red = (int)(rgb >> 16 & 255), green = (int)(rgb >> 8 & 255), blue = (int)(rgb & 255);
  return abs(red - 108) < 4 && abs(green - 173) < 4 && abs(blue - 251) < 4;
}

static int is_dark(unsigned long rgb) {
  return (rgb >> 16 & 255) + (rgb >> 8 & 255) + (rgb & 255) < 200;
}

/* Counts the columns of handles, and those with text on the handle. */
static int handles(void) {
  enum { right = 280, tall = 12 };
  XWindowAttributes window;
  XGetWindowAttributes(display, target, &window);
  if (window.width < right) return 1;
  XImage *image = XGetImage(display, target, 0, 0, right, (unsigned)window.height, AllPlanes, ZPixmap);
  if (!image) return 1;
  int columns = 0, covered = 0;
  for (int x = 0; x < right; x++)
    for (int y = 0, below = 0, dark = 0; y < image->height; y++) { /* `below`: rows since a handle; 0: none */
      const unsigned long rgb = XGetPixel(image, x, y);
      if (is_handle(rgb)) {
        columns += !below;
        covered += dark;
        below = 1, dark = 0;
      } else if (below) {
        dark |= is_dark(rgb);
        below = below < tall ? below + 1 : 0;
        dark &= below > 0;
      }
    }
  printf("%d %d\n", columns, covered);
  XDestroyImage(image);
  return 0;
}

int main(int argc, char **argv) {
  display = argc >= 3 ? XOpenDisplay(NULL) : NULL;
  if (!display) {
    fprintf(stderr, "x_window: expected a display; drop, sum, pixel, handles or frames; and a window\n");
    return 1;
  }
  alarm(180); /* in case the window does not answer */
  target = strtoul(argv[2], NULL, 0);
  if (strcmp(argv[1], "sum") == 0) return sum();
  if (strcmp(argv[1], "pixel") == 0)
    return argc == 5 ? pixel((int)strtol(argv[3], NULL, 10), (int)strtol(argv[4], NULL, 10)) : 1;
  if (strcmp(argv[1], "handles") == 0) return handles();
  if (argc == 4 && strcmp(argv[1], "frames") == 0) return frames((int)strtol(argv[3], NULL, 10));
  return argc == 4 && strcmp(argv[1], "drop") == 0 ? drop(argv[3]) : 1;
}
