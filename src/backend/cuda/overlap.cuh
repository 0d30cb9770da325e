/* A launch that may start before the kernel ahead of it in the stream has ended ("programmatic
 * dependent launch", from compute capability 9.0): the next one may start once every block has
 * said so, and what the one ahead wrote is there after the wait.  Without such a launch both do
 * nothing. */
#ifndef GBS_CUDA_OVERLAP_CUH
#define GBS_CUDA_OVERLAP_CUH

static __device__ __forceinline__ void let_next_start(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

static __device__ __forceinline__ void wait_for_previous(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#elif defined(GBS_CUDA_ON_HOST)
    on_host::wait_for_previous();
#endif
}

#endif
