#include "peer_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "platform.h"

int peer_find(const char *program, char path[PEER_PATH_SIZE]) {
  static const char *const places[] = {".", "../bench/peer", "../libexec/texsolve"};
  const char *given = getenv("TEXSOLVE_PEER_DIR");
  if (given && *given)
    return snprintf(path, PEER_PATH_SIZE, "%s/%s", given, program) < PEER_PATH_SIZE &&
           platform_is_program(path);
  char self[PEER_PATH_SIZE];
  if (platform_own_directory(self, sizeof self)) return 0;
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i)
    if (snprintf(path, PEER_PATH_SIZE, "%s/%s/%s", self, places[i], program) < PEER_PATH_SIZE &&
        platform_is_program(path))
      return 1;
  return 0;
}

/* Runs the program with one file as input and the other as output. Nonzero after a message. */
static int peer_program_run(const char *const arguments[], FILE *from, FILE *to) {
  platform_child *child;
  const int error = platform_start(arguments, from, to, NULL, NULL, &child);
  if (error) {
    bench_error("%s does not start: %s", arguments[0], strerror(error));
    return 1;
  }
  const int status = platform_wait(&child);
  if (status >= 256)
    bench_error("%s was ended by signal %d", arguments[0], status - 256);
  else if (status)
    bench_error("%s ended with status %d", arguments[0], status);
  return status != 0;
}

json_t *peer_ask(const char *const arguments[], peer_write write, const void *problem) {
  FILE *question = tmpfile(), *reply = tmpfile();
  json_t *answer = NULL;
  json_error_t error;
  if (!question || !reply || write(question, problem) || fseek(question, 0, SEEK_SET)) {
    bench_error("no temporary file for %s: %s", arguments[0], strerror(errno));
  } else if (!peer_program_run(arguments, question, reply)) {
    rewind(reply);
    answer = json_loadf(reply, 0, &error);
    if (!answer) bench_error("%s gave no answer: %s", arguments[0], error.text);
  }
  if (question) fclose(question);
  if (reply) fclose(reply);
  return answer;
}
