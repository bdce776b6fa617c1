/* What Swift sees of libseccomp. */
#pragma once
#include <seccomp.h>

/* Function-like macros do not cross over to Swift. */
static inline uint32_t cseccomp_fail_with(uint16_t error) { return SCMP_ACT_ERRNO(error); }
