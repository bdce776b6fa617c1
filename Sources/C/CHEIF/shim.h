/* What Swift sees of libheif. */
#pragma once
#include <libheif/heif.h>
