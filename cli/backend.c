#include "backend.h"

#include "commands.h"
#include "message.h"
#include "ranks.h"
#include "threads.h"

static void log_line(ts_log_level level, const char *text, void *user) {
  (void)user;
  message_note("%s%s", level == TS_LOG_LEVEL_WARNING ? "warning: " : "", text);
}

int backend_open(const ts_context_desc *desc, int verbosity, ts_context **context) {
  ts_context_desc with_log = *desc;
  threads_limit(desc->threads); /* file access uses the same number */
  with_log.log = log_line;
  with_log.log_level = verbosity > 1 ? TS_LOG_LEVEL_DEBUG
                       : verbosity   ? TS_LOG_LEVEL_INFO
                                     : TS_LOG_LEVEL_WARNING;
  const ts_status status =
      ranks_are_several() ? ranks_open(&with_log, context) : ts_context_create(&with_log, context);
  if (status >= 0) return EXIT_CONVERGED;
  ranks_agreed();
  const char *text = ts_last_error(NULL);
  message("--backend %s: %s", desc->backend, *text ? text : ts_status_text(status));
  return status == TS_ERROR_INVALID_ARGUMENT ? EXIT_USAGE : EXIT_ERROR;
}
