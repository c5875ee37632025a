"""`kp.sweep`: many cases, on all cores or on a cluster; each computed once, each written down at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinpair.sweeps.study import Study
    from kinpair.sweeps.table import Table


def sweep(
    study: Study | Callable[..., Any],
    over: Mapping[Any, Any],
    *,
    samples: int | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    retry: bool = False,
    workers: int | None = None,
    cluster: Any = None,
    units: Mapping[str, str] | None = None,
    progress: bool | Callable[[float], Any] | None = None,
) -> Table:
    """Every case of `over`, as a `Table` of inputs and recorded numbers; see docs/sweep.md.

    * `study`: a `Study`, or a function case(**inputs) → a number, or a dict of numbers and vectors;
    * `over`: input → list of values or `Grid`, all combinations of which are taken; or `LatinHypercube`, `Uniform`,
      `Normal`, drawn together `samples` times with `seed`. Inputs with commas between vary together;
    * `out`: a folder for the journal, which grows with each finished case, and for table.parquet. `resume` computes
      what the journal does not have; `retry` also what failed;
    * `workers`: processes on this machine, a core each by default, 0 for none but this; `cluster`: a Dask client, or
      the address of a scheduler;
    * `units` of columns that the study does not know.

    A case that fails is recorded with its error. Ctrl-C ends the sweep: the table has what was finished.
    """
    from kinpair.sweeps.driver import Options, driven

    options = Options(out, resume, retry, workers, cluster, units or {}, progress)
    return driven(study, over, samples, seed, options)
