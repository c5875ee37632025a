"""Gaits in files: samples of two steps in HDF5."""

from __future__ import annotations

import os
from pathlib import Path

from kinpair.motion.gait import Gait
from kinpair.runs.targets import Kind, target

FORMAT = "kinpair gait"


def _is_gait(path: Path) -> bool:
    from kinpair.runs.hdf5 import format_of  # importing h5py is slow

    return format_of(path) == FORMAT


GAIT = Kind("gait", (".h5", ".hdf5"), _is_gait)


def save_gait(gait: Gait, path: str | os.PathLike[str]) -> Path:
    """Write time, coordinates, rates, accelerations, efforts, power, energies, and what the ground gives, over two
    steps, to an HDF5 file; its figures are attributes. A file of another kind is not replaced."""
    import h5py  # it takes its time

    file = target(path, GAIT)
    x = gait.samples
    s = gait.support_at(x["time"])
    ground = {"zmp": s.zmp, "margin": s.margin, "friction": s.friction, "slip": s.slip, "moment": s.moment}
    with h5py.File(file, "w") as out:
        out.attrs["format"] = FORMAT
        out.attrs["name"] = gait.mechanism.name
        out.attrs["q_names"] = list(gait.mechanism.q_names)
        out.attrs["v_names"] = list(gait.mechanism.v_names)
        out.attrs["feasible"] = gait.feasible
        for name, value in {**gait.figures(), **gait.numbers._asdict()}.items():
            out.attrs[name] = float(value)
        for name, values in {**x, **ground}.items():
            out[name] = values
        for name, wrench in s.wrenches.items():
            out[f"wrenches/{name}"] = wrench
    return file
