/* What Swift sees of zimg. */
#pragma once
#include <zimg.h>

/* Arrays of unnamed structs do not reach Swift: these set plane `p`, of which all rows are in memory. */
static inline void czimg_set_source_plane(
    zimg_image_buffer_const *buffer, unsigned p, const void *data, ptrdiff_t stride) {
    buffer->plane[p].data = data;
    buffer->plane[p].stride = stride;
    buffer->plane[p].mask = ZIMG_BUFFER_MAX;
}

static inline void czimg_set_target_plane(zimg_image_buffer *buffer, unsigned p, void *data, ptrdiff_t stride) {
    buffer->plane[p].data = data;
    buffer->plane[p].stride = stride;
    buffer->plane[p].mask = ZIMG_BUFFER_MAX;
}
