/* Poisson problems in files, and the residuals of their solutions, in long double without the library.
 *
 * poisson_check make KIND N SCALE FILE: writes N x N numbers times SCALE. KIND is k (positive, over several
 * orders of magnitude), g (of both signs) or g0 (likewise, with mean 0 over the volumes of a Neumann problem).
 *
 * poisson_check residual BOUNDARY K G U: prints ||b - A u|| / ||b||. BOUNDARY is dirichlet or neumann.
 *
 * Files are dense Matrix Market files of squares, with points on the boundary. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *need(void *pointer, const char *what) {
  if (pointer) return pointer;
  fprintf(stderr, "poisson_check: %s\n", what);
  exit(2);
}

/* The volume is halved on a Neumann boundary, so a corner has a quarter. */
static long double extent(int n, int i) {
  return i == 0 || i == n - 1 ? 0.5L : 1;
}

/* Entry (j, i) is at [j n + i]. The file stores columns. */
static long double *read_square(const char *path, int *n) {
  char line[200];
  int rows, columns;
  FILE *stream = need(fopen(path, "r"), path);
  do need(fgets(line, sizeof line, stream), path);
  while (line[0] == '%');
  if (sscanf(line, "%d %d", &rows, &columns) != 2 || rows != columns) need(NULL, path);
  long double *a = need(calloc((size_t)rows * (size_t)rows, sizeof *a), "memory");
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < rows; j++) a[j * rows + i] = strtod(need(fgets(line, sizeof line, stream), path), NULL);
  fclose(stream);
  *n = rows;
  return a;
}

static double random_number(void) {
  static unsigned long long state = 12345;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) * 0x1p-53;
}

static int make(const char *kind, int n, double scale, const char *path) {
  const size_t count = (size_t)n * (size_t)n;
  double *a = need(calloc(count, sizeof *a), "memory");
  long double sum = 0, volume = 0;
  FILE *stream = need(fopen(path, "w"), path);
  for (size_t k = 0; k < count; k++) {
    const long double part = extent(n, (int)k / n) * extent(n, (int)k % n);
    a[k] = *kind == 'k' ? exp(8 * random_number() - 4) : 2 * random_number() - 1;
    sum += part * a[k];
    volume += part;
  }
  fprintf(stream, "%%%%MatrixMarket matrix array real general\n%d %d\n", n, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      fprintf(stream, "%.17g\n", scale * (double)(a[j * n + i] - (strcmp(kind, "g0") ? 0 : sum / volume)));
  free(a);
  return fclose(stream) != 0;
}

static void flow(long double *r, const long double *k, const long double *u, int p, int q, long double width) {
  const long double f = 2 * k[p] / (k[p] + k[q]) * k[q] * (u[q] - u[p]) * width;
  r[p] += f;
  r[q] -= f;
}

static int residual(int is_neumann, const char *const paths[3]) {
  int n[3];
  long double *a[3];
  for (int f = 0; f < 3; f++) a[f] = read_square(paths[f], &n[f]);
  if (n[0] != n[1] || n[0] != n[2]) need(NULL, "files of different sizes");
  const int size = n[0];
  const long double *k = a[0], *g = a[1], *u = a[2], scale = (long double)(size - 1) * (size - 1);
  long double *r = need(calloc((size_t)size * (size_t)size, sizeof *r), "memory"), squares = 0, of_b = 0;
  long double largest = 0;
  for (int p = 0; p < size * size; p++) largest = fmaxl(largest, fabsl(g[p]));
  for (int j = 0; j < size; j++)
    for (int i = 0; i < size; i++) {
      const int p = j * size + i;
      if (i + 1 < size) flow(r, k, u, p, p + 1, scale * (is_neumann ? extent(size, j) : 1));
      if (j + 1 < size) flow(r, k, u, p, p + size, scale * (is_neumann ? extent(size, i) : 1));
    }
  for (int j = 0; j < size; j++)
    for (int i = 0; i < size; i++) {
      const int p = j * size + i, on_boundary = i == 0 || j == 0 || i == size - 1 || j == size - 1;
      if (on_boundary && !is_neumann) continue;
      const long double b = g[p] * (is_neumann ? extent(size, i) * extent(size, j) : 1);
      squares += (b + r[p]) / largest * ((b + r[p]) / largest);
      of_b += b / largest * (b / largest);
    }
  printf("%.3Le\n", sqrtl(squares / of_b));
  for (int f = 0; f < 3; f++) free(a[f]);
  free(r);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 6 && !strcmp(argv[1], "make"))
    return make(argv[2], atoi(argv[3]), strtod(argv[4], NULL), argv[5]);
  if (argc == 6 && !strcmp(argv[1], "residual"))
    return residual(!strcmp(argv[2], "neumann"), (const char *const *)argv + 3);
  fprintf(stderr, "usage: poisson_check make KIND N SCALE FILE | residual BOUNDARY K G U\n");
  return 2;
}
