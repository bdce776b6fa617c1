#include "CHEVC.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- FFmpeg: the beginnings of its structures, and its functions ---- */

typedef struct frame_head {
  uint8_t *data[8];
  int linesize[8];
  uint8_t **extended_data;
  int width, height, nb_samples, format;
} frame_head;

typedef struct packet_head {
  void *buf;
  int64_t pts, dts;
  uint8_t *data;
  int size;
} packet_head;

typedef struct parameters_head {
  int codec_type, codec_id;
  uint32_t codec_tag;
  uint8_t *extradata;
  int extradata_size;
} parameters_head;

/* Where there are headers, they confirm it. */
#if __has_include(<libavcodec/avcodec.h>)
#include <libavcodec/avcodec.h>
#define SAME(head, type, field) _Static_assert(offsetof(head, field) == offsetof(type, field), #type "." #field)
SAME(frame_head, AVFrame, linesize);
SAME(frame_head, AVFrame, width);
SAME(frame_head, AVFrame, height);
SAME(frame_head, AVFrame, format);
SAME(packet_head, AVPacket, data);
SAME(packet_head, AVPacket, size);
SAME(parameters_head, AVCodecParameters, extradata);
SAME(parameters_head, AVCodecParameters, extradata_size);
#endif

/* AV_INPUT_BUFFER_PADDING_SIZE of libavcodec/defs.h */
enum { padding = 64, version_least = 58, version_most = 62 };

static struct {
  unsigned (*version)(void);
  const void *(*find_decoder_by_name)(const char *name);
  void *(*alloc_context)(const void *codec);
  void (*free_context)(void **context);
  int (*open)(void *context, const void *codec, void **options);
  int (*send_packet)(void *context, const void *packet);
  int (*receive_frame)(void *context, void *frame);
  void (*flush_buffers)(void *context);
  parameters_head *(*alloc_parameters)(void);
  void (*free_parameters)(parameters_head **parameters);
  int (*parameters_from_context)(parameters_head *parameters, const void *context);
  int (*parameters_to_context)(void *context, const parameters_head *parameters);
  packet_head *(*alloc_packet)(void);
  void (*free_packet)(packet_head **packet);
  int (*new_packet)(packet_head *packet, int size);
  void (*unref_packet)(packet_head *packet);
  frame_head *(*alloc_frame)(void);
  void (*free_frame)(frame_head **frame);
  void (*unref_frame)(frame_head *frame);
  void *(*mallocz)(size_t size);
  const char *(*pixel_format_name)(int format);
} av;

static const void *hevc;

static const struct {
  const char *name;
  void *function;
} functions[] = {
    {"avcodec_version", &av.version},
    {"avcodec_find_decoder_by_name", &av.find_decoder_by_name},
    {"avcodec_alloc_context3", &av.alloc_context},
    {"avcodec_free_context", &av.free_context},
    {"avcodec_open2", &av.open},
    {"avcodec_send_packet", &av.send_packet},
    {"avcodec_receive_frame", &av.receive_frame},
    {"avcodec_flush_buffers", &av.flush_buffers},
    {"avcodec_parameters_alloc", &av.alloc_parameters},
    {"avcodec_parameters_free", &av.free_parameters},
    {"avcodec_parameters_from_context", &av.parameters_from_context},
    {"avcodec_parameters_to_context", &av.parameters_to_context},
    {"av_packet_alloc", &av.alloc_packet},
    {"av_packet_free", &av.free_packet},
    {"av_new_packet", &av.new_packet},
    {"av_packet_unref", &av.unref_packet},
    {"av_frame_alloc", &av.alloc_frame},
    {"av_frame_free", &av.free_frame},
    {"av_frame_unref", &av.unref_frame},
    {"av_mallocz", &av.mallocz},
    {"av_get_pix_fmt_name", &av.pixel_format_name},
};

static int find_functions(void *library) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *found = dlsym(library, functions[i].name);
    if (found == NULL) return -1;
    memcpy(functions[i].function, &found, sizeof found);
  }
  return 0;
}

int chevc_load(const char *plugin) {
  void *library = dlopen(plugin, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return -1;
  int status = find_functions(library);
  dlclose(library);
  if (status != 0) return -1;
  unsigned version = av.version() >> 16;
  if (version < version_least || version > version_most) return -1;
  hevc = av.find_decoder_by_name("hevc");
  return hevc == NULL ? -1 : 0;
}

/* ---- Life ---- */

struct chevc_decoder {
  void *context;
  packet_head *packet;
  frame_head *frame;
};

static int open_context(void *context, const uint8_t *configuration, size_t count) {
  if (context == NULL || count > INT_MAX - padding) return -1;
  parameters_head *parameters = av.alloc_parameters();
  if (parameters == NULL) return -1;
  int status = av.parameters_from_context(parameters, context);
  if (status >= 0) {
    parameters->extradata = av.mallocz(count + padding);
    status = parameters->extradata == NULL ? -1 : 0;
  }
  if (status >= 0) {
    memcpy(parameters->extradata, configuration, count);
    parameters->extradata_size = (int)count;
    status = av.parameters_to_context(context, parameters);
  }
  av.free_parameters(&parameters);
  return status < 0 ? -1 : av.open(context, hevc, NULL);
}

chevc_decoder *chevc_decoder_create(const uint8_t *configuration, size_t count) {
  if (hevc == NULL) return NULL;
  chevc_decoder *decoder = calloc(1, sizeof *decoder);
  if (decoder == NULL) return NULL;
  decoder->context = av.alloc_context(hevc);
  decoder->packet = av.alloc_packet();
  decoder->frame = av.alloc_frame();
  int is_ready = decoder->packet != NULL && decoder->frame != NULL
                 && open_context(decoder->context, configuration, count) == 0;
  if (!is_ready) {
    chevc_decoder_free(decoder);
    return NULL;
  }
  return decoder;
}

void chevc_decoder_free(chevc_decoder *decoder) {
  if (decoder == NULL) return;
  av.free_frame(&decoder->frame);
  av.free_packet(&decoder->packet);
  av.free_context(&decoder->context);
  free(decoder);
}

/* ---- Work ---- */

uint8_t *chevc_decoder_input(chevc_decoder *decoder, size_t count) {
  av.unref_packet(decoder->packet);
  if (count == 0 || count > INT_MAX - padding || av.new_packet(decoder->packet, (int)count) != 0) return NULL;
  return decoder->packet->data;
}

static const struct {
  const char *name;
  int chroma, depth;
} formats[] = {
    {"gray", 0, 8}, {"gray10le", 0, 10}, {"gray12le", 0, 12},
    {"yuv420p", 1, 8}, {"yuvj420p", 1, 8}, {"yuv420p10le", 1, 10}, {"yuv420p12le", 1, 12},
    {"yuv422p", 2, 8}, {"yuvj422p", 2, 8}, {"yuv422p10le", 2, 10}, {"yuv422p12le", 2, 12},
    {"yuv444p", 3, 8}, {"yuvj444p", 3, 8}, {"yuv444p10le", 3, 10}, {"yuv444p12le", 3, 12},
};

static int describe(const frame_head *frame, chevc_picture *picture) {
  const char *name = av.pixel_format_name(frame->format);
  if (name == NULL || frame->width <= 0 || frame->height <= 0) return -1;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (strcmp(formats[i].name, name) != 0) continue;
    *picture = (chevc_picture){
        .width = frame->width, .height = frame->height, .chroma = formats[i].chroma, .depth = formats[i].depth};
    for (int plane = 0; plane < (picture->chroma == 0 ? 1 : 3); plane++) {
      if (frame->data[plane] == NULL || frame->linesize[plane] <= 0) return -1;
      picture->base[plane] = frame->data[plane];
      picture->stride[plane] = frame->linesize[plane];
    }
    return 0;
  }
  return -1;
}

int chevc_decoder_decode(chevc_decoder *decoder, chevc_picture *picture) {
  int status = av.send_packet(decoder->context, decoder->packet);
  av.unref_packet(decoder->packet);
  /* Told that nothing follows, the decoder holds nothing back. */
  if (status < 0 || av.send_packet(decoder->context, NULL) < 0) return -1;
  if (av.receive_frame(decoder->context, decoder->frame) < 0 || describe(decoder->frame, picture) != 0) return -1;
  av.flush_buffers(decoder->context);
  return 0;
}

void chevc_decoder_wipe(chevc_decoder *decoder) {
  chevc_picture picture;
  if (describe(decoder->frame, &picture) == 0) {
    for (int plane = 0; plane < (picture.chroma == 0 ? 1 : 3); plane++) {
      int is_narrow = plane > 0 && picture.chroma != 3, is_low = plane > 0 && picture.chroma == 1;
      size_t width = (size_t)(picture.width + is_narrow) >> is_narrow;
      size_t height = (size_t)(picture.height + is_low) >> is_low;
      size_t row = width * (picture.depth > 8 ? 2 : 1);
      /* In one sweep: what stands between the rows is nobody's. */
      memset(decoder->frame->data[plane], 0, (height - 1) * (size_t)decoder->frame->linesize[plane] + row);
    }
  }
  av.unref_frame(decoder->frame);
}
