/* Hears what FFmpeg's decoder complains of. libheif's FFmpeg plug-in lets FFmpeg conceal damage and passes on no word
 * of it, strict decoding or not; FFmpeg's log is the one place where damaged picture data shows, if it breaks the
 * code's rules. */
#pragma once

/* Takes over the log of the libavutil that `plugin` has loaded, which no longer reaches standard error.
 * 0, or -1 where the plug-in is not loaded or has no such library below it. */
int cavlog_listen(const char *plugin);

/* Forgets what was heard on this thread. */
void cavlog_clear(void);

/* The first error logged on this thread since cavlog_clear, or NULL. FFmpeg decodes on the thread that calls it. */
const char *cavlog_complaint(void);
