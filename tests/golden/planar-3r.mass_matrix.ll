!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 1000000}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal {double, double} @sincos.1(double %x) alwaysinline nounwind {
  %t = call double @llvm.fma.f64(double %x, double 0x3FE45F306DC9C883, double 0x4338000000000000)
  %n = fsub double %t, 0x4338000000000000
  %m = fneg double %n
  %r0 = call double @llvm.fma.f64(double %m, double 0x3FF921FB54442D18, double %x)
  %r1 = call double @llvm.fma.f64(double %m, double 0x3C91A62633145C07, double %r0)
  %r2 = call double @llvm.fma.f64(double %m, double 0xB91F1976B7ED8FBC, double %r1)
  %bits = bitcast double %t to i64
  %z = fmul double %r2, %r2
  %rz = fmul double %r2, %z
  %S4 = call double @llvm.fma.f64(double 0x3DE5D93A5ACFD57C, double %z, double 0xBE5AE5E68A2B9CEB)
  %S3 = call double @llvm.fma.f64(double %S4, double %z, double 0x3EC71DE357B1FE7D)
  %S2 = call double @llvm.fma.f64(double %S3, double %z, double 0xBF2A01A019C161D5)
  %S1 = call double @llvm.fma.f64(double %S2, double %z, double 0x3F8111111110F8A6)
  %S0 = call double @llvm.fma.f64(double %S1, double %z, double 0xBFC5555555555549)
  %s = call double @llvm.fma.f64(double %rz, double %S0, double %r2)
  %half = fmul double %z, 0x3FE0000000000000
  %w = fsub double 0x3FF0000000000000, %half
  %lost = fsub double 0x3FF0000000000000, %w
  %low = fsub double %lost, %half
  %zz = fmul double %z, %z
  %C4 = call double @llvm.fma.f64(double 0xBDA8FAE9BE8838D4, double %z, double 0x3E21EE9EBDB4B1C4)
  %C3 = call double @llvm.fma.f64(double %C4, double %z, double 0xBE927E4F809C52AD)
  %C2 = call double @llvm.fma.f64(double %C3, double %z, double 0x3EFA01A019CB1590)
  %C1 = call double @llvm.fma.f64(double %C2, double %z, double 0xBF56C16C16C15177)
  %C0 = call double @llvm.fma.f64(double %C1, double %z, double 0x3FA555555555554C)
  %tail = call double @llvm.fma.f64(double %zz, double %C0, double %low)
  %c = fadd double %w, %tail
  %odd = and i64 %bits, 1
  %swap = icmp ne i64 %odd, 0
  %first = select i1 %swap, double %c, double %s
  %second = select i1 %swap, double %s, double %c
  %sin.flag = and i64 %bits, 2
  %sin.mask = shl i64 %sin.flag, 62
  %sin.raw = bitcast double %first to i64
  %sin.turned = xor i64 %sin.raw, %sin.mask
  %sin = bitcast i64 %sin.turned to double
  %next = add i64 %bits, 1
  %cos.flag = and i64 %next, 2
  %cos.mask = shl i64 %cos.flag, 62
  %cos.raw = bitcast double %second to i64
  %cos.turned = xor i64 %cos.raw, %cos.mask
  %cos = bitcast i64 %cos.turned to double
  %size = call double @llvm.fabs.f64(double %x)
  %far = fcmp ogt double %size, 0x40F86A0000000000
  br i1 %far, label %slow, label %done, !prof !1
slow:
  %sin.slow = call double @far.sin.1(double %x, i1 %far, double %sin)
  %cos.slow = call double @far.cos.1(double %x, i1 %far, double %cos)
  br label %done
done:
  %sin.out = phi double [ %sin, %0 ], [ %sin.slow, %slow ]
  %cos.out = phi double [ %cos, %0 ], [ %cos.slow, %slow ]
  %one = insertvalue {double, double} undef, double %sin.out, 0
  %both = insertvalue {double, double} %one, double %cos.out, 1
  ret {double, double} %both
}
define internal double @far.sin.1(double %x, i1 %far, double %near) noinline cold {
  %y0 = call double @sin(double %x)
  %z0 = select i1 %far, double %y0, double %near
  ret double %z0
}
define internal double @far.cos.1(double %x, i1 %far, double %near) noinline cold {
  %y0 = call double @cos(double %x)
  %z0 = select i1 %far, double %y0, double %near
  ret double %z0
}

declare double @sin(double)
declare double @cos(double)
define internal void @piece0.1(ptr noalias readonly %in0, ptr noalias %out0, ptr noalias %scratch) nounwind "stackrealign" noinline {
  %v1.at = getelementptr double, ptr %in0, i64 1
  %v1 = load double, ptr %v1.at, align 8, !invariant.load !0
  %pair1 = call {double, double} @sincos.1(double %v1)
  %v8 = extractvalue {double, double} %pair1, 1
  %v9 = extractvalue {double, double} %pair1, 0
  %v2.at = getelementptr double, ptr %in0, i64 2
  %v2 = load double, ptr %v2.at, align 8, !invariant.load !0
  %pair2 = call {double, double} @sincos.1(double %v2)
  %v11 = extractvalue {double, double} %pair2, 1
  %v12 = extractvalue {double, double} %pair2, 0
  %to.out0.8 = getelementptr double, ptr %out0, i64 8
  store double 0x3F73D31B9B66F934, ptr %to.out0.8, align 8
  %v38 = fmul contract reassoc double 0x3F80E5604189374C, %v11
  %v39 = fadd contract reassoc double %v38, %v38
  %v53 = fadd contract reassoc double 0x3FA05841514ABD04, %v39
  %to.out0.4 = getelementptr double, ptr %out0, i64 4
  store double %v53, ptr %to.out0.4, align 8
  %v16 = fmul contract reassoc double 0x3FA0E5604189374C, %v12
  %v55 = fmul contract reassoc double %v9, %v16
  %v15 = fmul contract reassoc double 0x3FA0E5604189374C, %v11
  %v47 = fadd contract reassoc double 0x3FC0000000000000, %v15
  %v54 = fmul contract reassoc double %v8, %v47
  %v57 = fsub contract reassoc double %v54, %v55
  %v83 = fmul contract reassoc double 0x3FD3333333333333, %v57
  %v84 = fadd contract reassoc double %v83, %v83
  %v88 = fadd contract reassoc double %v53, %v84
  %v94 = fadd contract reassoc double 0x3FB3F7CED916872B, %v88
  %to.out0.0 = getelementptr double, ptr %out0, i64 0
  store double %v94, ptr %to.out0.0, align 8
  %v19 = fmul contract reassoc double 0xBFA0E5604189374C, %v12
  %v125 = fmul contract reassoc double %v9, %v19
  %v126 = fadd contract reassoc double %v54, %v125
  %v127 = fmul contract reassoc double 0x3FD3333333333333, %v126
  %v128 = fadd contract reassoc double %v53, %v127
  %to.out0.1 = getelementptr double, ptr %out0, i64 1
  store double %v128, ptr %to.out0.1, align 8
  %to.out0.3 = getelementptr double, ptr %out0, i64 3
  store double %v128, ptr %to.out0.3, align 8
  %v136 = fadd contract reassoc double 0x3F73D31B9B66F934, %v38
  %to.out0.5 = getelementptr double, ptr %out0, i64 5
  store double %v136, ptr %to.out0.5, align 8
  %to.out0.7 = getelementptr double, ptr %out0, i64 7
  store double %v136, ptr %to.out0.7, align 8
  %v140 = fmul contract reassoc double %v8, %v15
  %v141 = fadd contract reassoc double %v125, %v140
  %v142 = fmul contract reassoc double 0x3FD3333333333333, %v141
  %v143 = fadd contract reassoc double %v136, %v142
  %to.out0.2 = getelementptr double, ptr %out0, i64 2
  store double %v143, ptr %to.out0.2, align 8
  %to.out0.6 = getelementptr double, ptr %out0, i64 6
  store double %v143, ptr %to.out0.6, align 8
  ret void
}
define internal void @block.1(ptr noalias readonly %in0, ptr noalias %out0, ptr noalias %scratch) nounwind "stackrealign" {
  call void @piece0.1(ptr %in0, ptr %out0, ptr %scratch)
  ret void
}
define void @one(ptr %pointers, ptr %scratch) nounwind "stackrealign" {
  %in0.at = getelementptr ptr, ptr %pointers, i64 0
  %in0 = load ptr, ptr %in0.at
  %out0.at = getelementptr ptr, ptr %pointers, i64 1
  %out0 = load ptr, ptr %out0.at
  call void @block.1(ptr %in0, ptr %out0, ptr %scratch)
  ret void
}
