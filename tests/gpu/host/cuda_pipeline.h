/* Stands in for CUDA's header of this name when a kernel runs on the host: see cuda_on_host.h. */
#include "cuda_on_host.h"
