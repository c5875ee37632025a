"""A worker that dies while its answer is fetched: distributed's executor takes the answer for an error."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from distributed import cfexecutor

from kinpair.sweeps.cases import Outcome
from kinpair.sweeps.worker_pool import LOST


class Fetched:
    """A future of distributed that has its answer, and whose worker is gone."""

    status = "lost"

    async def _result(self, raiseit):
        return [Outcome({"square": 4})], 0.1


def test_an_answer_whose_worker_dies_while_it_is_fetched_counts_as_a_death():
    future: Future = Future()

    async def passed_on():
        await cfexecutor._cascade_future(Fetched(), future)

    asyncio.run(passed_on())
    assert isinstance(future.exception(), LOST)
