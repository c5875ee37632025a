; The function Python calls: see entry.py, which also writes out the two short forms used here:
;   %x = field name               an entry of the table %call, see FIELDS
;   %x = member name of %object   a member of an object of this Python and NumPy, see MEMBERS
; Results of `run`: an object; null where an error is set; 1 where the arguments are unusual; 2 where they are for
; another pattern.

%Work = type {
  [256 x ptr],                                  ; 0 where each argument and result begins
  [256 x i64],                                  ; 1 bytes from row to row
  [256 x i64],                                  ; 2 where each argument ends
  [256 x ptr],                                  ; 3 objects of the results
  [256 x double],                               ; 4 results that are plain numbers
  [512 x double],                               ; 5 numbers of lists and tuples
  i64,                                          ; 6 how many of those are used
  [64 x ptr],                                   ; 7 values of a dict of wrenches
  [16 x i64],                                   ; 8 sizes of the result in hand
  [32 x double]                                 ; 9 results nobody sees, of one state
}

define ptr @enter(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) nounwind {
start:
  %calls = member data of %self                 ; how many, the slower function, how to call it, then the tables
  %count = load i64, ptr %calls
  %no.keywords = icmp eq ptr %kwnames, null
  br i1 %no.keywords, label %search, label %named
named:
  %names = member length of %kwnames
  br label %search
search:
  %keywords = phi i64 [ 0, %start ], [ %names, %named ]
  br label %next
next:                                           ; first with the same objects for options, then with equal ones
  %equal = phi i1 [ false, %search ], [ %equal, %other ], [ true, %again ]
  %n = phi i64 [ 0, %search ], [ %n.next, %other ], [ 0, %again ]
  %left = icmp slt i64 %n, %count
  br i1 %left, label %try, label %all.tried
try:
  %n.place = add i64 %n, 3
  %call.at = getelementptr ptr, ptr %calls, i64 %n.place
  %call = load ptr, ptr %call.at
  %fits = call i1 @fits(ptr %call, ptr %args, i64 %nargs, ptr %kwnames, i64 %keywords, i1 %equal)
  br i1 %fits, label %do, label %other
other:
  %n.next = add i64 %n, 1
  br label %next
all.tried:
  br i1 %equal, label %unusual, label %again
again:
  br label %next
do:
  %result = call ptr @run(ptr %call, ptr %args)
  %word = ptrtoint ptr %result to i64
  switch i64 %word, label %done [
    i64 1, label %unusual
    i64 2, label %other
  ]
done:
  ret ptr %result
unusual:
  %fallback.at = getelementptr ptr, ptr %calls, i64 1
  %fallback = load ptr, ptr %fallback.at
  %vectorcall.at = getelementptr ptr, ptr %calls, i64 2
  %vectorcall = load ptr, ptr %vectorcall.at
  %slow = call ptr %vectorcall(ptr %fallback, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %slow
}

; Are there as many arguments, the same keywords in the same order, and the same options?
define internal i1 @fits(ptr %call, ptr %args, i64 %nargs, ptr %kwnames, i64 %keywords, i1 %equal) nounwind {
start:
  %positional = field positional
  %expected = field keywords
  %same.count = icmp eq i64 %positional, %nargs
  %same.keywords = icmp eq i64 %expected, %keywords
  %same = and i1 %same.count, %same.keywords
  %names = field names
  br i1 %same, label %name, label %no
name:
  %j = phi i64 [ 0, %start ], [ %j.next, %name.check ]
  %j.more = icmp slt i64 %j, %keywords
  br i1 %j.more, label %name.check, label %choices
name.check:
  %items = getelementptr i8, ptr %kwnames, i64 {items}
  %word.at = getelementptr ptr, ptr %items, i64 %j
  %word = load ptr, ptr %word.at
  %name.at = getelementptr ptr, ptr %names, i64 %j
  %name.expected = load ptr, ptr %name.at
  %j.next = add i64 %j, 1
  %same.name = icmp eq ptr %word, %name.expected
  br i1 %same.name, label %name, label %no
choices:
  %options = field options
  %option.list = field option_list
  br label %option
option:
  %k = phi i64 [ 0, %choices ], [ %k.next, %option.fits ]
  %k.more = icmp slt i64 %k, %options
  br i1 %k.more, label %option.check, label %yes
option.check:
  %pair = getelementptr [2 x i64], ptr %option.list, i64 %k
  %slot = load i64, ptr %pair
  %object.at = getelementptr i64, ptr %pair, i64 1
  %object = load ptr, ptr %object.at
  %given.at = getelementptr ptr, ptr %args, i64 %slot
  %given = load ptr, ptr %given.at
  %identical = icmp eq ptr %given, %object
  br i1 %identical, label %option.fits, label %option.other
option.other:
  br i1 %equal, label %option.equal, label %no
option.equal:
  %is.equal = call i1 @equal.words(ptr %call, ptr %given, ptr %object)
  br i1 %is.equal, label %option.fits, label %no
option.fits:
  %k.next = add i64 %k, 1
  br label %option
yes:
  ret i1 true
no:
  ret i1 false
}

; Two strings with the same letters?
define internal i1 @equal.words(ptr %call, ptr %a, ptr %b) nounwind {
start:
  %str = field str
  %a.type = member type of %a
  %b.type = member type of %b
  %a.is = icmp eq ptr %a.type, %str
  %b.is = icmp eq ptr %b.type, %str
  %both = and i1 %a.is, %b.is
  br i1 %both, label %compare, label %no
compare:
  %compare.words = field compare
  %order = call i32 %compare.words(ptr %a, ptr %b)
  %same = icmp eq i32 %order, 0
  ret i1 %same
no:
  ret i1 false
}

; The values of a dict that has exactly the expected names in their order.
define internal i1 @unpacked(ptr %call, ptr %dict, ptr %w) nounwind {
start:
  %position = alloca i64
  %key.room = alloca ptr
  %value.room = alloca ptr
  store i64 0, ptr %position
  %dict.type = field dict
  %type = member type of %dict
  %is.dict = icmp eq ptr %type, %dict.type
  %wrenches = field wrenches
  %names = field wrench_names
  %dict.next = field dict_next
  br i1 %is.dict, label %next, label %no
next:
  %k = phi i64 [ 0, %start ], [ %k.next, %take ]
  %there = call i32 %dict.next(ptr %dict, ptr %position, ptr %key.room, ptr %value.room)
  %one.more = icmp ne i32 %there, 0
  br i1 %one.more, label %look, label %ended
look:
  %too.many = icmp sge i64 %k, %wrenches
  br i1 %too.many, label %no, label %compare
compare:
  %key = load ptr, ptr %key.room
  %name.at = getelementptr ptr, ptr %names, i64 %k
  %name = load ptr, ptr %name.at
  %identical = icmp eq ptr %key, %name
  br i1 %identical, label %take, label %maybe
maybe:
  %equal = call i1 @equal.words(ptr %call, ptr %key, ptr %name)
  br i1 %equal, label %take, label %no
take:
  %value = load ptr, ptr %value.room
  %to = getelementptr %Work, ptr %w, i32 0, i32 7, i64 %k
  store ptr %value, ptr %to
  %k.next = add i64 %k, 1
  br label %next
ended:
  %complete = icmp eq i64 %k, %wrenches
  ret i1 %complete
no:
  ret i1 false
}

; Where the numbers of argument k are. Gives the rows of the batch: -1 without, -2 where the object is unusual.
define internal i64 @take(ptr %call, ptr %object, i64 %k, i64 %rows, ptr %w) nounwind {
start:
  %shapes = field shapes
  %shape = getelementptr [9 x i64], ptr %shapes, i64 %k
  %axes = load i64, ptr %shape
  %itemsize = field itemsize
  %ndarray = field ndarray
  %type = member type of %object
  %is.array = icmp eq ptr %type, %ndarray
  br i1 %is.array, label %array, label %maybe.float
maybe.float:                                    ; a Python float for a scalar
  %float = field float
  %is.float = icmp eq ptr %type, %float
  %is.scalar = icmp eq i64 %axes, 0
  %both = and i1 %is.float, %is.scalar
  %is.double = icmp eq i64 %itemsize, 8
  %fits.float = and i1 %both, %is.double
  %float.data = getelementptr i8, ptr %object, i64 {number}
  br i1 %fits.float, label %accepted, label %maybe.list
maybe.list:
  %listed = call ptr @numbers(ptr %call, ptr %object, i64 %k, ptr %w)
  %is.listed = icmp ne ptr %listed, null
  br i1 %is.listed, label %accepted, label %unusual
array:
  %descr = member descr of %object
  %dtype = field dtype
  %right.type = icmp eq ptr %descr, %dtype
  %flags = member flags of %object
  %masked = and i32 %flags, {contiguous_aligned}
  %right.flags = icmp eq i32 %masked, {contiguous_aligned}
  %ndim32 = member ndim of %object
  %ndim = zext i32 %ndim32 to i64
  %lead = sub i64 %ndim, %axes
  %right.axes = icmp ult i64 %lead, 2
  %good.1 = and i1 %right.type, %right.flags
  %good.2 = and i1 %good.1, %right.axes
  %dims = member dims of %object
  %steps = member strides of %object
  %array.data = member data of %object
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
  %where = phi ptr [ %float.data, %maybe.float ], [ %listed, %maybe.list ], [ %array.data, %leading ], [ %array.data, %row.axis ]
  %stride = phi i64 [ 0, %maybe.float ], [ 0, %maybe.list ], [ 0, %leading ], [ %step, %row.axis ]
  %rows.now = phi i64 [ %rows, %maybe.float ], [ %rows, %maybe.list ], [ %rows, %leading ], [ %rows.here, %row.axis ]
  %bytes = phi i64 [ 0, %maybe.float ], [ 0, %maybe.list ], [ %row.bytes, %leading ], [ %all.bytes, %row.axis ]
  call void @put(ptr %w, i64 %k, ptr %where, i64 %stride, i64 %bytes)
  ret i64 %rows.now
unusual:
  ret i64 -2
}

define internal void @put(ptr %w, i64 %k, ptr %where, i64 %stride, i64 %bytes) alwaysinline nounwind {
  %begin = ptrtoint ptr %where to i64
  %end = add i64 %begin, %bytes
  %end.at = getelementptr %Work, ptr %w, i32 0, i32 2, i64 %k
  store i64 %end, ptr %end.at
  %pointer.at = getelementptr %Work, ptr %w, i32 0, i32 0, i64 %k
  store ptr %where, ptr %pointer.at
  %stride.at = getelementptr %Work, ptr %w, i32 0, i32 1, i64 %k
  store i64 %stride, ptr %stride.at
  ret void
}

; A list or tuple of floats and small whole numbers as doubles; null where it is anything else.
define internal ptr @numbers(ptr %call, ptr %object, i64 %k, ptr %w) nounwind {
start:
  %itemsize = field itemsize
  %is.double = icmp eq i64 %itemsize, 8
  %shapes = field shapes
  %shape = getelementptr [9 x i64], ptr %shapes, i64 %k
  %axes = load i64, ptr %shape
  %is.vector = icmp eq i64 %axes, 1
  %able = and i1 %is.double, %is.vector
  br i1 %able, label %which, label %no
which:
  %type = member type of %object
  %list = field list
  %is.list = icmp eq ptr %type, %list
  br i1 %is.list, label %of.list, label %maybe.tuple
of.list:
  %list.items = member list_items of %object
  br label %length
maybe.tuple:
  %tuple = field tuple
  %is.tuple = icmp eq ptr %type, %tuple
  %tuple.items = getelementptr i8, ptr %object, i64 {items}
  br i1 %is.tuple, label %length, label %no
length:
  %items = phi ptr [ %list.items, %of.list ], [ %tuple.items, %maybe.tuple ]
  %count = member length of %object
  %wanted.at = getelementptr i64, ptr %shape, i64 1
  %wanted = load i64, ptr %wanted.at
  %right.length = icmp eq i64 %count, %wanted
  %used.at = getelementptr %Work, ptr %w, i32 0, i32 6
  %used = load i64, ptr %used.at
  %after = add i64 %used, %count
  %has.room = icmp sle i64 %after, 512
  %fits = and i1 %right.length, %has.room
  %room = getelementptr %Work, ptr %w, i32 0, i32 5, i64 %used
  br i1 %fits, label %begin, label %no
begin:
  store i64 %after, ptr %used.at
  %float = field float
  %float64 = field float64
  %int = field int
  br label %next
next:
  %i = phi i64 [ 0, %begin ], [ %i.next, %store ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %item, label %done
item:
  %item.at = getelementptr ptr, ptr %items, i64 %i
  %x = load ptr, ptr %item.at
  %x.type = member type of %x
  %is.float = icmp eq ptr %x.type, %float
  %is.float64 = icmp eq ptr %x.type, %float64
  %is.real = or i1 %is.float, %is.float64
  br i1 %is.real, label %real, label %maybe.int
real:
  %real.value = member number of %x
  br label %store
maybe.int:
  %is.int = icmp eq ptr %x.type, %int
  br i1 %is.int, label %whole, label %no
whole:
  %to.double = field to_double
  %whole.value = call double %to.double(ptr %x)
  %size = call double @llvm.fabs.f64(double %whole.value)
  %is.exact = fcmp ole double %size, 0x4340000000000000
  %maybe.error = fcmp oeq double %whole.value, -1.0
  br i1 %maybe.error, label %error, label %whole.fits
error:                                          ; -1, or too large for a double
  %occurred = field error_occurred
  %exception = call ptr %occurred()
  %is.error = icmp ne ptr %exception, null
  br i1 %is.error, label %clear, label %store
clear:
  %clear.error = field error_clear
  call void %clear.error()
  ret ptr null
whole.fits:
  br i1 %is.exact, label %store, label %no
store:
  %value = phi double [ %real.value, %real ], [ -1.0, %error ], [ %whole.value, %whole.fits ]
  %to = getelementptr double, ptr %room, i64 %i
  store double %value, ptr %to
  %i.next = add i64 %i, 1
  br label %next
done:
  ret ptr %room
no:
  ret ptr null
}

declare double @llvm.fabs.f64(double)

; Has every quaternion of argument 0 an entry that is not zero, in every row?
define internal i1 @turns(ptr %call, i64 %rows, ptr %w) nounwind {
start:
  %quaternions = field quaternions
  %places = field quaternion_places
  %data.at = getelementptr %Work, ptr %w, i32 0, i32 0, i64 0
  %data = load ptr, ptr %data.at
  %stride.at = getelementptr %Work, ptr %w, i32 0, i32 1, i64 0
  %stride = load i64, ptr %stride.at
  %same.for.all = icmp eq i64 %stride, 0
  %least = call i64 @llvm.smax.i64(i64 %rows, i64 0)
  %different = select i1 %same.for.all, i64 1, i64 %least
  br label %quaternion
quaternion:
  %k = phi i64 [ 0, %start ], [ %k.next, %row ]
  %k.more = icmp slt i64 %k, %quaternions
  br i1 %k.more, label %look, label %yes
look:
  %k.next = add i64 %k, 1
  %place.at = getelementptr i64, ptr %places, i64 %k
  %place = load i64, ptr %place.at
  %first = getelementptr double, ptr %data, i64 %place
  br label %row
row:
  %r = phi i64 [ 0, %look ], [ %r.next, %check ]
  %r.more = icmp slt i64 %r, %different
  br i1 %r.more, label %check, label %quaternion
check:
  %r.next = add i64 %r, 1
  %r.bytes = mul i64 %r, %stride
  %here = getelementptr i8, ptr %first, i64 %r.bytes
  %x = load <4 x double>, ptr %here, align 8
  %is.something = fcmp une <4 x double> %x, zeroinitializer
  %bits = bitcast <4 x i1> %is.something to i4
  %is.rotation = icmp ne i4 %bits, 0
  br i1 %is.rotation, label %row, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

declare i64 @llvm.smax.i64(i64, i64)

; Are the entries of argument 1 that must not be zero something else, in every row?
define internal i1 @moves(ptr %call, i64 %rows, ptr %w) nounwind {
start:
  %moving = field moving
  %places = field moving_places
  %data.at = getelementptr %Work, ptr %w, i32 0, i32 0, i64 1
  %data = load ptr, ptr %data.at
  %stride.at = getelementptr %Work, ptr %w, i32 0, i32 1, i64 1
  %stride = load i64, ptr %stride.at
  %same.for.all = icmp eq i64 %stride, 0
  %least = call i64 @llvm.smax.i64(i64 %rows, i64 0)
  %different = select i1 %same.for.all, i64 1, i64 %least
  br label %row
row:
  %r = phi i64 [ 0, %start ], [ %r.next, %rate ]
  %r.more = icmp slt i64 %r, %different
  br i1 %r.more, label %look, label %yes
look:
  %r.next = add i64 %r, 1
  %r.bytes = mul i64 %r, %stride
  %here = getelementptr i8, ptr %data, i64 %r.bytes
  br label %rate
rate:
  %k = phi i64 [ 0, %look ], [ %k.next, %check ]
  %k.more = icmp slt i64 %k, %moving
  br i1 %k.more, label %check, label %row
check:
  %k.next = add i64 %k, 1
  %place.at = getelementptr i64, ptr %places, i64 %k
  %place = load i64, ptr %place.at
  %at = getelementptr double, ptr %here, i64 %place
  %x = load double, ptr %at
  %is.moving = fcmp une double %x, 0.0
  br i1 %is.moving, label %rate, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; Is every number of the judged result above the line? Not where one is NaN.
define internal i1 @sound(ptr %call, i64 %count, ptr %data) nounwind {
start:
  %line = field line
  br label %next
next:
  %k = phi i64 [ 0, %start ], [ %k.next, %check ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %check, label %yes
check:
  %k.next = add i64 %k, 1
  %at = getelementptr double, ptr %data, i64 %k
  %x = load double, ptr %at
  %above = fcmp ogt double %x, %line
  br i1 %above, label %next, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; An array given for a result: as wanted, and apart from every argument? The sizes are in the work.
define internal i1 @suits(ptr %call, ptr %g, i64 %axes, ptr %w) nounwind {
start:
  %ndarray = field ndarray
  %type = member type of %g
  %is.array = icmp eq ptr %type, %ndarray
  br i1 %is.array, label %array, label %no
array:
  %descr = member descr of %g
  %dtype = field dtype
  %right.type = icmp eq ptr %descr, %dtype
  %flags = member flags of %g
  %masked = and i32 %flags, {writeable}
  %right.flags = icmp eq i32 %masked, {writeable}
  %ndim32 = member ndim of %g
  %ndim = zext i32 %ndim32 to i64
  %right.axes = icmp eq i64 %ndim, %axes
  %good.1 = and i1 %right.type, %right.flags
  %good.2 = and i1 %good.1, %right.axes
  %dims = member dims of %g
  %data = member data of %g
  %begin = ptrtoint ptr %data to i64
  %itemsize = field itemsize
  %inputs = field inputs
  br i1 %good.2, label %size, label %no
size:
  %j = phi i64 [ 0, %array ], [ %j.next, %compare ]
  %bytes = phi i64 [ %itemsize, %array ], [ %bytes.next, %compare ]
  %j.more = icmp slt i64 %j, %axes
  br i1 %j.more, label %compare, label %apart
compare:
  %wanted.at = getelementptr %Work, ptr %w, i32 0, i32 8, i64 %j
  %wanted = load i64, ptr %wanted.at
  %found.at = getelementptr i64, ptr %dims, i64 %j
  %found = load i64, ptr %found.at
  %j.next = add i64 %j, 1
  %bytes.next = mul i64 %bytes, %found
  %equal = icmp eq i64 %wanted, %found
  br i1 %equal, label %size, label %no
apart:
  %k = phi i64 [ 0, %size ], [ %k.next, %check ]
  %end = add i64 %begin, %bytes
  %k.more = icmp slt i64 %k, %inputs
  br i1 %k.more, label %check, label %yes
check:
  %k.next = add i64 %k, 1
  %other.at = getelementptr %Work, ptr %w, i32 0, i32 0, i64 %k
  %other = load ptr, ptr %other.at
  %other.begin = ptrtoint ptr %other to i64
  %other.end.at = getelementptr %Work, ptr %w, i32 0, i32 2, i64 %k
  %other.end = load i64, ptr %other.end.at
  %before = icmp ule i64 %other.end, %begin
  %after = icmp ule i64 %end, %other.begin
  %is.apart = or i1 %before, %after
  br i1 %is.apart, label %apart, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; One of the two arrays handed out last for a result, if nobody but this table holds it and it is as it was made.
define internal ptr @spare(ptr %call, ptr %spares, i64 %axes, ptr %w) nounwind {
start:
  br label %next
next:
  %k = phi i64 [ 0, %start ], [ %k.next, %other ]
  %more = icmp slt i64 %k, 2
  br i1 %more, label %look, label %none
look:
  %at = getelementptr ptr, ptr %spares, i64 %k
  %object = load ptr, ptr %at
  %references = member references of %object
  %unheld = icmp eq i32 %references, 1
  br i1 %unheld, label %compare, label %other
compare:
  %suits = call i1 @suits(ptr %call, ptr %object, i64 %axes, ptr %w)
  br i1 %suits, label %own, label %other
own:
  %flags = member flags of %object
  %owning = and i32 %flags, {owning}
  %owns = icmp eq i32 %owning, {owning}
  %watchers = member watchers of %object
  %unwatched = icmp eq ptr %watchers, null
  %good = and i1 %owns, %unwatched
  br i1 %good, label %take, label %other
other:
  %k.next = add i64 %k, 1
  br label %next
take:
  %incref = field incref
  call void %incref(ptr %object)
  ret ptr %object
none:
  ret ptr null
}

; A new array comes first of the two; the one that was second is given up.
define internal void @remember(ptr %call, ptr %spares, ptr %made) nounwind {
  %second.at = getelementptr ptr, ptr %spares, i64 1
  %first = load ptr, ptr %spares
  %second = load ptr, ptr %second.at
  %incref = field incref
  call void %incref(ptr %made)
  store ptr %made, ptr %spares
  store ptr %first, ptr %second.at
  %decref = field decref
  call void %decref(ptr %second)
  ret void
}

; Check the arguments, make the results, compute, look at how sound they are, hand them out.
define internal ptr @run(ptr %call, ptr %args) nounwind {
start:
  %w = alloca %Work, align 64
  %used.at = getelementptr %Work, ptr %w, i32 0, i32 6
  store i64 0, ptr %used.at
  %inputs = field inputs
  %outputs = field outputs
  %seen = field seen
  %sources = field sources
  %shapes = field shapes
  %wrench.slot = field wrench_slot
  %has.wrenches = icmp sge i64 %wrench.slot, 0
  br i1 %has.wrenches, label %unpack, label %argument
unpack:
  %dict.at = getelementptr ptr, ptr %args, i64 %wrench.slot
  %dict = load ptr, ptr %dict.at
  %is.unpacked = call i1 @unpacked(ptr %call, ptr %dict, ptr %w)
  br i1 %is.unpacked, label %argument, label %another

argument:                                       ; rows is -1 until an argument has an axis of rows
  %k = phi i64 [ 0, %start ], [ 0, %unpack ], [ %k.next, %accepted ]
  %rows = phi i64 [ -1, %start ], [ -1, %unpack ], [ %rows.next, %accepted ]
  %more = icmp slt i64 %k, %inputs
  br i1 %more, label %source, label %choose
source:
  %pair = getelementptr [2 x i64], ptr %sources, i64 %k
  %kind = load i64, ptr %pair
  %value.at = getelementptr i64, ptr %pair, i64 1
  %value = load i64, ptr %value.at
  switch i64 %kind, label %of.slot [
    i64 1, label %constant
    i64 2, label %of.wrench
    i64 3, label %moment
  ]
constant:
  %constant.data = inttoptr i64 %value to ptr
  call void @put(ptr %w, i64 %k, ptr %constant.data, i64 0, i64 0)
  br label %accepted
moment:                                         ; a finite Python float for a vector of one number
  %moment.at = getelementptr ptr, ptr %args, i64 %value
  %moment.object = load ptr, ptr %moment.at
  %moment.type = member type of %moment.object
  %float = field float
  %is.moment = icmp eq ptr %moment.type, %float
  br i1 %is.moment, label %moment.number, label %unusual
moment.number:
  %moment.data = getelementptr i8, ptr %moment.object, i64 {number}
  %moment.value = load double, ptr %moment.data
  %moment.size = call double @llvm.fabs.f64(double %moment.value)
  %moment.finite = fcmp olt double %moment.size, 0x7FF0000000000000
  call void @put(ptr %w, i64 %k, ptr %moment.data, i64 0, i64 0)
  br i1 %moment.finite, label %accepted, label %unusual
of.wrench:
  %wrench.at = getelementptr %Work, ptr %w, i32 0, i32 7, i64 %value
  %wrench = load ptr, ptr %wrench.at
  br label %look
of.slot:
  %slot.at = getelementptr ptr, ptr %args, i64 %value
  %slot.object = load ptr, ptr %slot.at
  br label %look
look:
  %object = phi ptr [ %wrench, %of.wrench ], [ %slot.object, %of.slot ]
  %rows.taken = call i64 @take(ptr %call, ptr %object, i64 %k, i64 %rows, ptr %w)
  %is.taken = icmp ne i64 %rows.taken, -2
  br i1 %is.taken, label %accepted, label %unusual
accepted:
  %rows.next = phi i64 [ %rows, %constant ], [ %rows, %moment.number ], [ %rows.taken, %look ]
  %k.next = add i64 %k, 1
  br label %argument

choose:
  %is.one = icmp eq i64 %rows, -1
  %one = field one
  %batch = field batch
  %code = select i1 %is.one, ptr %one, ptr %batch
  %ready = icmp ne ptr %code, null
  %skip = select i1 %is.one, i64 0, i64 1
  %sizes = getelementptr %Work, ptr %w, i32 0, i32 8
  store i64 %rows, ptr %sizes
  %out.slot = field out
  %has.out = icmp sge i64 %out.slot, 0
  %out.at = getelementptr ptr, ptr %args, i64 %out.slot
  br i1 %ready, label %rotations, label %unusual
rotations:
  %quaternions = field quaternions
  %has.quaternions = icmp sgt i64 %quaternions, 0
  br i1 %has.quaternions, label %rotation, label %rates
rotation:
  %all.turn = call i1 @turns(ptr %call, i64 %rows, ptr %w)
  br i1 %all.turn, label %rates, label %unusual
rates:
  %moving = field moving
  %has.moving = icmp sgt i64 %moving, 0
  br i1 %has.moving, label %rate, label %result
rate:
  %all.move = call i1 @moves(ptr %call, i64 %rows, ptr %w)
  br i1 %all.move, label %result, label %unusual

result:                                         ; those that are seen
  %r = phi i64 [ 0, %rates ], [ 0, %rate ], [ %r.next, %placed ]
  %r.more = icmp slt i64 %r, %seen
  br i1 %r.more, label %make, label %work
make:
  %r.place = add i64 %r, %inputs
  %r.shape = getelementptr [9 x i64], ptr %shapes, i64 %r.place
  %r.axes = load i64, ptr %r.shape
  %r.ndim = add i64 %r.axes, %skip
  %r.scalar = icmp eq i64 %r.ndim, 0
  %r.states = select i1 %is.one, i64 1, i64 %rows
  %scalar.at = getelementptr %Work, ptr %w, i32 0, i32 4, i64 %r
  %no.out = xor i1 %has.out, true
  %make.scalar = and i1 %r.scalar, %no.out
  br i1 %make.scalar, label %placed, label %copy
copy:
  %i = phi i64 [ 0, %make ], [ %i.next, %copied ]
  %r.count = phi i64 [ %r.states, %make ], [ %r.count.next, %copied ]
  %i.more = icmp slt i64 %i, %r.axes
  br i1 %i.more, label %copied, label %allocate
copied:
  %i.next = add i64 %i, 1
  %from.at = getelementptr i64, ptr %r.shape, i64 %i.next
  %size.i = load i64, ptr %from.at
  %i.lead = add i64 %i, %skip
  %to.at = getelementptr i64, ptr %sizes, i64 %i.lead
  store i64 %size.i, ptr %to.at
  %r.count.next = mul i64 %r.count, %size.i
  br label %copy
allocate:
  br i1 %has.out, label %given, label %fresh
given:
  %g = load ptr, ptr %out.at
  %g.suits = call i1 @suits(ptr %call, ptr %g, i64 %r.ndim, ptr %w)
  br i1 %g.suits, label %given.taken, label %unusual
given.taken:
  %g.data = member data of %g
  %g.has.rows = icmp sgt i64 %r.ndim, 0
  br i1 %g.has.rows, label %given.step, label %placed
given.step:
  %g.steps = member strides of %g
  %g.step = load i64, ptr %g.steps
  br label %placed
fresh:                                          ; an array nobody holds any more, if there is one, unless it is huge
  %spares = field spares
  %r.twice = mul i64 %r, 2
  %spare.at = getelementptr ptr, ptr %spares, i64 %r.twice
  %is.kept = icmp ule i64 %r.count, {most_kept}
  br i1 %is.kept, label %spare, label %new
spare:
  %again = call ptr @spare(ptr %call, ptr %spare.at, i64 %r.ndim, ptr %w)
  %is.again = icmp ne ptr %again, null
  br i1 %is.again, label %fresh.made, label %new
new:
  %ndarray = field ndarray
  %number = field number
  %new.array = field new_array
  %nd = trunc i64 %r.ndim to i32
  %num = trunc i64 %number to i32
  %made = call ptr %new.array(ptr %ndarray, i32 %nd, ptr %sizes, i32 %num, ptr null, ptr null, i32 0, i32 0, ptr null)
  %is.made = icmp ne ptr %made, null
  br i1 %is.made, label %new.made, label %failed
new.made:
  br i1 %is.kept, label %spare.later, label %fresh.made
spare.later:
  call void @remember(ptr %call, ptr %spare.at, ptr %made)
  br label %fresh.made
fresh.made:
  %taken = phi ptr [ %again, %spare ], [ %made, %new.made ], [ %made, %spare.later ]
  %made.data = member data of %taken
  %made.steps = member strides of %taken
  %made.step = load i64, ptr %made.steps
  br label %placed
placed:
  %r.data = phi ptr [ %scalar.at, %make ], [ %made.data, %fresh.made ], [ %g.data, %given.taken ], [ %g.data, %given.step ]
  %r.step = phi i64 [ 0, %make ], [ %made.step, %fresh.made ], [ 0, %given.taken ], [ %g.step, %given.step ]
  %r.object = phi ptr [ null, %make ], [ %taken, %fresh.made ], [ null, %given.taken ], [ null, %given.step ]
  call void @put(ptr %w, i64 %r.place, ptr %r.data, i64 %r.step, i64 0)
  %r.object.at = getelementptr %Work, ptr %w, i32 0, i32 3, i64 %r
  store ptr %r.object, ptr %r.object.at
  %r.next = add i64 %r, 1
  br label %result

work:
  %judged = field judged
  br i1 %is.one, label %work.one, label %work.batch
work.one:
  %hidden.one = getelementptr %Work, ptr %w, i32 0, i32 9
  %judged.one = call ptr @hide(ptr %call, ptr %hidden.one, i64 1, ptr %w)
  %scratch = field scratch
  call void %one(ptr %w, ptr %scratch)
  %sound.one = call i1 @sound(ptr %call, i64 %judged, ptr %judged.one)
  br i1 %sound.one, label %finish, label %unsound
work.batch:                                     ; other threads may run meanwhile, so scratch is of this call
  %room.bytes = field room_bytes
  %hidden = field hidden
  %hidden.numbers = mul i64 %hidden, %rows
  %hidden.bytes = mul i64 %hidden.numbers, 8
  %bytes = add i64 %room.bytes, %hidden.bytes
  %malloc = field malloc
  %room = call ptr %malloc(i64 %bytes)
  %has.room = icmp ne ptr %room, null
  br i1 %has.room, label %run, label %no.room
run:
  %raw = ptrtoint ptr %room to i64
  %up = add i64 %raw, 63
  %round = and i64 %up, -64
  %aligned = inttoptr i64 %round to ptr
  %hidden.batch = getelementptr i8, ptr %room, i64 %room.bytes
  %judged.batch = call ptr @hide(ptr %call, ptr %hidden.batch, i64 %rows, ptr %w)
  %strides = getelementptr %Work, ptr %w, i32 0, i32 1
  call void @keep(ptr %call, ptr %w, i1 true)
  %save = field save_thread
  %state = call ptr %save()
  call void %batch(ptr %w, ptr %strides, i64 %rows, ptr %aligned)
  %judged.numbers = mul i64 %judged, %rows
  %sound.batch = call i1 @sound(ptr %call, i64 %judged.numbers, ptr %judged.batch)
  %restore = field restore_thread
  call void %restore(ptr %state)
  call void @keep(ptr %call, ptr %w, i1 false)
  %free = field free
  call void %free(ptr %room)
  br i1 %sound.batch, label %finish, label %unsound
no.room:
  %no.memory = field no_memory
  %none = call ptr %no.memory()
  br label %failed.all
unsound:
  call void @release(ptr %call, ptr %w, i64 %seen)
  br label %unusual
failed:
  br label %failed.all
failed.all:
  %made.so.far = phi i64 [ %r, %failed ], [ %seen, %no.room ]
  call void @release(ptr %call, ptr %w, i64 %made.so.far)
  ret ptr null

finish:
  br i1 %has.out, label %return.out, label %box
return.out:
  %returned = load ptr, ptr %out.at
  %incref = field incref
  call void %incref(ptr %returned)
  ret ptr %returned
box:                                            ; a scalar result becomes a Python float
  %b = phi i64 [ 0, %finish ], [ %b.next, %boxed ]
  %b.more = icmp slt i64 %b, %seen
  br i1 %b.more, label %open, label %return
open:
  %b.at = getelementptr %Work, ptr %w, i32 0, i32 3, i64 %b
  %b.object = load ptr, ptr %b.at
  %b.empty = icmp eq ptr %b.object, null
  br i1 %b.empty, label %float.of, label %boxed
float.of:
  %b.scalar = getelementptr %Work, ptr %w, i32 0, i32 4, i64 %b
  %itemsize = field itemsize
  %is.single = icmp eq i64 %itemsize, 4
  %wide = load double, ptr %b.scalar
  %narrow = load float, ptr %b.scalar
  %widened = fpext float %narrow to double
  %b.value = select i1 %is.single, double %widened, double %wide
  %new.float = field new_float
  %b.float = call ptr %new.float(double %b.value)
  store ptr %b.float, ptr %b.at
  br label %boxed
boxed:
  %b.next = add i64 %b, 1
  br label %box
return:
  %steps = field steps
  %bare = icmp eq i64 %steps, 0
  br i1 %bare, label %return.one, label %return.built
return.one:
  %only.at = getelementptr %Work, ptr %w, i32 0, i32 3
  %only = load ptr, ptr %only.at
  ret ptr %only
return.built:
  %built = call ptr @built(ptr %call, ptr %w)
  ret ptr %built
unusual:
  ret ptr inttoptr (i64 1 to ptr)
another:
  ret ptr inttoptr (i64 2 to ptr)
}

; Room for the results nobody sees, one behind the other; gives where the last of them, the judged one, begins.
define internal ptr @hide(ptr %call, ptr %room, i64 %rows, ptr %w) nounwind {
start:
  %inputs = field inputs
  %seen = field seen
  %outputs = field outputs
  %widths = field hidden_sizes
  br label %next
next:
  %r = phi i64 [ %seen, %start ], [ %r.next, %place ]
  %here = phi ptr [ %room, %start ], [ %after, %place ]
  %last = phi ptr [ %room, %start ], [ %here, %place ]
  %more = icmp slt i64 %r, %outputs
  br i1 %more, label %place, label %done
place:
  %k = sub i64 %r, %seen
  %width.at = getelementptr i64, ptr %widths, i64 %k
  %width = load i64, ptr %width.at
  %stride = mul i64 %width, 8
  %bytes = mul i64 %stride, %rows
  %argument = add i64 %r, %inputs
  call void @put(ptr %w, i64 %argument, ptr %here, i64 %stride, i64 0)
  %after = getelementptr i8, ptr %here, i64 %bytes
  %r.next = add i64 %r, 1
  br label %next
done:
  ret ptr %last
}

; Values of a dict stay alive while other threads run.
define internal void @keep(ptr %call, ptr %w, i1 %begin) nounwind {
start:
  %wrenches = field wrenches
  %incref = field incref
  %decref = field decref
  %change = select i1 %begin, ptr %incref, ptr %decref
  br label %next
next:
  %k = phi i64 [ 0, %start ], [ %k.next, %one ]
  %more = icmp slt i64 %k, %wrenches
  br i1 %more, label %one, label %done
one:
  %at = getelementptr %Work, ptr %w, i32 0, i32 7, i64 %k
  %object = load ptr, ptr %at
  call void %change(ptr %object)
  %k.next = add i64 %k, 1
  br label %next
done:
  ret void
}

; Give up the results made so far.
define internal void @release(ptr %call, ptr %w, i64 %count) nounwind {
start:
  %decref = field decref
  br label %next
next:
  %k = phi i64 [ 0, %start ], [ %k.next, %skip ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %look, label %done
look:
  %at = getelementptr %Work, ptr %w, i32 0, i32 3, i64 %k
  %object = load ptr, ptr %at
  %nothing = icmp eq ptr %object, null
  br i1 %nothing, label %skip, label %drop
drop:
  call void %decref(ptr %object)
  br label %skip
skip:
  %k.next = add i64 %k, 1
  br label %next
done:
  ret void
}

; Results in their tuples, named tuples and dicts. A step is a kind (0 the next result; 1 a tuple, 2 a dict of the
; last ones), how many, the class, and the keys.
define internal ptr @built(ptr %call, ptr %w) nounwind {
start:
  %stack = alloca [256 x ptr]
  %steps = field steps
  %list = field step_list
  br label %next
next:
  %s = phi i64 [ 0, %start ], [ %s.next, %pushed ]
  %r = phi i64 [ 0, %start ], [ %r.now, %pushed ]
  %top = phi i64 [ 0, %start ], [ %top.now, %pushed ]
  %more = icmp slt i64 %s, %steps
  br i1 %more, label %step, label %done
step:
  %s.next = add i64 %s, 1
  %at = getelementptr [4 x i64], ptr %list, i64 %s
  %kind = load i64, ptr %at
  %count.at = getelementptr i64, ptr %at, i64 1
  %count = load i64, ptr %count.at
  %class.at = getelementptr i64, ptr %at, i64 2
  %class = load ptr, ptr %class.at
  %keys.at = getelementptr i64, ptr %at, i64 3
  %keys = load ptr, ptr %keys.at
  %first = sub i64 %top, %count
  %members = getelementptr ptr, ptr %stack, i64 %first
  switch i64 %kind, label %leaf [
    i64 1, label %tuple
    i64 2, label %dict
  ]
leaf:
  %leaf.at = getelementptr %Work, ptr %w, i32 0, i32 3, i64 %r
  %leaf.object = load ptr, ptr %leaf.at
  %r.next = add i64 %r, 1
  br label %pushed
tuple:
  %new = field new_object
  %tuple.object = call ptr %new(ptr %class, i64 %count)
  %tuple.made = icmp ne ptr %tuple.object, null
  br i1 %tuple.made, label %fill, label %failed
fill:
  %t = phi i64 [ 0, %tuple ], [ %t.next, %put ]
  %t.more = icmp slt i64 %t, %count
  br i1 %t.more, label %put, label %pushed
put:
  %t.from = getelementptr ptr, ptr %members, i64 %t
  %t.object = load ptr, ptr %t.from
  %t.items = getelementptr i8, ptr %tuple.object, i64 {items}
  %t.to = getelementptr ptr, ptr %t.items, i64 %t
  store ptr %t.object, ptr %t.to
  %t.next = add i64 %t, 1
  br label %fill
dict:
  %call.class = field call_class
  %dict.object = call ptr %call.class(ptr %class)
  %dict.made = icmp ne ptr %dict.object, null
  %set = field dict_set
  %decref = field decref
  br i1 %dict.made, label %entry, label %failed
entry:
  %d = phi i64 [ 0, %dict ], [ %d.next, %enter ]
  %d.more = icmp slt i64 %d, %count
  br i1 %d.more, label %enter, label %pushed
enter:
  %d.from = getelementptr ptr, ptr %members, i64 %d
  %d.object = load ptr, ptr %d.from
  %d.key.at = getelementptr ptr, ptr %keys, i64 %d
  %d.key = load ptr, ptr %d.key.at
  %is.set = call i32 %set(ptr %dict.object, ptr %d.key, ptr %d.object)
  call void %decref(ptr %d.object)
  %d.next = add i64 %d, 1
  br label %entry
pushed:
  %object = phi ptr [ %leaf.object, %leaf ], [ %tuple.object, %fill ], [ %dict.object, %entry ]
  %r.now = phi i64 [ %r.next, %leaf ], [ %r, %fill ], [ %r, %entry ]
  %place = phi i64 [ %top, %leaf ], [ %first, %fill ], [ %first, %entry ]
  %place.at = getelementptr ptr, ptr %stack, i64 %place
  store ptr %object, ptr %place.at
  %top.now = add i64 %place, 1
  br label %next
done:
  %result = load ptr, ptr %stack
  ret ptr %result
failed:
  ret ptr null
}
