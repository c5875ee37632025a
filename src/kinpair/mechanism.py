"""The object a user holds: a model, and every quantity of it by any formulation.

The file is long because it is one public class: each quantity is a method with its own signature, shapes, units and
words for `help()`. The methods check, ask the packages above and name the result.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.algebra.choice import holds_symbols
from kinpair.constraints.assembly.actuated import Actuators
from kinpair.constraints.assembly.batch import copied
from kinpair.constraints.assembly.closure import Closure, constraint_tables
from kinpair.constraints.assembly.forces import ConstraintForces
from kinpair.constraints.assembly.movable import Movable, actuators_from, names_from
from kinpair.constraints.assembly.rank import check_solver
from kinpair.constraints.quantities.groups import row_names
from kinpair.constraints.quantities.multipliers import reaction_names
from kinpair.constraints.quantities.table import EVERY, quantity_of
from kinpair.constraints.reactions import (
    BearingLoad,
    MotorLoad,
    Reactions,
    bearing_loads,
    by_name,
    motor_loads,
)
from kinpair.constraints.rows.build import is_constrained
from kinpair.constraints.rows.mobility import checked
from kinpair.constraints.solvers import DEFAULT_SOLVER, EVERY_SOLVER, OF_ENERGY, refusal
from kinpair.constraints.soundness import DOUBTFUL, check_soundness
from kinpair.description.constraint_parts import ConstraintPart
from kinpair.description.contact_shapes import contact_from
from kinpair.description.parts import Description, without_constraints
from kinpair.description.place import Place
from kinpair.description.warning_list import WarningList
from kinpair.errors import ActuatorsError, InputError, listed, offered
from kinpair.evaluation.calls import Calls
from kinpair.evaluation.quantities.frames import link_names
from kinpair.evaluation.quantities.regressor import regressor_names, regressor_parameters
from kinpair.evaluation.quantities.request import METHODS, Request, check_method, request_of
from kinpair.evaluation.quantities.wrenches import AXES
from kinpair.evaluation.thin import Answer, Thin, thin
from kinpair.forces.element import Instant
from kinpair.forces.elements import is_timed, own_elements
from kinpair.forces.pad import Pad
from kinpair.formulations.kinematics import normalised
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.model import starts
from kinpair.model.build import build
from kinpair.model.model import Model
from kinpair.model.slip import Slip
from kinpair.model.starts import StateByName
from kinpair.model.state import State
from kinpair.model.symbols import check_symbols, symbol_names
from kinpair.model.table import table
from kinpair.results import (
    AccelerationDerivatives,
    Actuation,
    ActuatorDerivatives,
    EffortDerivatives,
    Energy,
    FramePose,
    FrictionSolutions,
    StateDerivative,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinpair.compiler.kernel import Kernel
    from kinpair.contact.search import ContactPoint, Search
    from kinpair.evaluation.kernels import Kernels
    from kinpair.evaluation.tensors.jax_arrays import JaxFunctions
    from kinpair.evaluation.tensors.torch_arrays import TorchFunctions
    from kinpair.friction.phases.dry import JointFriction
    from kinpair.friction.states import FrictionStates
    from kinpair.inverse_kinematics.hinges import Hinges
    from kinpair.inverse_kinematics.solver import Solver
    from kinpair.inverse_kinematics.targets import Target
    from kinpair.model.split import SplitMap
    from kinpair.viewer.page import Page

ARRAYS = {np.ndarray}  # types of a state that is not given by name
NO_EFFORT = 1e-9  # of the efforts of the tree: a motion that needs less needs no actuator
REACTIONS = "reactions(q, qd, qdd, actuators={})"


def _named(state: tuple[Any, Any, Any]) -> dict[str, Any]:
    return dict(zip(("q", "qd", "tau"), state, strict=True))


@final
class Mechanism(Movable):
    """A mechanism: sizes, names, and its dynamics for one state or a batch of states.

    Shapes: q is (nq,) or (batch, nq), rates and efforts are (nv,) or (batch, nv); results have the batch
    in front as well. An argument without a batch serves every row. SI units, radians.

    A state may be given by name: `m.forward_dynamics({"elbow": 0.3}, {}, {"shoulder": 2.0})`, see `by_name`.

    Options of most calls:

    * `method=` a formulation by name, see `methods`; `force=True` has it done though it is long work;
    * `external=` wrenches [moment; force] by link or frame, in world axes at its origin;
    * `passive=False` leaves out springs, dampers and friction, in the joints and between points;
    * `out=` an array to write into, `threads=` how many cores share a batch;
    * `solver=` how constraints are solved, see `solvers`, and `time=` where something depends on it.

    A mechanism with loops, rolling wheels or other constraints has the coordinates of its spanning tree. Forward and
    inverse dynamics have the constraints in force; the mass matrix, bias and energies are those of the tree.

    Quantities are compiled to machine code when first used and kept for the next run. `compiled=False`
    evaluates the same equations without a compiler: slow, easy to step through, and the reference.
    """

    def __init__(self, model: Model, *, compiled: bool = True, kernels: Kernels | None = None) -> None:
        self.model = model
        self._calls = Calls(model, compiled, kernels)
        self._thin = Thin()

    def __reduce__(self) -> Any:
        return partial(Mechanism, compiled=self.compiled), (self.model,)

    @cached_property
    def closure(self) -> Closure | None:
        """The constraints with all that can be done with them; None where there are none."""
        return Closure(self.model, self._calls) if is_constrained(self.model.description) else None

    @property
    def _closed(self) -> Closure:
        return self.closure or Closure(self.model, self._calls)

    @property
    def _is_closed(self) -> bool:
        """True if a constraint does more than determine one coordinate of a tree."""
        return self.closure is not None and self.closure.drives.actuated.closed

    @property
    def compiled(self) -> bool:
        """True if it is evaluated by machine code, False if by the reference."""
        return self._calls.compiled

    # Names.

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that move, in the order of the description."""
        return tuple(self.model.joint_names[i] for i in self.model.in_order)

    @property
    def frames(self) -> tuple[str, ...]:
        """Links and frames that `pose`, `jacobian` and `external` know."""
        return tuple(self.model.places)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the description, and how doubtful parts were read."""
        return self.model.warnings

    @property
    def methods(self) -> Mapping[str, tuple[str, ...]]:
        """The formulations that give each quantity; the first is the default."""
        return MappingProxyType({name: tuple(ways) for name, ways in METHODS.items()})

    @property
    def mass(self) -> float:
        """Mass of all that moves [kg]."""
        return float(sum(self.model.body[i].m for i in self.model.carried))

    def __repr__(self) -> str:
        return f"<Mechanism {self.name!r}: {len(self.model.moving)} bodies, nq {self.nq}, nv {self.nv}>"

    def __str__(self) -> str:
        if self.closure is None:
            return table(self.model)
        return "\n\n".join([table(self.model, " without constraints"), *constraint_tables(self.closure)])

    def _repr_html_(self) -> str:
        from kinpair.viewer.still import still_html

        return f"{still_html(self)}\n{self.tables_html()}"

    def tables_html(self) -> str:
        """Bodies, joints, springs and constraints as tables of HTML."""
        from kinpair.viewer.still import mechanism_html

        freedom = "" if self.closure is None else constraint_tables(self.closure)[-1]
        return mechanism_html(self.model, freedom)

    # Dynamics.

    @thin
    def inverse_dynamics(
        self,
        q: Any,
        qd: Any,
        qdd: Any,
        *,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        method: str | None = None,
        force: bool = False,
        actuators: Actuators = None,
        slip: Any = None,
        time: Any = 0.0,
        out: Any = None,
        threads: int = 1,
    ) -> np.ndarray:
        """Joint efforts that produce the accelerations qdd [N m] or [N].

        Dry friction opposes q̇; where q̇ = 0, it opposes q̈, and it does not act where both are zero; `slip` gives these
        signs (nv,) instead, or by name.

        Closed mechanisms: the least efforts of the actuated joints that do, zero on every other rate. Actuated are the
        joints with an actuator or `actuated = true`, see `actuated`; `actuators` names other joints or rates, and "all"
        shares the efforts out among all rates that follow no other. ActuatorsError where the mechanism specifies none,
        SingularError where no efforts do, InputError where the accelerations break a constraint.
        """
        options: dict[str, Any] = {"method": method, "force": force, "passive": passive, "external": external}
        if slip is not None:
            tau = self._sliding(slip).inverse_dynamics(q, qd, qdd, actuators=actuators, time=time, **options)
            return tau if out is None else copied(tau, out)
        request = request_of("inverse_dynamics", owner=self.name, **options)
        chosen = actuators_from(actuators)
        if self.closure is not None or chosen not in (None, "all"):
            if threads != 1:
                from kinpair.compiler.arguments import whole_threads

                whole_threads("inverse_dynamics", threads)
            self._friction.check_levels(time)
            state = self.by_name(time, q=q, qd=qd, qdd=qdd)
            tau = self._closed.drives.inverse(state, time, chosen, options, external or {}, threads)
            return tau if out is None else copied(tau, out)
        return self._evaluate(request, (q, qd, qdd), external, time, out=out, threads=threads)

    @thin
    def forward_dynamics(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        *,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        method: str | None = None,
        force: bool = False,
        solver: str | None = None,
        time: Any = 0.0,
        out: Any = None,
        threads: int = 1,
    ) -> np.ndarray:
        """Accelerations (nv,) that the joint efforts tau produce, constraints active.

        Raises SingularError, with the joint's name, where a joint moves nothing that has inertia, and with the rows'
        names where constraints contradict each other.

        Units: efforts [N m] or [N], accelerations [rad/s²] or [m/s²].
        """

        options: dict[str, Any] = {"method": method, "force": force, "passive": passive, "external": external}
        if self.closure is not None:
            if not (type(q) is type(qd) is type(tau) is np.ndarray):
                q, qd, tau = self.by_name(time, q=q, qd=qd, tau=tau)
            self._friction.check_levels(time)
            state, wanted = (q, qd, tau), DEFAULT_SOLVER if solver is None else solver
            qdd = self.closure.dynamics.forward(state, time, wanted, options, external or {}, out, threads)
            rough = passive and self._friction.rough and not self.model.surfaces
            return self._held(qdd, state, time, options) if rough else qdd
        if solver is not None:
            check_solver(solver)
        request = request_of("forward_dynamics", owner=self.name, **options)
        loaded = is_loaded(self.model, passive=passive)
        room = None if out is None else (out, np.empty((*np.shape(out)[:-1], 3 if loaded else 2)))
        qdd, soundness = self._evaluate(request, (q, qd, tau), external, time, out=room, threads=threads)
        self._check_soundness(q, soundness[..., :2])
        if loaded and soundness.dtype != object:
            state = self.by_name(time, q=q, qd=qd, tau=tau)
            qdd = self._friction.settled(qdd, soundness[..., 2], state, external or {}, time)
        if passive and self._friction.rough and not loaded:
            qdd = self._held(qdd, (q, qd, tau), time, options)
        return qdd

    def _held(self, qdd: Any, state: tuple[Any, Any, Any], time: Any, options: Mapping[str, Any]) -> Any:
        """q̈ with states solved again in which a rate with dry friction is zero."""
        qd = state[1]
        if (type(qd) is np.ndarray and np.count_nonzero(qd) == qd.size) or holds_symbols(qdd):
            return qdd
        return self._friction.held(qdd, self.by_name(time, **_named(state)), time, options)

    def friction(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        *,
        external: Mapping[str, Any] | None = None,
        time: float = 0.0,
    ) -> dict[str, JointFriction]:
        """Dry friction in one state under the efforts tau, by name of the rate: effort, level, whether it
        sticks, and the load that the level comes from, NaN where that is given.

        Units: efforts and levels [N m] or [N], loads [N].
        """
        state = tuple(np.asarray(x, dtype=float) for x in self.by_name(time, q=q, qd=qd, tau=tau))
        return self._friction.by_rate(state, time, external or {})

    def friction_solutions(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        *,
        external: Mapping[str, Any] | None = None,
        time: float = 0.0,
    ) -> FrictionSolutions:
        """Every motion that friction from load allows in one state under the efforts tau: one, several or none.

        Units: efforts and levels [N m] or [N], loads [N].
        """
        if not self.model.surfaces:
            raise InputError(
                f"{self.name}: no joint has friction from load: there is one solution, forward_dynamics"
            )
        names = ("q", "qd", "tau")
        values = zip(names, self.by_name(time, q=q, qd=qd, tau=tau), strict=True)
        state = tuple(self._state(name, x) for name, x in values)
        for name, x in zip(names, state, strict=True):
            if not np.isfinite(x).all():
                raise InputError(f"{self.name}: {name} holds NaN or infinity", argument=name)
        states, request, arguments = self._friction.load_state(state, time, external or {})
        return states.solutions(request, arguments)

    def _sliding(self, slip: Any) -> Mechanism:
        """Return the mechanism, evaluated without a compiler, whose dry friction has these signs."""
        signs = self._state("slip", self.by_name(qd=slip)[0] if isinstance(slip, Mapping) else slip)
        if self.model.surfaces:
            raise InputError(
                f"{self.name}: friction from load takes its directions from qd and qdd, not from slip="
            )
        if not np.isin(signs, (-1.0, 0.0, 1.0)).all():
            raise InputError(
                f"{self.name}: slip is {signs.tolist()}; its entries are -1, 0 or 1", argument="slip"
            )
        return Mechanism(replace(self.model, slip=Slip(signs)), compiled=False)

    @cached_property
    def _friction(self) -> FrictionStates:
        """States in which friction is at rest, or in which compiled accelerations do not end."""
        from kinpair.friction.states import FrictionStates

        return FrictionStates(self.model, self._calls, self.closure)

    def state_derivative(
        self,
        q: Any,
        qd: Any,
        x: Any = None,
        u: Any = None,
        time: Any = 0.0,
        *,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        solver: str | None = None,
        threads: int = 1,
    ) -> StateDerivative:
        """Accelerations qdd (nv,) and the rates of the internal states (nx,) that the inputs u (nu,) produce.

        `x_names` and `u_names` say what x and u are; None: internal states as they start, inputs zero. Without
        actuators u are the joint efforts, and this is `forward_dynamics`.

        Units: accelerations [rad/s²] or [m/s²]; states as `x_names` have them, a second.
        """
        at, rates = self.by_name(time, q=q, qd=qd)
        acting = self.actuation(at, rates, x, u, time, passive=passive, threads=threads)
        more: dict[str, Any] = {"external": external, "passive": passive, "solver": solver}
        qdd = self.forward_dynamics(at, rates, acting.effort, time=time, threads=threads, **more)
        if self._friction.operated:
            inputs = np.zeros(self.nu) if u is None else self._calls.checked("u", u)
            qdd = self._friction.held(qdd, (at, rates, acting.effort), time, more, inputs)
        return StateDerivative(qdd, acting.x_rate)

    @thin
    def actuation(
        self,
        q: Any,
        qd: Any,
        x: Any = None,
        u: Any = None,
        time: Any = 0.0,
        *,
        passive: bool = True,
        threads: int = 1,
    ) -> Actuation:
        """Effects of internal states x and inputs u: efforts on the joints (nv,), and the rates of x (nx,).

        The efforts are those with which `forward_dynamics` gives the accelerations.

        Units: efforts [N m] or [N]; states and inputs as `x_names` and `u_names` have them.
        """
        own = self.x_start if x is None else self._calls.checked("x", x)
        inputs = np.zeros(self.nu) if u is None else self._calls.checked("u", u)
        at, rates = self.by_name(time, q=q, qd=qd)
        moment = np.asarray(time, dtype=float)[..., None]
        request = request_of("actuation", passive=passive)
        return Actuation(*self._calls(request, (at, rates, own, inputs, moment), threads=threads))

    @thin
    def mass_matrix(
        self,
        q: Any,
        *,
        method: str | None = None,
        force: bool = False,
        out: Any = None,
        threads: int = 1,
    ) -> np.ndarray:
        """H, symmetric and positive definite (nv, nv).

        Units: entries [kg m²], [kg m] or [kg].
        """
        from kinpair.evaluation.operators import sparse_mass_matrix

        request = request_of("mass_matrix", owner=self.name, method=method, force=force)
        if method is None and np.ndim(q) == 1 and self._is_long(request):
            H = sparse_mass_matrix(self._calls, self._calls.one("q", q)).toarray()
            return H if out is None else copied(H, out)
        return self._evaluate(request, (q,), out=out, threads=threads)

    def _is_long(self, request: Request) -> bool:
        """True where a matrix is too long for one formula, and products with it are loops over the bodies."""
        loops = self._calls.compiled and not self._calls.kernels.can(request)
        return loops and self._by_loops(request_of("mass_product"))

    def mass_operator(self, q: Any, *, inverse: bool = False) -> Any:
        """H at one position as a `scipy.sparse.linalg.LinearOperator` (nv, nv): H @ x takes time in proportion to nv.

        inverse: the operator of H⁻¹, by articulated bodies. Both serve sizes at which the matrix cannot be stored.
        Under constraints they are those of the tree.

        Units: entries [kg m²], [kg m] or [kg], or their reciprocals.
        """
        from kinpair.evaluation.operators import mass_operator

        return mass_operator(self._calls, self._calls.one("q", q).copy(), inverse=inverse)

    def sparse_mass_matrix(self, q: Any) -> Any:
        """H at one position as a `scipy.sparse.csc_array` (nv, nv): entries between rates of which none carries the
        other are zero. The time grows as the bodies times the depth of the tree, as the number of entries does.

        Units: entries [kg m²], [kg m] or [kg].
        """
        from kinpair.evaluation.operators import sparse_mass_matrix

        return sparse_mass_matrix(self._calls, self._calls.one("q", q).copy())

    def derivative_operator(self, quantity: str, by: str, **state: Any) -> Any:
        """∂quantity/∂by at one state as a `scipy.sparse.linalg.LinearOperator`: products with it and with its transpose
        take time in proportion to the bodies, and the matrix is not formed.

        quantity: "inverse_dynamics", "forward_dynamics", "bias_forces", "gravity_forces", "momentum", "centre_of_mass",
        "energy" or "dq_dt". by: one of its arguments; state: all of them by name, as q=..., qd=..., qdd=... .
        Directions of q are those of the rates.

        Units: those of the quantity, divided by [rad], [m], [rad/s] or [m/s].
        """
        from kinpair.evaluation.operators import OF, check_derivative, derivative_operator

        check_derivative(self.name, quantity, by)
        if set(state) != set(OF[quantity]):
            raise InputError(
                f"{self.name}: {quantity} is taken at {listed(OF[quantity])}; given: {listed(state) or 'nothing'}",
                quantity=quantity,
            )
        values = {name: self._calls.one(name, state[name]).copy() for name in OF[quantity]}
        return derivative_operator(self._calls.kernels, quantity, by, values)

    @thin
    def coriolis_matrix(
        self,
        q: Any,
        qd: Any,
        *,
        method: str | None = None,
        force: bool = False,
        out: Any = None,
        threads: int = 1,
    ) -> np.ndarray:
        """C with C q̇ the Coriolis and centrifugal efforts and Ḣ − 2C skew-symmetric (nv, nv).

        Units: entries [N m s/rad] or [N s/m].
        """
        return self._evaluate(
            request_of("coriolis_matrix", owner=self.name, method=method, force=force),
            (q, qd),
            out=out,
            threads=threads,
        )

    @thin
    def bias_forces(
        self,
        q: Any,
        qd: Any,
        *,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        method: str | None = None,
        force: bool = False,
        time: Any = 0.0,
        out: Any = None,
        threads: int = 1,
    ) -> np.ndarray:
        """Forces h (nv,) = C q̇ + gravity + springs + dampers, less what is applied: H q̈ + h = τ.

        Units: [N m] or [N].
        """
        request = request_of(
            "bias_forces", owner=self.name, method=method, force=force, passive=passive, external=external
        )
        return self._evaluate(request, (q, qd), external, time, out=out, threads=threads)

    @thin
    def gravity_forces(
        self,
        q: Any,
        *,
        method: str | None = None,
        force: bool = False,
        out: Any = None,
        threads: int = 1,
    ) -> np.ndarray:
        """Efforts (nv,) that hold the mechanism still against gravity.

        Units: [N m] or [N].
        """
        return self._evaluate(
            request_of("gravity_forces", owner=self.name, method=method, force=force),
            (q,),
            out=out,
            threads=threads,
        )

    def reactions(
        self,
        q: Any,
        qd: Any,
        qdd: Any,
        *,
        tau: Any = None,
        actuators: Actuators = None,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        method: str | None = None,
        force: bool = False,
        axes: str = "joint",
        compliance: Mapping[str, Any] | None = None,
        time: Any = 0.0,
        threads: int = 1,
    ) -> Reactions:
        """The full wrench [moment; force] on the child in every joint, welds too, by name of the joint in the order of
        the description, and in every loop.

        At the joint point, the origin of the moved joint frame. `axes`: those of the "joint" frame on the parent, of
        the joint frame on the "child", or of the "world". The component along a joint's motion is what its motor,
        spring and friction hand over together.

        Under constraints it depends on the efforts tau, by default those that `inverse_dynamics` gives to the
        `actuators`; a motion that needs no efforts needs none of them. Redundant constraints share loads without
        effect on the motion: `.undetermined` of the result marks such components, and these are the least that
        balance. `compliance` by joint or loop, six numbers [rad/(N m)], [m/N] in joint axes, shares them out as elastic
        parts would.
        """
        usual = external is None and passive and method is None and axes == "joint" and threads == 1
        usual = usual and not is_timed(self.model)
        if usual and self.closure is None and type(q) is type(qd) is type(qdd) is np.ndarray:
            return by_name(self._reaction_names, self._plain_wrenches(q, qd, qdd))
        if axes not in AXES:
            raise InputError(f"{self.name}: axes is {axes!r}; {offered(str(axes), 'axes', AXES)}", axes=axes)
        options: dict[str, Any] = {"method": method, "force": force, "passive": passive}
        seen = "" if axes == "joint" else axes
        if self.closure is not None:
            state = self.by_name(time, q=q, qd=qd, qdd=qdd)
            own = self._acting(state, tau, actuators, time, external, options, threads)
            of = self._welded._closed.reactions
            return of.reactions(state, own, time, options, external or {}, threads, seen, compliance or {})
        request = replace(request_of("reactions", owner=self.name, external=external, **options), axes=seen)
        check_method(self._welded.model, request)
        wanted = replace(request, quantity="wrenches")
        found = self._welded._evaluate(wanted, (q, qd, qdd), external, time, threads=threads)
        return by_name(self._reaction_names, found)

    def _acting(
        self,
        state: tuple[Any, Any, Any],
        tau: Any,
        actuators: Actuators,
        time: Any,
        external: Mapping[str, Any] | None,
        options: Mapping[str, Any],
        threads: int,
    ) -> Any:
        """Return the efforts (…, nv) under constraints: tau, or those of the actuators; zero where none are needed."""
        if tau is not None:
            return self.by_name(tau=tau)[0]
        how: dict[str, Any] = {"external": external, "passive": options["passive"], "threads": threads}
        try:
            rates = self.actuated(state[0], actuators=actuators, time=time, call=REACTIONS)
        except ActuatorsError:
            efforts = self.inverse_dynamics(*state, actuators="all", time=time, **how)
            request = request_of("inverse_dynamics", passive=options["passive"], external=external)
            of_tree = self._evaluate(request, state, external, time, threads=threads)
            if np.abs(efforts).max(initial=0.0) <= NO_EFFORT * (1.0 + np.abs(of_tree).max(initial=0.0)):
                return np.zeros_like(efforts)
            raise
        return self.inverse_dynamics(*state, actuators=rates, time=time, **how)

    @thin
    def resultant(
        self,
        q: Any,
        qd: Any,
        qdd: Any,
        *,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        time: Any = 0.0,
        out: Any = None,
        threads: int = 1,
    ) -> np.ndarray:
        """[moment; force] that the ground hands to all that moves: about the world's origin, in world axes (6,).

        It is the rate of the momentum less weight and applied wrenches, by whatever joints, loops or feet it comes.

        Units: moment [N m], force [N].
        """
        request = request_of("resultant", owner=self.name, passive=passive, external=external)
        return self._evaluate(request, (q, qd, qdd), external, time, out=out, threads=threads)

    def bearing_loads(self, q: Any, qd: Any, qdd: Any, **options: Any) -> dict[str, BearingLoad]:
        """Radial and axial force, bending and axial moment [N], [N m] in every joint and loop that has an axis.

        Sizes across the axis, signed along it, on the child at the joint point; options as for `reactions`.
        """
        if "axes" in options:
            raise InputError(f"{self.name}: bearing_loads takes no axes; they are those of the bearing")
        return bearing_loads(self._welded.model, self.reactions(q, qd, qdd, **options))

    def motor_loads(
        self, q: Any, qd: Any, qdd: Any, *, tau: Any = None, **options: Any
    ) -> dict[str, MotorLoad]:
        """Behind the gear, of every joint with a rotor or a gear ratio: torque of the motor, what of it goes into the
        gear beyond the rotor's own inertia [N m], and speed [rad/s].

        Under the efforts tau, by default those of `inverse_dynamics`, which takes the options.
        """
        q, qd, qdd = self.by_name(options.get("time", 0.0), q=q, qd=qd, qdd=qdd)
        efforts = self.inverse_dynamics(q, qd, qdd, **options) if tau is None else self.by_name(tau=tau)[0]
        arrays = (self._calls.checked(name, x) for name, x in (("qd", qd), ("qdd", qdd), ("tau", efforts)))
        return motor_loads(self.model, *arrays)

    @cached_property
    def _reaction_names(self) -> tuple[str, ...]:
        return reaction_names(self._welded.model)

    @cached_property
    def _plain_wrenches(self) -> Any:
        """Straight to machine code; what is unusual is checked and explained elsewhere."""
        of = self._welded._calls
        request = replace(request_of("reactions"), quantity="wrenches")
        return of.direct(request, of.caller_of(request))

    @thin
    def energy(self, q: Any, qd: Any, *, threads: int = 1) -> Energy:
        """Kinetic energy, and potential energy of gravity (zero at the origin) and springs.

        Units: [J].
        """
        return Energy(*self._evaluate(request_of("energies"), (q, qd), threads=threads))

    # Derivatives and parameters.

    @thin
    def inverse_dynamics_derivatives(
        self,
        q: Any,
        qd: Any,
        qdd: Any,
        *,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        method: str | None = None,
        force: bool = False,
        actuators: Actuators = None,
        time: Any = 0.0,
        out: Any = None,
        threads: int = 1,
    ) -> EffortDerivatives | ActuatorDerivatives:
        """∂τ/∂q and ∂τ/∂q̇ (nv, nv); ∂τ/∂q̈ is `mass_matrix`, but for friction from load.

        ∂/∂q is taken along the rates: of a quaternion by rotations of the child about its own axes. For a closed
        mechanism, and for named `actuators`, these are derivatives of the efforts that `inverse_dynamics` gives to the
        actuated joints, and ∂τ/∂q̈ is among them. actuators="all" has the derivatives of the tree's efforts, H q̈ + h.

        Units: efforts [N m] or [N] by [rad] or [m], and by their rates.
        """
        options: dict[str, Any] = {"method": method, "force": force, "passive": passive, "external": external}
        request = request_of("inverse_dynamics_derivatives", owner=self.name, **options)
        loaded = self.closure is not None and is_loaded(self.model, passive=passive)
        chosen = actuators_from(actuators)
        of_tree = chosen == "all" or (chosen is None and not self._is_closed)
        if of_tree and loaded:
            raise InputError(
                f"{self.name}: friction from load under constraints depends on which joints drive it; name them, as in "
                "inverse_dynamics_derivatives(q, qd, qdd, actuators=[...])"
            )
        if of_tree:
            return EffortDerivatives(
                *self._evaluate(request, (q, qd, qdd), external, time, out=out, threads=threads)
            )
        state = self.by_name(time, q=q, qd=qd, qdd=qdd)
        found = self._closed.effort_derivatives.derivatives(state, time, chosen, options, external or {})
        return ActuatorDerivatives(*found if out is None else map(copied, found, out))

    @thin
    def forward_dynamics_derivatives(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        *,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        method: str | None = None,
        force: bool = False,
        time: float = 0.0,
        out: Any = None,
        threads: int = 1,
    ) -> AccelerationDerivatives:
        """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ (nv, nv); without constraints ∂q̈/∂τ is H⁻¹, but for friction from load.

        At rest they are those of the mode in force: joints that stick go on sticking, those that begin to slide slide
        in the same direction.

        Units: accelerations [rad/s²] or [m/s²] by [rad] or [m], their rates, and [N m] or [N].
        """
        options: dict[str, Any] = {"method": method, "force": force, "passive": passive, "external": external}
        request = request_of("forward_dynamics_derivatives", owner=self.name, **options)
        if self.closure is not None:
            state = self.by_name(time, q=q, qd=qd, tau=tau)
            result = self.closure.derivatives.derivatives(state, time, options, external or {}, threads)
            return AccelerationDerivatives(*result)
        check_method(self.model, request)
        state = self.by_name(q=q, qd=qd, tau=tau)
        if (passive and self._friction.rests(state[1])) or is_loaded(self.model, passive=passive):
            qdd = self.forward_dynamics(
                *state, external=external, passive=passive, time=time, threads=threads
            )
            found = self._evaluate(request, (*state[:2], qdd), external, time, out=out, threads=threads)
            held = self._friction.slopes(state, qdd, time, external or {}, found)
            for whole, part in zip(found, held, strict=True):
                whole[...] = part
            return AccelerationDerivatives(*found)
        request = replace(request, quantity="derivatives_at_efforts")
        room = None if out is None else (out, np.empty((*np.shape(out[0])[:-2], 2)))
        found, soundness = self._evaluate(request, (q, qd, tau), external, time, out=room, threads=threads)
        self._check_soundness(q, soundness)
        return AccelerationDerivatives(*found)

    @thin
    def regressor(
        self,
        q: Any,
        qd: Any,
        qdd: Any,
        *,
        actuators: Actuators = None,
        time: Any = 0.0,
        out: Any = None,
        threads: int = 1,
    ) -> np.ndarray:
        """Matrix Y (nv, p) with τ = Y π: efforts as a function of π, `regressor_parameters()`; springs and friction
        from load are left out.

        For a closed mechanism, and for named `actuators`, τ are the efforts that `inverse_dynamics` gives to the
        actuated joints. actuators="all" has those of the tree, H q̈ + h.

        Units: efforts [N m] or [N] by parameter.
        """
        chosen, request = actuators_from(actuators), request_of("regressor")
        if chosen == "all" or (chosen is None and not self._is_closed):
            return self._evaluate(request, (q, qd, qdd), time=time, out=out, threads=threads)
        state = self.by_name(time, q=q, qd=qd, qdd=qdd)
        tree = self._evaluate(request, state, time=time, threads=threads)
        Y = self._closed.effort_regressor.regressor(state, time, chosen, tree)
        return Y if out is None else copied(Y, out)

    def regressor_parameters(self) -> np.ndarray:
        """Parameters π (p,) of the mechanism: ten inertial parameters a body, then rotor inertia, damping, friction
        a rate, then the levels of other laws of friction.

        Units: mass [kg], first moments [kg m], inertia [kg m²].
        """
        return regressor_parameters(self.model)

    @property
    def regressor_names(self) -> tuple[str, ...]:
        """Names of the entries of `regressor_parameters()`, and of each column of `regressor`."""
        return regressor_names(self.model)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The constants that `parameters=` of a run and of a kernel takes, such as "upper.mass" or "elbow.x"."""
        return symbol_names(self.model)

    # Kinematics.

    @thin
    def pose(self, q: Any, frame: str, *, threads: int = 1) -> FramePose:
        """Rotation (3, 3) and position (3,) of a link or frame in the world.

        Units: position [m].
        """
        return FramePose(*self._evaluate(self._of_frame("pose", frame), (q,), threads=threads))

    def poses(self, q: Any, *, threads: int = 1) -> dict[str, FramePose]:
        """Rotation (3, 3) and position (3,) of every link in the world, by name: `pose` of all of them at once.

        Those of a batch are views into one array. Units: positions [m].
        """
        if (type(q) is not np.ndarray or q.ndim != 2) and not self._has_pose_loops:
            return self._poses_of_one(q, threads=threads)
        rows = self._evaluate(request_of("pose_rows"), (q,), threads=threads)
        turns = rows[..., :9].reshape(*rows.shape[:-1], 3, 3)
        return {
            name: FramePose(turns[..., k, :, :], rows[..., k, 9:])
            for k, name in enumerate(link_names(self.model))
        }

    @cached_property
    def _has_pose_loops(self) -> bool:
        """True where poses of links are compiled as loops over the bodies; asked in each call for one state."""
        return self._by_loops(request_of("pose_rows"))

    def _by_loops(self, request: Request) -> bool:
        """True where a quantity is compiled as loops over the bodies."""
        return self._calls.compiled and self._calls.kernels.is_rolled(request)

    @thin
    def _poses_of_one(self, q: Any, *, threads: int = 1) -> dict[str, FramePose]:
        return self._evaluate(request_of("poses"), (q,), threads=threads)

    def contacts(self, q: Any, *, margin: float = 0.0) -> tuple[ContactPoint, ...]:
        """Points where geoms of the description touch or overlap at q (nq,), each with normal, gap and names.

        margin: points with a gap up to this are given too. Units: margin and gaps [m].
        """
        if self.model.contacts is None:
            return ()
        return self._search.points(self.poses(q), margin)

    @cached_property
    def _search(self) -> Search:
        from kinpair.contact.search import Search

        return Search(self.model)

    def compliant_forces(self, q: Any, qd: Any) -> dict[str, np.ndarray]:
        """Force (3,) on the first geom of each compliant contact, by name, in the world; see docs/contact.md.

        Units: [N].
        """
        at, rates = self.by_name(0.0, q=q, qd=qd)
        instant = Instant(self.model, State(np.asarray(at, dtype=float), np.asarray(rates, dtype=float)))
        pads = [x.element for x in own_elements(self.model) if isinstance(x.element, Pad)]
        return {x.name: np.asarray(x.force(instant)[0], dtype=float) for x in pads}

    def contact_rows(self, q: Any, points: Sequence[ContactPoint]) -> np.ndarray:
        """Rows (3 · points, nv) of contact points: velocities of the first geom relative to the second along normal and
        tangents are J q̇, with J = d·(J_a − J_b) at the point.

        Units: [m/rad], of slides [m/m].
        """
        links = {x.name: x.link for x in self.model.description.contacts.geoms}
        known: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        rows = np.zeros((len(points), 3, self.nv))
        for k, x in enumerate(points):
            for geom, sign in ((x.a, 1.0), (x.b, -1.0)):
                link = links[geom]
                if self.model.places[link].body:
                    if link not in known:
                        known[link] = self.pose(q, link).position, self.jacobian(q, link)
                    origin, J = known[link]
                    axes = np.vstack([x.normal, x.tangents])
                    rows[k] += sign * (np.cross(x.point - origin, axes) @ J[:3] + axes @ J[3:])
        return rows.reshape(-1, self.nv)

    def assemble(self, q: Any, *, fixed: Sequence[str] = (), time: Any = 0.0) -> np.ndarray:
        """Coordinates (nq,) near the guess q that close every loop, without overlap of geoms; see `Movable.assemble`.

        Geoms that overlap are moved apart by the least displacement, weighted by mass; loops are closed again.

        Units: coordinates [rad] or [m].
        """
        end = super().assemble(q, fixed=fixed, time=time)
        if self.model.contacts is None or end.ndim != 1:
            return end
        from kinpair.contact.lifting import lifted

        stay = names_from("fixed", fixed)
        free = [k for k, v in enumerate(self.v_names) if not {v, v.rpartition(".")[0]} & {*stay}]

        def moved(at: np.ndarray, step: np.ndarray) -> np.ndarray:
            near = normalised(self.model, at + self.dq_dt(at, step))
            return np.asarray(
                near
                if self.closure is None
                else super(Mechanism, self).assemble(near, fixed=fixed, time=time),
                dtype=float,
            )

        return lifted(self, end, np.array(free), moved)

    @thin
    def jacobian(self, q: Any, frame: str, *, out: Any = None, threads: int = 1) -> np.ndarray:
        """J (6, nv) at the origin of the frame, in world axes, angular rows first: twist = J q̇.

        Units: rows [rad/rad] and [m/rad], of slides [m/m].
        """
        return self._evaluate(self._of_frame("jacobian", frame), (q,), out=out, threads=threads)

    @thin
    def jacobian_rate(self, q: Any, qd: Any, frame: str, *, out: Any = None, threads: int = 1) -> np.ndarray:
        """dJ/dt (6, nv): acceleration of the frame = J q̈ + J̇ q̇.

        Units: rows [1/s] and [m/s].
        """
        return self._evaluate(self._of_frame("jacobian_rate", frame), (q, qd), out=out, threads=threads)

    @thin
    def twists(self, q: Any, qd: Any, *, threads: int = 1) -> dict[str, np.ndarray]:
        """Twist [angular; linear] velocity of every link, by name: at its origin, in world axes (6,).

        Those of a link are `jacobian(q, link)` @ qd. Loops need not be closed: `velocities` gives rates that obey.

        Units: angular [rad/s], linear [m/s].
        """
        return self._evaluate(request_of("twists"), (q, qd), threads=threads)

    @thin
    def twist_rates(self, q: Any, qd: Any, qdd: Any, *, threads: int = 1) -> dict[str, np.ndarray]:
        """Derivative in time of the twist of every link, by name (6,): J q̈ + J̇ q̇, without gravity.

        Units: angular [rad/s²], linear [m/s²].
        """
        return self._evaluate(request_of("twist_rates"), (q, qd, qdd), threads=threads)

    @thin
    def centre_of_mass(self, q: Any, *, out: Any = None, threads: int = 1) -> np.ndarray:
        """Mass centre of all that moves, in the world (3,); links welded to the ground do not count.

        Units: [m].
        """
        if not self.mass:
            raise InputError(f"{self.name}: nothing that moves has mass, so there is no centre of mass")
        return self._evaluate(request_of("centre_of_mass"), (q,), out=out, threads=threads)

    @thin
    def momentum(self, q: Any, qd: Any, *, out: Any = None, threads: int = 1) -> np.ndarray:
        """[angular about the world's origin; linear] momentum of all that moves (6,).

        Units: angular [kg m²/s], linear [kg m/s].
        """
        return self._evaluate(request_of("momentum"), (q, qd), out=out, threads=threads)

    @thin
    def dq_dt(self, q: Any, qd: Any, *, out: Any = None, threads: int = 1) -> np.ndarray:
        """Rate of change of q at the rates qd (nq,): qd itself, except where q holds a quaternion.

        Units: [rad/s] or [m/s]; of a quaternion [1/s].
        """
        return self._evaluate(request_of("dq_dt"), (q, qd), out=out, threads=threads)

    def neutral(self) -> np.ndarray:
        """Zero angles and displacements, unit quaternions (nq,).

        Units: [rad] or [m].
        """
        return self.model.neutral()

    # Pictures.

    def picture(
        self,
        path: str | os.PathLike[str] | None = None,
        q: Any = None,
        *,
        view: str | tuple[float, float] = "corner",
        style: str = "solid",
        overlay: bool = False,
        labels: bool = False,
        titles: Sequence[str] = (),
        width: int = 800,
        height: int = 600,
    ) -> Figure:
        """A still picture as a figure of matplotlib; where a path is given (.png, .svg, .pdf), it is saved there too.

        `q` is one state (nq,), by default the start, or several (n, nq): side by side, or with `overlay` in one
        picture, earlier ones paler. `view`: corner, front, side, back, top, or azimuth and elevation in degrees; plane
        mechanisms are seen on their plane. `style`: solid or stick. `labels` writes the names of the links, `titles` a
        line above each state. `width` and `height` are pixels of one state.

        Units: q [rad] or [m].
        """
        from kinpair.viewer.scene import start_of
        from kinpair.viewer.still import picture

        states = np.atleast_2d(start_of(self) if q is None else self.checked("q", self.by_name(q=q)[0]))
        return picture(
            self,
            path,
            states,
            view=view,
            style=style,
            overlay=overlay,
            labels=labels,
            titles=titles,
            width=width,
            height=height,
        )

    def view(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        browser: bool = True,
        wait: bool | None = None,
    ) -> Page:
        """Open a page in the browser: the mechanism in three dimensions, a slider for each independent coordinate.

        A mechanism with loops moves by assembly. The page is seen from this machine alone, unless `host` is another
        address; if the port is taken, the next free one is used. In a script the call waits until Ctrl-C, where a
        person goes on typing it returns at once; `wait` decides.
        """
        from kinpair.viewer.page import Page, stays_open

        page = Page(self, host=host, port=port, browser=browser)
        if stays_open(wait):
            page.wait()
        return page

    # Constraints.

    @property
    def solvers(self) -> tuple[str, ...]:
        """Names that `solver=` takes; the first is the default.

        Voronets' and Chaplygin's equations where their conditions hold. Rosenberg's give no accelerations by
        themselves: they are `reduced_equations`.
        """
        able = tuple(x for x in EVERY_SOLVER if not refusal(self.model, x))
        if self.closure is None:
            return able
        met = self.closure.rank.structure.applies
        return tuple(x for x in able if x not in OF_ENERGY or met(x, self.neutral(), 0.0))

    def constraint_forces(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        *,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        time: Any = 0.0,
    ) -> ConstraintForces:
        """Multipliers by row and wrenches by constraint while tau drives the mechanism; of one state or a batch.

        Units: multipliers [N m] or [N].
        """
        state = self.by_name(time, q=q, qd=qd, tau=tau)
        return self._closed.forces.forces(
            state, time, {"passive": passive, "external": external}, external or {}
        )

    def reduced_equations(
        self, q: Any, qd: Any, tau: Any, *, passive: bool = True, time: Any = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rosenberg's n − l equations: (E, f) with E q̈ = f; the constraints have the other l.

        Units: forces [N m] or [N].
        """
        state = self.by_name(time, q=q, qd=qd, tau=tau)
        return self._closed.derivatives.reduced(state, time, {"passive": passive})

    def inverse_kinematics(
        self,
        q: Any,
        frame: str | Mapping[str, Target],
        position: Any = None,
        rotation: Any = None,
        *,
        axis: Any = None,
        fixed: Sequence[str] = (),
        criterion: str = "rates",
        time: float = 0.0,
    ) -> np.ndarray:
        """Coordinates (nq,) near the guess q that bring a frame to its target and close every loop.

        A target is any of a position (3,) (None for an entry that is free), a rotation (3, 3), and an axis: a
        direction in the frame and the one that it is to have in the world. Several frames: a dict of `kp.Target`.
        Many targets or guesses at once, (n, 3) and so on, give (n, nq).

        Joints or entries of q in `fixed` stay. Within the limits of the joints if possible; where only positions
        beyond them are found, a LimitWarning names the joints. Where there are many solutions, `criterion` says which
        direction to take: "rates" the smallest steps from the guess, "energy" those of least kinetic energy,
        "limits" towards
        the middle between the limits. SingularError where none is found: what is left, and `parts` with the nearest q.

        Units: positions [m], coordinates [rad] or [m].
        """
        from kinpair.inverse_kinematics.targets import Target, wanted

        if not isinstance(frame, str | Mapping):  # type: ignore[redundant-expr]
            raise InputError(
                f"{self.name}: frame is {frame!r}; give its name behind the guess: "
                "inverse_kinematics(q, 'tip', position)"
            )
        targets = frame if isinstance(frame, Mapping) else {frame: Target(position, rotation, axis)}
        for name in targets:
            self.model.place(name)
        many = np.ndim(q) > 1 and not isinstance(q, Mapping)
        guess = self._calls.checked("q", q) if many else self._guess(q)
        return self.inverse.solve(guess, wanted(targets), names_from("fixed", fixed), time, criterion)

    def inverse_kinematics_solutions(self, frame: str, position: Any, rotation: Any) -> Any:
        """Find all coordinates of six hinges that bring a frame to a position (3,) [m] and a rotation (3, 3).

        One target gives an array (solutions, 6) [rad] of the hinges between ground and frame, in the order of q,
        without rows where the target is out of reach. Many targets, (n, 3) and (n, 3, 3), give a record with
        q (n, 8, 6), NaN behind the last solution, and count (n,). They are within the limits of the joints. A hinge
        that may have any angle has the angle 0. InputError where the axes have no closed form.
        """
        from kinpair.inverse_kinematics.hinges import rotations_and_positions

        R, p, many = rotations_and_positions(frame, position, rotation)
        found = self._hinges(frame).solve(R, p)
        return found if many else found.q[0, : found.count[0]]

    def _hinges(self, frame: str) -> Hinges:
        """Return the six hinges before a frame, looked at once."""
        from kinpair.inverse_kinematics.hinges import hinges_of

        if frame not in self._hinges_of:
            self.model.place(frame)
            if self._is_closed or self.nq != self.nv:
                raise InputError(
                    f"{self.name}: it has constraints or joints with quaternions; all solutions are known for "
                    "6 hinges. inverse_kinematics finds one solution for any mechanism"
                )
            zero, joints = np.zeros(self.nq), self.model.joints
            pose, limits = self.pose(zero, frame), np.array([joints.lower, joints.upper])
            J = self.jacobian(zero, frame)
            self._hinges_of[frame] = hinges_of(self.name, J, pose.rotation, pose.position, limits)
        return self._hinges_of[frame]

    @cached_property
    def _hinges_of(self) -> dict[str, Hinges]:
        return {}

    @cached_property
    def inverse(self) -> Solver:
        """Solver of inverse kinematics, with the code made for it; `inverse_kinematics` and motions ask it."""
        from kinpair.inverse_kinematics.solver import Solver  # it compiles

        return Solver(self._closed)

    def with_constraints(self, *constraints: ConstraintPart) -> Mechanism:
        """Return the mechanism under more constraints, see `kinpair.constraint`."""
        description = self.model.description
        return self._rebuilt(replace(description, constraints=(*description.constraints, *constraints)))

    def with_actuators(self, actuators: Mapping[str, Mapping[str, Any]]) -> Mechanism:
        """Return the mechanism with more actuators, by joint: {"knee": {"kind": "dc-motor", ...}}, keys as in a
        file."""
        from kinpair.description.actuator_schema import with_actuators

        return self._rebuilt(with_actuators(self.model.description, actuators))

    def with_contact(self, name: str, link: str, **keys: Any) -> Mechanism:
        """Return the mechanism with one more geom: a shape on a link or frame that touches others.

        Keys as of `Builder.contact`, such as plane=True, mu=0.8 for a floor on the link "ground"; see docs/contact.md.
        """
        description = self.model.description
        place = Place(WarningList(), part=f"contact {name!r}")
        geom = contact_from({"name": name, "link": link, **keys}, place)
        contacts = replace(description.contacts, geoms=(*description.contacts.geoms, geom))
        return self._rebuilt(replace(description, contacts=contacts))

    def with_payload(
        self,
        frame: str,
        *,
        mass: float,
        com: Any = (0.0, 0.0, 0.0),
        inertia: Any = (0.0, 0.0, 0.0),
        inertia_about: str = "com",
        name: str = "payload",
    ) -> Mechanism:
        """Return the mechanism with a body welded to a link or frame, its link frame where that is.

        Keys as of a link: mass [kg], mass centre [m], inertia (3, 6 or 3 × 3 numbers) [kg m²]. They are parameters of
        runs: `parameters={"payload.mass": 3.0}`.
        """
        from kinpair.description.schema import with_payload

        self.model.place(frame)
        keys = {"mass": mass, "com": com, "inertia": inertia, "inertia_about": inertia_about}
        return self._rebuilt(with_payload(self.model.description, frame, name, keys))

    # Arrays of other libraries.

    @cached_property
    def torch(self) -> TorchFunctions:
        """Forward and inverse dynamics, step and rollout of torch tensors with exact derivatives (docs/tensors.md)."""
        from kinpair.evaluation.tensors.torch_arrays import TorchFunctions

        return TorchFunctions(self)

    @cached_property
    def jax(self) -> JaxFunctions:
        """Forward and inverse dynamics, step and rollout of JAX arrays with exact derivatives (docs/tensors.md)."""
        from kinpair.evaluation.tensors.jax_arrays import JaxFunctions

        return JaxFunctions(self)

    def without_constraints(self) -> Mechanism:
        """The spanning tree alone: loops open, no rolling, nothing prescribed, mimic joints free."""
        return self._rebuilt(without_constraints(self.model.description))

    @cached_property
    def _welded(self) -> Mechanism:
        """Return the mechanism with a body for every link, so that welds have reactions; itself where there are
        none."""
        from kinpair.model.welds import with_welds

        model = with_welds(self.model)
        return self if model is self.model else Mechanism(model, compiled=self.compiled)

    def _rebuilt(self, description: Description) -> Mechanism:
        options = self.model.options
        model = build(description, snap=options.snap, merge_fixed=options.merge_fixed)
        return Mechanism(checked(model), compiled=self.compiled)

    def start(self, keyframe: str | None = None) -> np.ndarray:
        """Coordinates to begin with (nq,): what the description gives for its joints, else neutral, assembled.

        With the name of a keyframe, those of that one, see `keyframes`.

        Units: [rad] or [m].
        """
        q = starts.start(self.model) if keyframe is None else starts.keyframe(self.model, keyframe).q
        return q if self.closure is None else self.closure.assembly.assemble(q, (), 0.0)

    @property
    def keyframes(self) -> Mapping[str, StateByName]:
        """States that the description gives by name, as written: coordinates q (nq,) and rates qd (nv,) of each.

        `start(name)` has the coordinates with the loops closed.
        """
        every = self.model.description.keyframes
        return MappingProxyType({x.name: starts.keyframe(self.model, x.name) for x in every})

    # Other forms of the same mechanism.

    @cached_property
    def reference(self) -> Mechanism:
        """Return the mechanism evaluated without a compiler."""
        return Mechanism(self.model, compiled=False)

    def split(self, *, passive: bool = True) -> tuple[Mechanism, SplitMap]:
        """Return the mechanism with joints of several degrees split into hinges and slides, and the maps between both.

        Springs, dampers and friction of joints with a quaternion cannot be split; passive=False leaves out all of them.
        """
        from kinpair.model.split import SplitMap, split_description

        other = self._rebuilt(split_description(self.model.description, passive=passive))
        return other, SplitMap(self.model, other.model)

    # Compiled code.

    @property
    def row_groups(self) -> tuple[str, ...]:
        """Names of the rows of dry friction, one a rate, and of limits of joints, in the order of kernels."""
        return row_names(self.model)

    def kernel(
        self,
        quantity: str,
        *,
        method: str | None = None,
        force: bool = False,
        frame: str = "",
        passive: bool = True,
        external: tuple[str, ...] = (),
        parameters: tuple[str, ...] = (),
        solver: str | None = None,
        dtype: Any = "float64",
        rolled: bool | None = None,
    ) -> Kernel:
        """The compiled function of a quantity: call it, read its stages, export it.

        `parameters` names constants that stay symbols, such as "upper.mass" or "elbow.x", and become arguments
        behind the state and the wrenches; dtype "float32" computes in single precision; `force` as for the methods.
        `rolled=True` compiles loops over the bodies, whose code does not grow with the mechanism, `rolled=False` one
        formula for all bodies; without, loops are taken for quantities of more than 20 000 operations that have them.

        Under constraints there are also constraint_positions and constraint_matrix of (q, time), constraint_rows of
        (q, qd, time), which are A, ψ and b, and terms of (q, qd, tau, time), which are M, F, A and b.
        forward_dynamics then takes (q, qd, tau, time), time with shape (1,), and gives three results by the `solver`:
        the accelerations; four numbers that measure their accuracy, the smallest pivots of mass and of rows as a part
        of their entries, how far redundant rows are from holding, how far the loops are from closing; and 1 where all
        four are as they should be, else 0. Where it is 0, the method of the mechanism looks closer, and a kernel
        cannot. In single precision the rounding of redundant rows makes it 0.

        For friction and limits in other programs there are row_groups of (q, qd, tau, time): M, f, J, γ and φ with rows
        in the order of `row_groups`; and forward_dynamics_in_phases of (q, qd, tau, share, held, time): accelerations,
        efforts that hold rates, and levels (4, groups), where `held` (nv,) is 1 of a rate at rest or at a closed limit,
        else 0, and `share` (nv,) is the sign of sliding of the others.

        With friction from load kernels, and code exported from them, are made for joints that slide. That number, or
        without constraints the last of the three next to the accelerations, is 0 where its loads were not found, and
        always where such a joint is at rest.
        """
        from kinpair.evaluation.answers import kernel_request

        options = {"method": method, "force": force, "passive": passive}
        wrenches, kept = names_from("external", external), names_from("parameters", parameters)
        of = self._welded if quantity == "reactions" else self
        request = kernel_request(of.model, of.closure, quantity, solver, frame, wrenches, options)
        check_symbols(of.model, kept)
        check_method(of.model, request)
        return of._calls.kernels.get(request, dtype=dtype, parameters=kept, rolled=rolled)

    def compile(self, *quantities: str, batch: bool = True, **options: Any) -> Mechanism:
        """Compile quantities now rather than at their first use; options as for `kernel`."""
        usual = ("forward_dynamics", "mass_matrix", *(("terms",) if self.closure else ("inverse_dynamics",)))
        for quantity in quantities or usual:
            self.kernel(quantity, **options).compile("one", *(["batch"] if batch else []))
        return self

    # Inside.

    def _of_frame(self, quantity: str, frame: str) -> Request:
        self.model.place(frame)
        return request_of(quantity, frame=frame)

    def _evaluate(
        self,
        request: Request,
        state: tuple[Any, ...],
        external: Mapping[str, Any] | None = None,
        time: Any = 0.0,
        *,
        out: Any = None,
        threads: int = 1,
    ) -> Any:
        if not ARRAYS.issuperset(map(type, state)):
            state = self.by_name(**dict(zip(EVERY[request.quantity].state, state, strict=True)))
        moment = ()
        if is_timed(self.model) and len(quantity_of(self.model, request.quantity).state) > len(state):
            moment = (np.asarray(time, dtype=float)[..., None],)
            self._friction.check_levels(time)
        return self._calls(request, (*state, *moment, *(external or {}).values()), out, threads)

    def _check_soundness(self, q: Any, soundness: np.ndarray) -> None:
        if soundness.dtype != object and not (soundness > DOUBTFUL).all():
            check_soundness(self.model, self.by_name(q=q)[0], soundness)

    def answer_to(self, method: str, options: dict[str, Any]) -> Answer | None:
        """Result that machine code may give instead of a method, see `thin`; nothing where levels are checked in
        each call."""
        from kinpair.evaluation.answers import answer_in_loops, answer_of_tree

        if is_timed(self.model):
            return None
        if self.closure is not None:
            return answer_in_loops(self.closure, self._calls, self._friction, method, options)
        return answer_of_tree(self.model, self._calls, self._friction, method, options)
