"""The estimator of the package `figaroh` on the TX40 log: its regressor, base parameters and weighted least squares.

Samples, filters, thresholds and rows are those of kinpair. Blocks of joints with fewer rows are filled with rows of
zeros, since `weigthed_least_squares` requires blocks of one length.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import kinpair as kp
from kinpair.identification.signals import filtered

MOTOR_6 = ("Iam6", "fvm6", "fsm6")


def tx40_friction(result: kp.Identification, urdf: Path) -> dict[str, Any]:
    """Viscous and Coulomb friction by joint, and the number of base parameters."""
    from figaroh.identification.identification_tools import weigthed_least_squares
    from figaroh.tools.qrdecomposition import QRDecomposer
    from figaroh.tools.regressor import build_regressor_basic

    robot = _robot(urdf)
    run = result.runs[0]
    s, n = run.samples, 6
    config = {
        "has_friction": True,
        "has_actuator_inertia": True,
        "has_joint_offset": True,
        "act_idxv": list(range(n)),
    }
    W = build_regressor_basic(robot, s.q, s.qd, s.qdd, config).reshape(n, len(s.time), -1)
    W = np.concatenate([W.transpose(1, 0, 2), _motor_6(s.qd, s.qdd)], axis=2)
    D = filtered(W, s)
    kinds = ("fv", "fs", "ia", "off")
    names = (
        [f"inertial {k}" for k in range(10 * n)]
        + [f"{x}{j + 1}" for x in kinds for j in range(n)]
        + list(MOTOR_6)
    )
    count = int(run.keep.sum(0).max())
    blocks, efforts = np.zeros((n, count, D.shape[2])), np.zeros((n, count))
    for j in range(n):
        kept = run.keep[:, j]
        blocks[j, : kept.sum()], efforts[j, : kept.sum()] = D[kept, j], run.y[kept, j]
    A, tau = blocks.reshape(n * count, -1), efforts.reshape(-1)
    active = np.flatnonzero(np.linalg.norm(A, axis=0) > 1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        W_b, _, _, phi, *_ = QRDecomposer().double_decomposition(
            tau, A[:, active], [names[k] for k in active], None
        )
    settings = {"idx_tau_stop": [count * (j + 1) for j in range(n)]}
    phi = weigthed_least_squares(robot, np.asarray(phi), W_b, tau, W_b @ phi, settings)
    place = {}
    for k in range(W_b.shape[1]):
        same = [j for j in active if np.allclose(A[:, j], W_b[:, k])]
        place |= {names[j]: k for j in same}
    return {
        "rank": int(W_b.shape[1]),
        "fv": [float(phi[place[f"fv{j + 1}"]]) for j in range(n)],
        "fs": [float(phi[place[f"fs{j + 1}"]]) for j in range(n)],
    }


def _robot(urdf: Path) -> Any:
    import pinocchio as pin
    from pinocchio.robot_wrapper import RobotWrapper

    return RobotWrapper(pin.buildModelFromUrdf(str(urdf)))


def _motor_6(qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Columns (n, 6, 3) of motor 6 on joints 5 and 6."""
    Y = np.zeros((len(qd), 6, 3))
    Y[:, 4, 0], Y[:, 5, 0] = qdd[:, 5], qdd[:, 4]
    Y[:, 4, 1], Y[:, 5, 1] = qd[:, 5], qd[:, 4]
    Y[:, 4, 2] = Y[:, 5, 2] = np.sign(qd[:, 4] + qd[:, 5])
    return Y
