#!/usr/bin/env bash
# The frame sensor, frame by frame: threads that present through real and through made libraries, which are replaced,
# overwritten, stripped, damaged, of 32 bits, or called whatever a path can be. Needs no display.
. tests/tap.sh

# An emulated machine needs longer for everything.
pause_ms=${TACTUS_VM:+3000}
pause_ms=${pause_ms:-300}

# watch [OPTIONS]: tactus roles in the background, into $scratch/roles
watch() {
	: >"$scratch/err"
	timeout 100 "$tactus" roles --json -n all "$@" >"$scratch/roles" 2>"$scratch/err" &
	watcher=$!
	wait_for "$scratch/err" watching
}
watch_ends() {
	kill -INT "$watcher" 2>/dev/null
	wait "$watcher"
	lost=$(sed -n 's/^tactus: \([0-9]*\) facts about threads were lost.*/\1/p' "$scratch/err")
}
# of PID FIELDS: those of each thread of a process that presents, the ones with most frames first
of() {
	json "[tuple(r[f] for f in '$2'.split(',')) for r in sorted(rows, key=lambda r: -r['presents']) if r['pid'] == $1 and r['presents']]" \
		<"$scratch/roles"
}
# present LIBRARY FUNCTION FRAMES: the pid of the process that did it is $ran. Real libraries have things to do between
# being mapped and the first frame; here it is a pause.
present() {
	status=0
	build/workloads/present call "$@" "$pause_ms" >"$scratch/ran" 2>&1 &
	ran=$!
	wait $ran || status=$?
}
# present_begins LIBRARY FUNCTION FRAMES: mapped, and each `present_goes` presents once more
present_begins() {
	rm -f "$scratch/go"
	mkfifo "$scratch/go"
	: >"$scratch/presented"
	build/workloads/present call "$@" wait <"$scratch/go" >"$scratch/presented" 2>&1 &
	begun=$!
	exec 3>"$scratch/go"
	wait_for "$scratch/presented" mapped
	sleep $((pause_ms / 1000)).$((pause_ms % 1000))
}
present_goes() {
	local before
	before=$(grep -c presented "$scratch/presented")
	echo >&3
	for _ in $(seq 600); do
		[ "$(grep -c presented "$scratch/presented")" = "$before" ] || return 0
		sleep 0.1
	done
}
present_ends() {
	exec 3>&-
	wait "$begun"
}
# make_library PATH FUNCTION LINES-BEFORE: exports the function, behind so many others
make_library() {
	local i
	for ((i = 0; i < $3; i++)); do echo "int before_$i(int n) { return n * $i + 77; }"; done >"$scratch/library.c"
	echo "unsigned $2(void *a, void *b) { return a == b; }" >>"$scratch/library.c"
	mkdir -p "$(dirname "$1")"
	gcc -O1 -shared -fPIC "$scratch/library.c" -o "$1"
}

# Two threads of one process through the real EGL, each into a surface of its own.
watch
build/workloads/present egl 2 300 &
both=$!
wait $both
is "a program presents by EGL" $? 0
build/workloads/present call libEGL.so.1 eglSwapBuffers 5 >/dev/null &
few=$!
wait $few
present_begins libEGL.so.1 eglSwapBuffers 40
present_goes
build/workloads/worker 50 >/dev/null 2>&1 &
other=$!
sleep 0.3
kill $other 2>/dev/null
watch_ends
is "two threads of one process: each frame of each, and no other thread" "$(of $both presents,role,confidence,evidence_kind)" \
	"[(300, 'render', 100, 'gpu'), (300, 'render', 100, 'gpu')]"
like "in words" "$(of $both evidence)" 'presents .* by EGL, 300 in all'
is "after five frames it is nearly sure" "$(of $few presents,role,confidence)" "[(5, 'render', 95)]"
is "a process that goes on is seen as far as it came" "$(of $begun presents)" "[(40,)]"
is "who presents nothing has no frames" "$(of $other presents)" "[]"

# That one had its library mapped long before this watch begins.
watch
present_goes
watch_ends
is "a library mapped before the start" "$(of $begun presents,role)" "[(40, 'render')]"
present_ends

# Without the sensor nobody presents.
watch --without frame
present libEGL.so.1 eglSwapBuffers 40
watch_ends
is "--without frame" "$(of $ran presents)" "[]"

# Libraries of any path; replaced and overwritten while they are mapped.
odd=$scratch/$'a b\n\033[31m \\012 (deleted)'
make_library "$odd/libEGL.so.1" eglSwapBuffers 0
make_library "$scratch/one/libEGL.so.1" eglSwapBuffers 0
make_library "$scratch/other/libEGL.so.1" eglSwapBuffers 400
make_library "$scratch/without/libGLX.so.0" nothing 3
mkdir "$scratch/torn"
head -c 3000 "$scratch/one/libEGL.so.1" >"$scratch/torn/libGLX.so.0"
cp "$scratch/one/libEGL.so.1" "$scratch/first"
watch
present "$odd/libEGL.so.1" eglSwapBuffers 30
odd_pid=$ran
present_begins "$scratch/one/libEGL.so.1" eglSwapBuffers 30
present_goes
rm "$scratch/one/libEGL.so.1"
cp "$scratch/other/libEGL.so.1" "$scratch/one/libEGL.so.1"
present_goes
present "$scratch/one/libEGL.so.1" eglSwapBuffers 20
replaced=$ran
present_ends
# In place: the same inode has other code now, and what was a function's beginning is in the middle of another.
cat "$scratch/first" >"$scratch/one/libEGL.so.1"
sleep $((pause_ms / 1000)).2
present "$scratch/one/libEGL.so.1" eglSwapBuffers 25
shrunk=$ran shrunk_status=$status
cat "$scratch/other/libEGL.so.1" >"$scratch/one/libEGL.so.1"
sleep $((pause_ms / 1000)).2
present "$scratch/one/libEGL.so.1" eglSwapBuffers 35
grown=$ran grown_status=$status
present "$scratch/without/libGLX.so.0" nothing 5
without_status=$status
python3 -c 'import mmap, sys
f = open(sys.argv[1], "rb")
mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)' "$scratch/torn/libGLX.so.0"
sleep $((pause_ms / 1000)).2
present libEGL.so.1 eglSwapBuffers 15
after=$ran
watch_ends
say_measured "$(grep '^tactus: frame' "$scratch/err" | sed "s|$scratch||")"
is "a library on a path of hostile bytes" "$(of $odd_pid presents)" "[(30,)]"
is "a library deleted and replaced while mapped: the process goes on counting" "$(of $begun presents)" "[(60,)]"
is "and the next one counts in the new file" "$(of $replaced presents)" "[(20,)]"
is "overwritten in place by a smaller one: the next process is well" $shrunk_status 0
is "and is counted where the function is now" "$(of $shrunk presents)" "[(25,)]"
is "overwritten by a larger one: the next process is well" $grown_status 0
is "and is counted" "$(of $grown presents)" "[(35,)]"
is "a library without the function does no harm" $without_status 0
like "and that is said" "$(cat "$scratch/err")" 'frame: .*/without/libGLX.so.0: it exports no function glXSwapBuffers: frames by glXSwapBuffers are not seen there'
like "a torn library is said" "$(cat "$scratch/err")" 'frame: .*/torn/libGLX.so.0: its section headers are not all there'
is "and all goes on" "$(of $after presents)" "[(15,)]"
is "nothing was lost" "${lost:-0}" 0
is "no control character reaches the terminal" "$(tr -d '[:print:]\n' <"$scratch/err" | wc -c)" 0

# Where perf does not tell, /proc is looked at once a second.
make_library "$scratch/late/libEGL.so.1" eglSwapBuffers 0
export TACTUS_SKIP_HOOKS=libraries:perf
like "doctor says what is missed without perf's word" "$("$tactus" doctor)" '^frame: uprobe: perf.s word .*; so a library that is new .* up to a second'
watch
present_begins "$scratch/late/libEGL.so.1" eglSwapBuffers 30
sleep $((pause_ms / 1000 + 2)).5
present_goes
watch_ends
unset TACTUS_SKIP_HOOKS
is "a library mapped meanwhile is found in /proc" "$(of $begun presents)" "[(30,)]"
present_ends

# 32-bit programs, which need no 32-bit system to be made: each is its own library. One presents by GLX; the other asks a
# Vulkan loader, which is itself too, for a driver's function.
cat >"$scratch/narrow.c" <<'END'
static int call(int number, const void *one)
{
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(one), "c"(0), "d"(0) : "memory");
	return result;
}
static void pause_ms(int ms)
{
	int time[2] = { 0, ms * 1000000 };
	call(162, time);
}
static __attribute__((noinline)) void driver(void) { __asm__ volatile("nop; nop; nop"); }
__attribute__((noinline)) void glXSwapBuffers(void) { __asm__ volatile("nop; nop"); }
__attribute__((noinline)) void *vkGetDeviceProcAddr(void *device, const char *name)
{
	__asm__ volatile("nop" : : "r"(device));
	return name[2] == 'Q' ? (void *)driver : (void *)glXSwapBuffers;
}
void *vkGetInstanceProcAddr(void *instance, const char *name) { return vkGetDeviceProcAddr(instance, name); }
void vkQueuePresentKHR(void) {}
void begin(void)
{
	void (*volatile present)(void) = glXSwapBuffers;
	pause_ms(900);
#ifdef ASKS
	vkGetDeviceProcAddr(0, "vkCreateSwapchainKHR");
	present = vkGetDeviceProcAddr(0, "vkQueuePresentKHR");
	pause_ms(900);
#endif
	for (int i = 0; i < 100; i++)
		present();
	call(1, 0);
}
__asm__(".globl _start\n_start: and $-16, %esp\n call begin\n");
END
narrow() { gcc -m32 -O1 -nostdlib -fPIE -pie -fno-stack-protector -Wl,--export-dynamic -Wl,--no-dynamic-linker "$@" "$scratch/narrow.c" 2>"$scratch/narrow-err"; }
if narrow -o "$scratch/libGLX.so.0" && narrow -DASKS -o "$scratch/libvulkan.so.1" && { "$scratch/libGLX.so.0"; } 2>/dev/null; then
	watch
	"$scratch/libGLX.so.0" &
	plain=$!
	wait $plain
	"$scratch/libvulkan.so.1" &
	asks=$!
	wait $asks
	watch_ends
	is "a 32-bit program's frames" "$(of $plain presents,role)" "[(100, 'render')]"
	is "and those of one that asks where to present" "$(of $asks presents,role)" "[(100, 'render')]"
	like "by Vulkan" "$(of $asks evidence)" 'by Vulkan'
else
	skip "a 32-bit program's frames" "no such program can be made or run here"
fi
done_testing
