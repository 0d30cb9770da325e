// The op's handles in the dispatcher, shared by its registration and its autograd formulas.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/SymInt.h>

#include <array>
#include <optional>
#include <tuple>

namespace gibbsite
{

#define GIBBSITE_HANDLE_ARGUMENTS                                                                  \
    const at::Tensor &, const at::Tensor &, const std::optional<at::Tensor> &,                     \
        const std::optional<at::Tensor> &, int64_t, c10::SymInt, int64_t,                          \
        const std::optional<at::Generator> &, std::optional<c10::SymInt>, c10::SymInt,             \
        c10::SymInt, double, bool, const std::optional<at::Tensor> &,                              \
        const std::optional<at::Tensor> &, double, int64_t, const std::optional<at::Tensor> &

using SweepSignature = at::Tensor(GIBBSITE_HANDLE_ARGUMENTS);
using SweepKeptSignature = std::tuple<at::Tensor, at::Tensor>(GIBBSITE_HANDLE_ARGUMENTS, int64_t);
using SweepIntoSignature = at::Tensor(GIBBSITE_HANDLE_ARGUMENTS, int64_t, const at::Tensor &);
using SweepHandle = c10::TypedOperatorHandle<SweepSignature>;
using SweepKeptHandle = c10::TypedOperatorHandle<SweepKeptSignature>;
using SweepIntoHandle = c10::TypedOperatorHandle<SweepIntoSignature>;

const SweepHandle &sweep_op();
const SweepKeptHandle &sweep_kept_op();
const SweepIntoHandle &sweep_into_op();

// Whether gradients are on and any of these wants one.
bool wants_gradient(const at::Tensor &x, const at::Tensor &precision,
                    const std::optional<at::Tensor> &location,
                    const std::optional<at::Tensor> &noise, const std::optional<at::Tensor> &lower,
                    const std::optional<at::Tensor> &upper);

} // namespace gibbsite
