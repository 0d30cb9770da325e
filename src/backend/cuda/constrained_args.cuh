/* What whitened sweeps, and sweeps within rows, are told beside bounded_args. */
#ifndef GBS_CUDA_CONSTRAINED_ARGS_CUH
#define GBS_CUDA_CONSTRAINED_ARGS_CUH

#include "backend/cuda/bounded_args.cuh"

/* Of a block: one warp, so that few chains use many multiprocessors. */
#define WHITENED_THREADS 32

/* Numbers that are read together, by all threads at once. */
template <typename T> struct alignas(2 * sizeof(T)) number_pair {
    T a, b;
};

template <typename T> struct alignas(2 * sizeof(T)) row_entry {
    T value;
    int32_t place;
};

/* What a step does to a row: a step of 1 changes its sum by `change`. */
template <typename T> struct alignas(4 * sizeof(T)) row_move {
    T change, inverse, lower, upper;
};

/* Rows lower <= A x <= upper (core/constrained_steps.h); their sums lie behind a chain's states. */
template <typename T> struct row_args {
    int rows;                   /* 0: none */
    const int64_t *entry_start; /* [rows + 1] */
    const row_entry<T> *entries;
    const int64_t *move_start; /* [D + 1] by site */
    const int32_t *move_row;
    const row_move<T> *moves;
};

/* Site by site `chains` has the model, `bounded` being gbs_step_kind less one, as a byte. */
template <typename T> struct constrained_args {
    bounded_args<T> chains;
    row_args<T> rows;
    /* Whitened alone.  Step i finds at panels + i (D + 1), after W[:,h] of the step h before it:
     *     (W_jh, r_ji) for j = 0 .. i, r = 1 / W;  (L_ji, mu_j) for j = i .. D-1
     * and behind the last step W[:,h] of the last one. */
    const number_pair<T> *panels;
    const number_pair<T> *boxes; /* [D] */
    const uint8_t *kind;         /* [D] */
};

#endif
