"""The real robots of the package example-robot-data, by name."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import files
from pathlib import Path

import kinpair as kp


@cache
def urdf_files() -> dict[str, Path]:
    """Every URDF file of the package: family/name of the file without ending → path."""
    listed = sorted(f for f in files("example-robot-data") or () if f.suffix == ".urdf")
    results = {f"{f.parts[-3].removesuffix('_description')}/{f.stem}": Path(str(f.locate())) for f in listed}
    assert len(results) == len(listed)
    return results


PACKAGES = ("example-robot-data", "gymnasium", "gymnasium-robotics", "mujoco-core", "drake")
ENDINGS = (".urdf", ".sdf", ".xml", ".xacro", ".usd", ".usda")


@cache
def description_files() -> dict[str, Path]:
    """Every description file of the packages: package/path in it → path."""
    listed = [
        (package, f) for package in PACKAGES for f in sorted(files(package) or ()) if f.suffix in ENDINGS
    ]
    return {f"{package}/{'/'.join(f.parts[-3:])}": Path(str(f.locate())) for package, f in listed}


def urdf(name: str) -> Path:
    """The file of one robot, by the name of the file alone."""
    return next(path for path in urdf_files().values() if path.stem == name)


def talos() -> kp.Mechanism:
    """A humanoid with meshes, read without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return kp.load(urdf("talos_reduced"))
