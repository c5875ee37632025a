"""What `kp.identify` gives: identified parameters as files, pictures and a page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from kinpair.identification import new_description, page, pictures
from kinpair.identification.fitted import Fitted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinpair.description.parts import Description


@final
@dataclass(frozen=True, eq=False, repr=False)
class Identification(Fitted):
    """Identified parameters of a mechanism, with files and pictures of them."""

    @property
    def description(self) -> Description:
        """The description with identified masses, inertias, rotors and friction."""
        return new_description.described(self.layout, self.theta)

    def toml(self, path: str | os.PathLike[str]) -> Path:
        """Write the new description as TOML."""
        return new_description.write_toml_file(self, path)

    def urdf(self, path: str | os.PathLike[str]) -> Path:
        """Write the URDF file of the mechanism with <inertial> and <dynamics> replaced and all else unchanged."""
        return new_description.write_urdf_file(self, path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw measured and predicted efforts of each joint and what remains; write the figure to a file."""
        return pictures.efforts(self, path)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one page of HTML: fit, residual spectra, parameters with intervals, correlation, contributions."""
        return page.write(self, path)

    def __str__(self) -> str:
        return page.summary(self)

    def __repr__(self) -> str:
        return f"<Identification of {self.mechanism.name!r}: {self.base.rank} base parameters, {self.stage}>"
