/* What Swift sees of TurboJPEG. */
#pragma once
#include <turbojpeg.h>
