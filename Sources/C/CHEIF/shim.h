/* What Swift sees of libheif. */
#pragma once
#include <libheif/heif.h>
#include <libheif/heif_items.h>
#include <libheif/heif_properties.h>
#include <stddef.h>

/* What is built with the headers of Debian 12 (libheif 1.19) runs with the library of Debian 13 (1.23). Its structures
 * say by a version which fields they have; fields are appended and never moved. Those that matter here and may be newer
 * than the headers are reached through copies of the structures. */

struct cheif_security_limits_2 {
  uint8_t version;
  uint64_t max_image_size_pixels, max_number_of_tiles;
  uint32_t max_bayer_pattern_pixels, max_items, max_color_profile_size;
  uint64_t max_memory_block_size;
  uint32_t max_components, max_iloc_extents_per_item, max_size_entity_group, max_children_per_box;
  uint64_t max_total_memory;
};
_Static_assert(
    offsetof(struct cheif_security_limits_2, max_children_per_box)
        == offsetof(struct heif_security_limits, max_children_per_box),
    "libheif's security limits");
#if LIBHEIF_HAVE_VERSION(1, 20, 0)
_Static_assert(
    offsetof(struct cheif_security_limits_2, max_total_memory)
        == offsetof(struct heif_security_limits, max_total_memory),
    "libheif's security limits");
#endif

/* The bound on all memory of a context exists since 1.20; before, only single blocks are bounded. */
static inline void cheif_limit_total_memory(struct heif_security_limits *limits, uint64_t bytes) {
  if (limits->version >= 2) ((struct cheif_security_limits_2 *)(void *)limits)->max_total_memory = bytes;
}

/* The chroma of one plane alone: a name that 1.23 made a macro, which Swift does not see. */
static const enum heif_chroma cheif_chroma_grey = heif_chroma_monochrome;

struct cheif_decoding_options_10 {
  uint8_t version, ignore_transformations;
  void (*start_progress)(enum heif_progress_step, int, void *);
  void (*on_progress)(enum heif_progress_step, int, void *);
  void (*end_progress)(enum heif_progress_step, void *);
  void *progress_user_data;
  uint8_t convert_hdr_to_8bit, strict_decoding;
  const char *decoder_id;
  struct heif_color_conversion_options color_conversion_options;
  int (*cancel_decoding)(void *);
  void *color_conversion_options_ext;
  int ignore_sequence_editlist;
  struct heif_color_profile_nclx *output_image_nclx_profile;
  int num_library_threads, num_codec_threads;
  uint8_t autocorrect_broken_input, output_image_nclx_profile_passthrough;
};
_Static_assert(
    offsetof(struct cheif_decoding_options_10, cancel_decoding)
        == offsetof(struct heif_decoding_options, cancel_decoding),
    "libheif's decoding options");
#if LIBHEIF_HAVE_VERSION(1, 23, 0)
_Static_assert(
    offsetof(struct cheif_decoding_options_10, output_image_nclx_profile_passthrough)
        == offsetof(struct heif_decoding_options, output_image_nclx_profile_passthrough),
    "libheif's decoding options");
#endif

/* Leaves samples in the matrix, range and transfer that the file states. Newer libraries convert to sRGB by default. */
static inline void cheif_keep_colours(struct heif_decoding_options *options) {
  if (options->version >= 10) {
    ((struct cheif_decoding_options_10 *)(void *)options)->output_image_nclx_profile_passthrough = 1;
  }
}
