#include "CContract.h"

/* In C because SwiftPM's `.embedInCode` writes an array literal that takes the Swift compiler ten seconds; #embed is of
 * C23, and clang takes it in every C. */
#pragma clang diagnostic ignored "-Wc23-extensions"
static const unsigned char openapi[] = {
#embed "../../../openapi.yaml"
};

const unsigned char *ccontract_openapi(void) { return openapi; }
size_t ccontract_openapi_count(void) { return sizeof openapi; }
