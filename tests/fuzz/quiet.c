/* What readers of the command say, unsaid. */
#include "message.h"
#include "progress.h"

void message(const char *format, ...) {
  (void)format;
}
void message_note(const char *format, ...) {
  (void)format;
}
void progress_show(const char *format, ...) {
  (void)format;
}
void progress_clear(void) {}
