/* The error border that decoder and encoder share. */
#pragma once
#include <setjmp.h>
#include <stdio.h>

#include <jerror.h>
#include <jpeglib.h>

#include "CJPEG.h"

typedef struct cjpeg_border {
  /* First, so that libjpeg's pointer to it is a pointer to the border. */
  struct jpeg_error_mgr manager;
  jmp_buf escape;
  cjpeg_status status;
  /* The source's bytes were used up before EOI. */
  int reached_end;
  int is_irregular;
  char message[JMSG_LENGTH_MAX];
} cjpeg_border;

struct jpeg_error_mgr *cjpeg_border_init(cjpeg_border *border);
/* Leaves the entry point with `status`; the caller has set the message. */
_Noreturn void cjpeg_border_escape(cjpeg_border *border, cjpeg_status status);
/* Takes over the message that libjpeg has prepared, then leaves. */
_Noreturn void cjpeg_border_fail(j_common_ptr info, cjpeg_status status);

/* What stands behind a decoder's entry points. */
struct jpeg_decompress_struct *cjpeg_decoder_info(cjpeg_decoder *decoder);
