"""gibbsite.info."""
import os
import subprocess
import sys

import numpy as np
import pytest

import gibbsite
from matrices import lattice

Q = np.array([[2.0, -1.0], [-1.0, 2.0]])


def test_info():
    facts = gibbsite.info(lattice(10, 1e-4))
    assert facts["size"] == 100 and facts["nonzeros"] == 460 and facts["asymmetry"] is None
    eigenvalues = np.linalg.eigvalsh(lattice(10, 1e-4))
    assert facts["condition"] == pytest.approx(eigenvalues[-1] / eigenvalues[0], rel=1e-6)
    scale = 1 / np.sqrt(np.diag(lattice(10, 1e-4)))
    unit = np.linalg.eigvalsh(lattice(10, 1e-4) * scale * scale[:, None])
    assert facts["tau_max"] == pytest.approx(1 / unit[0], rel=1e-6)
    assert facts["f32"]["covariance_error"] == pytest.approx(2.0**-24 / unit[0], rel=1e-6)
    assert facts["gibbs_rate"] == pytest.approx((1 - unit[0]) ** 2, rel=1e-9)  # consistent ordering
    assert facts["sweeps_to_forget"] == pytest.approx(1 / (1 - facts["gibbs_rate"]))
    chain = np.diag(np.full(500, 1.09)) - 0.3 * (np.eye(500, k=1) + np.eye(500, k=-1))
    chain[0, 0] = chain[-1, -1] = 1  # G is far from normal; the square of the Jacobi matrix's radius:
    assert gibbsite.info(chain)["gibbs_rate"] == pytest.approx(0.30299290208021695, rel=1e-12)
    around = np.eye(3) + 0.3 * (1 - np.eye(3))  # not consistently ordered: the general solver
    sweep = np.linalg.solve(np.tril(around), -np.triu(around, 1))
    assert gibbsite.info(around)["gibbs_rate"] == pytest.approx(abs(np.linalg.eigvals(sweep)).max(), rel=1e-9)
    near, far = (gibbsite.info(sum(v * (np.eye(n, k=k) + np.eye(n, k=-k)) for k, v in enumerate((0.5, -0.18, -0.1))))
                 for n in (30, 400))  # of 400 sites G is so far from normal that eigvals finds anything
    assert near["gibbs_rate"] == pytest.approx(0.318451737205499, rel=1e-12) and not near["gibbs_rate_uncertain"]
    assert (far["gibbs_rate"], far["gibbs_rate_uncertain"], far["sweeps_to_forget"]) == (None, True, None)
    assert gibbsite.info(Q, omega=1.5)["tau_max"] == pytest.approx((2 / 1.5 - 1) * 2)
    assert gibbsite.info(Q, rate=False)["gibbs_rate"] is None
    assert gibbsite.info(np.linalg.inv(Q), covariance=True)["condition"] == pytest.approx(3)
    with pytest.raises(ValueError, match="omega"):
        gibbsite.info(Q, omega=0)
    with pytest.raises(TypeError, match="omega: 'x'; a real number is needed"):
        gibbsite.info(Q, omega="x")
    # Of the free sites alone: 3 of them, (3 x 2 + 20 x 3) tau_max and 3 x 2 / 2 + 24 x 3 multiply-adds.
    q = np.array([[1000.0, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, 0], [0, 0, 0, 2]])
    rest = gibbsite.info(q, fix=[1, np.nan, np.nan, np.nan])
    assert (rest["size"], rest["fixed"], rest["nonzeros"]) == (4, 1, 5)
    assert rest["cost_per_effective_draw"] == {"gibbs": pytest.approx(132), "exact": 75}
    none = gibbsite.info(q, fix=np.zeros(4))
    assert none["nonzeros"] == 0 and none["tau_max"] is None and none["advice"] is None


def test_rates_beyond_the_limit(monkeypatch):
    monkeypatch.setattr(sys.modules["gibbsite._info"], "_RATE_LARGEST", 2)
    chain = 2 * np.eye(3) - np.eye(3, k=1) - np.eye(3, k=-1)  # by formula: 1 - 1 / tau_max = sqrt(1 / 2)
    around = 3 * np.eye(3) - (1 - np.eye(3))  # G = [0 9 9; 0 3 12; 0 4 7] / 27
    for q, by_default, always in ((chain, 0.5, 0.5), (around, None, (5 + 52**0.5) / 27)):
        for rate, expected in ((None, by_default), (True, always), (False, None)):
            got = gibbsite.info(q, rate=rate)["gibbs_rate"]
            assert got == (expected if expected is None else pytest.approx(expected, rel=1e-12)), (q, rate)


def test_info_of_rows():
    sparse = pytest.importorskip("scipy.sparse")
    free = gibbsite.info(Q)
    clp = gibbsite.info(Q, rows=[[1, 1]], row_lower=0)["rows_checked"]
    rows = np.array([[1.0, 1.0], [1.0, -1.0]])
    for given in (rows, sparse.csr_array(rows)):
        facts = gibbsite.info(Q, rows=given, row_lower=[-1, -2], row_upper=2)
        assert (facts["rows"], facts["rows_checked"], facts["advice"]) == (2, clp, None)
        different = ("rows", "rows_checked", "advice")  # the others are those of the law without rows
        assert [v for k, v in facts.items() if k not in different] == \
            [v for k, v in free.items() if k not in different]
    assert (free["rows"], free["rows_checked"]) == (0, None)
    with pytest.raises(ValueError, match="row_lower: it bounds rows"):
        gibbsite.info(Q, row_lower=0)
    with pytest.raises(ValueError, match="^row_lower: lower of row 0 is NaN"):
        gibbsite.info(Q, rows=[[1, 1]], row_lower=np.nan)
    if not clp:
        pytest.skip("no Clp on this machine")
    with pytest.raises(ValueError, match="^rows: no point keeps these together: row 0 >= 1, row 1 <= 0"):
        gibbsite.info(Q, rows=[[1, 1], [1, 1]], row_lower=[1, -9], row_upper=[9, 0])
    with pytest.raises(ValueError, match="^rows: no point keeps these together: site 0 <= 0, site 1 <= 0, row 0 >= 1"):
        gibbsite.info(Q, rows=[[1, 1]], row_lower=1, upper=0)


def test_info_of_rows_without_a_solver(tmp_path):
    (tmp_path / "libClp.so.1").write_text("not a library")
    code = ("import gibbsite, numpy\n"
            "facts = gibbsite.info(numpy.eye(2), rows=[[1, 1]], row_lower=0)\n"
            "print(facts['rows'], facts['rows_checked'])")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                         env=os.environ | {"LD_LIBRARY_PATH": str(tmp_path)})
    assert run.stdout == "1 False\n"
