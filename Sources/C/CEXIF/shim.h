/* What Swift sees of libexif. */
#pragma once
#include <libexif/exif-data.h>
