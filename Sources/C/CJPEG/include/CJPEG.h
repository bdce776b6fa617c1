/* libjpeg behind a border: it reports errors by longjmp, which must never cross a Swift frame. Every function here
 * catches them itself and returns a status. An object that has failed once answers every later call with the same
 * status, and is good only for reading its message and for being freed. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* An enumeration that Swift sees as one of its own, and how it calls a case. */
#if defined(__clang__)
#define CJPEG_ENUM __attribute__((enum_extensibility(closed)))
#define CJPEG_NAME(name) __attribute__((swift_name(name)))
#else
#define CJPEG_ENUM
#define CJPEG_NAME(name)
#endif

typedef enum CJPEG_ENUM cjpeg_status {
  CJPEG_STATUS_OK CJPEG_NAME("ok"),
  /* The data breaks the format's rules. */
  CJPEG_STATUS_CORRUPT CJPEG_NAME("corrupt"),
  /* The data ends too early. */
  CJPEG_STATUS_TRUNCATED CJPEG_NAME("truncated"),
  /* Lawful, but nothing that libjpeg reads. */
  CJPEG_STATUS_UNSUPPORTED CJPEG_NAME("unsupported"),
  /* More than the memory that was allowed, or than there is. */
  CJPEG_STATUS_OUT_OF_MEMORY CJPEG_NAME("outOfMemory"),
  /* write(2) failed; the message tells why. */
  CJPEG_STATUS_OUTPUT CJPEG_NAME("output"),
  /* The picture would have more bytes than allowed. */
  CJPEG_STATUS_OUTPUT_LIMIT CJPEG_NAME("outputLimit"),
} cjpeg_status;

enum {
  CJPEG_COMPONENTS_MAX = 4,
  /* Sample rows of one component in an iMCU row: vertical factor 4 times 8. */
  CJPEG_BAND_ROWS_MAX = 32,
};

/* Samples of one component: `rows` rows, `stride` bytes apart. */
typedef struct cjpeg_plane {
  uint8_t *base;
  size_t stride;
  int rows;
} cjpeg_plane;

/* ---- Decoding ---- */

typedef struct cjpeg_decoder cjpeg_decoder;

typedef enum CJPEG_ENUM cjpeg_colours {
  CJPEG_COLOURS_OTHER CJPEG_NAME("other"),
  CJPEG_COLOURS_GREY CJPEG_NAME("grey"),
  CJPEG_COLOURS_YCBCR CJPEG_NAME("ycbcr"),
  CJPEG_COLOURS_RGB CJPEG_NAME("rgb"),
  /* CMYK, or YCCK, which is read as CMYK. */
  CJPEG_COLOURS_CMYK CJPEG_NAME("cmyk"),
} cjpeg_colours;

/* What stands before the first scan's data. */
typedef struct cjpeg_header {
  int width, height;
  int components;
  cjpeg_colours colours;
  int horizontal[CJPEG_COMPONENTS_MAX], vertical[CJPEG_COMPONENTS_MAX];
  int is_progressive;
  /* The coefficients of the whole picture are held in memory. */
  int has_multiple_scans;
} cjpeg_header;

typedef enum CJPEG_ENUM cjpeg_output {
  /* The components as they are stored, by cjpeg_decoder_read_planes. */
  CJPEG_OUTPUT_PLANES CJPEG_NAME("planes"),
  /* Upsampled and interleaved, by cjpeg_decoder_read_rows. */
  CJPEG_OUTPUT_RGB CJPEG_NAME("rgb"),
  CJPEG_OUTPUT_YCBCR CJPEG_NAME("ycbcr"),
  CJPEG_OUTPUT_CMYK CJPEG_NAME("cmyk"),
} cjpeg_output;

/* A decoder of `count` bytes, which the caller keeps alive and unchanged; NULL without memory. Damage to the picture's
 * data ends any call at once; oddities of headers are only noted. `memory_max` bounds what libjpeg holds. */
cjpeg_decoder *cjpeg_decoder_create(const uint8_t *bytes, size_t count, size_t memory_max);
void cjpeg_decoder_free(cjpeg_decoder *decoder);

cjpeg_status cjpeg_decoder_read_header(cjpeg_decoder *decoder, cjpeg_header *header);
/* Reads all scans where there are several. Every pixel stands for `divisor` (1, 2, 4 or 8) by as many of the
 * picture's. */
cjpeg_status cjpeg_decoder_start(cjpeg_decoder *decoder, cjpeg_output output, int divisor);
/* After start: how many samples a side a block of this component yields. A divided picture's chroma may be divided
 * less. */
int cjpeg_decoder_block_side(const cjpeg_decoder *decoder, int component);
/* Reads one iMCU row: of component i, block side x vertical[i] rows of whole blocks, at most `planes[i].rows`. */
cjpeg_status cjpeg_decoder_read_planes(cjpeg_decoder *decoder, const cjpeg_plane planes[CJPEG_COMPONENTS_MAX]);
/* Reads `rows.rows` interleaved rows; no more than the picture still has. */
cjpeg_status cjpeg_decoder_read_rows(cjpeg_decoder *decoder, cjpeg_plane rows);
/* After the last row: reads on to EOI. */
cjpeg_status cjpeg_decoder_finish(cjpeg_decoder *decoder);
/* In place of start, read and finish: entropy-decodes all scans and computes no samples. */
cjpeg_status cjpeg_decoder_prove(cjpeg_decoder *decoder);

/* Whether harmless oddities were met: stray bytes, unlawful but unused parameters, no EOI. */
int cjpeg_decoder_is_irregular(const cjpeg_decoder *decoder);
const char *cjpeg_decoder_message(const cjpeg_decoder *decoder);

/* ---- Encoding ---- */

typedef struct cjpeg_encoder cjpeg_encoder;

typedef struct cjpeg_encoder_settings {
  int width, height;
  /* 1: grey; 3: YCbCr with luma's sampling factors, chroma's being 1 x 1. */
  int components;
  int horizontal, vertical;
  int quality;
  int is_progressive;
  /* What APP1 holds, at most 65,533 bytes, or NULL; read during start only. */
  const uint8_t *exif;
  size_t exif_count;
  /* An ICC profile, or NULL; read during start only. */
  const uint8_t *icc;
  size_t icc_count;
  /* Written to, never closed. */
  int descriptor;
  size_t bytes_max;
  size_t memory_max;
} cjpeg_encoder_settings;

/* NULL without memory. */
cjpeg_encoder *cjpeg_encoder_create(void);
void cjpeg_encoder_free(cjpeg_encoder *encoder);

/* Writes SOI, JFIF, the EXIF block and the ICC profile. */
cjpeg_status cjpeg_encoder_start(cjpeg_encoder *encoder, const cjpeg_encoder_settings *settings);
/* Encodes one iMCU row: of component i, 8 x its vertical factor rows of whole blocks. Where `planes[i]` has fewer rows,
 * its last one is repeated. */
cjpeg_status cjpeg_encoder_write_planes(cjpeg_encoder *encoder, const cjpeg_plane planes[CJPEG_COMPONENTS_MAX]);
cjpeg_status cjpeg_encoder_finish(cjpeg_encoder *encoder);

size_t cjpeg_encoder_bytes_written(const cjpeg_encoder *encoder);
const char *cjpeg_encoder_message(const cjpeg_encoder *encoder);

/* ---- Moving coefficients ---- */

typedef int16_t cjpeg_block[64];

/* Fills MCU row `row` of a picture: of component i, its vertical factor times a row of blocks for whole MCUs, one after
 * the other; coefficients stand in their natural order and are 0 before. Other than 0 gives up. */
typedef int (*cjpeg_supply)(void *context, int row, cjpeg_block *const blocks[CJPEG_COMPONENTS_MAX]);

/* A picture in memory, to be given back to free(). */
typedef struct cjpeg_picture {
  uint8_t *bytes;
  size_t count;
} cjpeg_picture;

/* Writes a sequential picture of supplied coefficients, with the tables and the colours of the one that `decoder` has
 * read the header of; transposed, and of another size, where the caller says so. An MCU row is all that is held of
 * it. */
cjpeg_status cjpeg_decoder_move(
    cjpeg_decoder *decoder, int transposes, int width, int height, cjpeg_supply supply, void *context,
    cjpeg_picture *picture);
