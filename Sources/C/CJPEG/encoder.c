#include "border.h"
#include "tables.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { buffer_bytes = 64 * 1024 };

struct cjpeg_encoder {
  struct jpeg_compress_struct info;
  cjpeg_border border;
  struct jpeg_destination_mgr destination;
  int descriptor;
  size_t bytes_max;
  size_t written;
  JOCTET buffer[buffer_bytes];
};

static cjpeg_encoder *owner(j_compress_ptr info) { return info->client_data; }

/* ---- The destination: a descriptor, by 64 KiB ---- */

static void reset_buffer(cjpeg_encoder *encoder) {
  encoder->destination.next_output_byte = encoder->buffer;
  encoder->destination.free_in_buffer = buffer_bytes;
}

static void write_out(cjpeg_encoder *encoder, size_t count) {
  cjpeg_border *border = &encoder->border;
  if (count > encoder->bytes_max - encoder->written) {
    snprintf(border->message, sizeof border->message, "more than %zu bytes", encoder->bytes_max);
    cjpeg_border_escape(border, CJPEG_STATUS_OUTPUT_LIMIT);
  }
  for (size_t done = 0; done < count;) {
    ssize_t step = write(encoder->descriptor, encoder->buffer + done, count - done);
    if (step >= 0) {
      done += (size_t)step;
    } else if (errno != EINTR) {
      snprintf(border->message, sizeof border->message, "write: %s", strerror(errno));
      cjpeg_border_escape(border, CJPEG_STATUS_OUTPUT);
    }
  }
  encoder->written += count;
  reset_buffer(encoder);
}

static void init_destination(j_compress_ptr info) { reset_buffer(owner(info)); }

static boolean empty_output_buffer(j_compress_ptr info) {
  write_out(owner(info), buffer_bytes);
  return TRUE;
}

static void term_destination(j_compress_ptr info) {
  write_out(owner(info), buffer_bytes - info->dest->free_in_buffer);
}

/* ---- Life ---- */

cjpeg_encoder *cjpeg_encoder_create(void) {
  cjpeg_encoder *encoder = calloc(1, sizeof *encoder);
  if (!encoder) return NULL;
  encoder->info.err = cjpeg_border_init(&encoder->border);
  if (setjmp(encoder->border.escape) != 0) {
    free(encoder);
    return NULL;
  }
  jpeg_create_compress(&encoder->info);
  encoder->info.client_data = encoder;
  encoder->destination.init_destination = init_destination;
  encoder->destination.empty_output_buffer = empty_output_buffer;
  encoder->destination.term_destination = term_destination;
  encoder->info.dest = &encoder->destination;
  return encoder;
}

void cjpeg_encoder_free(cjpeg_encoder *encoder) {
  if (!encoder) return;
  jpeg_destroy_compress(&encoder->info);
  free(encoder);
}

/* ---- Writing ---- */

/* Tables made for the picture need all its coefficients in memory first; those of T.81's annex K, libjpeg's own, suit
   other pictures than phones make. These are ready, and take fewer bytes at no cost. Each set is made of pictures of the
   qualities around its own; at the borders both are as good. */
static void set_tables(struct jpeg_compress_struct *info, int quality) {
  const cjpeg_tables *tables = quality < 78 ? &low_tables : quality < 93 ? &high_tables : &top_tables;
  for (int i = 0; i < 2; i++) {
    *info->dc_huff_tbl_ptrs[i] = tables->dc[i];
    *info->ac_huff_tbl_ptrs[i] = tables->ac[i];
  }
}

cjpeg_status cjpeg_encoder_start(cjpeg_encoder *encoder, const cjpeg_encoder_settings *settings) {
  struct jpeg_compress_struct *info = &encoder->info;
  if (encoder->border.status != CJPEG_STATUS_OK) return encoder->border.status;
  if (setjmp(encoder->border.escape) != 0) return encoder->border.status;
  encoder->descriptor = settings->descriptor;
  encoder->bytes_max = settings->bytes_max;
  info->mem->max_memory_to_use = settings->memory_max < LONG_MAX ? (long)settings->memory_max : LONG_MAX;
  info->image_width = (JDIMENSION)settings->width;
  info->image_height = (JDIMENSION)settings->height;
  info->input_components = settings->components;
  info->in_color_space = settings->components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  jpeg_set_defaults(info);
  jpeg_set_quality(info, settings->quality, TRUE);
  info->comp_info[0].h_samp_factor = settings->horizontal;
  info->comp_info[0].v_samp_factor = settings->vertical;
  info->raw_data_in = TRUE;
  info->dct_method = JDCT_ISLOW;
  info->optimize_coding = FALSE;
  set_tables(info, settings->quality);
  if (settings->is_progressive) jpeg_simple_progression(info);
  jpeg_start_compress(info, TRUE);
  if (settings->exif && settings->exif_count > 0)
    jpeg_write_marker(info, JPEG_APP0 + 1, settings->exif, (unsigned int)settings->exif_count);
  if (settings->icc && settings->icc_count > 0)
    jpeg_write_icc_profile(info, settings->icc, (unsigned int)settings->icc_count);
  return CJPEG_STATUS_OK;
}

cjpeg_status cjpeg_encoder_write_planes(cjpeg_encoder *encoder, const cjpeg_plane planes[CJPEG_COMPONENTS_MAX]) {
  struct jpeg_compress_struct *info = &encoder->info;
  JSAMPROW rows[CJPEG_COMPONENTS_MAX][CJPEG_BAND_ROWS_MAX];
  JSAMPARRAY components[CJPEG_COMPONENTS_MAX];
  if (encoder->border.status != CJPEG_STATUS_OK) return encoder->border.status;
  if (setjmp(encoder->border.escape) != 0) return encoder->border.status;
  for (int i = 0; i < info->num_components; i++) {
    for (int row = 0; row < info->comp_info[i].v_samp_factor * DCTSIZE; row++) {
      int source = row < planes[i].rows ? row : planes[i].rows - 1;
      rows[i][row] = planes[i].base + (size_t)source * planes[i].stride;
    }
    components[i] = rows[i];
  }
  jpeg_write_raw_data(info, components, (JDIMENSION)info->max_v_samp_factor * DCTSIZE);
  return CJPEG_STATUS_OK;
}

cjpeg_status cjpeg_encoder_finish(cjpeg_encoder *encoder) {
  if (encoder->border.status != CJPEG_STATUS_OK) return encoder->border.status;
  if (setjmp(encoder->border.escape) != 0) return encoder->border.status;
  jpeg_finish_compress(&encoder->info);
  return CJPEG_STATUS_OK;
}

size_t cjpeg_encoder_bytes_written(const cjpeg_encoder *encoder) { return encoder->written; }
const char *cjpeg_encoder_message(const cjpeg_encoder *encoder) { return encoder->border.message; }
