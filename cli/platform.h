/* What programs ask of the operating system and C11 does not have. The only file of the programs with functions
 * of POSIX or Windows, but for argp. Functions that return int give 0 or an errno, unless they say otherwise.
 */
#ifndef CLI_PLATFORM_H
#define CLI_PLATFORM_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For functions with a format as printf's. */
#if defined(__MINGW_PRINTF_FORMAT)
#define PRINTF_LIKE(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first)))
#elif defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

/* ---- Time and text ---- */

/* From a monotonic clock. */
double seconds_now(void);

/* Calls `tick` after every so many seconds from another thread, until the program ends; not at all if there are
 * no threads. The lock is for what both use. */
void platform_every(double seconds, void (*tick)(void));
void platform_lock(void);
void platform_unlock(void);

/* malloc for arrays that are going to be filled: the pages of large ones are large, where the system has such,
 * and come sooner. */
void *platform_allocate(size_t bytes);
/* A copy to be freed; NULL without memory. */
char *copy_text(const char *text);
/* Whether two texts of this length are the same but for the case of ASCII's letters. */
int same_letters(const char *a, const char *b, size_t length);

/* ---- Streams ---- */

int platform_is_terminal(FILE *stream);
/* The width of the terminal, at least 40; 80 if it is not known. */
int platform_columns(FILE *stream);
/* A stream to where standard output went; what is printed there goes to standard error from then on. */
int platform_take_output(FILE **stream);
/* Reserves the descriptors among 0 to 2 that are closed; using one stays an error. Nonzero: it cannot be done.
 */
int platform_reserve_descriptors(void);

typedef enum platform_kind {
  PLATFORM_NOTHING,
  PLATFORM_FILE,
  PLATFORM_DIRECTORY,
  PLATFORM_OTHER
} platform_kind;

/* What a stream is of, and how long a regular file is (`bytes` may be NULL). PLATFORM_OTHER if it is not known.
 */
platform_kind platform_kind_of_stream(FILE *stream, size_t *bytes);

/* The bytes of a regular file that is not empty, with a zero byte behind them, to be unmapped. Other files, and
 * systems that cannot do so, are an error; a file that becomes shorter meanwhile ends the program when it is
 * read. */
int platform_map(FILE *stream, const char **bytes, size_t *length);
void platform_unmap(const char *bytes, size_t length);

/* A stream that hands what is written to it to write(argument, ...), and closes by close(argument). Both return
 * 0 or an errno. NULL with errno. */
FILE *platform_open_writer(void *argument, int (*write)(void *argument, const char *bytes, size_t length),
                           int (*close)(void *argument));
/* A stream that reads these bytes, at least one, which stay where they are. NULL with errno. */
FILE *platform_open_bytes(const char *bytes, size_t length);

/* ---- Files by name ---- */

/* PLATFORM_NOTHING is no error. */
int platform_kind_of(const char *path, platform_kind *kind);
/* Whether both are names of one regular file. */
int platform_is_same_file(const char *path, const char *other);
/* A file for writing, a directory for making files in it. */
int platform_may_write(const char *path);
/* What a path stands for if its last part is a link, whether there is a file at the end or not, to be freed;
 * NULL with errno. */
char *platform_follow_links(const char *path);
/* The longest name in a directory, in bytes. */
size_t platform_longest_name(void);
/* A new file whose name ends in XXXXXX, which are replaced, with the permissions of the file `like` or, if it
 * is NULL, of a file that fopen makes. NULL with errno. */
FILE *platform_create(char *name, const char *like);
int platform_remove(const char *path);
/* Also where there is a file named `to`. */
int platform_rename(const char *from, const char *to);
int platform_make_directory(const char *path);
int platform_remove_directory(const char *path);

/* Calls `handler` when a signal is about to end the program, and not for signals that are ignored. Once it
 * returns, the signal raised again ends the program. */
void platform_before_signals(void (*handler)(int));
/* Calls `handler` at each Ctrl+C (SIGINT) and SIGTERM instead, unless they are ignored. */
void platform_on_stop(void (*handler)(int));
/* Ends the program as this signal does if nothing handles it; within a handler, when that returns. */
void platform_end_by(int signal_number);
/* To standard error, also within a handler. */
void platform_write_error(const char *text, size_t length);
/* From 1 to 0 these signals wait. */
void platform_hold_signals(int hold);

/* ---- Other programs ---- */

/* Whether PATH has it, and whether this file is one. */
int platform_is_in_path(const char *program);
int platform_is_program(const char *path);
/* What the program prints from here on is not seen. */
void platform_be_silent(void);
/* The name of this host; "" if it is not known. */
void platform_host_name(char *name, size_t size);
/* A symbol of a module, which stays loaded; NULL with the reason. */
const void *platform_load(const char *path, const char *symbol, char *error, size_t size);
/* Where the running program lies, without a slash at the end. Nonzero: not known. */
int platform_own_directory(char *directory, size_t size);

typedef struct platform_child platform_child;

/* Starts a program, by its path or by what PATH has, with these arguments, the first of which is its name. Its
 * standard input comes from `in`, or from a pipe that *pipe becomes if `in` is NULL; its output goes to `out`,
 * its messages to `messages`, or where ours go if it is NULL. With a pipe, SIGPIPE is ignored from then on: a
 * child that dies is an error of the write; and the child is not told of the terminal's Ctrl+C, so that it
 * takes all that is written before the pipe closes. ENOSYS where programs are not started. */
int platform_start(const char *const arguments[], FILE *in, FILE *out, FILE *messages, FILE **pipe,
                   platform_child **child);
/* Waits for its end; close the pipe first. Returns 0, its exit status, or 256 and the signal that ended it. */
int platform_wait(platform_child **child);
/* Whether it has not ended yet. Does not wait. */
int platform_is_running(const platform_child *child);
/* Asks it to end. */
void platform_stop(const platform_child *child);
/* Runs work(argument, to) in a child that is a copy of this program (fork), for libraries that input can crash;
 * what it writes to the stream `to` comes out of *from, which ends when the child does. The child prints
 * nothing and gets at most `memory` further bytes and `seconds` of processor time. Close *from, then wait; the
 * exit status is 0 if everything was written. ENOSYS where processes are not copied. */
int platform_run_apart(void (*work)(void *argument, FILE *to), void *argument, size_t memory, int seconds,
                       FILE **from, platform_child **child);
/* Whether platform_wait's 256 and a signal mean that the seconds were used up. */
int platform_is_out_of_time(int status);

/* A name by which a child opens a stream of ours. */
void platform_name_for_child(FILE *stream, char *name, size_t size);

#ifdef __cplusplus
}
#endif
#endif
