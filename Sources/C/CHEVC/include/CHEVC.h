/* Decodes the tiles of a picture by the libavcodec that libheif's FFmpeg plug-in has loaded. The plug-in makes a
 * decoder for each tile and copies its picture once more; here one decoder takes tile after tile, and its planes are
 * read where they stand. No version of FFmpeg is linked or named: the functions are found through the plug-in, and of
 * FFmpeg's structures only the beginnings are used, which have been the same in all versions since libavcodec 58. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Finds the libavcodec below `plugin`. 0, or -1 where the plug-in is not loaded or its libavcodec is of an unknown
 * version: then no decoder can be made. Once, before the first decoder is made. */
int chevc_load(const char *plugin);

typedef struct chevc_decoder chevc_decoder;

/* A decoded picture: planes of 8 bits in one byte or of more in two. */
typedef struct chevc_picture {
  const uint8_t *base[3];
  ptrdiff_t stride[3];
  int width, height;
  /* As in HEVC's chroma_format_idc: 0 grey, 1 4:2:0, 2 4:2:2, 3 4:4:4. */
  int chroma;
  int depth;
} chevc_picture;

/* A decoder of pictures that are all coded with the parameter sets of `configuration`, the content of an hvcC box. NULL
 * where there is none, or no memory. */
chevc_decoder *chevc_decoder_create(const uint8_t *configuration, size_t count);
void chevc_decoder_free(chevc_decoder *decoder);

/* Where the `count` bytes of the next picture are to be written, NAL units with their lengths before them; NULL without
 * memory. */
uint8_t *chevc_decoder_input(chevc_decoder *decoder, size_t count);

/* Decodes them. 0 and a picture, which stays until chevc_decoder_wipe; or -1 where they do not yield one picture, and
 * the decoder is good for being freed. What libavcodec complained of is heard by CAVLog. */
int chevc_decoder_decode(chevc_decoder *decoder, chevc_picture *picture);

/* Overwrites the picture with zeros and takes it back, so that samples which no later one brings are zero. */
void chevc_decoder_wipe(chevc_decoder *decoder);
