#include "interrupt.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "output_file.h"
#include "platform.h"
#include "progress.h"

static volatile sig_atomic_t asked; /* the signal; 0: none */
static char line[160];              /* formatted in advance, because a signal handler must not format */

static void on_signal(int number) {
  if (asked) {
    output_abandon();
    platform_end_by(number);
    return;
  }
  asked = number;
  if (progress_is_visible()) platform_write_error("\r\033[K", 4);
  if (!message_is_quiet()) platform_write_error(line, strlen(line));
}

void interrupt_begin(void) {
  snprintf(line, sizeof line, "%s: stopping; press Ctrl+C again to end at once\n", message_program());
  platform_on_stop(on_signal);
}

int interrupt_is_asked(void) {
  return asked != 0;
}

int interrupt_finish(int status) {
  if (!asked || status == 1 || message_flush_stdout()) return asked && status != 1 ? 1 : status;
  platform_end_by(asked);
  return status;
}
