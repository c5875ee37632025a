"""Identified parameters: values, intervals, predictions and scores; descriptions with them, in TOML and URDF."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinpair.description.files import read_text
from kinpair.description.parts import Description, Joint, Link
from kinpair.description.toml_writer import to_toml
from kinpair.errors import InputError
from kinpair.identification.base_parameters import Base, lengths_of
from kinpair.identification.columns import Layout, body_numbers, is_consistent, laws_of
from kinpair.identification.consistency import Choice
from kinpair.identification.estimators import Covariance, Estimate, bootstrap
from kinpair.identification.log import Log, read_log
from kinpair.identification.signals import Rows, RunColumns, Signals, design, run_columns, samples_of
from kinpair.mechanism import Mechanism


class Prediction(NamedTuple):
    """Efforts of a run after the signal chain: time (k,) [s], measured and predicted (k, rows).

    kept (k, rows): rows that count; those of joints at rest, in gaps and at the ends do not.
    """

    time: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    kept: np.ndarray


class Score(NamedTuple):
    """Error ‖τ − τ̂‖/‖τ‖ over all joints, RMS error of each joint [N m] or [N], and ‖τ − τ̂‖/‖τ‖ of each joint."""

    total: float
    rms: np.ndarray
    relative: np.ndarray


class Interval(NamedTuple):
    """A base parameter: its sum of parameters, estimate, 95 % interval, consistent value, value of the file."""

    label: str
    estimate: float
    low: float
    high: float
    consistent: float
    file: float
    unit: str


@dataclass(frozen=True, slots=True)
class Source:
    """Source of logs: arguments of `identify`."""

    columns: Mapping[str, Any] | None
    torque: str
    gear: Any
    gains: Any


@dataclass(frozen=True, eq=False)
class Fitted:
    """Identified parameters of a mechanism.

    theta: consistent values of `layout.parameters`. base: independent combinations. estimate: β of the estimator.
    covariance: of β. file: values of the description. gamma: weight of the prior. steps: of Newton's method.
    stage: the last that was reached. notes: what was found in the logs and decided. warnings: what is suspicious.
    """

    mechanism: Mechanism
    layout: Layout
    theta: np.ndarray
    file: np.ndarray
    base: Base
    estimate: Estimate
    covariance: Covariance
    choice: Choice
    estimator: str
    gamma: float
    steps: int
    rows: Rows
    runs: tuple[RunColumns, ...]
    logs: tuple[Log, ...]
    source: Source
    settings: Signals
    validation: tuple[Any, ...]
    split: float
    stage: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    payload_frame: str = ""
    gains: np.ndarray | None = None
    extras: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def joints(self) -> list[str]:
        """Names of the rates with efforts."""
        return [self.mechanism.v_names[k] for k in self.layout.rows]

    @property
    def parameters(self) -> dict[str, float]:
        """Consistent values of all parameters by name.

        Units: mass [kg], first moments [kg m], inertia [kg m²], friction [N m] or [N].
        """
        return dict(zip(self.layout.names, self.theta.tolist(), strict=True))

    @cached_property
    def intervals(self) -> list[Interval]:
        """Base parameters with 95 % intervals. Parameters that are not identifiable have none."""
        M, d = self.base.matrix, self.covariance.reach
        labels = self.base.labels(lengths_of(self.mechanism))
        units = [self.layout.parameters[k].unit for k in self.base.independent]
        values = zip(labels, self.estimate.beta, d, M @ self.theta, M @ self.file, units, strict=True)
        return [Interval(label, x, x - w, x + w, c, f, unit) for label, x, w, c, f, unit in values]

    def bootstrap(self, draws: int = 400, seed: int = 0) -> np.ndarray:
        """95 % intervals (rank, 2) of the base parameters by drawing blocks of one second with replacement.

        Units: mass [kg], first moments [kg m], inertia [kg m²], friction [N m] or [N].
        """
        A = self.rows.A[:, self.base.independent]
        return bootstrap(self.rows, A, self.estimate.weight, draws=draws, seed=seed)

    @cached_property
    def essential(self) -> list[str]:
        """Base parameters that remain where those of the largest relative deviation are left out one by one."""
        return [self.base.label(k, lengths_of(self.mechanism)) for k in sorted(_essential(self))]

    @property
    def not_identifiable(self) -> list[str]:
        """Parameters without effect on the efforts, by name."""
        return self.base.without_effect

    @property
    def is_consistent(self) -> bool:
        """True if every pseudo-inertia is positive definite and every passive number above zero."""
        numbers = [x for x, p in zip(self.theta, self.layout.parameters, strict=True) if p.positive]
        return (
            all(is_consistent(self.theta[at]) for at in self.layout.bodies_of_ten)
            and min(numbers, default=1.0) > 0
        )

    @property
    def payload(self) -> dict[str, Any] | None:
        """Mass [kg], centre [m] and inertia [kg m²] about the centre of the payload, in the frame of its link."""
        if self.layout.payload is None:
            return None
        return body_numbers(self.theta[self.layout.bodies_of_ten[-1]])

    def predict(
        self, log: Any, *, payload: bool = False, span: tuple[float, float] = (0.0, 1.0)
    ) -> Prediction:
        """Efforts measured and predicted along a log; payload: it was recorded with the payload.

        span: part of the log by time, such as (0.7, 1.0) for its last 30 %.
        """
        x = read_log(
            self.mechanism,
            log,
            self.source.columns,
            self.source.torque,
            self.source.gear,
            self.gains_of(),
            payload,
        )
        return self.predicted(run_columns(self.layout, samples_of(self.mechanism, x, self.settings)), span)

    def gains_of(self) -> Any:
        """Drive gains: those given, or those identified."""
        return self.source.gains if self.gains is None else self.gains

    def predicted(self, run: RunColumns, span: tuple[float, float] = (0.0, 1.0)) -> Prediction:
        """Prediction of a run that was read before."""
        time = run.samples.time[:: run.samples.step]
        share = (time - time[0]) / max(float(time[-1] - time[0]), 1e-12)
        at = (share >= span[0]) & (share <= span[1])
        values = design(self.layout, run, self.theta) @ self.theta
        return Prediction(time[at], run.y[at], values[at], run.keep[at])

    def score(self, log: Any, *, payload: bool = False, span: tuple[float, float] = (0.0, 1.0)) -> Score:
        """Errors of the efforts predicted along a log."""
        return score_of([self.predict(log, payload=payload, span=span)])

    @cached_property
    def fit(self) -> Score:
        """Errors on the rows that were fitted."""
        return score_of([self.predicted(x, (0.0, 1.0 - self.split)) for x in self.runs])

    @cached_property
    def validated(self) -> Score | None:
        """Errors on the runs or parts of runs that were kept for validation; None without them."""
        found = self.validation_predictions
        return score_of(found) if found else None

    @cached_property
    def validation_predictions(self) -> list[Prediction]:
        """Predictions of what was kept for validation."""
        parts = [self.predicted(x, (1.0 - self.split, 1.0)) for x in self.runs] if self.split else []
        return parts + [self.predict(x) for x in self.validation]


def score_of(predictions: list[Prediction]) -> Score:
    """Errors of several runs together."""
    e = np.concatenate([np.where(p.kept, p.measured - p.predicted, 0.0) for p in predictions])
    y = np.concatenate([np.where(p.kept, p.measured, 0.0) for p in predictions])
    n = np.maximum(np.concatenate([p.kept for p in predictions]).sum(0), 1)
    size = np.linalg.norm(y, axis=0)
    size = np.where(size > 0, size, np.inf)  # without efforts there is no relative error
    total = float(np.linalg.norm(e) / max(float(np.linalg.norm(y)), 1e-300))
    return Score(total, np.sqrt((e**2).sum(0) / n), np.linalg.norm(e, axis=0) / size)


ESSENTIAL = 0.1  # part by which the error may grow while parameters are left out


def _essential(result: Fitted) -> list[int]:
    """Indices of base parameters that are left where the error of the fit grows by a tenth."""
    A = result.rows.A[:, result.base.independent] * np.sqrt(result.estimate.weight)[:, None]
    y = result.rows.y * np.sqrt(result.estimate.weight)
    scale = np.linalg.norm(A, axis=0)
    N, c, yy = (A / scale).T @ (A / scale), (A / scale).T @ y, float(y @ y)
    left, dropped = list(range(A.shape[1])), list[int]()
    first = np.inf
    while len(left) > 1:
        inverse = np.linalg.inv(N[np.ix_(left, left)])
        x = inverse @ c[left]
        error = yy - float(c[left] @ x)
        first = min(first, error)
        if error > (1.0 + ESSENTIAL) ** 2 * first:
            return [*left, dropped[-1]]
        dropped.append(left.pop(int(np.argmin(x**2 / np.diag(inverse)))))
    return left


def _links(layout: Layout, theta: np.ndarray) -> dict[str, Link]:
    """Links with new values: that of each body has all of it, those welded to it nothing."""
    model = layout.m.model
    links = {x.name: x for x in model.description.links}
    for at, i in zip(layout.bodies_of_ten, model.moving, strict=False):
        own = model.names[i]
        numbers = body_numbers(theta[at])
        I = numbers["inertia"]
        tensor = tuple(float(I[k]) for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        for name, place in model.places.items():
            if place.body == i and name in links and name != own:
                links[name] = replace(links[name], mass=0.0, inertia=(0.0,) * 6)
        links[own] = replace(
            links[own], mass=numbers["mass"], com=tuple(map(float, numbers["centre"])), inertia=tensor
        )
    return links


def _joint_values(layout: Layout, theta: np.ndarray, row: int) -> tuple[float | None, dict[Any, float]]:
    """Rotor inertia at the joint, and friction by term, of one row."""
    rotor, terms = None, dict[Any, float]()
    for x, value in zip(layout.parameters, theta, strict=True):
        if x.owner == row and x.group == "rotor":
            rotor = float(value)
        if x.owner == row and x.group == "friction" and x.term is not None:
            terms[x.term] = float(value)
    return rotor, terms


def _joint(layout: Layout, theta: np.ndarray, joint: Joint, row: int, has_actuator: bool) -> Joint:
    rotor, terms = _joint_values(layout, theta, row)
    laws = laws_of(terms, offset_is_friction=not layout.offsets_measured)
    joint = replace(joint, damping=(), friction=laws)
    if rotor is not None and not has_actuator:
        joint = replace(joint, rotor_inertia=rotor / joint.gear_ratio**2)
    return joint


def described(layout: Layout, theta: np.ndarray) -> Description:
    """The description with masses, inertias, rotor inertias and friction of θ."""
    m = layout.m
    description = m.model.description
    row_of = {m.v_names[v]: k for k, v in enumerate(layout.rows)}
    actuated = {x.joint for x in description.actuators}
    links = _links(layout, theta)
    joints = tuple(
        _joint(layout, theta, x, row_of[x.name], x.name in actuated) if x.name in row_of else x
        for x in description.joints
    )
    return replace(
        description, links=tuple(links[x.name] for x in description.links), joints=joints, warnings=()
    )


def write_toml_file(result: Fitted, path: str | os.PathLike[str]) -> Path:
    """Write the new description; what it cannot contain is a comment at its start."""
    head = [
        f"# identified from {', '.join(x.name for x in result.logs)}; relative error of the fit {result.fit.total:.3%}"
    ]
    head += [f"# not contained: {x} = {v:.6g}" for x, v in _left_out(result)]
    file = Path(path)
    file.write_text(
        "\n".join([*head, to_toml(described(result.layout, result.theta))]), encoding="utf-8", newline="\n"
    )
    return file


def _left_out(result: Fitted) -> list[tuple[str, float]]:
    """Parameters that a description has no place for: those of coupled motors, offsets of sensors."""
    return [
        (x.name, float(v))
        for x, v in zip(result.layout.parameters, result.theta, strict=True)
        if x.group == "motor"
        or (x.term is not None and x.term.kind == "offset" and result.layout.offsets_measured)
    ]


def write_urdf_file(result: Fitted, path: str | os.PathLike[str]) -> Path:
    """Write the URDF file of the mechanism: values of <inertial> and <dynamics> replaced, all else as it is.

    URDF has viscous and Coulomb friction alone: those nearest to the identified friction on the log are written.
    """
    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

    source = result.mechanism.model.description.source
    if not source.endswith((".urdf", ".xml")):
        raise InputError(
            f"{source or result.mechanism.name} is no URDF file; write TOML with result.toml(path)"
        )
    root = etree.fromstring(read_text(source).encode(), etree.XMLParser(remove_blank_text=False))
    if root.tag != "robot":
        raise InputError(f"{source} is no URDF file; write TOML with result.toml(path)")
    links, plain = _links(result.layout, result.theta), _plain_friction(result)
    changed = {result.mechanism.model.names[i] for i in result.mechanism.model.moving}
    welded = {n for n, p in result.mechanism.model.places.items() if p.body and n not in changed}
    for node in root.findall("link"):
        name = node.get("name")
        if name in changed:
            _write_inertial(node, links[name])
        elif name in welded and node.find("inertial") is not None:
            _remove(node, node.find("inertial"))
    for node in root.findall("joint"):
        if node.get("name") in plain:
            damping, friction = plain[node.get("name")]
            _child(node, "dynamics").attrib.update(
                {"damping": f"{damping:.9g}", "friction": f"{friction:.9g}"}
            )
    file = Path(path)
    file.write_bytes(etree.tostring(root.getroottree(), xml_declaration=True, encoding="utf-8"))
    return file


def _remove(parent: Any, node: Any) -> None:
    """Remove a node, keeping the text behind it."""
    before, tail = node.getprevious(), node.tail or ""
    if before is not None:
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(node)


def _child(node: Any, tag: str) -> Any:
    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

    found = node.find(tag)
    return etree.SubElement(node, tag) if found is None else found


def _write_inertial(node: Any, link: Link) -> None:
    inertial = _child(node, "inertial")
    origin, mass, inertia = (_child(inertial, tag) for tag in ("origin", "mass", "inertia"))
    origin.attrib.update({"xyz": " ".join(f"{x:.9g}" for x in link.com), "rpy": "0 0 0"})
    mass.attrib["value"] = f"{link.mass:.9g}"
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    inertia.attrib.update({k: f"{x:.9g}" for k, x in zip(names, link.inertia, strict=True)})


def _plain_friction(result: Fitted) -> dict[str, tuple[float, float]]:
    """Viscous and Coulomb friction of each joint that are nearest to its identified friction on the log."""
    found: dict[str, tuple[float, float]] = {}
    for j in result.layout.driven:
        own = [k for k, x in enumerate(result.layout.parameters) if x.group == "friction" and x.owner == j]
        terms = {result.layout.parameters[k].term.kind: k for k in own if result.layout.parameters[k].term}  # type: ignore[union-attr]
        if "viscous" not in terms or "coulomb" not in terms:
            continue
        acts = [k for k in own if result.layout.parameters[k].term.kind != "offset"]  # type: ignore[union-attr]
        A = result.rows.A[result.rows.joint == j]
        if len(A) < 2:
            continue
        pair = [terms["viscous"], terms["coulomb"]]
        x = np.linalg.lstsq(A[:, pair], A[:, acts] @ result.theta[acts], rcond=None)[0]
        found[result.joints[j]] = float(max(x[0], 0.0)), float(max(x[1], 0.0))
    return found
