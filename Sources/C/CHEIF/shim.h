/* What Swift sees of libheif. */
#pragma once
#include <libheif/heif.h>
#include <libheif/heif_items.h>
#include <libheif/heif_properties.h>

/* The bound on all memory of a context exists since 1.20; before, only single blocks are bounded. */
static inline void cheif_limit_total_memory(struct heif_security_limits *limits, uint64_t bytes) {
#if LIBHEIF_HAVE_VERSION(1, 20, 0)
  if (limits->version >= 2) limits->max_total_memory = bytes;
#else
  (void)limits;
  (void)bytes;
#endif
}

/* The chroma of one plane alone: a name that 1.23 made a macro, which Swift does not see. */
static const enum heif_chroma cheif_chroma_grey = heif_chroma_monochrome;
