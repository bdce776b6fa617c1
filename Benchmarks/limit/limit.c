/* The least CPU time that a HEIC of tiles can take on one core: its tiles decoded by bare libavcodec in one context, and
 * their planes encoded by TurboJPEG. Nothing is checked, turned, stripped or stored.
 *
 *   cc -O2 -o limit limit.c $(pkg-config --cflags --libs libheif libavcodec libavutil libturbojpeg)
 *   limit FILE.heic REPEATS
 *
 * Prints medians of CPU time a photo, in milliseconds: {"decode_ms": …, "encode_ms": …, "cpu_ms": …}. Laying the tiles
 * side by side, which a decoder that wrote to the right place would not have to do, is counted in neither. */
#include <libavcodec/avcodec.h>
#include <libheif/heif.h>
#include <libheif/heif_items.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <turbojpeg.h>

enum { quality = 90, planes_max = 3 };

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "limit: %s\n", what);
  exit(1);
}

static void *need(void *pointer) {
  if (pointer == NULL) fail("out of memory");
  return pointer;
}

static double cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- The file: libheif knows the grid and its items; the parameter sets stand in a property that it does not give ---- */

typedef struct {
  const uint8_t *at, *end;
} span;

static uint32_t big_endian(const uint8_t *bytes, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
  return value;
}

/* The next box of `in`, its type and its content; 0 at the end. */
static int next_box(span *in, uint32_t *type, span *content) {
  if (in->end - in->at < 8) return 0;
  size_t size = big_endian(in->at, 4);
  if (size == 0) size = (size_t)(in->end - in->at);
  if (size < 8 || size > (size_t)(in->end - in->at)) fail("a box that does not fit");
  *type = big_endian(in->at + 4, 4);
  *content = (span){in->at + 8, in->at + size};
  in->at += size;
  return 1;
}

static span find_box(span in, const char *name) {
  uint32_t type;
  span content;
  while (next_box(&in, &type, &content)) {
    if (type == big_endian((const uint8_t *)name, 4)) return content;
  }
  fail(name);
}

/* The decoder configuration that `ipma` names for an item. */
static span configuration_of(span file, heif_item_id item) {
  span meta = find_box(file, "meta");
  meta.at += 4;
  span properties = find_box(meta, "iprp"), links = find_box(properties, "ipma"), all = find_box(properties, "ipco");
  int version = links.at[0], is_wide = links.at[3] & 1, item_bytes = version < 1 ? 2 : 4;
  uint32_t entries = big_endian(links.at + 4, 4);
  const uint8_t *at = links.at + 8;
  for (uint32_t entry = 0; entry < entries; entry++) {
    uint32_t id = big_endian(at, item_bytes);
    int count = at[item_bytes];
    at += item_bytes + 1;
    for (int link = 0; link < count; link++, at += 1 + is_wide) {
      if (id != item) continue;
      uint32_t index = is_wide ? big_endian(at, 2) & 0x7FFF : at[0] & 0x7F, type = 0;
      span rest = all, content = {0};
      for (uint32_t i = 0; i < index; i++) {
        if (!next_box(&rest, &type, &content)) fail("a property that is not there");
      }
      if (type == big_endian((const uint8_t *)"hvcC", 4)) return content;
    }
  }
  fail("no hvcC property");
}

typedef struct {
  int columns, rows, count;
  int tile_width, tile_height, width, height;
  AVPacket **packets;
  span configuration;
} picture;

static picture read_picture(const char *path, span file) {
  struct heif_context *context = need(heif_context_alloc());
  struct heif_image_handle *handle;
  if (heif_context_read_from_file(context, path, NULL).code != heif_error_Ok) fail("libheif does not read the file");
  if (heif_context_get_primary_image_handle(context, &handle).code != heif_error_Ok) fail("no primary picture");
  struct heif_image_tiling tiling = {.version = 1};
  if (heif_image_handle_get_image_tiling(handle, 0, &tiling).code != heif_error_Ok) fail("no tiling");
  picture result = {
      .columns = (int)tiling.num_columns, .rows = (int)tiling.num_rows, .count = (int)(tiling.num_columns * tiling.num_rows),
      .tile_width = (int)tiling.tile_width, .tile_height = (int)tiling.tile_height, .width = (int)tiling.image_width,
      .height = (int)tiling.image_height};
  result.packets = need(calloc((size_t)result.count, sizeof *result.packets));
  for (int i = 0; i < result.count; i++) {
    heif_item_id item = heif_image_handle_get_item_id(handle);
    if (result.count > 1) {
      uint32_t column = (uint32_t)(i % result.columns), row = (uint32_t)(i / result.columns);
      if (heif_image_handle_get_grid_image_tile_id(handle, 0, column, row, &item).code != heif_error_Ok) fail("no tile");
    }
    if (i == 0) result.configuration = configuration_of(file, item);
    uint8_t *bytes;
    size_t count;
    enum heif_metadata_compression compression;
    if (heif_item_get_item_data(context, item, &compression, &bytes, &count).code != heif_error_Ok) fail("no tile data");
    result.packets[i] = need(av_packet_alloc());
    if (av_new_packet(result.packets[i], (int)count) != 0) fail("out of memory");
    memcpy(result.packets[i]->data, bytes, count);
    heif_release_item_data(context, &bytes);
  }
  heif_image_handle_release(handle);
  heif_context_free(context);
  return result;
}

/* ---- The work ---- */

static AVCodecContext *open_decoder(span configuration) {
  const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_HEVC);
  AVCodecContext *decoder = need(avcodec_alloc_context3(codec));
  size_t count = (size_t)(configuration.end - configuration.at);
  decoder->extradata = need(av_mallocz(count + AV_INPUT_BUFFER_PADDING_SIZE));
  memcpy(decoder->extradata, configuration.at, count);
  decoder->extradata_size = (int)count;
  decoder->thread_count = 1;
  if (avcodec_open2(decoder, codec, NULL) != 0) fail("libavcodec does not open");
  return decoder;
}

static void decode(AVCodecContext *decoder, AVPacket *packet, AVFrame *frame) {
  if (avcodec_send_packet(decoder, packet) != 0) fail("libavcodec takes no tile");
  /* The decoder waits for what may have to be shown earlier; there is nothing. */
  if (avcodec_send_packet(decoder, NULL) != 0 || avcodec_receive_frame(decoder, frame) != 0) fail("a tile without picture");
  avcodec_flush_buffers(decoder);
}

typedef struct {
  uint8_t *base[planes_max];
  int stride[planes_max], width[planes_max], height[planes_max];
  int sampling;
} planes;

static planes make_planes(const picture *of, const AVFrame *frame) {
  planes result = {0};
  int horizontal = 1, vertical = 1;
  switch (frame->format) {
  case AV_PIX_FMT_YUV420P:
  case AV_PIX_FMT_YUVJ420P: result.sampling = TJSAMP_420, horizontal = 2, vertical = 2; break;
  case AV_PIX_FMT_YUV422P:
  case AV_PIX_FMT_YUVJ422P: result.sampling = TJSAMP_422, horizontal = 2; break;
  case AV_PIX_FMT_YUV444P:
  case AV_PIX_FMT_YUVJ444P: result.sampling = TJSAMP_444; break;
  default: fail("only YCbCr of 8 bits is measured");
  }
  for (int i = 0; i < planes_max; i++) {
    int h = i > 0 ? horizontal : 1, v = i > 0 ? vertical : 1;
    result.width[i] = of->columns * of->tile_width / h;
    result.height[i] = of->rows * of->tile_height / v;
    result.stride[i] = (result.width[i] + 63) & ~63;
    result.base[i] = need(malloc((size_t)result.stride[i] * (size_t)result.height[i]));
  }
  return result;
}

static void lay(const planes *to, const picture *of, int tile, const AVFrame *frame) {
  for (int i = 0; i < planes_max; i++) {
    int width = to->width[i] / of->columns, height = to->height[i] / of->rows;
    uint8_t *corner = to->base[i] + (size_t)(tile / of->columns * height) * (size_t)to->stride[i]
                      + tile % of->columns * width;
    for (int row = 0; row < height; row++)
      memcpy(corner + row * to->stride[i], frame->data[i] + row * frame->linesize[i], (size_t)width);
  }
}

static int ascending(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[count / 2];
}

static span read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail("the file does not open");
  long count = ftell(file);
  rewind(file);
  uint8_t *bytes = need(malloc((size_t)count));
  if (fread(bytes, 1, (size_t)count, file) != (size_t)count) fail("the file does not read");
  fclose(file);
  return (span){bytes, bytes + count};
}

int main(int argc, char **argv) {
  int repeats = argc == 3 ? atoi(argv[2]) : 0;
  if (repeats < 1) fail("limit FILE.heic REPEATS");
  picture photo = read_picture(argv[1], read_file(argv[1]));
  AVCodecContext *decoder = open_decoder(photo.configuration);
  AVFrame *frame = need(av_frame_alloc());
  tjhandle encoder = need(tjInitCompress());
  planes all = {0};
  uint8_t *jpeg = NULL;
  unsigned long capacity = 0;
  double *decoding = need(calloc((size_t)repeats, sizeof(double))), *encoding = need(calloc((size_t)repeats, sizeof(double))),
         *both = need(calloc((size_t)repeats, sizeof(double)));
  /* One round more than is counted: the first one faults the memory in. */
  for (int round = -1; round < repeats; round++) {
    double decoded = 0;
    for (int tile = 0; tile < photo.count; tile++) {
      double start = cpu_ms();
      decode(decoder, photo.packets[tile], frame);
      decoded += cpu_ms() - start;
      if (all.base[0] == NULL) {
        all = make_planes(&photo, frame);
        capacity = tjBufSize(photo.width, photo.height, all.sampling);
        jpeg = need(tjAlloc((int)capacity));
      }
      lay(&all, &photo, tile, frame);
      start = cpu_ms();
      av_frame_unref(frame);
      decoded += cpu_ms() - start;
    }
    double start = cpu_ms();
    unsigned long count = capacity;
    int status = tjCompressFromYUVPlanes(
        encoder, (const unsigned char **)all.base, photo.width, all.stride, photo.height, all.sampling, &jpeg, &count, quality,
        TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT);
    if (status != 0) fail(tjGetErrorStr2(encoder));
    double encoded = cpu_ms() - start;
    if (round < 0) continue;
    decoding[round] = decoded;
    encoding[round] = encoded;
    both[round] = decoded + encoded;
  }
  printf("{\"decode_ms\": %.2f, ", median(decoding, repeats));
  printf("\"encode_ms\": %.2f, \"cpu_ms\": %.2f}\n", median(encoding, repeats), median(both, repeats));
  return 0;
}
