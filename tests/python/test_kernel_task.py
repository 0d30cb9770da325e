"""The task pairs in the format of kernel benchmarks, and that their check cannot be fooled."""
import pathlib
import sys

import pytest
import torch

TASKS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "kernel_task"
sys.path.insert(0, str(TASKS))

import check  # noqa: E402


@pytest.mark.parametrize("name", ["gibbs_sweep", "gibbs_sweep_noise"])
def test_pair(name):
    error = check.check(TASKS / f"{name}.py", TASKS / f"{name}_new.py")
    print(f"{name}: {error:.2g} conditional standard deviations, allowed {check.TOLERANCE}")


def test_noise_pair_needs_no_seeding():
    """As a harness does that calls the two one after the other."""
    reference, new = check.load(TASKS / "gibbs_sweep_noise.py"), check.load(
        TASKS / "gibbs_sweep_noise_new.py")
    torch.manual_seed(1)
    model = reference.Model(*reference.get_init_inputs())
    torch.manual_seed(1)
    candidate = new.ModelNew(*reference.get_init_inputs())
    for _ in range(3):
        inputs = reference.get_inputs()
        torch.testing.assert_close(candidate(*inputs), model(*inputs), atol=1e-5, rtol=0)


class Stiff(check.load(TASKS / "gibbs_sweep.py").Model):
    """Precision 1e6: standard deviations of 1e-3, which a tolerance of 1e-2 does not see."""

    def __init__(self, dim=4):
        super().__init__(dim)
        self.precision.copy_(1e6 * torch.eye(dim))


class Zeros(Stiff):
    def forward(self, x):
        return torch.zeros_like(x)


class StartState(Stiff):
    def forward(self, x):
        return x.clone()


class SameDraws(Stiff):
    """Replays what it drew first."""

    kept = None

    def forward(self, x):
        if self.kept is None:
            self.kept = super().forward(x)
        return self.kept.clone()


class MeanOnly(Stiff):
    def forward(self, x):
        return super().forward(x) * 0 + self.mu


class AsItShouldBe(Stiff):
    def forward(self, x):
        from gibbsite.torch import gibbs_sweep

        return gibbs_sweep(x, self.precision, self.mu)


@pytest.mark.parametrize("kind", [Zeros, StartState, SameDraws, MeanOnly])
def test_wrong_candidates_are_found(kind):
    x = 1e-3 * torch.randn(64, 4)
    reference, wrong = Stiff(), kind()
    first = check.called(reference, [x], 1)[0]
    assert torch.allclose(wrong(x), first, atol=1e-2, rtol=1e-2), "a careless check is fooled"
    with pytest.raises(check.Mismatch):
        check.compare(reference, wrong, [x], [1, 2, 3])


def test_right_candidate_passes():
    x = 1e-3 * torch.randn(64, 4)
    assert check.compare(Stiff(), AsItShouldBe(), [x], [1, 2, 3]) <= check.TOLERANCE
