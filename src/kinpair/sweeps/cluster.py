"""A Dask cluster as those who compute."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import CancelledError
from functools import partial
from typing import Any

from kinpair.errors import InputError, MissingExtraError, installs
from kinpair.sweeps.worker_pool import WorkerPool

CONNECT = 20  # seconds to reach a cluster and to find a worker there
LOGGERS = (
    "distributed.client",
    "distributed.batched",
    "distributed.core",
)  # they log what the sweep says itself
LOST = ValueError  # what distributed's executor raises for an answer whose worker dies while it is fetched


def cluster_pool(cluster: Any) -> WorkerPool:
    """The workers of a cluster, by its client or the address of its scheduler."""
    try:
        from distributed import Client
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise MissingExtraError(
            f"a sweep on a cluster needs distributed; {installs('cluster')}",
            extra="cluster",
        ) from None
    if not isinstance(cluster, (str, Client)):
        raise InputError(f"cluster is {cluster!r}; give the address of a Dask scheduler or a Client of it")
    own = isinstance(cluster, str)
    try:
        client: Any = Client(cluster, timeout=CONNECT, set_as_default=False) if own else cluster
    except (OSError, ValueError, TimeoutError) as reason:
        raise InputError(f"cluster {cluster!r} cannot be reached: {reason}", cluster=cluster) from None
    try:
        client.wait_for_workers(1, timeout=CONNECT)
    except TimeoutError:
        raise InputError(
            f"cluster {cluster!r} has no workers; start some: dask worker ADDRESS", cluster=cluster
        ) from None
    return WorkerPool(
        sum(client.nthreads().values()),
        partial(client.get_executor, pure=False),
        lambda executor: executor.shutdown(wait=False),
        (KilledWorker, LOST),
        (CancelledError, CommClosedError),
        _closer(client) if own else lambda: None,
        name=f"cluster {cluster if own else client.scheduler.address}",
        idle=partial(_idle, client),
    )


def _idle(client: Any) -> bool:
    """Are all workers gone? If the scheduler is, it does not say so; the work handed out will."""
    try:
        return not client.nthreads()
    except (OSError, ValueError, AttributeError, RuntimeError):
        return False


def _closer(client: Any) -> Callable[[], None]:
    """Closes the client; until then it logs nothing."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)

    def close() -> None:
        client.close()
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)

    return close
