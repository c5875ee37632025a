"""Springs, dampers and dry friction as formulas.

d = k (q − q_rest) + b q̇ + f sign q̇
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinpair.closed_form.formula import ZERO, Call, Formula, Number, Product, Sum, Symbol
from kinpair.model.model import Model


def passive_efforts(
    model: Model, known: Mapping[str, Formula], q: Sequence[str], qd: Sequence[str]
) -> np.ndarray:
    """d (nv,): what springs, dampers and friction ask for; `known` are their constants, see `passive_constants`."""
    efforts = np.empty(model.nv, dtype=object)
    for k, rate in enumerate(qd):
        motions: dict[str, Formula] = {
            f"k[{k}]": _stretch(Symbol(q[int(model.joints.spring_q[k])]), known.get(f"rest[{k}]")),
            f"b[{k}]": Symbol(rate),
            f"f[{k}]": Call("sign", (Symbol(rate),)),
        }
        terms = [Product((known[key], motion)) for key, motion in motions.items() if key in known]
        efforts[k] = Sum(tuple(terms)) if len(terms) > 1 else terms[0] if terms else ZERO
    return efforts


def _stretch(at: Symbol, rest: Formula | None) -> Formula:
    return at if rest is None else Sum((at, Product((Number(-1.0), rest))))
