/* What Swift sees of zimg. */
#pragma once
#include <zimg.h>
