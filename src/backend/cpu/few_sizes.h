/* few_body.h for every number of chains, one type. */
#define CHAINS 1
#define VECTORS FEW_VECTORS_1
#include "backend/cpu/few_body.h"
#define CHAINS 2
#define VECTORS FEW_VECTORS_2
#include "backend/cpu/few_body.h"
#define CHAINS 4
#define VECTORS FEW_VECTORS_4
#include "backend/cpu/few_body.h"
#define CHAINS 8
#define VECTORS FEW_VECTORS_8
#include "backend/cpu/few_body.h"
#define CHAINS 16
#define VECTORS FEW_VECTORS_16
#include "backend/cpu/few_body.h"
