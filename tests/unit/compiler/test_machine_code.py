"""Machine code for rows of a batch, in threads."""

from __future__ import annotations

from threading import Event, Timer

import numpy as np
import pytest

from kinpair.compiler.machine_code import Batch


def test_ctrl_c_waits_for_the_threads_that_write_into_the_arrays(monkeypatch):
    released, finished = Event(), []

    def rows(self, arrays, starts, strides, first, last):
        if first == 0:
            Timer(0.05, released.set).start()
            raise KeyboardInterrupt
        released.wait()
        finished.append((first, last))

    monkeypatch.setattr(Batch, "_rows", rows)
    batch = Batch.__new__(Batch)
    batch.lanes = 4
    with pytest.raises(KeyboardInterrupt):
        batch([np.zeros((12, 2))], [16], 12, 3)
    assert sorted(finished) == [(4, 8), (8, 12)]
