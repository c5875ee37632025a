"""Constants given by name, see `symbols.py`: are they those of bodies that can be? As descriptions are checked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinpair.errors import InputError
from kinpair.model.model import Model
from kinpair.model.symbols import TENSOR
from kinpair.spatial.inertia import Inertia, defect


def check_constants(model: Model, given: Mapping[str, np.ndarray]) -> list[str]:
    """Refuse negative masses and moments, in numbers or batches (n,); doubts about tensors, in words."""
    for name, values in given.items():
        link, _, what = name.rpartition(".")
        if what == "mass" and (values < 0.0).any():
            raise InputError(
                f"{model.name}: parameters: link {link!r} has mass {values.min():g} kg; a mass is zero or positive",
                link=link,
            )
    doubts: list[str] = []
    for link in dict.fromkeys(name.split(".inertia.")[0] for name in given if ".inertia." in name):
        part = f"{model.name}: parameters: link {link!r}"
        negative, flat = (defect(I) for I in _worst(model, link, given))
        if negative and "not positive" in negative:
            raise InputError(f"{part}: inertia {negative}", link=link)
        if flat:
            doubts.append(f"{part}: inertia {flat}; taken as it is")
    return doubts


def _worst(model: Model, link: str, given: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Of all tensors of a link in its axes: that of the lowest principal moment, and that of the least real shape."""
    body, home = model.body[model.names.index(link)], model.places[link].pose.inverse()
    own = Inertia(body.m, body.d, body.I).moved(home.R, home.a).I
    values = {place: given.get(f"{link}.inertia.{x}") for x, place in TENSOR.items()}
    columns = np.broadcast_arrays(*(own[place] if x is None else x for place, x in values.items()))
    I = np.zeros((*columns[0].shape, 3, 3))
    for place, column in zip(values, columns, strict=True):
        I[..., *place] = I[..., *place[::-1]] = column
    I = I.reshape(-1, 3, 3)
    J = np.linalg.eigvalsh(I)
    size = np.maximum(np.abs(J).max(axis=-1), 1e-300)
    lowest, flattest = J[:, 0] / size, (J[:, 0] + J[:, 1] - J[:, 2]) / size
    return I[np.argmin(lowest)], I[np.argmin(flattest)]
