/* The ways to fail: a status with a message, and CUDA's errors as statuses. */
#ifndef GBS_CUDA_MESSAGES_CUH
#define GBS_CUDA_MESSAGES_CUH

#include "core/message.h"
#include "gibbsite/gibbsite_cuda.h"

#include <cuda_runtime.h>

/* Writes the message, if there is room for one, and returns the status. */
static inline gbs_status refuse(char *message, size_t bytes, gbs_status status, const char *format,
                                ...)
{
    if (message != NULL && bytes > 0) {
        va_list arguments;
        va_start(arguments, format);
        gbs_message_write(message, bytes, format, arguments);
        va_end(arguments);
    }
    return status;
}

/* OK, or UNAVAILABLE and what CUDA says.  The runtime's memory of the error is cleared, so that no
 * later call reports it again. */
static inline gbs_status from_cuda(cudaError_t error, const char *what, char *message, size_t bytes)
{
    if (error == cudaSuccess)
        return GBS_OK;
    (void)cudaGetLastError();
    return refuse(message, bytes, GBS_ERROR_UNAVAILABLE, "%s: CUDA says %s (%s)", what,
                  cudaGetErrorName(error), cudaGetErrorString(error));
}

#endif
