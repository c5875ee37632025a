"""A time loop of equal steps as LLVM text: for one trajectory, or for as many at once as the machine has lanes.

The arrays of a run: `settings`, the parameters `p`, the `times` and rows of a `table` of inputs, the address of the
function `called`, the state and inputs at the `start`; then samples `Y` of the state, samples `W` of what is watched,
state and inputs at the `end`, and a `verdict` (what went wrong, in which step). Step n leads from t₀ + n dt to
t₀ + (n + 1) dt, whatever the steps before, so a run cut in two is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping

from kinpair.compiler.instructions import support
from kinpair.compiler.llvm import CLEAR, METADATA
from kinpair.compiler.target import ATTRIBUTES, Form, Real
from kinpair.compiler.time_loop.code import Code
from kinpair.compiler.time_loop.parts import SOLVE, Flow, Frame, Part
from kinpair.compiler.time_loop.step import CROSSED, NOT_FINITE, REFUSED, Arrays, Step
from kinpair.compiler.time_loop.tableau import Tableau

INPUTS = ("settings", "p", "times", "table", "called", "start")
OUTPUTS = ("Y", "W", "end", "verdict")
ARRAYS = (*INPUTS, *OUTPUTS)
T0, DT, FIRST, SAMPLES, EVERY, HOLD = range(6)


def declarations(code: Code) -> str:
    """Declarations of functions that the loops call."""
    mask = f"<{code.width} x i1>"
    return "\n".join(
        [
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
            f"declare i1 @llvm.vector.reduce.or.v{code.width}i1({mask})",
            f"declare {code.number} @llvm.vector.reduce.fadd.{code.suffix}({code.number}, {code.wide})",
        ]
    )


def programs_text(parts: Mapping[str, Part], form: Form) -> list[str]:
    """The functions of every program, and those they call."""
    used = {op for part in parts.values() for op in part.blocks.used}
    turns = next((part.turns for part in parts.values() if part.turns), None)
    wide: list[str] = []
    if turns:  # the functions of one angle declare those of the C library too
        both = support({"sin"}, Form(form.real, turns.width))
        wide = both[:1] if used & {"sin", "cos"} else both
    return [METADATA, CLEAR, *support(used, form), *wide, *(part.text(form) for part in parts.values())]


def fixed_text(
    flow: Flow,
    parts: Mapping[str, Part],
    frame: Frame,
    tableau: Tableau | None,
    real: Real,
    lanes: int,
    width: int,
) -> str:
    """`@one(pointers, scratch)` or, with more than one lane, `@batch(pointers, strides, rows, scratch)`."""
    form = Form(real, lanes)
    code = Code(form, width)
    pointers = {name: _entry(code, "ptr", "pointers", k) for k, name in enumerate(ARRAYS)}
    if lanes == 1:
        _trajectory(Step(code, flow, parts, frame, Arrays(pointers)), tableau)
        head, layout = "@one(ptr %pointers, ptr %scratch)", ""
    else:
        from kinpair.compiler.lanes import layout_functions

        _blocks(code, flow, parts, frame, tableau, pointers)
        head, layout = (
            "@batch(ptr %pointers, ptr %strides, i64 %rows, ptr %scratch)",
            layout_functions(real, lanes),
        )
    return "\n".join(
        [
            *programs_text(parts, form),
            layout or "declare void @llvm.donothing()",
            declarations(code),
            *(declared_solve() if flow.solve is not None else ()),
            f"define void {head} {ATTRIBUTES} {{",
            "start:",
            *code.lines,
            "  ret void",
            "}",
        ]
    )


def declared_solve() -> list[str]:
    """Return declarations of the loop function of a flow and of its constants."""
    constants = [f"@{SOLVE}.{name} = external constant i64" for name in ("numbers", "whole")]
    return [*constants, f"declare void @{SOLVE}(ptr)"]


def _entry(code: Code, kind: str, table: str, k: int) -> str:
    at = code.op(f"getelementptr {kind}, ptr %{table}, i64 {k}", "at")
    return code.op(f"load {kind}, ptr {at}")


def _blocks(
    code: Code,
    flow: Flow,
    parts: Mapping[str, Part],
    frame: Frame,
    tableau: Tableau | None,
    pointers: dict[str, str],
) -> None:
    """Block after block of rows, each through all its steps."""
    strides = {name: _entry(code, "i64", "strides", k) for k, name in enumerate(ARRAYS)}
    more = code.op(f"add i64 %rows, {code.lanes - 1}")
    with code.loop(code.op(f"sdiv i64 {more}, {code.lanes}")) as block:
        row = code.op(f"mul i64 {block}, {code.lanes}")
        left = code.op(f"sub i64 %rows, {row}")
        here = code.op(f"call i64 @llvm.umin.i64(i64 {left}, i64 {code.lanes})")
        now: dict[str, str] = {}
        for name, pointer in pointers.items():
            skip = code.op(f"mul i64 {row}, {strides[name]}")
            now[name] = code.op(f"getelementptr i8, ptr {pointer}, i64 {skip}")
        _trajectory(Step(code, flow, parts, frame, Arrays(now, strides, here)), tableau)


def _trajectory(step: Step, tableau: Tableau | None) -> None:
    """Write a trajectory from the start through all samples to the end."""
    code, flow, places, arrays = step.code, step.flow, step.places, step.arrays
    settings = arrays.pointers["settings"]
    t0, dt = (code.get(settings, k) for k in (T0, DT))
    first, samples, every = (code.integer(code.get(settings, k)) for k in (FIRST, SAMPLES, EVERY))
    _begin(step, dt)
    begin = code.float("fadd", t0, code.float("fmul", code.whole(first), dt))
    if flow.sampled:
        with code.when(code.op(f"icmp eq i64 {every}, 0")):  # a look at the start, before any step
            _sample_inputs(step, begin)
    if step.guarded:
        step.share(begin, "time")
        step.look("y")
        _expect(step)
    with code.forever() as run:  # left where something went wrong; a batch goes on for its other lanes
        with code.loop(samples) as sample:
            with code.loop(every) as k:
                done = code.op(f"add i64 {code.op(f'mul i64 {sample}, {every}')}, {k}")
                n = code.op(f"add i64 {first}, {done}")
                _one_step(step, tableau, n, t0, dt)
                if code.lanes == 1:
                    verdict = code.get(places["verdict"], 0)
                    run.leave(code.op(f"fcmp one {code.number} {verdict}, {code.real(0.0)}"))
                elif step.guarded:
                    run.leave(_all_stopped(step))
            _sample(step, sample, every, first, t0, dt)
        run.leave("true")
    if code.lanes > 1 and flow.changes_u:
        step.put_back(step.verdict(CROSSED), "u_stopped", "u", flow.nu)
    for k in range(2):
        _join(step, k, to_kept=True)
    arrays.put(code, "end", "0", flow.ny + flow.nu, places["kept"])
    arrays.put(code, "verdict", "0", 2, places["verdict"])


def _begin(step: Step, dt: str) -> None:
    code, flow, places, arrays = step.code, step.flow, step.places, step.arrays
    step.clear()
    arrays.fetch(code, "p", "0", flow.np, places["p"])
    arrays.fetch(code, "start", "0", flow.ny + flow.nu, places["kept"])
    for k in range(2):
        _join(step, k, to_kept=False)
    step.share(dt, "dt")


def _join(step: Step, k: int, to_kept: bool) -> None:
    """Copy between `kept` and the state (k = 0) or the inputs (k = 1) in it, value by value: they are not whole
    vectors."""
    code, kind = step.code, step.code.form.of(step.code.number)
    place, size, offset = (("y", step.flow.ny, 0), ("u", step.flow.nu, step.flow.ny))[k]
    with code.loop(size) as i:
        here = code.op(f"getelementptr {kind}, ptr {step.places[place]}, i64 {i}")
        there = code.op(
            f"getelementptr {kind}, ptr {step.places['kept']}, i64 {code.op(f'add i64 {i}, {offset}')}"
        )
        source, target = (here, there) if to_kept else (there, here)
        code.do(f"store {kind} {code.op(f'load {kind}, ptr {source}')}, ptr {target}")


def _one_step(step: Step, tableau: Tableau | None, n: str, t0: str, dt: str) -> None:
    code, places, flow = step.code, step.places, step.flow
    count = code.whole(n)
    step.share(count, "step")
    time = code.float("fadd", t0, code.float("fmul", count, dt))
    if step.guarded:
        code.copy(places["y"], places["before"], flow.ny)
    if code.lanes > 1 and flow.changes_u:
        code.copy(places["u"], places["u_before"], flow.nu)
    if tableau is not None:
        step.explicit(tableau, time, dt)
    else:
        step.other(time, dt)
    code.copy(places["next"], places["y"], flow.ny)
    after = code.op(f"add i64 {n}, 1")
    end = code.float("fadd", t0, code.float("fmul", code.whole(after), dt))
    step.share(end, "time")
    if flow.source == "call":
        _refused(step)
    step.settle()
    step.lost(step.not_finite(), NOT_FINITE)
    if step.guarded:
        _guard(step)
    if flow.sampled:
        hold = code.integer(code.get(step.arrays.pointers["settings"], HOLD))
        due = code.op(f"icmp eq i64 {code.op(f'srem i64 {after}, {hold}')}, 0")
        if code.lanes == 1:
            fine = code.op(f"fcmp oeq {code.number} {code.get(places['verdict'], 0)}, {code.real(0.0)}")
            due = code.op(f"and i1 {due}, {fine}")
        with code.when(due):
            _sample_inputs(step, end)


def _guard(step: Step) -> None:
    """Go back to before a step in which a guard has left its side; of a batch, such a lane stays there."""
    code, places, flow = step.code, step.places, step.flow
    step.look("y", "g_new")
    crossed = step.crossed(dict(flow.slopes))
    if code.lanes == 1:
        step.lost(crossed, CROSSED)
        with code.when(crossed):
            code.copy(places["before"], places["y"], flow.ny)
    else:
        if flow.changes_u:
            mask = code.form.of("i1")
            new = code.op(f"and {mask} {crossed}, {step.verdict(0.0)}")
            step.put_back(new, "u_before", "u_stopped", flow.nu)
        step.lost(crossed, CROSSED)
        stopped = step.verdict(CROSSED)
        with code.when(step.any(stopped)):
            step.put_back(stopped, "before", "y", flow.ny)
    code.copy(places["g_new"], places["g"], flow.ng)


def _expect(step: Step) -> None:
    """Take guards that last for positive before the first step."""
    code, kind = step.code, step.code.form.of(step.code.number)
    for k in step.flow.lasting:
        at = code.op(f"getelementptr {kind}, ptr {step.places['g']}, i64 {k}")
        code.do(f"store {kind} {code.form.number(1.0)}, ptr {at}")


def _all_stopped(step: Step) -> str:
    """True if guards have stopped every lane."""
    mask = step.code.form.of("i1")
    on = step.code.op(f"xor {mask} {step.verdict(CROSSED)}, {step.code.form.number(True)}")
    return step.code.op(f"xor i1 {step.any(on)}, true")


def _sample_inputs(step: Step, time: str) -> None:
    """New inputs, constant until the next sample."""
    code, entry = step.code, step.flow.afresh
    step.refresh(time, "y")
    if entry is not None:
        kind = code.form.of(code.number)
        at = code.op(f"getelementptr {kind}, ptr {step.places['y']}, i64 {entry}")
        code.do(f"store {kind} {code.form.number(0.0)}, ptr {at}")
    if step.flow.source == "call":
        _refused(step)


def _refused(step: Step) -> None:
    """True if the function that gives the inputs failed."""
    step.lost(step.failed, REFUSED)


def _sample(step: Step, sample: str, every: str, first: str, t0: str, dt: str) -> None:
    """Write the state and what is watched of it."""
    code, flow, places, arrays = step.code, step.flow, step.places, step.arrays
    arrays.put(code, "Y", code.op(f"mul i64 {sample}, {flow.ny}"), flow.ny, places["y"])
    if not flow.nw:
        return
    samples = code.op(f"add i64 {sample}, 1")
    n = code.op(f"add i64 {first}, {code.op(f'mul i64 {samples}, {every}')}")
    time = code.float("fadd", t0, code.float("fmul", code.whole(n), dt))
    if not flow.sampled:
        step.refresh(time, "y")
        if flow.source == "call":
            _refused(step)
    step.share(time, "time")
    step.evaluate("watch", [places["w"]])
    arrays.put(code, "W", code.op(f"mul i64 {sample}, {flow.nw}"), flow.nw, places["w"])
