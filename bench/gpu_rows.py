"""Clocks, and what is timed on them: the loop that people write, and what can stand in for it."""
import statistics
import time

import torch

from gibbsite.torch import GibbsSweep, gibbs_sweep

CYCLES_A_SECOND = 2e9  # about; of torch.cuda._sleep


def loop_sweep(x, precision, mu):
    """The reference: one sweep over the sites in Python."""
    x = x.clone()
    for i in range(x.shape[1]):
        residual = x @ precision[i] - x[:, i] * precision[i, i]
        noise = torch.randn(x.shape[0], dtype=x.dtype, device=x.device)
        x[:, i] = (mu[i] - residual / precision[i, i]
                   + torch.sqrt(1 / precision[i, i]) * noise)
    return x


def noise_then_sweep(x, precision, mu):
    """The loop's normals by its own calls, all else in one kernel."""
    noise = torch.stack([torch.randn(x.shape[0], dtype=x.dtype, device=x.device)
                         for _ in range(x.shape[1])])
    return gibbs_sweep(x, precision, mu, noise=noise[None])


class Model:
    """A precision, mean zero and a start, as the reference module makes them."""

    def __init__(self, dim, chains, dtype, device):
        generator = torch.Generator().manual_seed(dim)
        factor = torch.randn(dim, dim, generator=generator, dtype=torch.float64)
        factor *= 0.1 if dim <= 256 else 1.6 / dim**0.5
        precision = factor @ factor.T + 2 * torch.eye(dim, dtype=torch.float64)
        self.precision = precision.to(device, dtype)
        self.mu = torch.zeros(dim, dtype=dtype, device=device)
        self.x = torch.zeros(chains, dim, dtype=dtype, device=device)
        self.out = torch.empty_like(self.x)
        self.module = GibbsSweep(1)
        self.module.precision, self.module.mu = self.precision, self.mu

    def with_loop(self):
        return loop_sweep(self.x, self.precision, self.mu)

    def with_noise_loop(self):
        return noise_then_sweep(self.x, self.precision, self.mu)

    def with_module(self):
        return self.module(self.x)

    def with_op(self):
        return gibbs_sweep(self.x, self.precision, self.mu)

    def with_addition(self):
        return self.x + self.x

    def sweeps_in_place(self, sweeps):
        return gibbs_sweep(self.x, self.precision, self.mu, sweeps=sweeps, stream="native", seed=1,
                           out=self.out)


class Clock:
    """Times calls on one device.  `seconds` bounds each measurement, three calls at least."""

    def __init__(self, device, seconds):
        self.device, self.seconds = torch.device(device), seconds
        self.on_cuda = self.device.type == "cuda"

    def sync(self):
        if self.on_cuda:
            torch.cuda.synchronize()

    def once(self, call):
        """Wall seconds of one call, after one to warm up."""
        call()
        self.sync()
        begin = time.perf_counter()
        call()
        self.sync()
        return time.perf_counter() - begin

    def count(self, seconds_each, most):
        return max(3, min(most, int(self.seconds / seconds_each)))

    def walls(self, calls, most=1000, rounds=5):
        """name -> (median seconds of a call, mean, how many), each back to back with itself.  They
        take turns in rounds, so that whatever slows the host slows them alike.  The mean holds the
        wait for the device at the end of a round."""
        counts = {name: -(-self.count(self.once(call), most) // rounds) for name, call in calls.items()}
        each, total = {name: [] for name in calls}, dict.fromkeys(calls, 0.0)
        for _ in range(rounds):
            for name, call in calls.items():
                stamps = []
                self.sync()
                for _ in range(counts[name]):
                    stamps.append(time.perf_counter())
                    call()
                stamps.append(time.perf_counter())
                self.sync()
                total[name] += time.perf_counter() - stamps[0]
                each[name] += [b - a for a, b in zip(stamps, stamps[1:])]
        return {name: (statistics.median(times), total[name] / len(times), len(times))
                for name, times in each.items()}

    def on_device(self, call, calls=1, most=100):
        """Median seconds of a call on the device's own clock, over batches of `calls`.  A kernel
        that sleeps goes first, so that the work is queued before the device gets to it: as far as
        the queue is deep (about 1,000 kernels), the host's time is not in it."""
        each = self.once(call)
        if not self.on_cuda:
            return each
        times = []
        for _ in range(self.count(each * calls, most)):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(int(min(2 * each * calls, 0.02) * CYCLES_A_SECOND))
            start.record()
            for _ in range(calls):
                call()
            stop.record()
            stop.synchronize()
            times.append(start.elapsed_time(stop) / 1000 / calls)
        return statistics.median(times)

    def in_graph(self, call, calls=1, most=100):
        """Median seconds of a call, `calls` of them captured in one CUDA graph."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            call()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(calls):
                call()
        return self.on_device(graph.replay, most=most) / calls
