/* The contract, openapi.yaml of the repository's root, as it was when the binary was built. */
#pragma once
#include <stddef.h>

/* Its first byte; it lives as long as the process. */
const unsigned char *ccontract_openapi(void);
size_t ccontract_openapi_count(void);
