#!/usr/bin/env bash
# Submits by Vulkan, on a driver that no ioctl shows: a thread that submits and presents nothing is known by each of the ways
# there are, with as many submits as it made; and flushes of OpenGL, by Mesa's libraries and by a double.
. tests/tap.sh

export VK_ICD_FILENAMES=${VK_ICD_FILENAMES:-$(printf '%s' /usr/share/vulkan/icd.d/lvp_icd*.json)}
if ! printf '\n\n\n\n' | build/workloads/vk_submit loader 1 >/dev/null 2>"$scratch/err"; then
	skip "submits by Vulkan" "$(cat "$scratch/err")"
	done_testing
fi

# submits WAY COUNT: a recording of it, in $scratch/WAY.rec; the program goes on once its function is probed
submits() {
	rm -f "$scratch/in"
	mkfifo "$scratch/in"
	: >"$scratch/out"
	: >"$scratch/err"
	timeout 100 "$tactus" record -v -o "$scratch/$1.rec" --force >/dev/null 2>"$scratch/err" &
	watcher=$!
	wait_for "$scratch/err" watching
	build/workloads/vk_submit "$1" "$2" <"$scratch/in" >"$scratch/out" 2>&1 &
	program=$!
	exec 3>"$scratch/in"
	wait_for "$scratch/out" mapped
	wait_for "$scratch/err" 'frame: .*libvulkan.*: probes are in place'
	echo >&3
	wait_for "$scratch/out" ready
	[[ $1 == loader* ]] || wait_for "$scratch/err" "frame: process $program asked where to present: a probe is in place"
	echo >&3
	wait_for "$scratch/out" 'done'
	kill -INT $watcher
	wait $watcher
	echo >&3
	exec 3>&-
	wait $program
	"$tactus" gpu -i "$scratch/$1.rec" --json 2>/dev/null | grep '"record":"submits"' | grep "\"pid\":$program," >"$scratch/gpu"
	"$tactus" roles -i "$scratch/$1.rec" --json -n all 2>/dev/null | grep "\"pid\":$program," | grep vk-submits >"$scratch/roles"
}

for way in loader loader2 driver driver2; do
	submits $way 25
	say_measured "$way: $(json '"%s: %s, %d submits; %s" % (d["comm"], d["driver"], d["submits"], d["kind"])' <"$scratch/gpu")"
	is "$way: each of 25 submits by Vulkan is counted once, for the thread that made it" \
		"$(json '(d["comm"], d["driver"], d["kind"], d["submits"])' <"$scratch/gpu")" "('vk-submits', 'a GPU by Vulkan', 'commands', 25)"
	is "$way: a thread that submits by Vulkan and presents nothing is for frames" \
		"$(json '(d["role"], d["evidence_kind"], d["gpu_submits"], d["presents"])' <"$scratch/roles")" "('render', 'gpu', 25, 0)"
done

# The real libraries, off screen: on llvmpipe where there is no GPU.
for library in libGLESv2.so.2 libGL.so.1 libOpenGL.so.0; do
	if ! printf '\n\n' | timeout 60 build/workloads/gl_submit $library 1 >/dev/null 2>"$scratch/err"; then
		skip "flushes of OpenGL by $library" "$(cat "$scratch/err")"
		continue
	fi
	rm -f "$scratch/in"
	mkfifo "$scratch/in"
	: >"$scratch/err"
	: >"$scratch/out"
	timeout 100 "$tactus" record -v -o "$scratch/gl.rec" --force >/dev/null 2>"$scratch/err" &
	watcher=$!
	wait_for "$scratch/err" watching
	build/workloads/gl_submit $library 25 <"$scratch/in" >"$scratch/out" 2>&1 &
	program=$!
	exec 3>"$scratch/in"
	wait_for "$scratch/out" mapped
	wait_for "$scratch/err" "frame: .*/${library%.so*}.so.*: probes are in place"
	echo >&3
	wait_for "$scratch/out" 'done'
	kill -INT $watcher
	wait $watcher
	exec 3>&-
	wait $program
	"$tactus" gpu -i "$scratch/gl.rec" --json 2>/dev/null | grep '"record":"submits"' | grep "\"pid\":$program," >"$scratch/gpu"
	say_measured "$library on $(sed -n 's/^renderer //p' "$scratch/out"): $(json '"%s %d submits" % (d["comm"], d["submits"])' <"$scratch/gpu")"
	is "$library: each of 25 calls of glFlush and glFinish is one submit of the thread that made it" \
		"$(json '[(r["comm"], r["driver"], r["submits"]) for r in rows]' <"$scratch/gpu")" "[('gl-submits', 'a GPU by OpenGL', 25)]"
	is "$library: a thread that draws by OpenGL and presents nothing is for frames" \
		"$("$tactus" roles -i "$scratch/gl.rec" --json -n all 2>/dev/null | grep "\"pid\":$program," | grep gl-submits | json '(d["role"], d["evidence_kind"], d["presents"])')" "('render', 'gpu', 0)"
done

# A double of OpenGL's library: what counts is the function and the file's name.
printf 'void glFlush(void) {}\nvoid glFinish(void) {}\n' >"$scratch/gl.c"
gcc -shared -fPIC -O1 "$scratch/gl.c" -o "$scratch/libOpenGL.so.0"
rm -f "$scratch/in"
mkfifo "$scratch/in"
: >"$scratch/err"
: >"$scratch/out"
timeout 100 "$tactus" record -v -o "$scratch/gl.rec" >/dev/null 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
build/workloads/present call "$scratch/libOpenGL.so.0" glFlush 12 wait <"$scratch/in" >"$scratch/out" 2>&1 &
program=$!
exec 3>"$scratch/in"
wait_for "$scratch/out" mapped
wait_for "$scratch/err" 'frame: .*libOpenGL.so.0: probes are in place'
echo >&3
wait_for "$scratch/out" presented
kill -INT $watcher
wait $watcher
exec 3>&-
wait $program
is "OpenGL by a double of its library: 12 flushes are counted as 12 submits" \
	"$("$tactus" gpu -i "$scratch/gl.rec" --json 2>/dev/null | grep '"record":"submits"' | grep "\"pid\":$program," | json '(d["driver"], d["submits"])')" \
	"('a GPU by OpenGL', 12)"
done_testing
