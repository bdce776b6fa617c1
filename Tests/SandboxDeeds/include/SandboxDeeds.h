/* What a process in the sandbox tries: each deed in its own words of C, with what it must come to. */
#pragma once
#include <stddef.h>

/* What a deed must come to. */
typedef enum {
  /* The end by SIGSYS, after a message that names the call. */
  deed_trapped,
  /* The end by SIGSYS without a word. */
  deed_killed,
  /* -1 and the error in `number`. */
  deed_refused,
  /* 0. */
  deed_done,
  /* The end by the signal in `number`. */
  deed_ends
} deed_fate;

typedef struct {
  const char *name;
  deed_fate fate;
  /* The system call's, the error's or the signal's. */
  int number;
} deed;

size_t deed_count(void);
deed deed_at(size_t index);
/* Does it; its result, and its errno where that is -1. */
long deed_do(size_t index, int *error);
/* What the deeds need from the world outside, before it is left. */
void deed_prepare(void);
