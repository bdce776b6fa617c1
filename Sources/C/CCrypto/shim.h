/* What Swift sees of OpenSSL's libcrypto. */
#pragma once
#include <openssl/evp.h>
