"""Sine and cosine as polynomials in LLVM text, both at once, any number of lanes.

    t = x·2/π rounded to a whole number n (by adding 1.5·2⁵²), quadrant n mod 4
    r = x − n·π/2 with π/2 in three parts, each step one fused multiply-add (Cody & Waite 1980)
    sin r, cos r on |r| ≤ π/4 by the minimax polynomials of fdlibm (float32: Cephes)

The first step is exact, so the error is that of two roundings of r and of the polynomial: below 2 ulp for
|x| ≤ LIMIT. A lane beyond that asks the C library, in a branch that is hardly ever taken; the other lanes
keep their value. A NaN goes through the polynomial and stays NaN. No instruction here may be reassociated.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinpair.compiler.target import Real

LIMIT = 1e5


@dataclass(frozen=True, slots=True)
class Polynomials:
    """Parts of π/2, coefficients lowest power first: sin r = r + r³ S(r²), cos r = 1 − r²/2 + r⁴ C(r²)."""

    bits: int
    magic: float
    half_pi: tuple[float, float, float]
    sin: tuple[float, ...]
    cos: tuple[float, ...]


POLYNOMIALS = {
    "double": Polynomials(
        64,
        1.5 * 2.0**52,
        (
            float.fromhex("0x1.921fb54442d18p+0"),
            float.fromhex("0x1.1a62633145c07p-54"),
            float.fromhex("-0x1.f1976b7ed8fbcp-110"),
        ),
        (
            -1.66666666666666324348e-01,
            8.33333333332248946124e-03,
            -1.98412698298579493134e-04,
            2.75573137070700676789e-06,
            -2.50507602534068634195e-08,
            1.58969099521155010221e-10,
        ),
        (
            4.16666666666666019037e-02,
            -1.38888888888741095749e-03,
            2.48015872894767294178e-05,
            -2.75573143513906633035e-07,
            2.08757232129817482790e-09,
            -1.13596475577881948265e-11,
        ),
    ),
    "float": Polynomials(
        32,
        1.5 * 2.0**23,
        (float.fromhex("0x1.921fb6p+0"), float.fromhex("-0x1.777a5cp-25"), float.fromhex("-0x1.ee59dap-50")),
        (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
        (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
    ),
}


def sincos_function(real: Real, lanes: int) -> str:
    """LLVM text of `{V, V} @sincos.<lanes>(V x)`, always inlined."""
    return _Writer(real, lanes).text()


class _Writer:
    def __init__(self, real: Real, lanes: int) -> None:
        self.real, self.lanes, self.p = real, lanes, POLYNOMIALS[real.llvm]
        self.V = self.vector(real.llvm)
        self.I = self.vector(f"i{self.p.bits}")
        self.suffix = real.suffix if lanes == 1 else f"v{lanes}{real.suffix}"
        self.lines: list[str] = []

    def vector(self, scalar: str) -> str:
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    def const(self, value: float | int) -> str:
        if isinstance(value, int):
            return f"{value}" if self.lanes == 1 else f"splat (i{self.p.bits} {value})"
        literal = self.real.literal(value)
        return literal if self.lanes == 1 else f"splat ({self.real.llvm} {literal})"

    def let(self, name: str, text: str) -> str:
        self.lines.append(f"  %{name} = {text}")
        return f"%{name}"

    def fma(self, name: str, a: str, b: str, c: str) -> str:
        V = self.V
        return self.let(name, f"call {V} @llvm.fma.{self.suffix}({V} {a}, {V} {b}, {V} {c})")

    def horner(self, name: str, coefficients: tuple[float, ...], z: str) -> str:
        value = self.const(coefficients[-1])
        for k, c in reversed(list(enumerate(coefficients[:-1]))):
            value = self.fma(f"{name}{k}", value, z, self.const(c))
        return value

    def reduce(self) -> tuple[str, str]:
        """The remainder r, and the bits whose last two are the quadrant."""
        V, p = self.V, self.p
        t = self.fma("t", "%x", self.const(0.6366197723675814), self.const(p.magic))
        n = self.let("n", f"fsub {V} {t}, {self.const(p.magic)}")
        m = self.let("m", f"fneg {V} {n}")
        r = "%x"
        for k, part in enumerate(p.half_pi):
            r = self.fma(f"r{k}", m, self.const(part), r)
        return r, self.let("bits", f"bitcast {V} {t} to {self.I}")

    def series(self, r: str) -> tuple[str, str]:
        """sin r and cos r on |r| ≤ π/4."""
        V = self.V
        z = self.let("z", f"fmul {V} {r}, {r}")
        rz = self.let("rz", f"fmul {V} {r}, {z}")
        s = self.fma("s", rz, self.horner("S", self.p.sin, z), r)
        half = self.let("half", f"fmul {V} {z}, {self.const(0.5)}")
        w = self.let("w", f"fsub {V} {self.const(1.0)}, {half}")
        lost = self.let("lost", f"fsub {V} {self.const(1.0)}, {w}")
        low = self.let("low", f"fsub {V} {lost}, {half}")
        zz = self.let("zz", f"fmul {V} {z}, {z}")
        tail = self.fma("tail", zz, self.horner("C", self.p.cos, z), low)
        return s, self.let("c", f"fadd {V} {w}, {tail}")

    def signed(self, name: str, value: str, bits: str) -> str:
        """`value` with its sign turned where bit 1 of `bits` is set."""
        I, V, top = self.I, self.V, self.p.bits
        flag = self.let(f"{name}.flag", f"and {I} {bits}, {self.const(2)}")
        mask = self.let(f"{name}.mask", f"shl {I} {flag}, {self.const(top - 2)}")
        raw = self.let(f"{name}.raw", f"bitcast {V} {value} to {I}")
        turned = self.let(f"{name}.turned", f"xor {I} {raw}, {mask}")
        return self.let(name, f"bitcast {I} {turned} to {V}")

    def text(self) -> str:
        V, I, B = self.V, self.I, self.vector("i1")
        r, bits = self.reduce()
        s, c = self.series(r)
        odd = self.let("odd", f"and {I} {bits}, {self.const(1)}")
        swap = self.let("swap", f"icmp ne {I} {odd}, {self.const(0)}")
        first = self.let("first", f"select {B} {swap}, {V} {c}, {V} {s}")
        second = self.let("second", f"select {B} {swap}, {V} {s}, {V} {c}")
        self.signed("sin", first, bits)
        self.signed("cos", second, self.let("next", f"add {I} {bits}, {self.const(1)}"))
        self.let("size", f"call {V} @llvm.fabs.{self.suffix}({V} %x)")
        self.let("far", f"fcmp ogt {V} %size, {self.const(LIMIT)}")
        any_far = "%far"
        if self.lanes > 1:
            any_far = self.let("any", f"call i1 @llvm.vector.reduce.or.v{self.lanes}i1({B} %far)")
        body = "\n".join(self.lines)
        pair = f"{{{V}, {V}}}"
        return f"""
define internal {pair} @sincos.{self.lanes}({V} %x) alwaysinline nounwind {{
{body}
  br i1 {any_far}, label %slow, label %done, !prof !1
slow:
  %sin.slow = call {V} @far.sin.{self.lanes}({V} %x, {B} %far, {V} %sin)
  %cos.slow = call {V} @far.cos.{self.lanes}({V} %x, {B} %far, {V} %cos)
  br label %done
done:
  %sin.out = phi {V} [ %sin, %0 ], [ %sin.slow, %slow ]
  %cos.out = phi {V} [ %cos, %0 ], [ %cos.slow, %slow ]
  %one = insertvalue {pair} undef, {V} %sin.out, 0
  %both = insertvalue {pair} %one, {V} %cos.out, 1
  ret {pair} %both
}}
{self.far("sin")}
{self.far("cos")}
"""

    def far(self, name: str) -> str:
        """The C library's value in the lanes that are far, the given one in the others."""
        V, B, scalar, lines = self.V, self.vector("i1"), self.real.llvm, list[str]()
        call = f"@{name}{self.real.libm}"
        value, flag = "%near", "%far"
        for k in range(self.lanes):
            at = f"i32 {k}"
            if self.lanes > 1:
                lines.append(f"  %x{k} = extractelement {V} %x, {at}")
                lines.append(f"  %f{k} = extractelement {B} %far, {at}")
                lines.append(f"  %n{k} = extractelement {V} %near, {at}")
            x, f, n = (f"%x{k}", f"%f{k}", f"%n{k}") if self.lanes > 1 else ("%x", flag, value)
            lines.append(f"  %y{k} = call {scalar} {call}({scalar} {x})")
            lines.append(f"  %z{k} = select i1 {f}, {scalar} %y{k}, {scalar} {n}")
            if self.lanes > 1:
                before = "undef" if k == 0 else f"%v{k - 1}"
                lines.append(f"  %v{k} = insertelement {V} {before}, {scalar} %z{k}, {at}")
        last = f"%v{self.lanes - 1}" if self.lanes > 1 else "%z0"
        body = "\n".join(lines)
        head = f"define internal {V} @far.{name}.{self.lanes}({V} %x, {B} %far, {V} %near) noinline cold"
        return f"{head} {{\n{body}\n  ret {V} {last}\n}}"
