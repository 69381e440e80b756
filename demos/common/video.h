/* A video of pictures, made by ffmpeg as a child process. Functions return 0, or 1 with one line in `message`.
 */
#ifndef VIDEO_H
#define VIDEO_H

enum { VIDEO_MESSAGE = 400 };

typedef struct video video;

/* Whether ffmpeg is found. */
int video_is_possible(void);
/* Whether there could be one: ffmpeg is found, the name ends in .mp4, .mkv, .mov or .webm, and can be written.
 */
int video_can_open(const char *path, char message[VIDEO_MESSAGE]);

/* Pictures of width x height pixels, both even. The file appears when the video is closed. Ignores SIGPIPE from
 * then on: a child that dies is an error here. */
int video_open(const char *path, int width, int height, int frames_per_second, video **made,
               char message[VIDEO_MESSAGE]);
/* RGB, top row first. */
int video_add(video *f, const unsigned char *rgb, char message[VIDEO_MESSAGE]);
int video_close(video **made, char message[VIDEO_MESSAGE]);
/* Without the file. */
void video_discard(video **made);

#endif
