"""The robots of the measurements, from the package example-robot-data, and random states of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path

import numpy as np
from lxml import etree

import kinpair as kp

LOOKS = ("visual", "collision", "gazebo", "transmission", "mujoco")  # what no dynamics needs


@dataclass(frozen=True, slots=True)
class Robot:
    """A file of the package, what its robot is, and on which base it is measured."""

    label: str
    stem: str
    kind: str
    base: str = "fixed"
    quick: bool = False
    """Also measured when time is short."""

    @property
    def path(self) -> Path:
        """Its file."""
        result = next(f for f in files("example-robot-data") or () if f.name == f"{self.stem}.urdf")
        return Path(str(result.locate()))

    def load(self) -> kp.Mechanism:
        """The robot without doubts about its file."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kp.DescriptionWarning)
            return kp.load(self.path, base=self.base, constraints=False)

    def bare_urdf(self) -> str:
        """The file without looks, for engines that insist on meshes."""
        robot = etree.fromstring(self.path.read_bytes(), etree.XMLParser(remove_comments=True))
        for look in robot.xpath("|".join(f"//{name}" for name in LOOKS)):
            look.getparent().remove(look)
        return etree.tostring(robot, encoding="unicode")


ROBOTS = (
    Robot("UR5", "ur5_robot", "arm", quick=True),
    Robot("xArm7", "xarm7", "arm"),
    Robot("Panda", "panda", "arm", quick=True),
    Robot("Allegro", "allegro_left_hand", "hand"),
    Robot("Go2", "go2", "quadruped"),
    Robot("Go2, free", "go2", "quadruped", "free"),
    Robot("G1", "g1_29dof_rev_1_0", "humanoid", quick=True),
    Robot("G1, free", "g1_29dof_rev_1_0", "humanoid", "free"),
    Robot("Talos", "talos_reduced", "humanoid"),
    Robot("Talos, free", "talos_reduced", "humanoid", "free"),
)
LARGE = (  # measured at their first use only: 61 and 50 rates
    Robot("Romeo, free", "romeo", "humanoid", "free"),
    Robot("Talos with hands, free", "talos_full_v2", "humanoid", "free"),
)


def robot(label: str) -> Robot:
    """One of the tables."""
    return next(r for r in (*ROBOTS, *LARGE) if r.label == label)


def chosen(quick: bool) -> Iterable[Robot]:
    """All of them, or a few."""
    return [r for r in ROBOTS if r.quick or not quick]


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """Coordinates (batch, nq), rates and accelerations or efforts (batch, nv)."""

    q: np.ndarray
    qd: np.ndarray
    x: np.ndarray

    def first(self, rows: int) -> States:
        """The first rows."""
        return States(self.q[:rows], self.qd[:rows], self.x[:rows])


def random_states(mechanism: kp.Mechanism, batch: int) -> States:
    """Seeded; angles within ±1 rad, unit quaternions."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-1, 1, (batch, mechanism.nq))
    if mechanism.nq > mechanism.nv:  # a free base: position, then quaternion
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return States(q, rng.normal(size=(batch, mechanism.nv)), rng.normal(size=(batch, mechanism.nv)))
