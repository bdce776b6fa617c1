// Preloaded into a server: its wall clock is off by the seconds that the file named by FAULT_CLOCK says at the moment.
// (libfaketime moves the environment, where Swift's runtime then does not find its arguments.)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (result != 0 || clock != CLOCK_REALTIME) return result;
  FILE *file = fopen(getenv("FAULT_CLOCK"), "r");
  long offset = 0;
  if (file) {
    if (fscanf(file, "%ld", &offset) == 1) time->tv_sec += offset;
    fclose(file);
  }
  return result;
}
