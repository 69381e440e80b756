/* A film of pictures, made by ffmpeg as a child process. Functions return 0, or 1 with one line in `message`.
 */
#ifndef FILM_H
#define FILM_H

#include "simulation.h"

typedef struct film film;

/* Whether ffmpeg is found. */
int film_is_possible(void);
/* Whether there could be one: ffmpeg is found, the name ends in .mp4, .mkv, .mov or .webm, and can be written.
 */
int film_can_open(const char *path, char message[SIMULATION_MESSAGE]);

/* Pictures of width x height pixels, both even. The file appears when the film is closed. Ignores SIGPIPE from
 * then on: a child that dies is an error here. */
int film_open(const char *path, int width, int height, int frames_per_second, film **made,
              char message[SIMULATION_MESSAGE]);
/* RGB, top row first. */
int film_add(film *f, const unsigned char *rgb, char message[SIMULATION_MESSAGE]);
int film_close(film **made, char message[SIMULATION_MESSAGE]);
/* Without the file. */
void film_discard(film **made);

#endif
