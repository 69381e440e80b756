/* Video files, encoded by ffmpeg in a child process. Functions return 0, or 1 with one line in `message`. */
#ifndef VIDEO_H
#define VIDEO_H

enum { VIDEO_MESSAGE = 400 };

typedef struct video video;

/* Returns 1 if ffmpeg is installed. */
int video_is_possible(void);
/* Checks that ffmpeg is installed, that the name ends in .mp4, .mkv, .mov or .webm, and that the file can be
 * written. */
int video_can_open(const char *path, char message[VIDEO_MESSAGE]);

/* Pictures have width x height pixels, both even. The file appears when the video is closed. From this call on
 * the process ignores SIGPIPE, so that the death of the child is an error instead of a signal. */
int video_open(const char *path, int width, int height, int frames_per_second, video **made,
               char message[VIDEO_MESSAGE]);
/* RGB, top row first. */
int video_add(video *f, const unsigned char *rgb, char message[VIDEO_MESSAGE]);
int video_close(video **made, char message[VIDEO_MESSAGE]);
/* Stops without writing the file. */
void video_discard(video **made);

#endif
