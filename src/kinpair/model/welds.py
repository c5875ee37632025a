"""Welded links as bodies of their own: the same motion, and a wrench in every joint."""

from __future__ import annotations

from kinpair.model.build import build
from kinpair.model.model import Model


def with_welds(model: Model) -> Model:
    """The model with a body for every link; itself where nothing was merged. Coordinates and rates are the same."""
    merged = any(joint.kind == "fixed" for joint in model.description.joints)
    if not (model.options.merge_fixed and merged):
        return model
    return build(model.description, snap=model.options.snap, merge_fixed=False)
