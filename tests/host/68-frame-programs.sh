#!/usr/bin/env bash
# The frame sensor with real programs under Xvfb and weston: OpenGL, EGL, Vulkan, Wayland and SDL, counted against what they
# or a counter in their own process say; and the servers that they present to.
. tests/tap.sh

for program in Xvfb glxgears es2gears_x11 vkcube glmark2 weston weston-simple-shm weston-simple-egl; do
	command -v "$program" >/dev/null && continue
	skip "frames of real programs" "there is no $program here"
	done_testing
done
doom=/usr/games/chocolate-doom iwad=/usr/share/games/doom/freedoom1.wad sdl=/usr/libexec/installed-tests/SDL2

display=:$((200 + $$ % 300))
export XDG_RUNTIME_DIR=$scratch/runtime WAYLAND_DISPLAY=wayland-tactus LIBGL_ALWAYS_SOFTWARE=1
mkdir -m 700 "$XDG_RUNTIME_DIR"
servers=()
trap 'kill "${servers[@]}" 2>/dev/null; wait; rm -rf "$scratch"' EXIT
Xvfb $display -screen 0 640x480x24 -nolisten tcp >"$scratch/xvfb" 2>&1 &
xvfb=$!
servers+=("$xvfb")
# It draws by EGL, and writes down when it presents.
cat >"$scratch/stamp.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
__attribute__((constructor)) static void alone(void) { unsetenv("LD_PRELOAD"); }
unsigned eglSwapBuffers(void *display, void *surface)
{
	static unsigned (*next)(void *, void *);
	static FILE *stamps;
	struct timespec now;
	if (!next)
		next = dlsym(dlopen("libEGL.so.1", RTLD_NOW), "eglSwapBuffers");
	if (!stamps)
		stamps = fopen(getenv("STAMPS_IN"), "w");
	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(stamps, "%lld\n", now.tv_sec * 1000000ll + now.tv_nsec / 1000);
	fflush(stamps);
	return next(display, surface);
}
END
gcc -shared -fPIC -O1 "$scratch/stamp.c" -o "$scratch/stamp.so"
STAMPS_IN=$scratch/stamps LD_PRELOAD=$scratch/stamp.so weston --backend=headless-backend.so --use-gl --socket=$WAYLAND_DISPLAY \
	--width=640 --height=480 >"$scratch/weston" 2>&1 &
weston=$!
servers+=("$weston")
for _ in $(seq 100); do
	[ -S "/tmp/.X11-unix/X${display#:}" ] && [ -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY" ] && break
	sleep 0.1
done

watch() {
	: >"$scratch/err"
	timeout 200 "$tactus" roles --json -n all "$@" >"$scratch/roles" 2>"$scratch/err" &
	watcher=$!
	wait_for "$scratch/err" watching
}
watch_ends() {
	kill -INT "$watcher" 2>/dev/null
	wait "$watcher"
}
# of PID FIELDS: those of each thread of a process that presents
of() { json "[tuple(r[f] for f in '$2'.split(',')) for r in rows if r['pid'] == $1 and r['presents']]" <"$scratch/roles"; }
# frames PID: how many, of all its threads
frames() { json "sum(r['presents'] for r in rows if r['pid'] == $1)" <"$scratch/roles"; }
# run SECONDS COMMAND...: ended after that by $signal (TERM), or by itself; its pid is $ran
run() {
	local seconds=$1
	shift
	rm -f "$COUNT_IN"
	"$@" >"$scratch/said" 2>"$scratch/said-err" &
	ran=$!
	for ((seconds *= 10; seconds > 0; seconds--)); do
		kill -0 $ran 2>/dev/null || break
		sleep 0.1
	done
	kill -"${signal:-TERM}" $ran 2>/dev/null
	wait $ran 2>/dev/null
}

# Counts calls in the program's own process, without the kernel: the truth to compare with.
cat >"$scratch/count.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile long *counter;
__attribute__((constructor)) static void begin(void)
{
	int fd = open(getenv("COUNT_IN"), O_RDWR | O_CREAT, 0600);
	if (fd >= 0 && !ftruncate(fd, 8))
		counter = mmap(0, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}
void glXSwapBuffers(void *display, unsigned long drawable)
{
	static void (*next)(void *, unsigned long);
	if (!next)
		next = dlsym(RTLD_NEXT, "glXSwapBuffers");
	++*counter;
	next(display, drawable);
}
unsigned eglSwapBuffers(void *display, void *surface)
{
	static unsigned (*next)(void *, void *);
	if (!next)
		next = dlsym(RTLD_NEXT, "eglSwapBuffers");
	++*counter;
	return next(display, surface);
}
END
gcc -shared -fPIC -O1 "$scratch/count.c" -o "$scratch/count.so"
export COUNT_IN=$scratch/counter
counted() { od -An -td8 -N8 "$COUNT_IN" | tr -d ' '; }

# OpenGL by GLX and EGL, each frame.
watch
run 3 env LD_PRELOAD="$scratch/count.so" DISPLAY=$display glxgears
gears=$ran gears_counted=$(counted)
run 3 env LD_PRELOAD="$scratch/count.so" DISPLAY=$display es2gears_x11
es2=$ran es2_counted=$(counted)
run 30 env DISPLAY=$display glmark2 --size 200x150 -b build:duration=2
glmark=$ran glmark_fps=$(sed -n 's/.*FPS: \([0-9]*\) .*/\1/p' "$scratch/said")
watch_ends
say_measured "glxgears $gears_counted frames, es2gears $es2_counted, glmark2 $glmark_fps a second for 2 s and $(frames $glmark) in all"
is "glxgears: every frame once, although libGL's function calls libGLX's" "$(of $gears presents,role,confidence)" "[($gears_counted, 'render', 100)]"
like "by GLX" "$(of $gears evidence)" 'by GLX'
is "es2gears: every frame" "$(of $es2 presents,role,confidence)" "[($es2_counted, 'render', 100)]"
like "by EGL" "$(of $es2 evidence)" 'by EGL'
# What it says is rounded to a whole number a second.
holds "glmark2: as many as it says, and those before and after" test "$(frames $glmark)" -gt $((glmark_fps * 2 - 2)) -a "$(frames $glmark)" -le $((glmark_fps * 3))
is "the X server is what others present to" "$(json "[(r['role'], r['evidence_kind'], r['process']) for r in rows if r['tid'] == $xvfb]" <"$scratch/roles")" \
	"[('compositor', 'gpu', 'compositor')]"

# Vulkan: the first program that uses a driver is seen from some milliseconds after it asked for the function, the others whole.
watch
run 60 env DISPLAY=$display vkcube --c 250
first=$ran
run 60 env DISPLAY=$display vkcube --c 250
second=$ran
watch_ends
say_measured "vkcube: $(frames $first) of the first one's 250 frames, $(frames $second) of the second one's; $(of $second evidence)"
holds "the first Vulkan program: all but the first few" test "$(frames $first)" -ge 200 -a "$(frames $first)" -le 250
is "the next one: every frame, on the thread that presents" "$(of $second presents,role,confidence)" "[(250, 'render', 100)]"
like "by Vulkan" "$(of $second evidence)" 'by Vulkan'

# Wayland: what the clients say that they send is the truth. A commit inside eglSwapBuffers is the same frame.
attaches() { grep -cE 'wl_surface@[0-9]+\.attach\((wl_buffer|wl_buffer@)' "$1"; }
watch -o "$scratch/recording"
# At SIGINT these two finish the frame that they are at.
signal=INT
run 3 env WAYLAND_DEBUG=client weston-simple-shm
shm=$ran
cp "$scratch/said-err" "$scratch/shm"
run 3 env WAYLAND_DEBUG=client weston-simple-egl
egl=$ran
cp "$scratch/said-err" "$scratch/egl"
signal=TERM
watch_ends
say_measured "weston-simple-shm sent $(attaches "$scratch/shm") buffers, weston-simple-egl $(attaches "$scratch/egl")"
is "weston-simple-shm: every buffer committed is a frame" "$(of $shm presents,role)" "[($(attaches "$scratch/shm"), 'render')]"
like "by Wayland" "$(of $shm evidence)" 'by Wayland'
is "weston-simple-egl: every frame once" "$(of $egl presents,role)" "[($(attaches "$scratch/egl"), 'render')]"
like "by EGL" "$(of $egl evidence)" 'by EGL'
is "weston is what others present to" "$(json "[(r['role'], r['evidence_kind'], r['process']) for r in rows if r['tid'] == $weston]" <"$scratch/roles")" \
	"[('compositor', 'gpu', 'compositor')]"

# From each commit to weston's next present, by the client's log of its requests and weston's stamps.
"$tactus" frames -i "$scratch/recording" --json >"$scratch/rows"
# composed PID LOG: whether frames tells the same of a client, within what is between a probe and a stamp
composed() {
	python3 - "$scratch/rows" "$scratch/stamps" "$1" "$2" <<'END'
import json, re, statistics, sys
row = next(r for r in map(json.loads, open(sys.argv[1])) if r["pid"] == int(sys.argv[3]))
stamps = [int(line) for line in open(sys.argv[2])]
commits, attached = [], set()
for line in open(sys.argv[4]):
    found = re.match(r"\[ *(\d+)\.(\d+)\]  -> wl_surface@(\d+)\.(?:(attach)\(wl_buffer|(commit))", line)
    if not found: continue
    time_us, surface = int(found[1]) * 1000 + int(found[2]), found[3]
    if found[4]: attached.add(surface)
    elif surface in attached:
        attached.remove(surface)
        # The log has the lowest 32 bits.
        commits.append(stamps[-1] - (stamps[-1] - time_us + 2**31) % 2**32 + 2**31)
had = []
for before, now in zip(stamps, stamps[1:]):
    since = [c for c in commits if before < c <= now]
    if since: had.append(now - since[-1])
p50_us = statistics.median_low(had)
print(f"# measured: {row['comm']}: compositor p50 {row['compositor_p50_ns'] / 1000:.0f} us of {row['composited']} frames, by the log {p50_us} us of {len(had)}")
sys.exit(abs(row["composited"] - len(had)) > 3 or len(had) < 20 or abs(row["compositor_p50_ns"] / 1000 - p50_us) > 1000)
END
}
for client in shm egl; do
	composed "${!client}" "$scratch/$client"
	is "weston-simple-$client: how long weston has its pictures" $? 0
done
is "weston presents to nobody that is seen to" "$(json "[(r['compositor_p50_ns'], r['composited']) for r in rows if r['pid'] == $weston]" <"$scratch/rows")" "[(None, 0)]"
# A server that is not watched itself.
"$tactus" frames --json -o "$scratch/recording" -- timeout -s INT 2 weston-simple-shm >"$scratch/live" 2>"$scratch/err"
"$tactus" frames -i "$scratch/recording" --json >"$scratch/rows"
is "one client alone: live and replayed are the same" "$(cat "$scratch/rows")" "$(grep '^{' "$scratch/live")"
is "with its compositor's time, and without its compositor" "$(json "[(r['comm'], (r['composited'] or 0) > 10, (r['compositor_p50_ns'] or 0) > 0) for r in rows]" <"$scratch/rows")" \
	"[('weston-simple-s', True, True)]"

# SDL, and a game.
watch
if [ -x "$sdl/testgl2" ]; then
	run 3 env -C "$sdl" DISPLAY=$display SDL_VIDEODRIVER=x11 ./testgl2
	testgl2=$ran
	run 3 env -C "$sdl" DISPLAY=$display SDL_VIDEODRIVER=x11 ./testdraw2
	testdraw2=$ran
fi
if [ -x $doom ] && [ -e $iwad ]; then
	run 60 env HOME="$scratch" DISPLAY=$display SDL_VIDEODRIVER=x11 SDL_AUDIODRIVER=dummy $doom -iwad $iwad -timedemo demo1 -nogui -nosound -window
	game=$ran tics=$(sed -n 's/.*[Tt]imed \([0-9]*\) gametics.*/\1/p' "$scratch/said" "$scratch/said-err" | head -n 1)
fi
watch_ends
if [ -n "${testgl2:-}" ]; then
	say_measured "testgl2 $(frames "$testgl2") frames, testdraw2 $(frames "$testdraw2")"
	like "SDL with OpenGL" "$(of "$testgl2" role,confidence,evidence)" "^\[\('render', 100, 'presents .* by GLX"
	like "SDL's own renderer" "$(of "$testdraw2" role,confidence,evidence)" "^\[\('render', 100, 'presents .* by GLX"
else
	skip "SDL with OpenGL" "there is no testgl2 here"
fi
if [ -n "${game:-}" ]; then
	say_measured "chocolate-doom: ${tics:-?} tics of its demo, $(frames "$game") frames; $(of "$game" comm,role,evidence)"
	like "a game's render thread" "$(of "$game" role,confidence)" "^\[\('render', 100\)\]"
else
	skip "a game's render thread" "there is no chocolate-doom here"
fi
done_testing
