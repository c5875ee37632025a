"""Public names of `kinpair.regulator`: a run that has no regulator does not import it."""

from __future__ import annotations

from kinpair.control.in_loop import in_loop
from kinpair.control.kalman import Kalman, kalman, lqg
from kinpair.control.laws import computed_torque, force_feedback, pd
from kinpair.control.linear_quadratic import LinearQuadratic, lqr
from kinpair.control.preview import PreviewGains, cart_table, preview, preview_gains
from kinpair.control.regulator import Regulator

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
