/* What Swift sees of Little CMS. */
#pragma once
#include <lcms2.h>
