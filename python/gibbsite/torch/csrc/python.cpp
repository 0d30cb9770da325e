// The eager way in: one C function instead of the generic argument matching of torch.ops, which
// alone takes as long as a small sweep.
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include "sweep.h"

#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <c10/util/Exception.h>

#include <string>

namespace gibbsite
{

namespace
{

// The object for a message, at most a line of it.
std::string shown(PyObject *object)
{
    constexpr size_t longest = 80;
    PyObject *const text = PyObject_ASCII(object);
    const char *const words = text != nullptr ? PyUnicode_AsUTF8(text) : nullptr;
    std::string line = words != nullptr ? words : "too long to show";
    PyErr_Clear();
    Py_XDECREF(text);
    if (line.size() > longest)
        line.replace(longest - 3, std::string::npos, "...");
    return line;
}

std::string with_type(PyObject *object)
{
    return c10::str(Py_TYPE(object)->tp_name, ": ", shown(object));
}

const at::Tensor &tensor(const char *name, PyObject *object)
{
    TORCH_CHECK_TYPE(THPVariable_Check(object), "gibbs_sweep: ", name, " must be a tensor, not ",
                     Py_TYPE(object)->tp_name);
    return THPVariable_Unpack(object);
}

std::optional<at::Tensor> optional_tensor(const char *name, PyObject *object)
{
    return object == Py_None ? std::nullopt : std::optional<at::Tensor>(tensor(name, object));
}

std::optional<at::Generator> generator(PyObject *object)
{
    if (object == Py_None)
        return std::nullopt;
    TORCH_CHECK_TYPE(THPGenerator_Check(object),
                     "gibbs_sweep: generator must be a torch.Generator, not ",
                     Py_TYPE(object)->tp_name);
    return reinterpret_cast<THPGenerator *>(object)->cdata;
}

double number(const char *name, PyObject *object)
{
    const double value = PyFloat_AsDouble(object);
    if (value == -1.0 && PyErr_Occurred() != nullptr) {
        const bool large = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
        PyErr_Clear();
        TORCH_CHECK_VALUE(!large, "gibbs_sweep: ", name,
                          " is beyond the range of double: ", shown(object));
        TORCH_CHECK_TYPE(false, "gibbs_sweep: ", name, " must be a real number, not ",
                         with_type(object));
    }
    return value;
}

bool flag(const char *name, PyObject *object)
{
    const int value = PyObject_IsTrue(object);
    if (value < 0) {
        PyErr_Clear();
        TORCH_CHECK_TYPE(false, "gibbs_sweep: ", name, " must be True or False, not ",
                         with_type(object));
    }
    return value != 0;
}

int64_t integer(const char *name, PyObject *object)
{
    const bool whole = PyLong_Check(object) && !PyBool_Check(object);
    PyObject *const number = whole ? Py_NewRef(object) : PyNumber_Index(object);
    if (number == nullptr || PyBool_Check(object)) {
        PyErr_Clear();
        Py_XDECREF(number);
        TORCH_CHECK_TYPE(false, "gibbs_sweep: ", name, " must be an integer, not ",
                         with_type(object));
    }
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    TORCH_CHECK_VALUE(overflow == 0, "gibbs_sweep: ", name,
                      " does not fit in 64 bits: ", shown(object));
    return value;
}

// 0 .. 2^64 - 1, and -1 for 2^64 - 1.
std::optional<int64_t> seed(PyObject *object)
{
    if (object == Py_None)
        return std::nullopt;
    PyObject *const number = PyBool_Check(object) ? nullptr : PyNumber_Index(object);
    if (number == nullptr) {
        PyErr_Clear();
        TORCH_CHECK_TYPE(false, "gibbs_sweep: seed must be an integer, not ", with_type(object));
    }
    int overflow = 0;
    const long long small = PyLong_AsLongLongAndOverflow(number, &overflow);
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(number) : 0;
    const bool fits = overflow == 0 ? small >= -1 : overflow > 0 && PyErr_Occurred() == nullptr;
    PyErr_Clear();
    Py_DECREF(number);
    TORCH_CHECK_VALUE(fits, "gibbs_sweep: seed: ", shown(object),
                      "; a whole number in 0 .. 2^64 - 1, or -1, is needed");
    return overflow > 0 ? static_cast<int64_t>(large) : small;
}

bool is_word(PyObject *object, const char *word)
{
    return PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, word) == 0;
}

Form form(PyObject *object)
{
    if (is_word(object, "offset"))
        return Form::offset;
    if (is_word(object, "mean"))
        return Form::mean;
    TORCH_CHECK_VALUE(is_word(object, "info"),
                      "gibbs_sweep: form must be \"offset\", \"mean\" or \"info\"");
    return Form::info;
}

Stream stream(PyObject *object)
{
    if (is_word(object, "torch"))
        return Stream::torch;
    TORCH_CHECK_VALUE(is_word(object, "native"),
                      "gibbs_sweep: stream must be \"torch\" or \"native\"");
    return Stream::native;
}

// The interpreter runs other threads meanwhile.
class Unlocked
{
  public:
    Unlocked() : thread(PyEval_SaveThread()) {}
    ~Unlocked()
    {
        PyEval_RestoreThread(thread);
    }
    Unlocked(const Unlocked &) = delete;
    Unlocked &operator=(const Unlocked &) = delete;

  private:
    PyThreadState *const thread;
};

PyObject *pair(const at::Tensor &first, const at::Tensor &second)
{
    PyObject *const a = THPVariable_Wrap(first);
    PyObject *const b = THPVariable_Wrap(second);
    PyObject *const both = a != nullptr && b != nullptr ? PyTuple_Pack(2, a, b) : nullptr;
    Py_XDECREF(a);
    Py_XDECREF(b);
    return both;
}

// x, precision, location, form, sweeps, stream, generator, seed, first_sweep, first_chain, noise,
// omega, keep, check, out, lower, upper, overrelax
constexpr Py_ssize_t argument_count = 18;

// NotImplemented while a program is being traced, which then calls torch.ops instead.
PyObject *sweep_from_python(PyObject *, PyObject *const *args, Py_ssize_t count)
{
    HANDLE_TH_ERRORS
    if (c10::impl::TorchDispatchModeTLS::any_modes_set())
        return Py_NewRef(Py_NotImplemented);
    TORCH_CHECK_TYPE(count == argument_count, "gibbs_sweep: ", argument_count,
                     " arguments are needed");
    const at::Tensor &x = tensor("x", args[0]);
    const at::Tensor &precision = tensor("precision", args[1]);
    const auto location = optional_tensor("location", args[2]);
    const auto noise = optional_tensor("noise", args[10]);
    const auto given_generator = generator(args[6]);
    const double omega = number("omega", args[11]);
    const double overrelax = number("overrelax", args[17]);
    const auto lower = optional_tensor("lower", args[15]);
    const auto upper = optional_tensor("upper", args[16]);
    const Call call{precision,
                    location,
                    noise,
                    form(args[3]),
                    integer("sweeps", args[4]),
                    stream(args[5]),
                    given_generator,
                    seed(args[7]),
                    integer("first_sweep", args[8]),
                    integer("first_chain", args[9]),
                    omega,
                    flag("check", args[13]),
                    lower,
                    upper,
                    overrelax};
    const int64_t keep = args[12] == Py_None ? 0 : integer("keep", args[12]);
    TORCH_CHECK_VALUE(keep >= 1 || args[12] == Py_None, "gibbs_sweep: keep is ", keep,
                      "; at least 1 is needed");
    if (args[14] != Py_None) {
        const at::Tensor &out = tensor("out", args[14]);
        at::Tensor kept;
        {
            const Unlocked unlocked;
            kept = sweep_into(x, call, keep, out);
        }
        return keep > 0 ? pair(out, kept) : Py_NewRef(args[14]);
    }
    if (keep > 0) {
        std::tuple<at::Tensor, at::Tensor> both;
        {
            const Unlocked unlocked;
            both = sweep_kept(x, call, keep);
        }
        return pair(std::get<0>(both), std::get<1>(both));
    }
    at::Tensor result;
    {
        const Unlocked unlocked;
        result = sweep(x, call);
    }
    return THPVariable_Wrap(std::move(result));
    END_HANDLE_TH_ERRORS
}

PyMethodDef methods[] = {
    {"sweep", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(sweep_from_python)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT,
                      "_gibbsite_op",
                      nullptr,
                      -1,
                      methods,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr};

} // namespace

} // namespace gibbsite

extern "C" __attribute__((visibility("default"))) PyObject *PyInit__gibbsite_op()
{
    return PyModule_Create(&gibbsite::module);
}
