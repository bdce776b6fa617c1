#include "border.h"

#include <limits.h>
#include <stdlib.h>

/* T.81 allows a progression of more scans than any encoder writes; each costs a walk over all blocks. The bound is
 * TurboJPEG's own (TJFLAG_LIMITSCANS). */
enum { scans_max = 500 };

struct cjpeg_decoder {
  struct jpeg_decompress_struct info;
  cjpeg_border border;
  struct jpeg_source_mgr source;
  struct jpeg_progress_mgr progress;
};

static cjpeg_decoder *owner(j_decompress_ptr info) { return info->client_data; }

struct jpeg_decompress_struct *cjpeg_decoder_info(cjpeg_decoder *decoder) { return &decoder->info; }

/* ---- The source: all bytes at once, then an invented EOI ---- */

static void init_source(j_decompress_ptr info) { (void)info; }
static void term_source(j_decompress_ptr info) { (void)info; }

static boolean fill_input_buffer(j_decompress_ptr info) {
  static const JOCTET end_of_image[2] = {0xFF, JPEG_EOI};
  cjpeg_border *border = &owner(info)->border;
  info->src->next_input_byte = end_of_image;
  info->src->bytes_in_buffer = sizeof end_of_image;
  if (!border->reached_end) {
    border->reached_end = 1;
    WARNMS(info, JWRN_JPEG_EOF);
  }
  return TRUE;
}

static void skip_input_data(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  while ((size_t)count > info->src->bytes_in_buffer) {
    count -= (long)info->src->bytes_in_buffer;
    fill_input_buffer(info);
  }
  info->src->next_input_byte += count;
  info->src->bytes_in_buffer -= (size_t)count;
}

static void limit_scans(j_common_ptr info) {
  if (((j_decompress_ptr)info)->input_scan_number <= scans_max) return;
  cjpeg_border *border = (cjpeg_border *)info->err;
  snprintf(border->message, sizeof border->message, "more than %d scans", scans_max);
  cjpeg_border_escape(border, CJPEG_STATUS_UNSUPPORTED);
}

/* ---- Life ---- */

cjpeg_decoder *cjpeg_decoder_create(const uint8_t *bytes, size_t count, size_t memory_max) {
  cjpeg_decoder *decoder = calloc(1, sizeof *decoder);
  if (!decoder) return NULL;
  decoder->info.err = cjpeg_border_init(&decoder->border);
  if (setjmp(decoder->border.escape) != 0) {
    free(decoder);
    return NULL;
  }
  jpeg_create_decompress(&decoder->info);
  decoder->info.client_data = decoder;
  decoder->info.mem->max_memory_to_use = memory_max < LONG_MAX ? (long)memory_max : LONG_MAX;
  decoder->source.init_source = init_source;
  decoder->source.fill_input_buffer = fill_input_buffer;
  decoder->source.skip_input_data = skip_input_data;
  decoder->source.resync_to_restart = jpeg_resync_to_restart;
  decoder->source.term_source = term_source;
  decoder->source.next_input_byte = bytes;
  decoder->source.bytes_in_buffer = count;
  decoder->info.src = &decoder->source;
  decoder->progress.progress_monitor = limit_scans;
  decoder->info.progress = &decoder->progress;
  return decoder;
}

void cjpeg_decoder_free(cjpeg_decoder *decoder) {
  if (!decoder) return;
  jpeg_destroy_decompress(&decoder->info);
  free(decoder);
}

/* ---- Reading ---- */

static cjpeg_colours colours_of(J_COLOR_SPACE space) {
  switch (space) {
  case JCS_GRAYSCALE: return CJPEG_COLOURS_GREY;
  case JCS_YCbCr: return CJPEG_COLOURS_YCBCR;
  case JCS_RGB: return CJPEG_COLOURS_RGB;
  case JCS_CMYK:
  case JCS_YCCK: return CJPEG_COLOURS_CMYK;
  default: return CJPEG_COLOURS_OTHER;
  }
}

cjpeg_status cjpeg_decoder_read_header(cjpeg_decoder *decoder, cjpeg_header *header) {
  struct jpeg_decompress_struct *info = &decoder->info;
  if (decoder->border.status != CJPEG_STATUS_OK) return decoder->border.status;
  if (setjmp(decoder->border.escape) != 0) return decoder->border.status;
  jpeg_read_header(info, TRUE);
  if (info->num_components > CJPEG_COMPONENTS_MAX)
    ERREXIT2(info, JERR_COMPONENT_COUNT, info->num_components, CJPEG_COMPONENTS_MAX);
  *header = (cjpeg_header){
      .width = (int)info->image_width,
      .height = (int)info->image_height,
      .components = info->num_components,
      .colours = colours_of(info->jpeg_color_space),
      .is_progressive = info->progressive_mode,
      .has_multiple_scans = jpeg_has_multiple_scans(info),
  };
  for (int i = 0; i < info->num_components; i++) {
    header->horizontal[i] = info->comp_info[i].h_samp_factor;
    header->vertical[i] = info->comp_info[i].v_samp_factor;
  }
  return CJPEG_STATUS_OK;
}

/* libjpeg paints a component grey that no scan has brought, and is content with a progression that stops half-way.
 * The first is damage. The second is lawful (T.81 demands no last bit), unless the file is cut. */
static void check_scans(cjpeg_decoder *decoder) {
  struct jpeg_decompress_struct *info = &decoder->info;
  cjpeg_border *border = &decoder->border;
  for (int i = 0; i < info->num_components; i++) {
    int is_missing = info->comp_info[i].quant_table == NULL;
    int is_coarse = 0;
    if (info->progressive_mode && info->coef_bits) {
      is_missing |= info->coef_bits[i][0] < 0;
      for (int k = 0; k < DCTSIZE2; k++) is_coarse |= info->coef_bits[i][k] != 0;
    }
    if (is_missing || (is_coarse && border->reached_end)) {
      snprintf(border->message, sizeof border->message, "scans of component %d are missing", i);
      cjpeg_border_escape(border, CJPEG_STATUS_TRUNCATED);
    }
    if (is_coarse) border->is_irregular = 1;
  }
}

cjpeg_status cjpeg_decoder_start(cjpeg_decoder *decoder, cjpeg_output output, int divisor) {
  struct jpeg_decompress_struct *info = &decoder->info;
  if (decoder->border.status != CJPEG_STATUS_OK) return decoder->border.status;
  if (setjmp(decoder->border.escape) != 0) return decoder->border.status;
  switch (output) {
  case CJPEG_OUTPUT_PLANES: info->raw_data_out = TRUE; break;
  case CJPEG_OUTPUT_RGB: info->out_color_space = JCS_RGB; break;
  case CJPEG_OUTPUT_YCBCR: info->out_color_space = JCS_YCbCr; break;
  case CJPEG_OUTPUT_CMYK: info->out_color_space = JCS_CMYK; break;
  }
  info->scale_num = 1;
  info->scale_denom = (unsigned int)divisor;
  info->dct_method = JDCT_ISLOW;
  info->do_fancy_upsampling = TRUE;
  /* It would invent detail where a progression stops half-way. */
  info->do_block_smoothing = FALSE;
  jpeg_start_decompress(info);
  if (jpeg_has_multiple_scans(info)) check_scans(decoder);
  return CJPEG_STATUS_OK;
}

int cjpeg_decoder_block_side(const cjpeg_decoder *decoder, int component) {
#if JPEG_LIB_VERSION >= 70
  return decoder->info.comp_info[component].DCT_v_scaled_size;
#else
  return decoder->info.comp_info[component].DCT_scaled_size;
#endif
}

cjpeg_status cjpeg_decoder_read_planes(cjpeg_decoder *decoder, const cjpeg_plane planes[CJPEG_COMPONENTS_MAX]) {
  struct jpeg_decompress_struct *info = &decoder->info;
  JSAMPROW rows[CJPEG_COMPONENTS_MAX][CJPEG_BAND_ROWS_MAX];
  JSAMPARRAY components[CJPEG_COMPONENTS_MAX];
  if (decoder->border.status != CJPEG_STATUS_OK) return decoder->border.status;
  if (setjmp(decoder->border.escape) != 0) return decoder->border.status;
  for (int i = 0; i < info->num_components; i++) {
    const jpeg_component_info *component = &info->comp_info[i];
    int side = cjpeg_decoder_block_side(decoder, i);
    int count = component->v_samp_factor * side;
    if (planes[i].rows < count || planes[i].stride < (size_t)component->width_in_blocks * (size_t)side)
      ERREXIT(info, JERR_BUFFER_SIZE);
    for (int row = 0; row < count; row++) rows[i][row] = planes[i].base + (size_t)row * planes[i].stride;
    components[i] = rows[i];
  }
  /* Luma has the least side; a divided picture's other components may have a larger one. */
  int side = DCTSIZE;
  for (int i = 0; i < info->num_components; i++) {
    if (cjpeg_decoder_block_side(decoder, i) < side) side = cjpeg_decoder_block_side(decoder, i);
  }
  jpeg_read_raw_data(info, components, (JDIMENSION)(info->max_v_samp_factor * side));
  return CJPEG_STATUS_OK;
}

cjpeg_status cjpeg_decoder_read_rows(cjpeg_decoder *decoder, cjpeg_plane rows) {
  struct jpeg_decompress_struct *info = &decoder->info;
  if (decoder->border.status != CJPEG_STATUS_OK) return decoder->border.status;
  if (setjmp(decoder->border.escape) != 0) return decoder->border.status;
  JDIMENSION first = info->output_scanline;
  while (info->output_scanline < first + (JDIMENSION)rows.rows) {
    JSAMPROW row = rows.base + (size_t)(info->output_scanline - first) * rows.stride;
    jpeg_read_scanlines(info, &row, 1);
  }
  return CJPEG_STATUS_OK;
}

cjpeg_status cjpeg_decoder_finish(cjpeg_decoder *decoder) {
  if (decoder->border.status != CJPEG_STATUS_OK) return decoder->border.status;
  if (setjmp(decoder->border.escape) != 0) return decoder->border.status;
  jpeg_finish_decompress(&decoder->info);
  return CJPEG_STATUS_OK;
}

cjpeg_status cjpeg_decoder_prove(cjpeg_decoder *decoder) {
  if (decoder->border.status != CJPEG_STATUS_OK) return decoder->border.status;
  if (setjmp(decoder->border.escape) != 0) return decoder->border.status;
  jpeg_read_coefficients(&decoder->info);
  check_scans(decoder);
  jpeg_finish_decompress(&decoder->info);
  return CJPEG_STATUS_OK;
}

int cjpeg_decoder_is_irregular(const cjpeg_decoder *decoder) { return decoder->border.is_irregular; }
const char *cjpeg_decoder_message(const cjpeg_decoder *decoder) { return decoder->border.message; }
