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
define internal void @piece0.1(ptr noalias readonly %in0, ptr noalias readonly %in1, ptr noalias readonly %in2, ptr noalias %out0, ptr noalias %out1, ptr noalias %scratch) nounwind "stackrealign" noinline {
  %v0.at = getelementptr double, ptr %in0, i64 0
  %v0 = load double, ptr %v0.at, align 8, !invariant.load !0
  %pair0 = call {double, double} @sincos.1(double %v0)
  %v7 = extractvalue {double, double} %pair0, 1
  %v8 = extractvalue {double, double} %pair0, 0
  %v1.at = getelementptr double, ptr %in0, i64 1
  %v1 = load double, ptr %v1.at, align 8, !invariant.load !0
  %pair1 = call {double, double} @sincos.1(double %v1)
  %v11 = extractvalue {double, double} %pair1, 1
  %v12 = extractvalue {double, double} %pair1, 0
  %to.out1.1 = getelementptr double, ptr %out1, i64 1
  store double 0x3FF0000000000000, ptr %to.out1.1, align 8
  %v2.at = getelementptr double, ptr %in1, i64 0
  %v2 = load double, ptr %v2.at, align 8, !invariant.load !0
  %v20 = fmul contract reassoc double %v2, %v2
  %v15 = fmul contract reassoc double 0x40239EB851EB851F, %v7
  %v24 = fadd contract reassoc double %v15, %v20
  %v28 = fmul contract reassoc double %v12, %v24
  %v17 = fmul contract reassoc double 0xC0239EB851EB851F, %v8
  %v30 = fmul contract reassoc double %v11, %v17
  %v31 = fsub contract reassoc double %v30, %v28
  %v47 = fmul contract reassoc double 0x3FE0000000000000, %v31
  %v5.at = getelementptr double, ptr %in2, i64 1
  %v5 = load double, ptr %v5.at, align 8, !invariant.load !0
  %v135 = fadd contract reassoc double %v5, %v47
  %v69 = fmul contract reassoc double 0x3FE0000000000000, %v11
  %v123 = fadd contract reassoc double 0x3FD5555555555555, %v69
  %v130 = fmul contract reassoc double 0x4008000000000000, %v123
  %v136 = fmul contract reassoc double %v130, %v135
  %v3.at = getelementptr double, ptr %in1, i64 1
  %v3 = load double, ptr %v3.at, align 8, !invariant.load !0
  %v22 = fadd contract reassoc double %v2, %v3
  %v35 = fmul contract reassoc double %v22, %v22
  %v39 = fmul contract reassoc double 0x3FE0000000000000, %v35
  %v45 = fmul contract reassoc double %v12, %v39
  %v48 = fadd contract reassoc double %v45, %v47
  %v58 = fmul contract reassoc double 0x402D6E147AE147AE, %v8
  %v59 = fsub contract reassoc double %v58, %v48
  %v4.at = getelementptr double, ptr %in2, i64 0
  %v4 = load double, ptr %v4.at, align 8, !invariant.load !0
  %v134 = fsub contract reassoc double %v4, %v59
  %v137 = fsub contract reassoc double %v134, %v136
  %v131 = fmul contract reassoc double %v123, %v130
  %v80 = fadd contract reassoc double %v69, %v69
  %v91 = fadd contract reassoc double 0x3FFAAAAAAAAAAAAA, %v80
  %v132 = fsub contract reassoc double %v91, %v131
  %v133 = fdiv double 0x3FF0000000000000, %v132
  %v139 = fmul contract reassoc double %v133, %v137
  %to.out0.0 = getelementptr double, ptr %out0, i64 0
  store double %v139, ptr %to.out0.0, align 8
  %v140 = fmul contract reassoc double %v130, %v139
  %v138 = fmul contract reassoc double 0x4008000000000000, %v135
  %v141 = fsub contract reassoc double %v138, %v140
  %to.out0.1 = getelementptr double, ptr %out0, i64 1
  store double %v141, ptr %to.out0.1, align 8
  %v143 = call double @llvm.maximum.f64(double %v132, double 0x3FD5555555555555)
  %v142 = call double @llvm.minimum.f64(double %v132, double 0x3FD5555555555555)
  %v144 = fdiv double %v142, %v143
  %to.out1.0 = getelementptr double, ptr %out1, i64 0
  store double %v144, ptr %to.out1.0, align 8
  ret void
}
define internal void @block.1(ptr noalias readonly %in0, ptr noalias readonly %in1, ptr noalias readonly %in2, ptr noalias %out0, ptr noalias %out1, ptr noalias %scratch) nounwind "stackrealign" {
  call void @piece0.1(ptr %in0, ptr %in1, ptr %in2, ptr %out0, ptr %out1, ptr %scratch)
  ret void
}
define void @one(ptr %pointers, ptr %scratch) nounwind "stackrealign" {
  %in0.at = getelementptr ptr, ptr %pointers, i64 0
  %in0 = load ptr, ptr %in0.at
  %in1.at = getelementptr ptr, ptr %pointers, i64 1
  %in1 = load ptr, ptr %in1.at
  %in2.at = getelementptr ptr, ptr %pointers, i64 2
  %in2 = load ptr, ptr %in2.at
  %out0.at = getelementptr ptr, ptr %pointers, i64 3
  %out0 = load ptr, ptr %out0.at
  %out1.at = getelementptr ptr, ptr %pointers, i64 4
  %out1 = load ptr, ptr %out1.at
  call void @block.1(ptr %in0, ptr %in1, ptr %in2, ptr %out0, ptr %out1, ptr %scratch)
  ret void
}
