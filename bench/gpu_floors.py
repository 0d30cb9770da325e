"""What one H200 allows: the least time that a job can take, from measured ceilings.

Lane slots are instructions of one lane; latencies add up where a sweep is one chain of dependent
steps.  bench/NOTES-gpu.md says where each figure comes from."""

LANE_SLOTS = 30.7e12        # a second, from the fp32 FMA rate
BANDWIDTH = 4.24e12         # bytes a second of a device copy, read and write
EMPTY_KERNEL = 1.13e-6      # seconds of an empty kernel in a CUDA graph
FIRST_LOADS = 0.20e-6
STORE_AND_DRAIN = 0.25e-6
STEP = 14e-9                # from one site to the next: a shuffle and an fma
NORMAL_SLOTS = 35           # of a normal and its use
LOAD_SLOTS = 4              # of loads, a site
DOUBLE_FACTOR = 2           # fp64 runs at half the rate of fp32, and its normals cost more than that


def size_of(dtype):
    return 4 if dtype == "f32" else 8


def slot_time(dtype, dim, chains):
    """One sweep by instructions issued: D fused multiply-adds, a normal and its loads for a site."""
    slots = chains * dim * (dim + NORMAL_SLOTS + LOAD_SLOTS)
    return slots * (1 if dtype == "f32" else DOUBLE_FACTOR) / LANE_SLOTS


def one_sweep(dtype, dim, chains):
    """Seconds of one sweep in a graph: state in and out once, precision read once."""
    traffic = (2 * chains * dim + dim * dim) * size_of(dtype) / BANDWIDTH
    latency = EMPTY_KERNEL + FIRST_LOADS + dim * STEP + STORE_AND_DRAIN
    return latency + max(slot_time(dtype, dim, chains), traffic)


def many_sweeps(dtype, dim, chains):
    """Seconds a sweep, in one launch of many."""
    return max(slot_time(dtype, dim, chains), dim * STEP)


def product(dim, chains, flops):
    """Seconds of one sweep at the speed of a matrix product of the same size."""
    return 2 * dim * dim * chains / flops
