/* What Swift sees of libmicrohttpd. */
#pragma once
#include <microhttpd.h>
