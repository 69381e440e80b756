/* Files that appear completely or not at all, and other processes, as the platform layer provides them. Works
 * in the current directory. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "output_file.h"
#include "platform.h"

#define CHECK(condition)                                                                                       \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))

static const char *const name = "test_platform.out", *const directory = "test_platform.dir";

static int holds(const char *text) {
  char found[64] = "";
  FILE *file = fopen(name, "r");
  if (!file) return 0;
  const char *line = fgets(found, sizeof found, file);
  fclose(file);
  return line && !strcmp(found, text);
}

static platform_kind kind_of(const char *path) {
  platform_kind kind = PLATFORM_OTHER;
  CHECK(platform_kind_of(path, &kind) == 0);
  return kind;
}

static void test_outputs(void) {
  output_file file;
  for (int k = 0; k < 2; k++) { /* first a new file, then one that replaces it */
    CHECK(output_create(&file, name) == 0);
    fputs(k ? "second" : "first", file.stream);
    CHECK(k ? holds("first") : kind_of(name) == PLATFORM_NOTHING);
    CHECK(output_finish(&file) == 0 && holds(k ? "second" : "first"));
  }
  CHECK(output_create(&file, name) == 0);
  char temporary[64];
  CHECK(file.temporary && strlen(file.temporary) < sizeof temporary);
  strcpy(temporary, file.temporary);
  CHECK(kind_of(temporary) == PLATFORM_FILE);
  fputs("third", file.stream);
  output_discard(&file);
  CHECK(holds("second") && kind_of(temporary) == PLATFORM_NOTHING);
  CHECK(output_create(&file, "no/such/directory") != 0);
}

static void test_files(void) {
  size_t bytes = 0;
  FILE *file = fopen(name, "rb");
  CHECK(file && platform_kind_of_stream(file, &bytes) == PLATFORM_FILE && bytes == strlen("second"));
  CHECK(!platform_is_terminal(file));
  fclose(file);
  CHECK(platform_may_write(name) == 0 && platform_may_write("no/such/file") != 0);
  CHECK(platform_is_same_file(name, "./test_platform.out") && !platform_is_same_file(name, "no/such/file"));

  CHECK(platform_make_directory(directory) == 0 && kind_of(directory) == PLATFORM_DIRECTORY);
  CHECK(platform_make_directory(directory) == EEXIST);
  output_file output;
  CHECK(output_create(&output, directory) == EISDIR);
  CHECK(platform_remove_directory(directory) == 0 && kind_of(directory) == PLATFORM_NOTHING);
  CHECK(platform_remove(name) == 0 && platform_remove(name) != 0 && kind_of(name) == PLATFORM_NOTHING);
}

static void test_text(void) {
  char *copy = copy_text("copy");
  CHECK(copy && !strcmp(copy, "copy"));
  free(copy);
  CHECK(same_letters("Matrix@[", "mATRIX@[", 8) && !same_letters("matrix", "metrix", 6) &&
        !same_letters("@", "`", 1));
  const double before = seconds_now();
  CHECK(seconds_now() >= before);
}

/* Runs a shell that copies a pipe and ends as the command says. */
static int end_of_shell(const char *command, char answer[16]) {
  const char *const arguments[] = {"sh", "-c", command, NULL};
  platform_child *child;
  FILE *pipe, *out = tmpfile();
  CHECK(out && platform_start(arguments, NULL, out, NULL, &pipe, &child) == 0);
  CHECK(fputs("asked", pipe) >= 0);
  fclose(pipe);
  const int status = platform_wait(&child);
  rewind(out);
  if (!fgets(answer, 16, out)) *answer = 0;
  fclose(out);
  return status;
}

static void test_programs(void) {
  char answer[16];
  if (!platform_is_in_path("sh")) {
    puts("Programs are not started here.");
    return;
  }
  CHECK(!platform_is_in_path("no-such-program"));
  CHECK(end_of_shell("cat", answer) == 0 && !strcmp(answer, "asked"));
  CHECK(end_of_shell("cat; exit 3", answer) == 3 && !strcmp(answer, "asked"));
  CHECK(end_of_shell("cat >/dev/null; kill -TERM $$", answer) == 256 + SIGTERM && !*answer);
  const char *const missing[] = {"no-such-program", NULL}, *const copier[] = {"cat", NULL};
  platform_child *child;
  FILE *out = tmpfile(), *pipe;
  CHECK(out && platform_start(copier, NULL, out, NULL, &pipe, &child) == 0 && platform_is_running(child));
  fclose(pipe);
  while (platform_is_running(child)) continue;
  CHECK(platform_wait(&child) == 0);
  CHECK(platform_start(copier, NULL, out, NULL, &pipe, &child) == 0);
  platform_stop(child);
  CHECK(platform_wait(&child) == 256 + SIGTERM);
  fclose(pipe);
  CHECK(out && platform_start(missing, NULL, out, NULL, &pipe, &child) == ENOENT && !child);
  fclose(out);
  char path[4096];
  CHECK(platform_own_directory(path, sizeof path) == 0 && kind_of(path) == PLATFORM_DIRECTORY);
}

/* ---- A copy of this process ---- */

static void write_much(void *argument, FILE *to) {
  for (int k = 0; k < *(int *)argument; k++) fputc(k & 255, to);
}

static void crash(void *argument, FILE *to) {
  fputs("before", to);
  fflush(to);
  raise(*(int *)argument);
}

static void spin(void *argument, FILE *to) {
  (void)argument, (void)to;
  for (volatile unsigned k = 0;; k++) continue;
}

static void alloc_memory(void *argument, FILE *to) {
  char *bytes = malloc((size_t) * (int *)argument << 20);
  fputs(bytes ? "yes" : "no", to);
  free(bytes);
}

/* Returns the exit status, or -1 if the system does not support this. `read` receives the number of bytes. */
static int end_of_work(void (*work)(void *argument, FILE *to), int argument, char start[16], int *read) {
  FILE *from;
  platform_child *child;
  const int error = platform_run_apart(work, &argument, (size_t)100 << 20, 1, &from, &child);
  if (error == ENOSYS) return -1;
  CHECK(error == 0 && from && child);
  *read = 0;
  for (int c; (c = fgetc(from)) != EOF; ++*read)
    if (*read < 15) start[*read] = (char)c;
  start[*read < 15 ? *read : 15] = 0;
  fclose(from);
  return platform_wait(&child);
}

static void test_apart(void) {
  char start[16];
  int bytes;
  if (end_of_work(write_much, 0, start, &bytes) < 0) {
    puts("Processes are not copied here.");
    return;
  }
  CHECK(end_of_work(write_much, 1000000, start, &bytes) == 0 && bytes == 1000000);
  CHECK(end_of_work(crash, SIGSEGV, start, &bytes) == 256 + SIGSEGV && !strcmp(start, "before"));
  CHECK(end_of_work(crash, SIGTERM, start, &bytes) == 256 + SIGTERM);
  CHECK(platform_is_out_of_time(end_of_work(spin, 0, start, &bytes)) && bytes == 0);
  CHECK(end_of_work(alloc_memory, 50, start, &bytes) == 0 && !strcmp(start, "yes"));
#if !defined(__SANITIZE_ADDRESS__) /* its malloc ends the program */
  CHECK(end_of_work(alloc_memory, 200, start, &bytes) == 0 && !strcmp(start, "no"));
#endif
  /* The parent stops reading early. */
  FILE *from;
  platform_child *child;
  int many = 10000000;
  CHECK(platform_run_apart(write_much, &many, (size_t)100 << 20, 1, &from, &child) == 0);
  CHECK(fgetc(from) == 0 && fgetc(from) == 1);
  fclose(from);
  CHECK(platform_wait(&child) != 0);
}

int main(void) {
  remove(name);
  test_outputs();
  test_files();
  test_text();
  test_programs();
  test_apart();
  puts("passed");
  return 0;
}
