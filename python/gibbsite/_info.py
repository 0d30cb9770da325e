"""What to expect of a matrix: the numbers that `gibbsite info` prints, as a dict."""
import numpy as np

from ._objects import Context, Model
from ._scalars import real

# As the program weighs them (cli/info.c): multiply-adds of one normal, and of one division.
_NORMAL_COST, _DIVISION_COST = 20, 4
_RATE_LARGEST = 2048
_RATE_NEAREST = 1e-12  # from 1 - rate below this on no number of sweeps is given


def f32_verdict(error):
    return "fine" if error <= 1e-3 else "warn" if error <= 0.1 else "refuse"


def _general_gibbs_rate(precision, omega):
    """Spectral radius of a sweep's effect on the mean, for any matrix, and how far rounding may have moved it,
    as cli/rate.c has both."""
    scale = 1 / np.sqrt(np.diag(precision))
    unit = precision * scale[:, None] * scale
    one = np.eye(len(unit))
    sweep = np.linalg.solve(one + omega * np.tril(unit, -1), (1 - omega) * one - omega * np.triu(unit, 1))
    values = np.linalg.eigvals(sweep)
    leading = values[np.abs(values).argmax()]
    rounding = np.finfo(float).eps * len(one)**0.5 * np.linalg.norm(sweep)
    nearly = np.linalg.inv(sweep - (leading + rounding) * one)  # its powers tend to the eigenvectors
    right, left = nearly.sum(axis=1), nearly.sum(axis=0).conj()
    right, left = (v / np.linalg.norm(v) for v in (nearly @ (right / np.linalg.norm(right)),
                                                   nearly.conj().T @ (left / np.linalg.norm(left))))
    return float(abs(leading)), float(rounding / abs(np.vdot(left, right)))


def _is_certain(rate, error):
    """Does the error leave two digits of 1 / (1 - rate)?"""
    return error <= (_RATE_NEAREST if 1 - rate < _RATE_NEAREST else (1 - rate) / 100)


def _room_between(model):
    """Rows that leave none are refused; where there is no Clp, or it finds no start, that stays open."""
    try:
        model.interior()
    except RuntimeError:
        return False
    return True


def info(precision, *, covariance=False, omega=1.0, rate=None, fix=None, lower=None,
         upper=None, rows=None, row_lower=None, row_upper=None):
    """Says what to expect of a precision matrix [D, D] (or a covariance).

    fix      [D] values of sites to hold, NaN for a free one: of the law of the others
    lower,   bounds, and rows with theirs, as sample takes them: all figures are those of the law without
    upper,   them, and there is no advice.  Rows that contradict each other, or leave no room between them,
    rows,    are refused by a message with the rows, where Clp is installed
    row_lower, row_upper
    rate     the Gibbs rate comes from a formula where Q is consistently ordered (chains, lattices), else from
             about 10 D^3 operations: by default those up to D = 2048 alone; with True always; with False
             neither

    Returns a dict with the names of `gibbsite info --json`: size, fixed, bounded, rows, rows_checked
    (whether there is room between them; False where Clp is not installed, or finds no start), nonzeros,
    asymmetry, eigenvalue_min, eigenvalue_max, condition, omega, tau_max (sweeps per effective draw of
    the slowest direction), gibbs_rate and sweeps_to_forget (None where not computed, or so sensitive to
    rounding, in a matrix far from normal, that a number would be wrong: gibbs_rate_uncertain), f32
    (covariance_error and verdict), cost_per_effective_draw and advice ("gibbs" or "exact").
    """
    omega = real("omega", omega)
    if not 0 < omega < 2:
        raise ValueError(f"omega: {omega} is not in (0, 2)")
    with Context() as context, Model(context, precision, covariance=covariance, fix=fix, rows=rows,
                                     row_lower=row_lower, row_upper=row_upper, lower=lower,
                                     upper=upper) as model:
        spectrum, q, fixed = model.spectrum(), model.precision, model.fixed
        bounded = model.boxes(np.float64).bounded
        checked = _room_between(model) if model.rows else None
        wanted = rate is None or rate
        gibbs_rate = model.gibbs_rate(spectrum, omega) if wanted else np.nan
    uncertain = False
    if wanted and np.isnan(gibbs_rate) and (rate or len(q) <= _RATE_LARGEST):
        gibbs_rate, error = _general_gibbs_rate(q, omega)
        uncertain = not _is_certain(gibbs_rate, error)
    gibbs_rate = None if uncertain or np.isnan(gibbs_rate) else gibbs_rate
    held = 0 if fixed is None else int(np.isfinite(fixed).sum())
    n, tau = len(q) - held, (2 / omega - 1) * spectrum.tau_max
    known = gibbs_rate is not None and 1 - gibbs_rate >= _RATE_NEAREST
    gibbs = max(tau, 1) * (n * (n - 1) + _NORMAL_COST * n)
    exact = n * (n - 1) / 2 + (_NORMAL_COST + _DIVISION_COST) * n
    facts = {
        "kind": "covariance" if covariance else "precision",
        "size": len(q),
        "fixed": held,
        "bounded": bounded,
        "rows": model.rows,
        "rows_checked": checked,
        "nonzeros": int(np.count_nonzero(q)) - held,
        "asymmetry": None if spectrum.asymmetry_row < 0 else {
            "value": spectrum.asymmetry,
            "row": spectrum.asymmetry_row,
            "column": spectrum.asymmetry_column,
        },
        "eigenvalue_min": spectrum.eigenvalue_min,
        "eigenvalue_max": spectrum.eigenvalue_max,
        "condition": spectrum.condition,
        "omega": omega,
        "tau_max": tau,
        "gibbs_rate": gibbs_rate,
        "gibbs_rate_uncertain": uncertain,
        "sweeps_to_forget": 1 / (1 - gibbs_rate) if known else None,
        "f32": {
            "covariance_error": spectrum.f32_covariance_error,
            "verdict": f32_verdict(spectrum.f32_covariance_error),
        },
        "cost_per_effective_draw": {"gibbs": gibbs, "exact": exact},
        "advice": None if bounded or model.rows else "gibbs" if gibbs < exact else "exact",
    }
    if n == 0:  # nothing is left to sample
        facts.update(dict.fromkeys(("eigenvalue_min", "eigenvalue_max", "condition", "tau_max", "gibbs_rate",
                                    "sweeps_to_forget", "advice")))
        facts["f32"] = {"covariance_error": 0.0, "verdict": "fine"}
        facts["cost_per_effective_draw"] = {"gibbs": None, "exact": None}
    return facts
