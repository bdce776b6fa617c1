#include "CAVLog.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* AV_LOG_ERROR of libavutil/log.h: "something went wrong and cannot losslessly be recovered". */
enum { av_log_error = 16, level_mask = 0xff };

typedef void log_callback(void *source, int level, const char *format, va_list arguments);

static _Thread_local char complaint[160];

static void hear(void *source, int level, const char *format, va_list arguments) {
  (void)source;
  if ((level & level_mask) > av_log_error || complaint[0] != '\0') return;
  vsnprintf(complaint, sizeof complaint, format, arguments);
}

int cavlog_listen(const char *plugin) {
  /* Found through the plug-in, so that no version of FFmpeg is linked or named here. */
  void *library = dlopen(plugin, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return -1;
  void (*set_callback)(log_callback *) = (void (*)(log_callback *))dlsym(library, "av_log_set_callback");
  if (set_callback != NULL) set_callback(hear);
  dlclose(library);
  return set_callback == NULL ? -1 : 0;
}

void cavlog_clear(void) { complaint[0] = '\0'; }

const char *cavlog_complaint(void) { return complaint[0] == '\0' ? NULL : complaint; }
