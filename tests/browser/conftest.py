"""One browser for all tests here; skipped with the reason where there is none, failed where there must be one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import chromium as chromium_


@pytest.fixture(scope="session")
def chromium():
    if reason := chromium_.absent():
        (pytest.fail if chromium_.REQUIRED else pytest.skip)(reason)
    with chromium_.browser() as browser:
        yield browser
