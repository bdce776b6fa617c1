#include "border.h"

#include <string.h>

_Noreturn void cjpeg_border_escape(cjpeg_border *border, cjpeg_status status) {
  border->status = status;
  longjmp(border->escape, 1);
}

_Noreturn void cjpeg_border_fail(j_common_ptr info, cjpeg_status status) {
  cjpeg_border *border = (cjpeg_border *)info->err;
  border->manager.format_message(info, border->message);
  cjpeg_border_escape(border, status);
}

static cjpeg_status classify(const cjpeg_border *border) {
  switch (border->manager.msg_code) {
  case JERR_OUT_OF_MEMORY:
  /* max_memory_to_use would be passed: Debian's build has no temporary files. */
  case JERR_NO_BACKING_STORE:
    return CJPEG_STATUS_OUT_OF_MEMORY;
  case JERR_ARITH_NOTIMPL:
  case JERR_BAD_PRECISION:
  case JERR_CCIR601_NOTIMPL:
  case JERR_COMPONENT_COUNT:
  case JERR_CONVERSION_NOTIMPL:
  /* A height of 0, to be told by a DNL marker. */
  case JERR_EMPTY_IMAGE:
  case JERR_FRACT_SAMPLE_NOTIMPL:
  case JERR_IMAGE_TOO_BIG:
  case JERR_NOTIMPL:
  case JERR_NOT_COMPILED:
  case JERR_SOF_UNSUPPORTED:
  case JERR_WIDTH_OVERFLOW:
    return CJPEG_STATUS_UNSUPPORTED;
  default:
    return border->reached_end ? CJPEG_STATUS_TRUNCATED : CJPEG_STATUS_CORRUPT;
  }
}

static void error_exit(j_common_ptr info) { cjpeg_border_fail(info, classify((cjpeg_border *)info->err)); }

/* Whether the bytes that libjpeg has passed over on its way to a marker are damage: data that no MCU has taken. That
 * they are where the marker is RSTn, since an interval was longer than its MCUs, and elsewhere unless all of them are
 * padding (00 and FF). Before the first scan they are nobody's data. */
static int is_left_over(j_decompress_ptr info) {
  const struct jpeg_error_mgr *manager = info->err;
  int count = manager->msg_parm.i[0], marker = manager->msg_parm.i[1];
  if (info->input_scan_number == 0) return 0;
  if (marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7) return 1;
  /* They end where the source stands now, unless it has come to the EOI that was invented. */
  if (((const cjpeg_border *)manager)->reached_end) return 0;
  for (const JOCTET *byte = info->src->next_input_byte - count; byte < info->src->next_input_byte; byte++)
    if (*byte != 0 && *byte != 0xFF) return 1;
  return 0;
}

/* Warnings are what libjpeg would repair by guessing. About picture data no guess is good enough; about headers it is,
 * and the caller is told. An unknown warning counts as damage. */
static void emit_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  cjpeg_border *border = (cjpeg_border *)info->err;
  switch (border->manager.msg_code) {
  /* Parameters of SOS that sequential decoding does not use: Samsung writes zeros. */
  case JWRN_NOT_SEQUENTIAL:
  case JWRN_ADOBE_XFORM:
  case JWRN_JFIF_MAJOR:
  case JWRN_BOGUS_ICC:
    border->is_irregular = 1;
    return;
  case JWRN_EXTRANEOUS_DATA:
    if (info->is_decompressor && is_left_over((j_decompress_ptr)info)) cjpeg_border_fail(info, CJPEG_STATUS_CORRUPT);
    border->is_irregular = 1;
    return;
  case JWRN_JPEG_EOF:
    /* Only EOI may be missing. Huffman decoding tells by itself (JWRN_HIT_MARKER) whether data is, too; arithmetic
     * decoding makes up bits without a word. */
    if (((j_decompress_ptr)info)->arith_code) cjpeg_border_fail(info, CJPEG_STATUS_TRUNCATED);
    border->is_irregular = 1;
    return;
  case JWRN_HIT_MARKER:
    cjpeg_border_fail(info, border->reached_end || ((j_decompress_ptr)info)->unread_marker == JPEG_EOI
                                ? CJPEG_STATUS_TRUNCATED
                                : CJPEG_STATUS_CORRUPT);
  /* JWRN_HUFF_BAD_CODE, JWRN_ARITH_BAD_CODE, JWRN_BOGUS_PROGRESSION, JWRN_MUST_RESYNC and what is unknown. */
  default:
    cjpeg_border_fail(info, CJPEG_STATUS_CORRUPT);
  }
}

static void output_message(j_common_ptr info) { (void)info; }

struct jpeg_error_mgr *cjpeg_border_init(cjpeg_border *border) {
  jpeg_std_error(&border->manager);
  border->manager.error_exit = error_exit;
  border->manager.emit_message = emit_message;
  border->manager.output_message = output_message;
  return &border->manager;
}
