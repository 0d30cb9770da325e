"""The Python rows: NumPy over all chains at once, and the PyTorch loop that people run."""
try:
    import numpy
except ImportError as error:
    numpy, NO_NUMPY = None, str(error)
try:
    import torch
    torch.set_num_threads(1)
except ImportError as error:
    torch, NO_TORCH = None, str(error)


def versions():
    """(what, value) pairs: releases, and which BLAS core runs."""
    facts = []
    if numpy is not None:
        facts.append(("NumPy", numpy.__version__))
        try:
            import threadpoolctl
            for pool in threadpoolctl.threadpool_info():
                if pool["user_api"] == "blas":
                    facts.append(("BLAS", f"{pool['internal_api']} {pool['version']}, core {pool.get('architecture')}, "
                                          f"{pool['num_threads']} thread, {pool['filepath'].rsplit('/', 1)[-1]}"))
        except ImportError:
            facts.append(("BLAS", "core unknown: threadpoolctl is not there"))
    if torch is not None:
        facts.append(("PyTorch", f"{torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, "
                                 f"MKL {'yes' if torch.backends.mkl.is_available() else 'no'}"))
    return facts


def precision(dim):
    factor = numpy.random.default_rng(1).standard_normal((dim, dim)) * 0.1
    return factor @ factor.T + 2 * numpy.eye(dim)


def numpy_row(dtype, dim, chains):
    """A site is a row of x, so that every operation runs over contiguous chains."""
    kind = numpy.float32 if dtype == "f32" else numpy.float64
    Q = precision(dim)
    A = (-Q / numpy.diag(Q)[:, None]).astype(kind)
    numpy.fill_diagonal(A, 0)
    s = (1 / numpy.sqrt(numpy.diag(Q))).astype(kind)
    c = numpy.zeros(dim, kind)
    x = numpy.zeros((dim, chains), kind)
    rng = numpy.random.default_rng(1)

    def sweep():
        for i in range(dim):
            x[i] = c[i] + A[i] @ x + s[i] * rng.standard_normal(chains, dtype=kind)
        return dim * chains
    return sweep


def torch_row(dtype, dim, chains):
    """The loop of the widespread module: gather, matvec, divide, randn, scatter."""
    kind = torch.float32 if dtype == "f32" else torch.float64
    factor = torch.randn(dim, dim, dtype=kind) * 0.1
    Q = factor @ factor.T + 2 * torch.eye(dim, dtype=kind)
    mu = torch.zeros(dim, dtype=kind)
    x = torch.zeros(chains, dim, dtype=kind)

    @torch.no_grad()
    def sweep():
        for i in range(dim):
            residual = x @ Q[i] - x[:, i] * Q[i, i]
            mean = mu[i] - residual / Q[i, i]
            x[:, i] = mean + torch.sqrt(1 / Q[i, i]) * torch.randn(chains, dtype=kind)
        return dim * chains
    return sweep


def make(dtype, dim, chains, absent):
    """{name: function of one sweep}; what cannot run is noted in absent."""
    rows = {}
    if numpy is not None:
        rows["numpy"] = numpy_row(dtype, dim, chains)
    else:
        absent.setdefault("numpy", NO_NUMPY)
    if torch is not None:
        rows["torch_eager"] = torch_row(dtype, dim, chains)
    else:
        absent.setdefault("torch_eager", NO_TORCH)
    return rows
