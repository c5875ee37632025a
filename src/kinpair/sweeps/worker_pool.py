"""Processes that compute: this one, others on this machine, or a Dask cluster; each as an Executor."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass
from functools import partial
from threading import Thread
from time import sleep
from typing import Any, final

from kinpair.errors import InputError, MissingExtraError, installs

PARENT_LOOK = 1.0  # seconds between two looks whether the driver is still there


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """`died`: what a future raises when the process at work is gone; `unreachable`: when nobody is left to ask."""

    size: int
    start: Callable[[], Executor]
    stop: Callable[[Any], None]
    died: tuple[type[BaseException], ...] = ()
    unreachable: tuple[type[BaseException], ...] = ()
    close: Callable[[], Any] = lambda: None
    distant: bool = True
    """Does work travel to another process?"""
    name: str = ""
    idle: Callable[[], bool] = lambda: False
    """Is nobody there who computes?"""


def pool_of(workers: int | None, cluster: Any) -> WorkerPool:
    """Pool on a Dask cluster, by client or address; else in a number of processes here. 0: in this one; None: a core
    each."""
    if cluster is not None:
        if workers is not None:
            raise InputError(
                "workers= counts processes of this machine, and cluster= brings its own; give one of them"
            )

        return cluster_pool(cluster)
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 0):  # type: ignore[redundant-expr]
        raise InputError(f"workers is {workers!r}; give a whole number, 0 for no other process")
    return _here() if workers == 0 else _local(workers or _cores())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@final
class Here(Executor):
    """Work done at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The future of a call that has happened."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as problem:
            future.set_exception(problem)
        return future


def _here() -> WorkerPool:
    return WorkerPool(1, Here, lambda executor: None, distant=False)


def _local(workers: int) -> WorkerPool:
    try:
        from loky import ProcessPoolExecutor
        from loky.process_executor import BrokenProcessPool
    except ImportError:
        raise MissingExtraError(
            f"a sweep on several cores needs loky; {installs('cluster')}, or give workers=0",
            extra="cluster",
        ) from None
    start = partial(ProcessPoolExecutor, workers, initializer=settle, initargs=(os.getpid(),))
    return WorkerPool(
        workers, start, lambda executor: executor.shutdown(kill_workers=True), (BrokenProcessPool,)
    )


def settle(driver: int) -> None:
    """Settle a new process: Ctrl-C is for the driver, and without a driver there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_watch, args=(driver,), daemon=True).start()


def _watch(driver: int) -> None:
    while os.getppid() == driver:
        sleep(PARENT_LOOK)
    os._exit(1)


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
    """True if all workers are gone. If the scheduler is, it does not say so; the work handed out will."""
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
