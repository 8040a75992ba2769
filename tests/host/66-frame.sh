#!/usr/bin/env bash
# The frame sensor, frame by frame: threads that present through real and through made libraries, which are replaced,
# overwritten, stripped, damaged, of 32 bits, or called whatever a path can be. Needs no display.
. tests/tap.sh

# watch [OPTIONS]: tactus roles in the background, into $scratch/roles. With -v it says when a library's probes are in place.
watch() {
	: >"$scratch/err"
	timeout 900 "$tactus" roles -v --json -n all "$@" >"$scratch/roles" 2>"$scratch/err" &
	watcher=$!
	wait_for "$scratch/err" watching
}
watch_ends() {
	kill -INT "$watcher" 2>/dev/null
	wait "$watcher"
	lost=$(sed -n 's/^tactus: [0-9]* facts were lost (\(.*\)).*/\1/p' "$scratch/err")
}
# of PID FIELDS: those of each thread of a process that presents, the ones with most frames first
of() {
	json "[tuple(r[f] for f in '$2'.split(',')) for r in sorted(rows, key=lambda r: -r['presents']) if r['pid'] == $1 and r['presents']]" \
		<"$scratch/roles"
}
# probed WORDS: how often tactus said that there are probes now in a file of such a path, or for such a process
probed() { grep -F -- "$1" "$scratch/err" | grep -cE '^tactus: frame: .*: (probes are|a probe is) in place'; }
real_egl=$(readlink -f "$(ldconfig -p | sed -n 's/.*libEGL\.so\.1 .*x86-64.*=> //p' | head -n 1)")
# until_more COUNT COMMAND...: until the command prints more than COUNT, for three minutes at most
until_more() {
	local count=$1
	shift
	for _ in $(seq 3600); do
		[ "$("$@")" -le "$count" ] || return 0
		sleep 0.05
	done
	flunk "'$*' prints more than $count within three minutes"
}
presented() { grep -c presented "$scratch/presented"; }
# present_begins WHETHER LIBRARY FUNCTION FRAMES: mapped, and, where the library is new to tactus, with probes in it; each
# `present_goes` presents once more
present_begins() {
	local before whether=$1
	shift
	before=$(probed "$scratch")
	rm -f "$scratch/go"
	mkfifo "$scratch/go"
	: >"$scratch/presented"
	build/workloads/present call "$@" wait <"$scratch/go" >"$scratch/presented" 2>&1 &
	begun=$!
	exec 3>"$scratch/go"
	wait_for "$scratch/presented" mapped
	case $whether-$1 in
	known*) ;;
	new-/*) until_more "$before" probed "$scratch" ;;
	*) until_more 0 probed "$real_egl" ;;
	esac
}
present_goes() {
	local before
	before=$(presented)
	echo >&3
	until_more "$before" presented
}
present_ends() {
	exec 3>&-
	wait "$begun"
}
# present WHETHER LIBRARY FUNCTION FRAMES: the pid of the process that did it is $ran
present() {
	present_begins "$@"
	echo >&3
	status=0
	present_ends || status=$?
	ran=$begun
}
# overwrite FILE CONTENT: in place, and until no tactus on this machine watches the file, whose probes are gone then too. One that came to
# attach them after the write has right ones and keeps them, until it is written to again.
overwrite() {
	local inode began=$SECONDS written=-10
	inode=$(printf ' ino:%x ' "$(stat -c %i "$1")")
	while ((SECONDS - began < 180)); do
		if ((SECONDS - written >= 5)); then
			cat "$2" >"$1"
			written=$SECONDS
		fi
		pgrep -x tactus | sed 's|.*|/proc/&/fdinfo|' | xargs -I@ find @ -type f 2>/dev/null | xargs grep -qs "^inotify.*$inode" || return 0
		sleep 0.05
	done
	flunk "a file that is written to is let go of within three minutes"
}
# make_library PATH FUNCTION LINES-BEFORE: exports the function, behind so many others
make_library() {
	local i
	for ((i = 0; i < $3; i++)); do echo "int before_$i(int n) { return n * $i + 77; }"; done >"$scratch/library.c"
	echo "unsigned $2(void *a, void *b) { return a == b; }" >>"$scratch/library.c"
	mkdir -p "$(dirname "$1")"
	gcc -O1 -shared -fPIC "$scratch/library.c" -o "$1"
}

# The real EGL, and two threads of one process, each into a surface of its own.
watch
present_begins new libEGL.so.1 eglSwapBuffers 5
few=$begun
present_goes
present_ends
build/workloads/present egl 2 300 &
both=$!
wait $both
is "a program presents by EGL" $? 0
present_begins known libEGL.so.1 eglSwapBuffers 40
present_goes
mkfifo "$scratch/idle"
build/workloads/worker <"$scratch/idle" >"$scratch/worker" 2>&1 &
other=$!
exec 4>"$scratch/idle"
wait_for "$scratch/worker" '^[0-9]+ [0-9]+$'
watch_ends
exec 4>&-
wait $other
is "two threads of one process: each frame of each is counted, and no other thread's" "$(of $both presents,role,confidence,evidence_kind)" \
	"[(300, 'render', 100, 'gpu'), (300, 'render', 100, 'gpu')]"
like "frames by EGL are told in words" "$(of $both evidence)" 'presents .* by EGL, 300 in all'
is "a thread is nearly surely for rendering after five frames" "$(of $few presents,role,confidence)" "[(5, 'render', 95)]"
is "a process that goes on is seen as far as it came" "$(of $begun presents)" "[(40,)]"
is "a process that presents nothing has no frames" "$(of $other presents)" "[]"

# That one had its library mapped long before this watch begins.
watch
present_goes
watch_ends
is "frames through a library mapped before the start are counted" "$(of $begun presents,role)" "[(40, 'render')]"
present_ends

watch --without frame
present known libEGL.so.1 eglSwapBuffers 40
watch_ends
is "nobody presents with --without frame" "$(of $ran presents)" "[]"

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
present new "$odd/libEGL.so.1" eglSwapBuffers 30
odd_pid=$ran
present_begins new "$scratch/one/libEGL.so.1" eglSwapBuffers 30
goes_on=$begun
present_goes
rm "$scratch/one/libEGL.so.1"
cp "$scratch/other/libEGL.so.1" "$scratch/one/libEGL.so.1"
present_goes
present_ends
present new "$scratch/one/libEGL.so.1" eglSwapBuffers 20
replaced=$ran
# In place: the same inode has other code now, and what was a function's beginning is in the middle of another.
overwrite "$scratch/one/libEGL.so.1" "$scratch/first"
present new "$scratch/one/libEGL.so.1" eglSwapBuffers 25
shrunk=$ran shrunk_status=$status
overwrite "$scratch/one/libEGL.so.1" "$scratch/other/libEGL.so.1"
present new "$scratch/one/libEGL.so.1" eglSwapBuffers 35
grown=$ran grown_status=$status
present_begins known "$scratch/without/libGLX.so.0" nothing 5
wait_for "$scratch/err" '^tactus: frame: .*/without/'
echo >&3
without_status=0
present_ends || without_status=$?
python3 - "$scratch/torn/libGLX.so.0" "$scratch/err" <<'END'
import mmap, sys, time
f = open(sys.argv[1], "rb")
held = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)
for _ in range(1200):
    if "/torn/" in open(sys.argv[2], errors="replace").read(): break
    time.sleep(0.05)
END
make_library "$scratch/after/libEGL.so.1" eglSwapBuffers 0
present new "$scratch/after/libEGL.so.1" eglSwapBuffers 15
after=$ran
watch_ends
say_measured "$(grep -E '^tactus: (frame|[0-9]+ facts)' "$scratch/err" | sed "s|$scratch||")"
is "frames through a library on a path of hostile bytes are counted" "$(of $odd_pid presents)" "[(30,)]"
is "frames through a library that is deleted and replaced while mapped are counted on" "$(of $goes_on presents)" "[(60,)]"
is "frames through the file that replaced a library are counted" "$(of $replaced presents)" "[(20,)]"
is "a library overwritten in place by a smaller one leaves the next process well" $shrunk_status 0
is "frames through a library overwritten by a smaller one are counted where the function is now" "$(of $shrunk presents)" "[(25,)]"
is "a library overwritten in place by a larger one leaves the next process well" $grown_status 0
is "frames through a library overwritten by a larger one are counted" "$(of $grown presents)" "[(35,)]"
is "a library without the function leaves its process well" $without_status 0
like "a library without the function is told" "$(cat "$scratch/err")" 'frame: .*/without/libGLX.so.0: it exports no function glXSwapBuffers: frames by glXSwapBuffers are not seen there'
like "a torn library is told" "$(cat "$scratch/err")" 'frame: .*/torn/libGLX.so.0: its section headers are not all there'
is "frames are counted on after a torn library" "$(of $after presents)" "[(15,)]"
# What else happens on the machine may be more than can be told of; frames are not.
is "no fact of the frame sensor was lost" "$(tr ',' '\n' <<<"$lost" | grep -c ' of frame')" 0
is "no control character of a path reaches the terminal" "$(tr -d '[:print:]\n\t' <"$scratch/err" | wc -c)" 0

# Written to between the look into it and the probe: the function begins one byte earlier now, and where it began lies the number that
# it returns.
raced() { gcc -shared -nostdlib -x c - -o "$1" <<<"asm(\"$2 .globl eglSwapBuffers; .type eglSwapBuffers, @function; eglSwapBuffers: movl \$1, %eax; ret; .size eglSwapBuffers, . - eglSwapBuffers\");"; }
another_runs() { python3 -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).eglSwapBuffers())' "$1"; }
if [ "$(uname -m)" = x86_64 ]; then
	mkdir "$scratch/raced"
	raced "$scratch/raced/libEGL.so.1" "nop;"
	raced "$scratch/later" ""
	: >"$scratch/err"
	LD_PRELOAD=$PWD/build/workloads/overwrite.so OVERWRITE=$scratch/raced/libEGL.so.1 OVERWRITE_BY=$scratch/later \
		timeout 900 "$tactus" roles -v --json -n all >"$scratch/roles" 2>"$scratch/err" &
	watcher=$!
	wait_for "$scratch/err" watching
	present_begins new "$scratch/raced/libEGL.so.1" eglSwapBuffers 1
	wait_for "$scratch/err" 'raced/libEGL.so.1 was written to as it was looked at'
	# The one that stands still can mend nothing more.
	stopped=$(pgrep -P "$watcher" -x tactus)
	kill -STOP "$stopped"
	is "a library written to between the look and the probe has no breakpoint in other code" "$(another_runs "$scratch/raced/libEGL.so.1")" 1
	kill -CONT "$stopped"
	kill "$begun"
	present_ends 2>/dev/null
	watch_ends
else
	skip "a library written to between the look and the probe has no breakpoint in other code" "the library is made for x86-64"
fi

# Where perf does not tell, /proc is looked at once a second.
make_library "$scratch/late/libEGL.so.1" eglSwapBuffers 0
export TACTUS_SKIP_HOOKS=libraries:perf
like "doctor says what is missed without perf's mapping records" "$("$tactus" doctor)" '^frame: uprobe: perf.s mapping records .*; so a library that is new .* up to a second'
watch
present new "$scratch/late/libEGL.so.1" eglSwapBuffers 30
watch_ends
unset TACTUS_SKIP_HOOKS
is "frames through a library that is found in /proc are counted" "$(of $ran presents)" "[(30,)]"

# 32-bit programs, which need no 32-bit system to be made: each is its own library. One presents by GLX; the other asks a
# Vulkan loader, which is itself too, for a driver's function. Before each step they wait for a byte on standard input.
cat >"$scratch/narrow.c" <<'END'
static int call(int number, int one, void *two, int three)
{
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(one), "c"(two), "d"(three) : "memory");
	return result;
}
static void wait_to_go(void)
{
	char byte;
	call(3, 0, &byte, 1);
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
	wait_to_go();
#ifdef ASKS
	vkGetDeviceProcAddr(0, "vkCreateSwapchainKHR");
	present = vkGetDeviceProcAddr(0, "vkQueuePresentKHR");
	wait_to_go();
#endif
	for (int i = 0; i < 100; i++)
		present();
	call(1, 0, 0, 0);
}
__asm__(".globl _start\n_start: and $-16, %esp\n call begin\n");
END
narrow() { gcc -m32 -O1 -nostdlib -fPIE -pie -fno-stack-protector -Wl,--export-dynamic -Wl,--no-dynamic-linker "$@" "$scratch/narrow.c" 2>"$scratch/narrow-err"; }
# narrow_runs PROGRAM [asks]: each step once its probe is in place
narrow_runs() {
	rm -f "$scratch/go"
	mkfifo "$scratch/go"
	"$1" <"$scratch/go" &
	ran=$!
	exec 3>"$scratch/go"
	until_more 0 probed "$1"
	printf x >&3
	if [ "$2" = asks ]; then
		until_more 0 probed "process $ran asked"
		printf x >&3
	fi
	exec 3>&-
	wait $ran
}
if narrow -o "$scratch/libGLX.so.0" && narrow -DASKS -o "$scratch/libvulkan.so.1" && { "$scratch/libGLX.so.0"; } 2>/dev/null </dev/null; then
	watch
	narrow_runs "$scratch/libGLX.so.0" ""
	plain=$ran
	narrow_runs "$scratch/libvulkan.so.1" asks
	asks=$ran
	watch_ends
	is "a 32-bit program's frames are counted" "$(of $plain presents,role)" "[(100, 'render')]"
	is "frames of a 32-bit program that asks where to present are counted" "$(of $asks presents,role)" "[(100, 'render')]"
	like "frames of a program that asks where to present are told as Vulkan's" "$(of $asks evidence)" 'by Vulkan'
else
	skip "a 32-bit program's frames" "no such program can be made or run here"
fi
done_testing
