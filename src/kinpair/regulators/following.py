"""A regulator that follows a reference known ahead: `kp.regulator.preview`."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.analysis.linear.point import check_no_ports
from kinpair.errors import InputError, expect
from kinpair.mechanism import Mechanism
from kinpair.motion.trajectory import Trajectory
from kinpair.regulators.laws import PreviewLaw
from kinpair.regulators.preview import PreviewGains, preview_gains
from kinpair.regulators.table import Table


def preview(
    model: LinearModel, reference: Trajectory, *, steps: int, Q: Any = 1.0, R: Any = 1e-6
) -> tuple[PreviewLaw, PreviewGains]:
    """A regulator by which the outputs of a mechanism follow a reference that is known `steps` samples ahead: (PC1).

    `model`: about a state, with the outputs that are to follow (`outputs=`) and a sample time, `model.discrete(T)`;
    `reference`: a trajectory of changes of these outputs. Beside it come its gains.
    """
    expect("preview", model, LinearModel, advice="kp.linearise(m, q).discrete(sample_time) is one")
    if model.along or model.dt is None or model.at.axes or not isinstance(model.mechanism, Mechanism):
        raise InputError(
            f"{model.name}: preview needs the linear model of a mechanism about a state, from sample to sample; "
            "take linearise(...).discrete(sample_time)"
        )
    check_no_ports("preview", model.mechanism)
    gains = preview_gains(model, steps=steps, Q=Q, R=R)
    p, m = len(model.C), model.mechanism
    if np.prod(reference.shape, dtype=int) != p:
        raise InputError(f"{m.name}: the reference has shape {reference.shape}, and the model {p} outputs")
    count = int(np.ceil(reference.duration / model.dt)) + steps + 1
    times = model.dt * np.arange(count)
    r = np.reshape(np.asarray(reference.at(times).q, dtype=float), (count, p))
    numbers = tuple(m.v_names.index(name.removeprefix("tau.")) for name in model.inputs)
    table = Table.of(
        times,
        {"reference": r, "ahead": gains.ahead(r)},
        {
            "G_i": gains.G_i,
            "G_x": gains.G_x,
            "C": model.C,
            "q": model.at.q,
            "qd": model.at.qd,
            "u": model.at.tau[list(numbers)],
        },
    )
    parts = {"coordinates": model.at.coordinates, "rates": model.at.rates, "inputs": numbers}
    return PreviewLaw(m.model, table, outputs=p, sample_time=model.dt, **parts), gains
