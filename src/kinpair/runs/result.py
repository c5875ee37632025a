"""Results of a simulation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final, overload

import numpy as np

from kinpair.description.fields import counted
from kinpair.errors import InputError, MissingExtraError, installs
from kinpair.runs.record import Record, lead_of, vectors_of
from kinpair.runs.targets import FILM, target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinpair.motion.support import Support
    from kinpair.runs.contacts import Contacts
    from kinpair.viewer.page import Page
    from kinpair.viewer.still import Frame

AXES = {  # of a data set: what each entry of a vector is called
    "q": "coordinate",
    "qd": "rate",
    "tau": "rate",
    "x": "state",
    "u": "input",
    "account": "power",
    "slid": "rough",
    "phase": "rough",
    "touching": "touch",
}


@final
@dataclass(frozen=True, eq=False)
class Result(Record):
    """Samples of a motion, and what can be made of them: see `Record` for the samples."""

    def __repr__(self) -> str:
        shape = f"{len(self.q)} × " if self.q.ndim == 3 else ""
        return f"<Result of {self.mechanism.name!r}: {shape}{counted(len(self.time), 'sample')}, {self.status.name}>"

    def __str__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        from kinpair.runs.report import fragment

        return fragment(self)

    @property
    def summary(self) -> str:
        """Return one paragraph: what was done, how it ended, and whether the energy adds up."""
        from kinpair.runs.summary import summary

        return summary(self)

    @cached_property
    def qdd(self) -> np.ndarray:
        """Accelerations (..., samples, nv) under the constraints and at the limits active there.

        Units: [rad/s²] or [m/s²].
        """
        from kinpair.runs.accelerations import accelerations

        return accelerations(self)

    @cached_property
    def reactions(self) -> dict[str, np.ndarray]:
        """Wrench in every joint at the samples, by name of the joint (..., samples, 6).

        Units: moment [N m], force [N].
        """
        from kinpair.runs.accelerations import reactions

        return reactions(self, self.qdd)

    @cached_property
    def constraint_forces(self) -> dict[str, np.ndarray]:
        """Multiplier of every row of a constraint at the samples, by name of the row (..., samples).

        Also of constraints that an event began; NaN where one does not hold. Where rows are redundant, the least ones.

        Units: [N m] or [N].
        """
        from kinpair.runs.accelerations import constraint_forces

        return constraint_forces(self, self.qdd)

    @cached_property
    def contacts(self) -> Contacts:
        """Contact at the samples: forces [N] by point and pair, slip [m/s], phases, losses [J]; of one motion."""
        return self.contacts_of(0)

    def contacts_of(self, row: int) -> Contacts:
        """Contact at the samples of one motion of a batch, as `contacts`: forces [N], slip [m/s], losses [J]."""
        contacts = self.contacts_at(lead_of(self, row))
        if contacts is None:
            raise InputError(f"{self.mechanism.name}: has no contact; give it geoms, see docs/contact.md")
        return contacts

    def plot(self, path: str | os.PathLike[str] | None = None, *, row: int = 0) -> Figure:
        """Coordinates, rates, efforts (if any), dry friction and energies over time as a figure of matplotlib, its
        `axes` one for each unit; of a batch, one row.

        Where a path is given (.png, .svg, .pdf), the figure is saved there too.
        """
        from kinpair.runs.pictures import plot

        return plot(self, path, row)

    def plot_phase(
        self, path: str | os.PathLike[str] | None = None, *, names: Sequence[str] | None = None
    ) -> Figure:
        """Phase portraits: rates [rad/s], [m/s] over coordinates [rad], [m], a panel for each joint of one degree or
        of those named; from a circle to a square, every motion of a batch in its colour."""
        from kinpair.runs import pictures

        return pictures.phase(self, names, path)

    def plot_energy(self, path: str | os.PathLike[str] | None = None, *, row: int = 0) -> Figure:
        """Energy since the start [J] by name: where it went to (each loss, what is stored) above, where it came from
        (each supply, work, what was released) below; both are equal if it adds up. Of a batch, one row."""
        from kinpair.runs import pictures

        return pictures.energy(self, path, row)

    def view(
        self,
        *others: Result,
        row: int = 0,
        host: str = "127.0.0.1",
        port: int = 8080,
        browser: bool = True,
        wait: bool | None = None,
        support: Support | None = None,
    ) -> Page:
        """Open a page in the browser that plays the motion; `others` are shown with it, paler. Of a batch, one row.

        One time slider for the scene and the curves next to it; options as for `Mechanism.view`. Lamps at joints with
        dry friction are red while they stick. `support`, see `Result.support`, marks the zero-moment point and the
        support polygon.
        """
        from kinpair.runs.report import recording_of
        from kinpair.viewer.page import Page, stays_open

        first = recording_of(self, row if self.q.ndim == 3 else 0, support=support)
        recordings = [first, *(recording_of(run, row if run.q.ndim == 3 else 0) for run in others)]
        page = Page(self.mechanism, recordings=recordings, host=host, port=port, browser=browser)
        if stays_open(wait):
            page.wait()
        return page

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to an HDF5 file, see docs/simulate.md; `kinpair.load_run` reads it."""
        from kinpair.runs.files.stored import save  # importing h5py is slow

        return save(self, path)

    def support(self, feet: Mapping[str, Any], *, row: int = 0, **options: Any) -> Support:
        """Support that the ground gave at the samples [N m], [N] if it carried the machine at these feet alone, and the
        zero-moment point in the support polygon [m]. Of a batch, one row.

        feet: outline (k, 3) [m] of each sole, in axes of the link or frame of that name; options as of
        `kinpair.motion.support`.
        """
        from kinpair.motion.support import support

        lead = lead_of(self, row)
        q, qd, qdd = (np.asarray(x[lead]) for x in (self.q, self.qd, self.qdd))
        return support(self.mechanism, q, qd, qdd, feet, time=self.time, **options)

    def report(
        self, path: str | os.PathLike[str] = "run.html", *, row: int = 0, support: Support | None = None
    ) -> Path:
        """Write a page that is complete in itself: summary, animation and curves on one slider, tables, how it was
        made.

        It opens from disk without a network. Of a batch, one row. Meshes of many triangles are simplified, and it
        says so. `support` as for `view`.
        """
        from kinpair.runs.report import write_report

        return write_report(self, path, row=row, support=support)

    @overload
    def animation(self, path: None = None, *, row: int = 0, support: Support | None = None) -> Frame: ...

    @overload
    def animation(
        self,
        path: str | os.PathLike[str],
        *,
        row: int = 0,
        support: Support | None = None,
        rate: float = 25.0,
        speed: float = 1.0,
        view: str | tuple[float, float] = "corner",
        width: int = 640,
        height: int = 480,
    ) -> Path: ...

    def animation(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        row: int = 0,
        support: Support | None = None,
        rate: float = 25.0,
        speed: float = 1.0,
        view: str | tuple[float, float] = "corner",
        width: int = 640,
        height: int = 480,
    ) -> Frame | Path:
        """Show the report inside a notebook, without a server and without a network, or write a film to a path.

        path: ends in .gif or .mp4; a .mp4 is written by ffmpeg. The file is returned. rate: pictures per second
        [1/s]. speed: seconds of motion per second of film [no unit]. view: as of `Mechanism.picture`. width, height:
        of a picture [pixels]. row, support: as for `view`.
        """
        if path is None:
            from kinpair.runs.report import page
            from kinpair.viewer.still import Frame

            return Frame(page(self, row, support))
        from kinpair.runs.report import recording_of
        from kinpair.viewer.recording import write_film

        file, recording = target(path, FILM), recording_of(self, row, support=support)
        return write_film(recording, file, rate=rate, speed=speed, view=view, width=width, height=height)

    def to_xarray(self) -> Any:
        """Samples as a data set with names and units."""
        try:
            import xarray
        except ImportError:
            raise MissingExtraError(f"a data set needs xarray; {installs('data')}", extra="data") from None
        lead = ("run",) if self.q.ndim == 3 else ()
        arrays: dict[str, Any] = {}
        axes: dict[str, Any] = {"time": self.time}
        for name, entries in vectors_of(self.mechanism, self.options, passive=self.passive).items():
            own = {"units": list(entries.values())}
            arrays[name] = ((*lead, "time", AXES[name]), getattr(self, name), own)
            axes[AXES[name]] = list(entries)
        energies = {**self.energy._asdict(), "work": self.work, "loss": self.loss}
        arrays |= {name: ((*lead, "time"), x, {"units": "J"}) for name, x in energies.items()}
        return xarray.Dataset(arrays, axes, {"status": str(self.status), "integrator": self.integrator})

    def to_pandas(self) -> Any:
        """Samples as a data frame over time: columns such as q.elbow, their units in `attrs`; of a batch over run and
        time."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError(f"a data frame needs pandas; {installs('data')}", extra="data") from None
        columns, unit = self._columns()
        axes: dict[str, Any] = {"run": range(len(self.q))} if self.q.ndim == 3 else {}
        axes["time"] = self.time
        index = (
            pandas.MultiIndex.from_product(list(axes.values()), names=list(axes))
            if len(axes) > 1
            else pandas.Index(self.time, name="time")
        )
        frame = pandas.DataFrame({name: np.ravel(x) for name, x in columns.items()}, index=index)
        frame.attrs = {"name": self.mechanism.name, "units": unit}
        return frame

    def _columns(self) -> tuple[dict[str, np.ndarray], dict[str, str]]:
        """Each number of a sample by name: its values over all samples, and its unit."""
        columns: dict[str, np.ndarray] = {}
        unit: dict[str, str] = {}
        for name, entries in vectors_of(self.mechanism, self.options, passive=self.passive).items():
            for k, (entry, own) in enumerate(entries.items()):
                columns[f"{name}.{entry}"] = getattr(self, name)[..., k]
                unit[f"{name}.{entry}"] = own
        energies = {**self.energy._asdict(), "work": self.work, "loss": self.loss}
        return columns | energies, unit | dict.fromkeys(energies, "J")
