"""Measure one quantity by every formulation: each is compiled and run, then compared, then all are timed in turns."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kinpair.analysis.compare import Row
from kinpair.compiler.kernel import Kernel, compile
from kinpair.compiler.program import Program, flatten
from kinpair.compiler.rolled import Rolled
from kinpair.constraints.rows.build import is_constrained
from kinpair.constraints.soundness import check_soundness
from kinpair.errors import InputError, KinpairError
from kinpair.evaluation.arguments import Arguments, evaluate
from kinpair.evaluation.kernels import UNROLLED, Kernels
from kinpair.evaluation.quantities.derivatives import STEP
from kinpair.evaluation.quantities.request import METHODS, Request, request_of
from kinpair.evaluation.quantities.table import QUANTITIES
from kinpair.formulations import composite, kinematics
from kinpair.formulations.limits import refusal
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.model.welds import with_welds

REACH = 1.5  # rad or m on either side, where a joint has no limit


def random_states(model: Model, count: int, seed: int) -> dict[str, np.ndarray]:
    """q (count, nq) within the limits of the joints, quaternions of length 1; qd, qdd, tau (count, nv) normal."""
    rng = np.random.default_rng(seed)
    low, high = (
        np.where(np.isfinite(x), x, y) for x, y in ((model.joints.lower, -REACH), (model.joints.upper, REACH))
    )
    q = rng.uniform(np.minimum(low, high), np.maximum(low, high), (count, model.nq))
    for i in model.moving:
        if model.body[i].pair.nq > model.body[i].pair.nv:
            turned = slice(model.q_span[i].stop - 4, model.q_span[i].stop)
            quaternion = rng.normal(size=(count, 4))
            q[:, turned] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    rates = {name: rng.normal(size=(count, model.nv)) for name in ("qd", "qdd", "tau")}
    return {"q": q, **rates}


EPS = float(np.finfo(float).eps)
UNFOLDED = 1000  # operations a body, at most, of a recursion run as it is written, as the yardstick is


def by_floats(model: Model, request: Request, states: Mapping[str, np.ndarray]) -> Any:
    """The quantity of a batch of states without the compiler."""
    quantity = QUANTITIES[request.quantity]
    own = [states[name] for name in quantity.state]
    return evaluate(
        partial(quantity.compute, model, request), Arguments(own, {}, len(own[0])), quantity.loaded
    )


def numbers(model: Model, quantity: str, value: Any, states: Mapping[str, np.ndarray]) -> np.ndarray:
    """Numbers that formulations must agree on, a row a state: all numbers of a result, but C q̇ for a matrix C."""
    rows = len(states["q"])
    if quantity == "coriolis_matrix":
        return np.einsum("bij,bj->bi", value, states["qd"])
    if quantity == "forward_dynamics":
        qdd, soundness = value
        check_soundness(model, states["q"], soundness)
        return qdd
    return np.concatenate([np.reshape(x, (rows, -1)) for _, x in flatten(value)[1]], axis=1)


def relative_errors(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """max|Δ| / max(1, max|reference|) of every row (batch,)."""
    return np.abs(values - reference).max(1) / np.maximum(1.0, np.abs(reference).max(1))


def rounding(model: Model, quantity: str, operations: int, q: np.ndarray) -> np.ndarray:
    """Error that rounding may cause in every row (batch,): eps an operation, 100 eps cond(H) if more where H is
    solved for.

    `operations` are those of the formulation; the yardstick's own are added.
    """
    plain = np.full(len(q), EPS * (operations + UNFOLDED * len(model.moving)))
    if not quantity.startswith("forward_dynamics"):
        return plain
    H = by_floats(model, Request("mass_matrix", "newton-euler"), {"q": q})
    return np.maximum(plain, 100 * EPS * np.linalg.cond(H))


def skewness(model: Model, C: np.ndarray, states: Mapping[str, np.ndarray]) -> float:
    """The worst max|S + Sᵀ| / max(1, max|C|) over a batch, S = Ḣ − 2C: zero to rounding where S is skew."""
    Hd = np.array([_inertia_rate(model, q, qd) for q, qd in zip(states["q"], states["qd"], strict=True)])
    S = Hd - 2 * C
    apart = np.abs(S + S.transpose(0, 2, 1)).max((1, 2))
    return float((apart / np.maximum(1.0, np.abs(C).max((1, 2)))).max())


def _inertia_rate(model: Model, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """dH/dt by a complex step along dq/dt, exact to rounding."""
    moved = q + 1j * STEP * kinematics.dq_dt(model, q, qd)
    return np.imag(composite.mass_matrix(model, moved)) / STEP


Name = TypeVar("Name")
TURN = 4e-3  # seconds a rival has for each turn, and at least one call: what comes first warms the caches
processor_time = (
    time.process_time
)  # of all threads; as long as one works, what the caller waits for, undisturbed
wall_time = time.perf_counter


def race(
    rivals: Mapping[Name, Callable[[], Any]], turns: int, clock: Callable[[], float] = processor_time
) -> dict[Name, float]:
    """Seconds of the fastest call of each rival."""
    best = dict.fromkeys(rivals, float("inf"))
    gc.collect()
    gc.disable()
    try:
        for _ in range(turns):
            for name, call in rivals.items():
                best[name] = min(best[name], _turn(call, clock))
    finally:
        gc.enable()
    return best


def _turn(call: Callable[[], Any], clock: Callable[[], float]) -> float:
    best, now = float("inf"), clock()
    end = now + TURN
    while now < end:
        call()
        start, now = now, clock()
        best = min(best, now - start)
    return best


def repeated(f: Callable[..., Any], *arguments: Any, times: int) -> Callable[[], None]:
    """A call that makes many: for what takes no longer than the clock."""
    turns = range(times)

    def call() -> None:
        for _ in turns:
            f(*arguments)

    return call


BATCH = 1024
OTHER_KERNELS = {"reactions": "wrenches", "forward_dynamics_derivatives": "derivatives_at_efforts"}
TURNS, CALLS = 5, 20  # of the clock; calls for one state between two looks at it


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Settings that all rows of a comparison share; `begin` is called with the number of the next row."""

    model: Model
    states: Mapping[str, np.ndarray]
    seed: int
    force: bool
    time: bool
    begin: Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """A formulation that applies: its code, the seconds it took to make, its result and what is compared of it."""

    kernel: Kernel
    seconds: float | None
    result: Any
    numbers: np.ndarray


class Stopped(KeyboardInterrupt):
    """Ctrl-C while a quantity was measured; `rows` are those of it that were finished."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self.rows = rows


def warm_up() -> None:
    """Compile something small, so that the first of the rows does not pay for the start of the compiler."""
    compile(lambda x: x + 1.0, np.zeros(1)).compile()


def measured(setting: Setting, quantity: str) -> list[Row]:
    """A row a formulation, in the order of METHODS; Ctrl-C ends it with those that are made."""
    kernels: dict[str, _Measured | str] = {}
    try:
        for method in METHODS[quantity]:
            setting.begin(f"{quantity.replace('_', ' ')}, {method}")
            try:
                kernels[method] = _kernel(setting, quantity, method)
            except KinpairError as refusal:
                kernels[method] = str(refusal)
    except KeyboardInterrupt:
        raise Stopped(_rows(setting, quantity, kernels)) from None
    return _rows(setting, quantity, kernels)


def _rows(setting: Setting, quantity: str, kernels: Mapping[str, _Measured | str]) -> list[Row]:
    """Collect rows that were compiled, timed in turns and judged."""
    compiled = {method: m for method, m in kernels.items() if isinstance(m, _Measured)}
    kernels_of = {method: m.kernel for method, m in compiled.items()}
    times = _times(setting, quantity, kernels_of) if setting.time else {}
    yardstick = _yardstick(setting, quantity, compiled)
    return [
        replace(_judged(setting, quantity, method, m, yardstick), **times.get(method, {}))
        if isinstance(m, _Measured)
        else Row(quantity, method, reason=m)
        for method, m in kernels.items()
    ]


def _kernel(setting: Setting, quantity: str, method: str) -> _Measured:
    """Make a kernel without a cache: recorded and compiled anew, or run by floats where no time is taken."""
    start = processor_time()
    kernel = Kernel(_with_thin_calls(_recorded(setting, quantity, method)))
    if setting.time:
        kernel.compile("one", "batch")
    seconds = processor_time() - start if setting.time else None
    result = _run(setting, kernel) if setting.time else _floats(setting, quantity, method)
    return _Measured(kernel, seconds, result, numbers(setting.model, quantity, result, setting.states))


def _recorded(setting: Setting, quantity: str, method: str) -> Program | Rolled:
    model, request = setting.model, _request(setting, quantity, method)
    if reason := refusal(model, quantity, method, force=setting.force):
        raise InputError(reason)
    if not Kernels(model).can(request):
        raise InputError(
            f"{model.name} has {len(model.moving)} bodies; beyond {UNROLLED} this is evaluated without the "
            "compiler, so there are no operations to count"
        )
    return Kernels(model).get(request, rolled=False if len(model.moving) <= UNROLLED else None).graph


def _request(setting: Setting, quantity: str, method: str) -> Request:
    return request_of(quantity, method=method, passive=False, force=setting.force)


def _with_thin_calls(program: Program | Rolled) -> Program | Rolled:
    """Return a call with its results in a tuple if they were in a dict, which only the longer path of a call makes."""
    if isinstance(program, Rolled) or program.structure[0] != "dict":
        return program
    _, keys, members = program.structure
    return replace(program, structure=["tuple", list(range(len(keys))), members])


def _run(setting: Setting, kernel: Kernel) -> Any:
    return kernel(*(setting.states[name] for name in kernel.signature.inputs))


def _floats(setting: Setting, quantity: str, method: str) -> Any:
    return by_floats(setting.model, _request(setting, quantity, method), setting.states)


def _yardstick(setting: Setting, quantity: str, kernels: Mapping[str, _Measured]) -> np.ndarray:
    """The numbers of the first formulation that applies, by floats; C q̇ is the bias where nothing weighs."""
    if not kernels:
        return np.empty((0, 0))
    if quantity == "coriolis_matrix":
        weightless = replace(setting.model, gravity=np.zeros(3))
        return by_floats(weightless, request_of("bias_forces", passive=False), setting.states)
    values = _floats(setting, quantity, next(iter(kernels)))
    return numbers(setting.model, quantity, values, setting.states)


def _judged(setting: Setting, quantity: str, method: str, compiled: _Measured, yardstick: np.ndarray) -> Row:
    count = compiled.kernel.count
    errors = relative_errors(compiled.numbers, yardstick)
    bounds = rounding(setting.model, quantity, count["total"], setting.states["q"])
    worst = int(np.argmax(errors))
    skew = skewness(setting.model, compiled.result, setting.states) if quantity == "coriolis_matrix" else None
    return Row(
        quantity,
        method,
        error=float(errors[worst]),
        bound=float(bounds[worst]),
        agrees=bool((errors <= bounds).all()),
        skewness=skew,
        multiplications=count["multiplications"] + count["divisions"],
        additions=count["additions"],
        operations=count["total"],
        compile=compiled.seconds,
    )


class PublicCall(NamedTuple):
    """A method of a mechanism as a user calls it: which one, with which states, and with which options."""

    mechanism: Mechanism
    quantity: str
    states: tuple[np.ndarray, ...]
    options: dict[str, Any]

    def __call__(self, *states: np.ndarray, **more: Any) -> Any:
        """Return the result of the call."""
        return getattr(self.mechanism, self.quantity)(*states, **self.options, **more)

    def prepared(self, *states: np.ndarray, **more: Any) -> Callable[[], Any]:
        """The call of these states, made before, so that the short path to the code is open."""
        self(*states, **more)
        return partial(getattr(self.mechanism, self.quantity), *states, **self.options, **more)


def public_call(
    setting: Setting, quantity: str, method: str, kernel: Kernel, states: Mapping[str, np.ndarray]
) -> PublicCall:
    """Make the public call of a mechanism that has no code but the kernel, loops open; nothing is kept on disk."""
    model = setting.model
    if is_constrained(model.description):
        model = Mechanism(model).without_constraints().model
        model = with_welds(model) if quantity == "reactions" else model
    kernels = Kernels(model)
    m = Mechanism(model, kernels=kernels)
    parameters = signature(getattr(m, quantity)).parameters
    chosen: dict[str, Any] = {"method": method, "force": setting.force, "passive": False}
    options = {name: x for name, x in chosen.items() if name in parameters}
    own = replace(request_of(quantity, **options), quantity=OTHER_KERNELS.get(quantity, quantity))
    kernels.adopt(own, Kernel(kernels.get(own).graph) if quantity in OTHER_KERNELS else kernel)
    arguments = tuple(states[x.name] for x in parameters.values() if x.kind is x.POSITIONAL_OR_KEYWORD)
    return PublicCall(m, quantity, arguments, options)


def _times(setting: Setting, quantity: str, kernels: Mapping[str, Kernel]) -> dict[str, dict[str, float]]:
    """Seconds of a call for one state and of a state in a batch, as a user makes it."""
    states = random_states(setting.model, BATCH, setting.seed)
    calls: dict[tuple[str, str], Callable[[], Any]] = {}
    for method, kernel in kernels.items():
        call = public_call(setting, quantity, method, kernel, states)
        one = call.prepared(*(x[0].copy() for x in call.states))
        result = call(*call.states)
        room = {"out": result} if isinstance(result, np.ndarray) else {}
        calls[method, "one"] = repeated(one, times=CALLS)
        calls[method, "batch"] = call.prepared(*call.states, **room)
    best = race(calls, TURNS, wall_time)
    return {m: {"one": best[m, "one"] / CALLS, "batch": best[m, "batch"] / BATCH} for m in kernels}
