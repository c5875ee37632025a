"""Poses, Jacobians and twists of links and frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.description.parts import GROUND
from kinpair.evaluation.quantities.request import Request
from kinpair.formulations import kinematics
from kinpair.model.model import Body, Model, Place
from kinpair.model.recursion import each, rows_of
from kinpair.results import FramePose
from kinpair.spatial.pose import Pose


def pose(model: Model, request: Request, q: Vector) -> tuple[Matrix, Vector]:
    """Rotation and origin of the frame in the world."""
    return kinematics.pose(model, q, model.place(request.frame))


def poses(model: Model, request: Request, q: Vector) -> dict[str, FramePose]:
    """Pose of every link, by name in the order of the description."""
    bodies = kinematics.poses(model, q)
    of_links = {name: bodies[place.body] @ place.pose for name, place in _links(model)}
    return {name: FramePose(x.R, x.a) for name, x in of_links.items()}


def pose_rows(model: Model, request: Request, q: Vector) -> Matrix:
    """Poses as one matrix (links, 12): nine numbers of the rotation, row by row, then the origin."""
    if alone := links_alone(model):
        rows = each(model, _pose_row, kinematics.poses(model, q), [None, *(x.place.pose for x in alone)])
        return rows_of(model, rows, [-1, *(x.number for x in alone)], 12)
    every = poses(model, request, q).values()
    rows = [[*x.rotation.reshape(-1), *x.position] for x in every]
    return array(rows) if rows else np.zeros((0, 12))


def _pose_row(body: Body, where: Pose, link: Pose) -> Vector:
    x = where @ link
    return np.concatenate([x.R.reshape(-1), x.a])


class Alone(NamedTuple):
    """The only link of a body: its number among the links that have a pose, and its place."""

    number: int
    place: Place


def links_alone(model: Model) -> list[Alone]:
    """Return the link of each moving body; nothing where links are welded to others or to the ground."""
    links = [Alone(k, place) for k, (_, place) in enumerate(_links(model))]
    bodies = {x.place.body: x for x in links}
    whole = len(links) == len(bodies) == len(model.moving) and 0 not in bodies
    return [bodies[i] for i in model.moving] if whole else []


def jacobian(model: Model, request: Request, q: Vector) -> Matrix:
    """(6, nv) at the origin of the frame, world axes, angular rows first."""
    return kinematics.jacobian(model, q, model.place(request.frame))


def jacobian_rate(model: Model, request: Request, q: Vector, qd: Vector) -> Matrix:
    """Derivative of the Jacobian in time."""
    return kinematics.jacobian_rate(model, q, qd, model.place(request.frame))


def twists(model: Model, request: Request, q: Vector, qd: Vector) -> dict[str, Vector]:
    """Twist of every link at its origin, world axes, by name in the order of the description."""
    state = kinematics.states(model, q, qd)
    return {name: kinematics.twist(state[place.body], place) for name, place in _links(model)}


def twist_rates(model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector) -> dict[str, Vector]:
    """Derivatives of the twists in time."""
    state, along = kinematics.states(model, q, qd), kinematics.states(model, q, qdd)
    bias = kinematics.biases(model, q, qd, state)
    return {
        name: kinematics.twist_rate(state[place.body], bias[place.body], along[place.body], place)
        for name, place in _links(model)
    }


def link_names(model: Model) -> tuple[str, ...]:
    """The links that have a pose, in the order of the description."""
    return tuple(name for name, _ in _links(model))


def _links(model: Model) -> list[tuple[str, Place]]:
    """The links but the ground, with their places."""
    return [(x.name, model.places[x.name]) for x in model.description.links if x.name != GROUND]
