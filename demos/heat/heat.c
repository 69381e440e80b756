/* The program heat: the steady temperature of a metal plate with two holes. Conjugate gradients solve for it,
 * and the picture is drawn from the texture that holds the solution. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "heat.h"
#include "options.h"
#include "program.h"
#include "progress.h"
#include "reports.h"

enum { EXIT_NOT_CONVERGED = 3 };
#if defined(TEXSOLVE_HAVE_GL) && defined(TEXSOLVE_HAVE_GLFW)
enum { has_windows = 1 };
#else
enum { has_windows = 0 };
#endif

static const option_row rows[] = {
    OPTION_ROW(BACKEND, "backend", "NAME", backend,
               .help = "auto, cuda, gl, cuda:N or gl:N (device N), cpu, or check:NAME (default: gl)"),
    OPTION_WHOLE("size", "N", size, 32, 8192, "a plate of 3N/2 x N cells, N from 32 to 8192 (default: 240)"),
    OPTION_PICTURE("picture", picture, "write a picture to this file, as PNG (default: heat.png)"),
    OPTION_FLAG("headless", headless,
                "run without a window (default with --picture, with another backend, or without a display)"),
    OPTION_FLAG("window", window, "show the solver at work in a window; Space restarts it, Escape quits"),
    OPTION_WHOLE("frames", "N", frames, 1, 1000000000, "close the window after N frames"),
    OPTION_WHOLE("iterations-per-frame", "N", iterations_per_frame, 1, 1024,
                 "iterations per frame, 1 to 1024 (default: 8)"),
    OPTION_END};

static const char description[] =
    "Computes and draws the steady temperature of a metal plate: hot at its upper edge and around one hole, "
    "cold "
    "at the other edges. A second hole is insulated.\v"
    "Exit status: 0 converged; 1 error; 2 wrong usage; 3 not converged: the picture is still written.";

static int has_display(void) {
  const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
  return (x && *x) || (wayland && *wayland);
}

static program_options parse_arguments(int argc, char **argv) {
  program_options o = {.backend = "gl", .size = 240, .iterations_per_frame = 8};
  options_read("heat", rows, description, argc, argv, &o);
  if (!o.window && !o.headless)
    o.window = has_windows && !o.picture && has_display() && !strcmp(o.backend, "gl");
  if (o.headless) o.window = 0;
  if (o.window && strcmp(o.backend, "gl") != 0 && strcmp(o.backend, "check:gl") != 0)
    arguments_usage("--window draws from the solution's texture, expected --backend gl, not '%s'", o.backend);
  if (!o.window && !o.picture) o.picture = "heat.png";
  return o;
}

static int solve(heat_system *s, heat_outcome *o) {
  ts_result result;
  const double begin = seconds_now();
  ts_status status = ts_solver_solve(s->cg, s->b, s->x, &result);
  if (status >= 0 && ts_context_finish(s->context) != TS_OK) status = TS_ERROR_DEVICE;
  if (status < 0) return heat_fail("%s", ts_last_error(s->context));
  *o = (heat_outcome){.converged = status == TS_OK,
                      .iterations = result.iterations,
                      .host_synchronisations = result.host_synchronisations,
                      .seconds = seconds_now() - begin};
  snprintf(o->message, sizeof o->message, "%s", result.message);
  return 0;
}

static int save(heat_system *s, const char *path, double *seconds) {
  image picture;
  char why[256];
  if (image_create(&picture, picture_width, picture_height)) return heat_fail("out of memory for the picture");
  const double begin = seconds_now();
  int failed = heat_draw(s, &picture);
  *seconds = seconds_now() - begin;
  if (!failed && png_image_save(path, &picture, why, sizeof why)) failed = heat_fail("%s: %s", path, why);
  image_destroy(&picture);
  return failed;
}

/* Computes the residual on the host, from the x that was drawn. */
static int report(heat_system *s, const program_options *options, const heat_outcome *o,
                  double seconds_drawing) {
  ts_context_info device;
  ts_matrix_info matrix;
  float *x = malloc((size_t)s->plate.unknowns * sizeof *x);
  if (!x) return heat_fail("out of memory for %d temperatures", s->plate.unknowns);
  ts_status status = ts_vector_read(s->x, ts_host(x, (size_t)s->plate.unknowns));
  if (status == TS_OK) status = ts_context_get_info(s->context, &device);
  if (status == TS_OK) status = ts_matrix_get_info(s->matrix, &matrix);
  const double residual = plate_residual(&s->plate, x) / s->norm_start;
  free(x);
  if (status != TS_OK) return heat_fail("%s", ts_last_error(s->context));
  printf("plate       %d x %d cells, two holes\n", s->plate.width, s->plate.height);
  printf("backend     %s: %s\n", device.backend, device.device);
  printf("matrix      %d unknowns, %d of them held at a temperature; %lld nonzeros\n", s->plate.unknowns,
         s->plate.held, (long long)matrix.nonzeros);
  printf("result      %s after %d iterations, %d host synchronisations\n",
         o->converged ? "converged" : "NOT converged", o->iterations, o->host_synchronisations);
  printf("residual    %.3e = ||b - A x|| / ||b - A x_start||, in double precision on the host\n", residual);
  printf("seconds     solve %.3f", o->seconds);
  if (options->picture) printf(", draw %.3f", seconds_drawing);
  putchar('\n');
  report_opengl(&device);
  if (options->picture)
    printf("picture     %s, %d x %d pixels\n", options->picture, picture_width, picture_height);
  if (fflush(stdout) || ferror(stdout)) return heat_fail("standard output: write error");
  if (o->converged) return 0;
  heat_fail("%s", o->message);
  return EXIT_NOT_CONVERGED;
}

int main(int argc, char **argv) {
  program_begin("heat");
  const program_options options = parse_arguments(argc, argv);
  ts_gl_desc gl = {0};
  ts_context_desc device = {.backend = options.backend, .gl = &gl};
  ts_solver_desc method = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI, .rtol = heat_tolerance};
  if (options.window) {
    if (heat_window_open()) return 1;
    gl.platform = TS_GL_PLATFORM_CURRENT;
    method.max_iterations = method.check_interval = options.iterations_per_frame;
  }
  heat_system system;
  heat_outcome outcome = {0};
  double seconds_drawing = 0;
  int status = heat_open(&system, &device, &method, options.size);
  if (!status) {
    status = options.window ? heat_window_run(&system, &options, &outcome) : solve(&system, &outcome);
    if (!status && options.picture) status = save(&system, options.picture, &seconds_drawing);
    if (!status) status = report(&system, &options, &outcome, seconds_drawing);
    heat_close(&system);
  }
  if (options.window) heat_window_close();
  return status;
}
