// A graph knows data, not random numbers: it may merge equal calls and run independent ones in any
// order, tags and effect tokens notwithstanding.  So every traced call gets a constant of its own,
// which keeps it from being merged, and the previous call's result as one more argument, which no
// kernel reads, but no scheduler can get round.  A program is known by the dispatch modes it is
// traced under; they are held, so that a new one cannot have an old one's address.
#include "tracing.h"

#include <ATen/ops/detach.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <atomic>
#include <memory>
#include <vector>

namespace gibbsite
{

namespace
{

using Modes = std::vector<std::shared_ptr<c10::impl::PyObject_TorchDispatchMode>>;

struct Program {
    Modes modes;
    std::vector<at::Tensor> last; // one for each device
};

Program &current_program()
{
    thread_local Program program;
    return program;
}

Modes current_modes()
{
    Modes modes;
    for (int64_t k = 0; k < c10::impl::TorchDispatchModeTLS::stack_len(); ++k)
        modes.push_back(c10::impl::TorchDispatchModeTLS::get_stack_at(k));
    return modes;
}

bool same_mode(const c10::impl::PyObject_TorchDispatchMode &a,
               const c10::impl::PyObject_TorchDispatchMode &b)
{
    return a.ptr(&a.pyinterpreter()) == b.ptr(&b.pyinterpreter());
}

bool same_modes(const Modes &a, const Modes &b)
{
    bool same = a.size() == b.size();
    for (size_t k = 0; k < a.size() && same; ++k)
        same = same_mode(*a[k], *b[k]);
    return same;
}

bool tracing()
{
    return c10::impl::TorchDispatchModeTLS::any_modes_set();
}

} // namespace

Turn next_turn(c10::Device device)
{
    static std::atomic<int64_t> tickets{0};
    if (!tracing()) {
        forget_traces();
        return {0, std::nullopt};
    }
    Program &program = current_program();
    Modes modes = current_modes();
    if (!same_modes(program.modes, modes))
        program = {std::move(modes), {}};
    Turn turn{++tickets, std::nullopt};
    for (const at::Tensor &last : program.last)
        if (last.device() == device)
            turn.after = at::detach(last);
    return turn;
}

void finish_turn(const Turn &turn, const at::Tensor &result)
{
    if (turn.ticket == 0)
        return;
    Program &program = current_program();
    for (at::Tensor &last : program.last)
        if (last.device() == result.device()) {
            last = result;
            return;
        }
    program.last.push_back(result);
}

void forget_traces()
{
    Program &program = current_program();
    if (!program.modes.empty() && !tracing())
        program = {};
}

} // namespace gibbsite
