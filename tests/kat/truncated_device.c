/* The device's vocabulary, built for the host. */
#include "backend/cuda/vocab_cuda.cuh"

#define TRUNCATED_NAME truncated_device
#include "kat/truncated_body.h"
