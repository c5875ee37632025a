"""What `kinpair.regulator` is: a run that has no regulator does not import it."""

from __future__ import annotations

from kinpair.regulators.in_loop import in_loop
from kinpair.regulators.joint_regulators import computed_torque, force_feedback, pd
from kinpair.regulators.kalman import Kalman, kalman, lqg
from kinpair.regulators.linear_quadratic import LinearQuadratic, lqr
from kinpair.regulators.preview import PreviewGains, cart_table, preview, preview_gains
from kinpair.regulators.regulator import Regulator

__all__ = [
    "Kalman",
    "LinearQuadratic",
    "PreviewGains",
    "Regulator",
    "cart_table",
    "computed_torque",
    "force_feedback",
    "in_loop",
    "kalman",
    "lqg",
    "lqr",
    "pd",
    "preview",
    "preview_gains",
]
