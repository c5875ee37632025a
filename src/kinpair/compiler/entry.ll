; The function Python calls: see entry.py. Numbers in {braces} are places in the objects of this Python and NumPy.

define ptr @enter(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) nounwind {
  %pointers = alloca [32 x ptr]
  %strides = alloca [32 x i64]
  %results = alloca [32 x ptr]
  %scalars = alloca [32 x double]
  %sizes = alloca [16 x i64]
  %ends = alloca [32 x i64]
  %table.at = getelementptr i8, ptr %self, i64 {data}
  %table = load ptr, ptr %table.at
{fields}
  %single.float = icmp eq i64 %number, {float32}
  %right.count = icmp eq i64 %nargs, %inputs
  br i1 %right.count, label %keywords, label %unusual
keywords:                                       ; none, or out= alone
  %no.keywords = icmp eq ptr %kwnames, null
  %out.at = getelementptr ptr, ptr %args, i64 %nargs
  br i1 %no.keywords, label %first, label %keyword
keyword:
  %names.at = getelementptr i8, ptr %kwnames, i64 {length}
  %names = load i64, ptr %names.at
  %one.name = icmp eq i64 %names, 1
  %name.at = getelementptr i8, ptr %kwnames, i64 {items}
  %name = load ptr, ptr %name.at
  %is.out = icmp eq ptr %name, %out_name
  %out.alone = and i1 %one.name, %is.out
  br i1 %out.alone, label %out.given, label %unusual
out.given:
  %out = load ptr, ptr %out.at
  %out.bare = icmp eq i64 %as_tuple, 0
  br i1 %out.bare, label %first, label %unusual ; several arrays might overlap
first:
  %wanted.outs = phi ptr [ null, %keywords ], [ %out.at, %out.given ]
  %returned = phi ptr [ null, %keywords ], [ %out, %out.given ]
  %has.out = icmp ne ptr %wanted.outs, null
  br label %argument

argument:                                       ; rows is -1 until an argument has an axis of rows
  %k = phi i64 [ 0, %first ], [ %k.next, %accepted ]
  %rows = phi i64 [ -1, %first ], [ %rows.next, %accepted ]
  %more = icmp slt i64 %k, %inputs
  br i1 %more, label %look, label %choose
look:
  %object.at = getelementptr ptr, ptr %args, i64 %k
  %object = load ptr, ptr %object.at
  %shape = getelementptr [9 x i64], ptr %shapes, i64 %k
  %axes = load i64, ptr %shape
  %type.at = getelementptr i8, ptr %object, i64 {type}
  %type = load ptr, ptr %type.at
  %is.array = icmp eq ptr %type, %ndarray
  br i1 %is.array, label %array, label %maybe.float
maybe.float:                                    ; a Python float for a scalar
  %is.float = icmp eq ptr %type, %float
  %is.scalar = icmp eq i64 %axes, 0
  %both = and i1 %is.float, %is.scalar
  %not.single = xor i1 %single.float, true
  %fits.float = and i1 %both, %not.single
  %float.data = getelementptr i8, ptr %object, i64 {data}
  br i1 %fits.float, label %accepted, label %unusual
array:
  %descr.at = getelementptr i8, ptr %object, i64 {descr}
  %descr = load ptr, ptr %descr.at
  %right.type = icmp eq ptr %descr, %dtype
  %flags.at = getelementptr i8, ptr %object, i64 {flags}
  %flags = load i32, ptr %flags.at
  %masked = and i32 %flags, {contiguous_aligned}
  %right.flags = icmp eq i32 %masked, {contiguous_aligned}
  %ndim.at = getelementptr i8, ptr %object, i64 {ndim}
  %ndim32 = load i32, ptr %ndim.at
  %ndim = zext i32 %ndim32 to i64
  %lead = sub i64 %ndim, %axes
  %right.axes = icmp ult i64 %lead, 2
  %good.1 = and i1 %right.type, %right.flags
  %good.2 = and i1 %good.1, %right.axes
  %dims.at = getelementptr i8, ptr %object, i64 {dims}
  %dims = load ptr, ptr %dims.at
  %steps.at = getelementptr i8, ptr %object, i64 {strides}
  %steps = load ptr, ptr %steps.at
  %array.data.at = getelementptr i8, ptr %object, i64 {data}
  %array.data = load ptr, ptr %array.data.at
  br i1 %good.2, label %size, label %unusual
size:
  %j = phi i64 [ 0, %array ], [ %j.next, %same ]
  %count = phi i64 [ 1, %array ], [ %count.next, %same ]
  %j.more = icmp slt i64 %j, %axes
  br i1 %j.more, label %compare, label %leading
compare:
  %j.next = add i64 %j, 1
  %wanted.at = getelementptr i64, ptr %shape, i64 %j.next
  %wanted = load i64, ptr %wanted.at
  %j.lead = add i64 %j, %lead
  %found.at = getelementptr i64, ptr %dims, i64 %j.lead
  %found = load i64, ptr %found.at
  %equal = icmp eq i64 %wanted, %found
  br i1 %equal, label %same, label %unusual
same:
  %count.next = mul i64 %count, %wanted
  br label %size
leading:
  %row.bytes = mul i64 %count, %itemsize
  %has.rows = icmp eq i64 %lead, 1
  br i1 %has.rows, label %row.axis, label %accepted
row.axis:
  %rows.here = load i64, ptr %dims
  %step = load i64, ptr %steps
  %first.rows = icmp eq i64 %rows, -1
  %same.rows = icmp eq i64 %rows, %rows.here
  %fits.rows = or i1 %first.rows, %same.rows
  %all.bytes = mul i64 %row.bytes, %rows.here
  br i1 %fits.rows, label %accepted, label %unusual
accepted:
  %where = phi ptr [ %float.data, %maybe.float ], [ %array.data, %leading ], [ %array.data, %row.axis ]
  %stride = phi i64 [ 0, %maybe.float ], [ 0, %leading ], [ %step, %row.axis ]
  %rows.next = phi i64 [ %rows, %maybe.float ], [ %rows, %leading ], [ %rows.here, %row.axis ]
  %bytes = phi i64 [ %itemsize, %maybe.float ], [ %row.bytes, %leading ], [ %all.bytes, %row.axis ]
  %begin = ptrtoint ptr %where to i64
  %end = add i64 %begin, %bytes
  %end.at = getelementptr i64, ptr %ends, i64 %k
  store i64 %end, ptr %end.at
  %pointer.at = getelementptr ptr, ptr %pointers, i64 %k
  store ptr %where, ptr %pointer.at
  %stride.at = getelementptr i64, ptr %strides, i64 %k
  store i64 %stride, ptr %stride.at
  %k.next = add i64 %k, 1
  br label %argument

choose:
  %is.one = icmp eq i64 %rows, -1
  %code = select i1 %is.one, ptr %one, ptr %batch
  %ready = icmp ne ptr %code, null
  %skip = select i1 %is.one, i64 0, i64 1
  store i64 %rows, ptr %sizes
  br i1 %ready, label %result, label %unusual

result:
  %r = phi i64 [ 0, %choose ], [ %r.next, %placed ]
  %r.more = icmp slt i64 %r, %outputs
  br i1 %r.more, label %make, label %work
make:
  %r.arg = add i64 %r, %inputs
  %r.shape = getelementptr [9 x i64], ptr %shapes, i64 %r.arg
  %r.axes = load i64, ptr %r.shape
  %r.ndim = add i64 %r.axes, %skip
  %r.scalar = icmp eq i64 %r.ndim, 0
  %scalar.at = getelementptr double, ptr %scalars, i64 %r
  %no.out = xor i1 %has.out, true
  %make.scalar = and i1 %r.scalar, %no.out
  br i1 %make.scalar, label %placed, label %copy
copy:
  %i = phi i64 [ 0, %make ], [ %i.next, %copied ]
  %i.more = icmp slt i64 %i, %r.axes
  br i1 %i.more, label %copied, label %allocate
copied:
  %i.next = add i64 %i, 1
  %from.at = getelementptr i64, ptr %r.shape, i64 %i.next
  %size.i = load i64, ptr %from.at
  %i.lead = add i64 %i, %skip
  %to.at = getelementptr i64, ptr %sizes, i64 %i.lead
  store i64 %size.i, ptr %to.at
  br label %copy
allocate:
  br i1 %has.out, label %given, label %allocate.new

given:                                          ; exactly as wanted, and apart from every argument
  %g.at = getelementptr ptr, ptr %wanted.outs, i64 %r
  %g = load ptr, ptr %g.at
  %g.type.at = getelementptr i8, ptr %g, i64 {type}
  %g.type = load ptr, ptr %g.type.at
  %g.is.array = icmp eq ptr %g.type, %ndarray
  br i1 %g.is.array, label %given.array, label %unusual
given.array:
  %g.descr.at = getelementptr i8, ptr %g, i64 {descr}
  %g.descr = load ptr, ptr %g.descr.at
  %g.right.type = icmp eq ptr %g.descr, %dtype
  %g.flags.at = getelementptr i8, ptr %g, i64 {flags}
  %g.flags = load i32, ptr %g.flags.at
  %g.masked = and i32 %g.flags, {writeable}
  %g.right.flags = icmp eq i32 %g.masked, {writeable}
  %g.ndim.at = getelementptr i8, ptr %g, i64 {ndim}
  %g.ndim32 = load i32, ptr %g.ndim.at
  %g.ndim = zext i32 %g.ndim32 to i64
  %g.right.axes = icmp eq i64 %g.ndim, %r.ndim
  %g.good.1 = and i1 %g.right.type, %g.right.flags
  %g.good.2 = and i1 %g.good.1, %g.right.axes
  %g.dims.at = getelementptr i8, ptr %g, i64 {dims}
  %g.dims = load ptr, ptr %g.dims.at
  %g.data.at = getelementptr i8, ptr %g, i64 {data}
  %g.data = load ptr, ptr %g.data.at
  %g.begin = ptrtoint ptr %g.data to i64
  br i1 %g.good.2, label %given.size, label %unusual
given.size:
  %gj = phi i64 [ 0, %given.array ], [ %gj.next, %given.same ]
  %g.count = phi i64 [ %itemsize, %given.array ], [ %g.count.next, %given.same ]
  %gj.more = icmp slt i64 %gj, %r.ndim
  br i1 %gj.more, label %given.compare, label %given.apart
given.compare:
  %gw.at = getelementptr i64, ptr %sizes, i64 %gj
  %gw = load i64, ptr %gw.at
  %gf.at = getelementptr i64, ptr %g.dims, i64 %gj
  %gf = load i64, ptr %gf.at
  %g.equal = icmp eq i64 %gw, %gf
  br i1 %g.equal, label %given.same, label %unusual
given.same:
  %gj.next = add i64 %gj, 1
  %g.count.next = mul i64 %g.count, %gf
  br label %given.size
given.apart:
  %ga = phi i64 [ 0, %given.size ], [ %ga.next, %given.clear ]
  %g.end = add i64 %g.begin, %g.count
  %ga.more = icmp slt i64 %ga, %inputs
  br i1 %ga.more, label %given.check, label %given.taken
given.check:
  %ga.next = add i64 %ga, 1
  %ga.pointer.at = getelementptr ptr, ptr %pointers, i64 %ga
  %ga.pointer = load ptr, ptr %ga.pointer.at
  %ga.begin = ptrtoint ptr %ga.pointer to i64
  %ga.end.at = getelementptr i64, ptr %ends, i64 %ga
  %ga.end = load i64, ptr %ga.end.at
  %ga.before = icmp ule i64 %ga.end, %g.begin
  %ga.after = icmp ule i64 %g.end, %ga.begin
  %ga.apart = or i1 %ga.before, %ga.after
  br i1 %ga.apart, label %given.clear, label %unusual
given.clear:
  br label %given.apart
given.taken:
  %g.has.rows = icmp sgt i64 %r.ndim, 0
  br i1 %g.has.rows, label %given.step, label %placed
given.step:
  %g.steps.at = getelementptr i8, ptr %g, i64 {strides}
  %g.steps = load ptr, ptr %g.steps.at
  %g.step = load i64, ptr %g.steps
  br label %placed

allocate.new:
  %nd = trunc i64 %r.ndim to i32
  %num = trunc i64 %number to i32
  %made = call ptr %new_array(ptr %ndarray, i32 %nd, ptr %sizes, i32 %num, ptr null, ptr null, i32 0, i32 0, ptr null)
  %is.made = icmp ne ptr %made, null
  br i1 %is.made, label %fresh, label %failed
fresh:
  %made.data.at = getelementptr i8, ptr %made, i64 {data}
  %made.data = load ptr, ptr %made.data.at
  %made.steps.at = getelementptr i8, ptr %made, i64 {strides}
  %made.steps = load ptr, ptr %made.steps.at
  %made.step = load i64, ptr %made.steps
  br label %placed
placed:
  %r.data = phi ptr [ %scalar.at, %make ], [ %made.data, %fresh ], [ %g.data, %given.taken ], [ %g.data, %given.step ]
  %r.step = phi i64 [ 0, %make ], [ %made.step, %fresh ], [ 0, %given.taken ], [ %g.step, %given.step ]
  %r.object = phi ptr [ null, %make ], [ %made, %fresh ], [ null, %given.taken ], [ null, %given.step ]
  %r.place = add i64 %r, %inputs
  %r.pointer.at = getelementptr ptr, ptr %pointers, i64 %r.place
  store ptr %r.data, ptr %r.pointer.at
  %r.stride.at = getelementptr i64, ptr %strides, i64 %r.place
  store i64 %r.step, ptr %r.stride.at
  %r.object.at = getelementptr ptr, ptr %results, i64 %r
  store ptr %r.object, ptr %r.object.at
  %r.next = add i64 %r, 1
  br label %result

work:
  br i1 %is.one, label %work.one, label %work.batch
work.one:
  call void %one(ptr %pointers, ptr %scratch)
  br label %finish
work.batch:                                     ; other threads may run meanwhile, so scratch is of this call
  %room = call ptr %malloc(i64 %room_bytes)
  %has.room = icmp ne ptr %room, null
  br i1 %has.room, label %run, label %no.room
run:
  %raw = ptrtoint ptr %room to i64
  %up = add i64 %raw, 63
  %round = and i64 %up, -64
  %aligned = inttoptr i64 %round to ptr
  %state = call ptr %save_thread()
  call void %batch(ptr %pointers, ptr %strides, i64 %rows, ptr %aligned)
  call void %restore_thread(ptr %state)
  call void %free(ptr %room)
  br label %finish
no.room:
  %none = call ptr %no_memory()
  ret ptr null

finish:
  br i1 %has.out, label %return.out, label %box
return.out:
  call void %incref(ptr %returned)
  ret ptr %returned
box:                                            ; a scalar result becomes a Python float
  %b = phi i64 [ 0, %finish ], [ %b.next, %boxed ]
  %b.more = icmp slt i64 %b, %outputs
  br i1 %b.more, label %open, label %return
open:
  %b.at = getelementptr ptr, ptr %results, i64 %b
  %b.object = load ptr, ptr %b.at
  %b.empty = icmp eq ptr %b.object, null
  br i1 %b.empty, label %float.of, label %boxed
float.of:
  %b.scalar = getelementptr double, ptr %scalars, i64 %b
  %wide = load double, ptr %b.scalar
  %narrow = load float, ptr %b.scalar
  %widened = fpext float %narrow to double
  %b.value = select i1 %single.float, double %widened, double %wide
  %b.float = call ptr %new_float(double %b.value)
  store ptr %b.float, ptr %b.at
  br label %boxed
boxed:
  %b.next = add i64 %b, 1
  br label %box

return:
  %bare = icmp eq i64 %as_tuple, 0
  br i1 %bare, label %return.one, label %return.tuple
return.one:
  %only = load ptr, ptr %results
  ret ptr %only
return.tuple:
  %tuple = call ptr %new_tuple(i64 %outputs)
  br label %fill
fill:
  %t = phi i64 [ 0, %return.tuple ], [ %t.next, %put ]
  %t.more = icmp slt i64 %t, %outputs
  br i1 %t.more, label %put, label %filled
put:
  %t.from = getelementptr ptr, ptr %results, i64 %t
  %t.object = load ptr, ptr %t.from
  %t.items = getelementptr i8, ptr %tuple, i64 {items}
  %t.to = getelementptr ptr, ptr %t.items, i64 %t
  store ptr %t.object, ptr %t.to
  %t.next = add i64 %t, 1
  br label %fill
filled:
  ret ptr %tuple

unusual:
  %slow = call ptr %vectorcall(ptr %fallback, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %slow
failed:
  ret ptr null
}
