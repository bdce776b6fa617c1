#include "border.h"

#include <stdlib.h>
#include <string.h>

enum { rows_max = 4, bytes_least = 64 * 1024 };

/* libjpeg takes coefficients from arrays that hold all of a picture. It asks for them by one function, row of MCUs by
 * row of MCUs; here that function is ours, and the rows come into being when they are asked for. */

typedef struct component {
  JBLOCK *base;
  JBLOCKROW rows[rows_max];
  size_t count;
  int vertical;
} component;

typedef struct mover {
  struct jpeg_compress_struct info;
  /* Shares the decoder's border, whose status it leaves. */
  struct jpeg_destination_mgr destination;
  component components[CJPEG_COMPONENTS_MAX];
  cjpeg_supply supply;
  void *context;
  long row;
  uint8_t *bytes;
  size_t capacity;
} mover;

static mover *owner(j_common_ptr info) { return info->client_data; }

static _Noreturn void fail(j_common_ptr info, cjpeg_status status, const char *message) {
  cjpeg_border *border = (cjpeg_border *)info->err;
  snprintf(border->message, sizeof border->message, "%s", message);
  cjpeg_border_escape(border, status);
}

/* ---- The destination: memory that grows ---- */

static void init_destination(j_compress_ptr info) {
  mover *mover = owner((j_common_ptr)info);
  mover->destination.next_output_byte = mover->bytes;
  mover->destination.free_in_buffer = mover->capacity;
}

static boolean empty_output_buffer(j_compress_ptr info) {
  mover *mover = owner((j_common_ptr)info);
  uint8_t *grown = realloc(mover->bytes, 2 * mover->capacity);
  if (grown == NULL) fail((j_common_ptr)info, CJPEG_STATUS_OUT_OF_MEMORY, "no memory for the picture");
  mover->bytes = grown;
  mover->destination.next_output_byte = grown + mover->capacity;
  mover->destination.free_in_buffer = mover->capacity;
  mover->capacity *= 2;
  return TRUE;
}

static void term_destination(j_compress_ptr info) { (void)info; }

/* ---- The rows ---- */

static JBLOCKARRAY access_rows(
    j_common_ptr info, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count, boolean writable) {
  mover *mover = owner(info);
  component *asked = (component *)(void *)array;
  long row = (long)first / asked->vertical;
  (void)writable;
  if (count > (JDIMENSION)asked->vertical) fail(info, CJPEG_STATUS_UNSUPPORTED, "more than a row of MCUs at once");
  if (row != mover->row) {
    cjpeg_block *blocks[CJPEG_COMPONENTS_MAX] = {0};
    for (int i = 0; i < mover->info.num_components; i++) {
      memset(mover->components[i].base, 0, mover->components[i].count * sizeof(JBLOCK));
      blocks[i] = mover->components[i].base;
    }
    if (mover->supply(mover->context, (int)row, blocks) != 0)
      fail(info, CJPEG_STATUS_UNSUPPORTED, "coefficients that are not to be moved");
    mover->row = row;
  }
  return asked->rows;
}

static void allocate_rows(mover *mover) {
  struct jpeg_compress_struct *info = &mover->info;
  int horizontal_max = 1;
  for (int i = 0; i < info->num_components; i++) {
    if (info->comp_info[i].h_samp_factor > horizontal_max) horizontal_max = info->comp_info[i].h_samp_factor;
  }
  size_t mcus = (info->image_width + (size_t)(8 * horizontal_max) - 1) / (size_t)(8 * horizontal_max);
  for (int i = 0; i < info->num_components; i++) {
    component *component = &mover->components[i];
    size_t width = mcus * (size_t)info->comp_info[i].h_samp_factor;
    component->vertical = info->comp_info[i].v_samp_factor;
    component->count = width * (size_t)component->vertical;
    component->base = info->mem->alloc_large((j_common_ptr)info, JPOOL_IMAGE, component->count * sizeof(JBLOCK));
    for (int row = 0; row < component->vertical; row++) component->rows[row] = component->base + (size_t)row * width;
  }
  info->mem->access_virt_barray = access_rows;
}

/* ---- The picture ---- */

static void transpose_parameters(struct jpeg_compress_struct *info) {
  for (int i = 0; i < info->num_components; i++) {
    jpeg_component_info *component = &info->comp_info[i];
    int horizontal = component->h_samp_factor;
    component->h_samp_factor = component->v_samp_factor;
    component->v_samp_factor = horizontal;
  }
  for (int i = 0; i < NUM_QUANT_TBLS; i++) {
    JQUANT_TBL *table = info->quant_tbl_ptrs[i];
    if (table == NULL) continue;
    for (int row = 0; row < DCTSIZE; row++) {
      for (int column = 0; column < row; column++) {
        UINT16 value = table->quantval[row * DCTSIZE + column];
        table->quantval[row * DCTSIZE + column] = table->quantval[column * DCTSIZE + row];
        table->quantval[column * DCTSIZE + row] = value;
      }
    }
  }
}

static void write_picture(mover *mover, j_decompress_ptr source, int transposes, int width, int height) {
  struct jpeg_compress_struct *info = &mover->info;
  jpeg_create_compress(info);
  info->client_data = mover;
  mover->destination.init_destination = init_destination;
  mover->destination.empty_output_buffer = empty_output_buffer;
  mover->destination.term_destination = term_destination;
  info->dest = &mover->destination;
  jpeg_copy_critical_parameters(source, info);
  if (transposes) transpose_parameters(info);
  info->image_width = (JDIMENSION)width;
  info->image_height = (JDIMENSION)height;
#if JPEG_LIB_VERSION >= 70
  info->jpeg_width = info->image_width;
  info->jpeg_height = info->image_height;
#endif
  allocate_rows(mover);
  jvirt_barray_ptr arrays[CJPEG_COMPONENTS_MAX];
  for (int i = 0; i < info->num_components; i++) arrays[i] = (jvirt_barray_ptr)(void *)&mover->components[i];
  jpeg_write_coefficients(info, arrays);
  jpeg_finish_compress(info);
}

cjpeg_status cjpeg_decoder_move(
    cjpeg_decoder *decoder, int transposes, int width, int height, cjpeg_supply supply, void *context,
    cjpeg_picture *picture) {
  struct jpeg_decompress_struct *source = cjpeg_decoder_info(decoder);
  cjpeg_border *border = (cjpeg_border *)source->err;
  if (border->status != CJPEG_STATUS_OK) return border->status;
  mover *mover = calloc(1, sizeof *mover);
  if (mover == NULL) return CJPEG_STATUS_OUT_OF_MEMORY;
  /* The moved picture has about as many bytes. */
  mover->capacity = source->src->bytes_in_buffer + bytes_least;
  mover->bytes = malloc(mover->capacity);
  mover->supply = supply;
  mover->context = context;
  mover->row = -1;
  mover->info.err = source->err;
  if (mover->bytes == NULL) {
    free(mover);
    return CJPEG_STATUS_OUT_OF_MEMORY;
  }
  if (setjmp(border->escape) == 0) {
    write_picture(mover, source, transposes, width, height);
    *picture = (cjpeg_picture){mover->bytes, mover->capacity - mover->destination.free_in_buffer};
  } else {
    free(mover->bytes);
  }
  jpeg_destroy_compress(&mover->info);
  free(mover);
  return border->status;
}
