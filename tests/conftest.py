"""Compiled code of the tests goes to a directory of its own, kept for one run."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        directory = tmp_path_factory.mktemp("cache")
        directory.chmod(0o700)
        patch.setenv("KINPAIR_CACHE", str(directory))
        yield
