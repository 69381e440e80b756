/* heat: the steady temperature of a metal plate with two holes, solved with conjugate gradients and drawn from
 * the texture that the solution was computed in. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heat.h"
#include "heat_picture.h"

enum { EXIT_USAGE = 2, EXIT_NOT_CONVERGED = 3 };
#if defined(TEXSOLVE_HAVE_GL) && defined(TEXSOLVE_HAVE_GLFW)
enum { has_windows = 1 };
#else
enum { has_windows = 0 };
#endif
enum { KEY_BACKEND = 256, KEY_SIZE, KEY_HEADLESS, KEY_WINDOW, KEY_FRAMES, KEY_PER_FRAME };

static const struct argp_option option_list[] = {
    {"backend", KEY_BACKEND, "NAME", 0,
     "auto, cuda, gl, cuda:N or gl:N (device N), cpu, or check:NAME (default: gl)", 0},
    {"size", KEY_SIZE, "N", 0, "a plate of 3N/2 x N cells, N from 32 to 8192 (default: 240)", 0},
    {"output", 'o', "FILE", 0, "where the picture goes, as PNG (default: heat.png)", 0},
    {"headless", KEY_HEADLESS, 0, 0, "no window (default with -o, with another backend, or without a display)",
     0},
    {"window", KEY_WINDOW, 0, 0, "watch the solver in a window; Space starts again, Escape ends", 0},
    {"frames", KEY_FRAMES, "N", 0, "close the window after N frames", 0},
    {"per-frame", KEY_PER_FRAME, "N", 0, "iterations a frame, 1 to 1024 (default: 8)", 0},
    {0}};

static int parse_number(struct argp_state *state, const char *name, const char *text, int least, int most) {
  char *end;
  const long number = strtol(text, &end, 10);
  if (end == text || *end || number < least || number > most) {
    heat_fail("--%s is '%s', expected a number from %d to %d", name, text, least, most);
    exit(EXIT_USAGE);
  }
  (void)state;
  return (int)number;
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  heat_options *o = state->input;
  switch (key) {
  case KEY_BACKEND:
    o->backend = argument;
    return 0;
  case KEY_SIZE:
    o->size = parse_number(state, "size", argument, 32, 8192);
    return 0;
  case 'o':
    o->output = argument;
    return 0;
  case KEY_HEADLESS:
    o->window = 0;
    return 0;
  case KEY_WINDOW:
    o->window = 1;
    return 0;
  case KEY_FRAMES:
    o->frames = parse_number(state, "frames", argument, 1, 1000000000);
    return 0;
  case KEY_PER_FRAME:
    o->per_frame = parse_number(state, "per-frame", argument, 1, 1024);
    return 0;
  case ARGP_KEY_ARG:
    heat_fail("unexpected argument '%s'", argument);
    exit(EXIT_USAGE);
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static int has_display(void) {
  const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
  return (x && *x) || (wayland && *wayland);
}

static heat_options parse_arguments(int argc, char **argv) {
  static const struct argp argp = {
      option_list,
      parse_option,
      0,
      "Computes and draws the steady temperature of a metal plate: hot at its upper edge and around one hole, "
      "cold "
      "at the other edges, with a second hole that no heat crosses.\v"
      "Exit status: 0 converged; 1 error; 2 wrong usage; 3 not converged, where the picture is still written.",
      0,
      0,
      0};
  heat_options o = {.backend = "gl", .size = 240, .window = -1, .per_frame = 8};
  argp_err_exit_status = EXIT_USAGE;
  if (argp_parse(&argp, argc, argv, 0, 0, &o)) {
    heat_fail("out of memory for the arguments");
    exit(EXIT_FAILURE);
  }
  if (o.window < 0) o.window = has_windows && !o.output && has_display() && !strcmp(o.backend, "gl");
  if (o.window && strcmp(o.backend, "gl") != 0 && strcmp(o.backend, "check:gl") != 0) {
    heat_fail("--window draws from the solution's texture; expected --backend gl, not '%s'", o.backend);
    exit(EXIT_USAGE);
  }
  if (!o.window && !o.output) o.output = "heat.png";
  return o;
}

static int solve(heat_system *s, heat_outcome *o) {
  ts_cg_result result;
  const double begin = heat_seconds();
  ts_status status = ts_cg_solve(s->cg, s->b, s->x, &result);
  if (status >= 0 && ts_context_finish(s->context) != TS_OK) status = TS_ERROR_DEVICE;
  if (status < 0) return heat_fail("%s", ts_last_error(s->context));
  *o = (heat_outcome){.converged = status == TS_OK,
                      .iterations = result.iterations,
                      .waits = result.waits,
                      .seconds = heat_seconds() - begin};
  snprintf(o->message, sizeof o->message, "%s", result.message);
  return 0;
}

static int save(heat_system *s, const char *path, double *seconds) {
  image picture;
  char why[256];
  if (image_create(&picture, picture_width, picture_height)) return heat_fail("out of memory for the picture");
  const double begin = heat_seconds();
  int failed = heat_draw(s, &picture);
  *seconds = heat_seconds() - begin;
  if (!failed && png_image_save(path, &picture, why, sizeof why)) failed = heat_fail("%s: %s", path, why);
  image_destroy(&picture);
  return failed;
}

/* The residual is computed here, from the x that was drawn. */
static int report(heat_system *s, const heat_options *options, const heat_outcome *o, double seconds_drawing) {
  ts_context_info device;
  ts_matrix_info matrix;
  float *x = malloc((size_t)s->plate.unknowns * sizeof *x);
  if (!x) return heat_fail("out of memory for %d temperatures", s->plate.unknowns);
  ts_status status = ts_vector_read(s->x, x, (size_t)s->plate.unknowns);
  if (status == TS_OK) status = ts_context_get_info(s->context, &device);
  if (status == TS_OK) status = ts_matrix_get_info(s->matrix, &matrix);
  const double residual = plate_residual(&s->plate, x) / s->norm_start;
  free(x);
  if (status != TS_OK) return heat_fail("%s", ts_last_error(s->context));
  printf("plate       %d x %d cells, two holes\n", s->plate.width, s->plate.height);
  printf("backend     %s: %s\n", device.backend, device.device);
  printf("matrix      %d unknowns, %d of them held at a temperature; %lld nonzeros\n", s->plate.unknowns,
         s->plate.held, (long long)matrix.nonzeros);
  printf("result      %s after %d iterations, %d waits for the device\n",
         o->converged ? "converged" : "NOT converged", o->iterations, o->waits);
  printf("residual    %.3e = ||b - A x|| / ||b - A x_start||, in double precision on the host\n", residual);
  printf("seconds     solve %.3f", o->seconds);
  if (options->output) printf(", draw %.3f", seconds_drawing);
  if (options->output)
    printf("\npicture     %s, %d x %d pixels", options->output, picture_width, picture_height);
  putchar('\n');
  if (fflush(stdout) || ferror(stdout)) return heat_fail("standard output: write error");
  if (o->converged) return 0;
  heat_fail("%s", o->message);
  return EXIT_NOT_CONVERGED;
}

int main(int argc, char **argv) {
  const heat_options options = parse_arguments(argc, argv);
  ts_context_desc device = {.backend = options.backend};
  ts_cg_desc method = {.stop = TS_STOP_RESIDUAL, .rtol = heat_tolerance};
  if (options.window) {
    if (heat_window_open()) return 1;
    device.gl_platform = TS_GL_PLATFORM_CURRENT;
    method.max_iterations = method.check_interval = options.per_frame;
  }
  heat_system system;
  heat_outcome outcome = {0};
  double seconds_drawing = 0;
  int status = heat_open(&system, &device, &method, options.size);
  if (!status) {
    status = options.window ? heat_window_run(&system, &options, &outcome) : solve(&system, &outcome);
    if (!status && options.output) status = save(&system, options.output, &seconds_drawing);
    if (!status) status = report(&system, &options, &outcome, seconds_drawing);
    heat_close(&system);
  }
  if (options.window) heat_window_close();
  return status;
}
