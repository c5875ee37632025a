"""Runs that do not go well: what `kp.simulate` raises or warns of, and the run itself."""

from __future__ import annotations

import os
import warnings

import pytest

import kinpair as kp


def failed(*arguments, call=kp.simulate, **options):
    """Return the run of a `RunError`, whose message is the status of the run."""
    with pytest.raises(kp.RunError) as caught:
        call(*arguments, **options)
    run = caught.value.run
    message = run.status.message
    assert str(caught.value) == (
        f"{run.mechanism.name}: {message[:1].lower()}{message[1:]}; error.run has the samples before"
    )
    return run


def ended(*arguments, call=kp.simulate, **options):
    """Return a run, which warns if and only if it did not go well."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = call(*arguments, **options)
    reported = [f"{run.mechanism.name}: {run.status.message}"] * (not run.status.ok)
    assert [str(x.message) for x in caught if x.category is kp.RunWarning] == reported
    return run


def stopped(*arguments, call=kp.simulate, **options):
    """Return a run of which one `RunWarning` reports the status, and nothing else does."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = call(*arguments, **options)
    assert [(x.category, str(x.message)) for x in caught] == [
        (kp.RunWarning, f"{run.mechanism.name}: {run.status.message}")
    ]
    assert not caught[0].filename.startswith(os.path.dirname(kp.__file__))
    return run
