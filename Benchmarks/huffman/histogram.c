/* histogram JPEG: how often each symbol of its Huffman codes stands in a baseline JPEG: four lines of 256 numbers, luma's
   DC and AC, chroma's DC and AC (ITU-T T.81, F.1.2). */
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

static const int zigzag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
                               41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
                               30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
static long counts[4][256];

static int bits(int value) {
  int count = 0;
  for (value = abs(value); value; value >>= 1) count++;
  return count;
}

static void count_block(const JCOEF *block, int *previous, long *dc, long *ac) {
  dc[bits(block[0] - *previous)]++;
  *previous = block[0];
  int run = 0;
  for (int i = 1; i < 64; i++) {
    int value = block[zigzag[i]];
    if (!value) {
      run++;
      continue;
    }
    for (; run > 15; run -= 16) ac[0xF0]++;
    ac[run << 4 | bits(value)]++;
    run = 0;
  }
  if (run) ac[0]++;
}

int main(int count, char **arguments) {
  FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
  if (!file) return 2;
  struct jpeg_decompress_struct info;
  struct jpeg_error_mgr error;
  info.err = jpeg_std_error(&error);
  jpeg_create_decompress(&info);
  jpeg_stdio_src(&info, file);
  jpeg_read_header(&info, TRUE);
  jvirt_barray_ptr *arrays = jpeg_read_coefficients(&info);
  /* Whole MCUs only: those at the edges are filled in another way and few. */
  unsigned across = info.image_width / (8 * info.max_h_samp_factor);
  unsigned down = info.image_height / (8 * info.max_v_samp_factor);
  for (int i = 0; i < info.num_components; i++) {
    unsigned h = info.comp_info[i].h_samp_factor, v = info.comp_info[i].v_samp_factor;
    int previous = 0, table = i > 0 ? 2 : 0;
    for (unsigned row = 0; row < down; row++) {
      JBLOCKARRAY blocks = info.mem->access_virt_barray((j_common_ptr)&info, arrays[i], row * v, v, FALSE);
      for (unsigned column = 0; column < across; column++)
        for (unsigned y = 0; y < v; y++)
          for (unsigned x = 0; x < h; x++)
            count_block(blocks[y][column * h + x], &previous, counts[table], counts[table + 1]);
    }
  }
  for (int table = 0; table < 4; table++) {
    for (int symbol = 0; symbol < 256; symbol++) printf("%ld ", counts[table][symbol]);
    putchar('\n');
  }
  return 0;
}
