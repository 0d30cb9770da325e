"""The generator's state: consumed as the loop consumes it, interleaved with everything else."""
import pytest
import torch

from gibbsite.torch import gibbs_sweep
from loops import BOUNDS, TYPES, assert_close, assert_rng_state, loop_sweep, random_model, states


@pytest.mark.parametrize("dtype", TYPES)
def test_interleaved_with_other_random_calls(dtype):
    """A program of forty random steps, once with the loop and once with the op."""
    chains = [1, 3, 8, 15, 16, 17, 40, 100]

    def program(sweep):
        torch.manual_seed(2024)
        pick = torch.Generator().manual_seed(1)
        found = []
        for _ in range(40):
            step = int(torch.randint(6, (), generator=pick))
            count = chains[int(torch.randint(len(chains), (), generator=pick))]
            if step < 3:
                precision, location = random_model(1 + step, dtype)
                found.append(sweep(states(count, 1 + step, dtype), precision, location))
            elif step == 3:
                found.append(torch.randn(count, dtype=dtype))
            elif step == 4:
                found.append(torch.rand(count, dtype=dtype))
            else:
                found.append(torch.randperm(count).to(dtype))
        return found, torch.get_rng_state()

    expected, state = program(loop_sweep)
    got, after = program(gibbs_sweep)
    for step, (a, b) in enumerate(zip(expected, got)):
        assert_close(f"step {step}", a, b, BOUNDS[dtype])
    assert_rng_state(state, after)


def test_saved_and_restored_states():
    """The spare half of a pair (B < 16) is part of the state."""
    precision, location = random_model(3)
    x = states(7, 3)
    torch.manual_seed(0)
    gibbs_sweep(x, precision, location)
    kept = torch.get_rng_state()
    first, after = gibbs_sweep(x, precision, location), torch.randn(5)
    torch.set_rng_state(kept)
    assert torch.equal(first, gibbs_sweep(x, precision, location))
    assert torch.equal(after, torch.randn(5))
    torch.set_rng_state(kept)
    assert_close("loop after set_rng_state", loop_sweep(x, precision, location), first, 1e-12)


def test_spare_normal_of_a_small_call():
    torch.manual_seed(0)
    got = gibbs_sweep(torch.zeros(7, 1), torch.eye(1))
    next_one = gibbs_sweep(torch.zeros(1, 1), torch.eye(1))
    torch.manual_seed(0)
    expected = torch.cat([torch.randn(7), torch.randn(1)])
    assert_close("7 and 1", expected, torch.cat([got[:, 0], next_one[:, 0]]), 1e-6)
    assert abs(next_one.item() - 0.8380263) < 1e-6


def test_given_generators_are_apart_from_the_default():
    precision, location = random_model(4)
    x = states(20, 4)
    default = torch.get_rng_state()
    ours, theirs = torch.Generator().manual_seed(9), torch.Generator().manual_seed(9)
    got = gibbs_sweep(x, precision, location, generator=ours)
    expected = loop_sweep(x, precision, location, generator=theirs)
    assert_close("own generator", expected, got, 1e-12)
    assert_rng_state(theirs.get_state(), ours.get_state())
    assert torch.equal(default, torch.get_rng_state())


def test_native_without_seed_takes_64_bits():
    """First word << 32 | second, torch's own full-range integer; nothing else is taken."""
    precision, location = random_model(4)
    x = states(20, 4)
    for seed in (0, 5, 2**63 + 11):
        generator = torch.Generator().manual_seed(seed - 2**64 if seed >= 2**63 else seed)
        word = torch.empty((), dtype=torch.int64).random_(-2**63, None, generator=generator)
        after = generator.get_state()
        generator.manual_seed(seed - 2**64 if seed >= 2**63 else seed)
        got = gibbs_sweep(x, precision, location, stream="native", generator=generator)
        assert torch.equal(after, generator.get_state())
        expected = gibbs_sweep(x, precision, location, stream="native", seed=int(word) % 2**64)
        assert torch.equal(expected, got)
    torch.manual_seed(1)
    first, second = (gibbs_sweep(x, precision, stream="native") for _ in range(2))
    assert not torch.equal(first, second)


def test_nothing_is_drawn_when_a_call_is_refused():
    precision, location = random_model(4)
    before = torch.get_rng_state()
    for options in (dict(omega=2.0), dict(sweeps=-1), dict(keep=0), dict(first_sweep=1),
                    dict(check=True)):
        with pytest.raises(ValueError):
            x = states(20, 4)
            x[3, 2] = float("nan")
            gibbs_sweep(x, precision, location, **options)
    assert torch.equal(before, torch.get_rng_state())


def test_threads_share_one_generator_without_overlap():
    """Eight threads of forty calls: no two normals are equal."""
    from concurrent.futures import ThreadPoolExecutor

    torch.manual_seed(4)
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda _: torch.cat([
            gibbs_sweep(torch.zeros(32, 1, dtype=torch.float64), torch.eye(1, dtype=torch.float64))
            for _ in range(40)]), range(8)))
    assert len(torch.cat(parts).unique()) == 8 * 40 * 32
