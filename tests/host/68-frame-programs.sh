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

export XDG_RUNTIME_DIR=$scratch/runtime WAYLAND_DISPLAY=wayland-tactus LIBGL_ALWAYS_SOFTWARE=1
mkdir -m 700 "$XDG_RUNTIME_DIR"
servers=()
trap 'kill "${servers[@]}" 2>/dev/null; wait; rm -rf "$scratch"' EXIT
# It takes a number that is free, and says which when it can be used.
Xvfb -displayfd 1 -screen 0 640x480x24 -nolisten tcp >"$scratch/display" 2>"$scratch/xvfb" &
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

# Ends a program of OpenGL after FRAMES frames, and has it wait for the file GO before the first one; the same for a program of
# Vulkan before it asks where to present, and for the file GO_ON before its first frame.
cat >"$scratch/frames.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void wait_for(const char *variable)
{
	while (access(getenv(variable), F_OK))
		usleep(10000);
}
static void begin(void)
{
	static int begun;
	if (!begun++)
		wait_for("GO");
}
static void count(void)
{
	static int frames;
	if (++frames >= atoi(getenv("FRAMES")))
		_exit(0);
}
void glXSwapBuffers(void *display, unsigned long drawable)
{
	begin();
	((void (*)(void *, unsigned long))dlsym(RTLD_NEXT, "glXSwapBuffers"))(display, drawable);
	count();
}
unsigned eglSwapBuffers(void *display, void *surface)
{
	unsigned done;
	begin();
	done = ((unsigned (*)(void *, void *))dlsym(RTLD_NEXT, "eglSwapBuffers"))(display, surface);
	count();
	return done;
}
typedef void *(*ask_function)(void *, const char *);
static ask_function ask_device;
static int (*present)(void *, void *);
static int present_first(void *queue, void *what)
{
	static int begun;
	if (!begun++)
		wait_for("GO_ON");
	return present(queue, what);
}
static void *ask_where(void *device, const char *name)
{
	if (strcmp(name, "vkQueuePresentKHR"))
		return ask_device(device, name);
	begin();
	present = ask_device(device, name);
	return present_first;
}
void *vkGetInstanceProcAddr(void *instance, const char *name)
{
	void *found = ((ask_function)dlsym(RTLD_NEXT, "vkGetInstanceProcAddr"))(instance, name);
	if (strcmp(name, "vkGetDeviceProcAddr"))
		return found;
	ask_device = found;
	return ask_where;
}
END
gcc -shared -fPIC -O1 "$scratch/frames.c" -o "$scratch/frames.so"
export GO=$scratch/go GO_ON=$scratch/go-on

# until_holds WHAT COMMAND...: for a minute at most
until_holds() {
	local what=$1
	shift
	for _ in $(seq 600); do
		"$@" && return
		sleep 0.1
	done
	flunk "$what within a minute"
}
wait_for "$scratch/display" '^[0-9]+$'
display=:$(cat "$scratch/display")
until_holds "weston makes its socket" test -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY"

# watch [OPTION...]: with -v it says when a library's probes are in place
watch() {
	: >"$scratch/err"
	timeout 200 "$tactus" roles -v --json -n all "$@" >"$scratch/roles" 2>"$scratch/err" &
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
# begin NAME COMMAND...: in the background; its pid is $begun, what it says is in files of that name
begin() {
	local name=$1
	shift
	"$@" >"$scratch/$name.out" 2>"$scratch/$name" &
	begun=$!
}
preloaded() { exec env LD_PRELOAD="$scratch/frames.so" DISPLAY="$display" FRAMES="$1" "${@:2}"; }

# X: all of them at once. Those that end by themselves are counted to the frame; the others end when they are known.
watch
timeout 200 "$tactus" roles --follow --json >"$scratch/follow" 2>"$scratch/follow-err" &
follower=$!
wait_for "$scratch/follow-err" watching
begin gears preloaded 300 glxgears
gears=$begun
begin es2 preloaded 150 es2gears_x11
es2=$begun
begin first preloaded 0 vkcube --c 250
first=$begun
endless=()
# begin_endless NAME COMMAND...
begin_endless() {
	begin "$@"
	endless+=("$begun")
}
if [ -x "$sdl/testgl2" ]; then
	begin_endless testgl2 env -C "$sdl" DISPLAY="$display" SDL_VIDEODRIVER=x11 ./testgl2
	testgl2=$begun
	begin_endless testdraw2 env -C "$sdl" DISPLAY="$display" SDL_VIDEODRIVER=x11 ./testdraw2
	testdraw2=$begun
fi
if [ -x $doom ] && [ -e $iwad ]; then
	begin_endless game env HOME="$scratch" DISPLAY="$display" SDL_VIDEODRIVER=x11 SDL_AUDIODRIVER=dummy $doom -iwad $iwad -timedemo demo1 -nogui -nosound -window
	game=$begun
fi
for library in libGLX libEGL libvulkan; do wait_for "$scratch/err" "frame: .*/$library\.so.*: probes are in place"; done
touch "$GO"
wait_for "$scratch/err" "frame: process $first asked where to present"
touch "$GO_ON"
wait $first
# Each process's word counts for itself: this one waits for its own probe, too.
GO_ON="$scratch/second-goes-on" begin second preloaded 0 vkcube --c 250
second=$begun
wait_for "$scratch/err" "frame: process $second asked where to present"
touch "$scratch/second-goes-on"
begin glmark env DISPLAY="$display" glmark2 --size 200x150 -b build:duration=1
glmark=$begun
for pid in "${endless[@]}"; do
	wait_for "$scratch/follow" "\"pid\":$pid,.*\"role\":\"render\".*\"evidence_kind\":\"gpu\""
	kill "$pid"
done
wait $gears $es2 $second $glmark "${endless[@]}"
glmark_fps=$(sed -n 's/.*FPS: \([0-9]*\) .*/\1/p' "$scratch/glmark.out")
kill -INT $follower
wait $follower
watch_ends
say_measured "glmark2 $glmark_fps a second for a second and $(frames $glmark) in all; vkcube $(of $second evidence)"
is "glxgears: every frame is counted once, although libGL's function calls libGLX's" "$(of $gears presents,role,confidence)" "[(300, 'render', 100)]"
like "glxgears: frames are GLX's" "$(of $gears evidence)" 'by GLX'
is "es2gears: every frame is counted" "$(of $es2 presents,role,confidence)" "[(150, 'render', 100)]"
like "es2gears: frames are EGL's" "$(of $es2 evidence)" 'by EGL'
# What it says is rounded to a whole number a second.
holds "glmark2: no fewer frames are counted than it says" test "$(frames $glmark)" -gt $((glmark_fps - 2))
holds "glmark2: no more frames are counted than it says and those before and after" test "$(frames $glmark)" -le $((glmark_fps * 2))
is "the X server is what others present to" "$(json "[(r['role'], r['evidence_kind'], r['process']) for r in rows if r['tid'] == $xvfb]" <"$scratch/roles")" \
	"[('compositor', 'gpu', 'compositor')]"
is "vkcube that is the first to ask where to present: every frame from then on is counted" "$(of $first presents,role,confidence)" "[(250, 'render', 100)]"
is "vkcube that is the second to ask: every frame from then on is counted, on the thread that presents" "$(of $second presents,role,confidence)" "[(250, 'render', 100)]"
like "vkcube: frames are Vulkan's" "$(of $second evidence)" 'by Vulkan'
if [ -n "${testgl2:-}" ]; then
	say_measured "testgl2 $(frames "$testgl2") frames, testdraw2 $(frames "$testdraw2")"
	like "SDL with OpenGL is for rendering, by GLX" "$(of "$testgl2" role,confidence,evidence)" "^\[\('render', (95|100), 'presents.* by GLX"
	like "SDL's own renderer is for rendering, by GLX" "$(of "$testdraw2" role,confidence,evidence)" "^\[\('render', (95|100), 'presents.* by GLX"
else
	skip "SDL with OpenGL" "there is no testgl2 here"
fi
if [ -n "${game:-}" ]; then
	say_measured "chocolate-doom: $(frames "$game") frames; $(of "$game" comm,role,evidence)"
	like "a game's thread that presents is for rendering" "$(of "$game" role,confidence)" "^\[\('render', (95|100)\)\]"
else
	skip "a game's render thread" "there is no chocolate-doom here"
fi

# Wayland: what the clients say that they send is the truth. A commit inside eglSwapBuffers is the same frame.
attaches() { grep -cE 'wl_surface@[0-9]+\.attach\((wl_buffer|wl_buffer@)' "$1"; }
watch -o "$scratch/recording"
wait_for "$scratch/err" 'frame: .*/libwayland-client\.so.*: probes are in place'
begin shm env WAYLAND_DEBUG=client weston-simple-shm
shm=$begun
begin egl env WAYLAND_DEBUG=client weston-simple-egl
egl=$begun
# At SIGINT these two finish the frame that they are at.
for client in shm egl; do
	until_holds "weston-simple-$client sends 60 buffers" eval '[ "$(attaches "$scratch/$client")" -ge 60 ]'
	kill -INT "${!client}"
done
wait $shm $egl
watch_ends
say_measured "weston-simple-shm sent $(attaches "$scratch/shm") buffers, weston-simple-egl $(attaches "$scratch/egl")"
is "weston-simple-shm: every buffer committed is a frame" "$(of $shm presents,role)" "[($(attaches "$scratch/shm"), 'render')]"
like "weston-simple-shm: frames are Wayland's" "$(of $shm evidence)" 'by Wayland'
is "weston-simple-egl: every frame is counted once" "$(of $egl presents,role)" "[($(attaches "$scratch/egl"), 'render')]"
like "weston-simple-egl: frames are EGL's" "$(of $egl evidence)" 'by EGL'
is "weston is what others present to" "$(json "[(r['role'], r['evidence_kind'], r['process']) for r in rows if r['tid'] == $weston]" <"$scratch/roles")" \
	"[('compositor', 'gpu', 'compositor')]"

# From each commit to weston's next present, by the client's log of its requests and weston's stamps.
"$tactus" frames -i "$scratch/recording" --json >"$scratch/rows"
"$tactus" events -i "$scratch/recording" --only served --json 2>/dev/null | grep '"event":"served"' >"$scratch/served"
# composed PID LOG: whether frames tells the same of a client, within what is between a probe and a stamp, since it was found out
# who serves it
composed() {
	python3 - "$scratch/rows" "$scratch/stamps" "$1" "$2" "$scratch/served" <<'END'
import json, re, statistics, sys, time
served_us = min(r["time_ns"] for r in map(json.loads, open(sys.argv[5])) if r["pid"] == int(sys.argv[3])) / 1000
served_us += (time.time_ns() - time.monotonic_ns()) / 1000
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
    if since and now > served_us: had.append(now - since[-1])
p50_us = statistics.median_low(had)
# As many frames as one of the two may have more, so many places away is its median.
had.sort()
middle, off = (len(had) - 1) // 2, abs(row["composited"] - len(had))
least_us, most_us = had[max(middle - off, 0)] - 1000, had[min(middle + off, len(had) - 1)] + 1000
print(f"# measured: {row['comm']}: compositor p50 {row['compositor_p50_ns'] / 1000:.0f} us of {row['composited']} frames, by the log {p50_us} us of {len(had)}, with {off} frames more or less {least_us} to {most_us}")
sys.exit(off > 3 or len(had) < 20 or not least_us <= row["compositor_p50_ns"] / 1000 <= most_us)
END
}
for client in shm egl; do
	composed "${!client}" "$scratch/$client"
	is "weston-simple-$client: how long weston has its pictures is the same as by its log" $? 0
done
is "weston presents to nobody that is seen to" "$(json "[(r['compositor_p50_ns'], r['composited']) for r in rows if r['pid'] == $weston]" <"$scratch/rows")" "[(None, 0)]"
# A server that is not watched itself.
cat >"$scratch/alone" <<'END'
WAYLAND_DEBUG=client weston-simple-shm 2>"$1" &
until [ "$(grep -c 'attach(wl_buffer' "$1")" -ge 30 ]; do sleep 0.1; done
kill -INT $!
wait
END
"$tactus" frames --json -o "$scratch/recording" -- timeout 60 sh "$scratch/alone" "$scratch/alone.log" >"$scratch/live" 2>"$scratch/err"
"$tactus" frames -i "$scratch/recording" --json >"$scratch/rows"
is "frames of a client alone are the same live and replayed" "$(cat "$scratch/rows")" "$(grep '^{' "$scratch/live")"
is "frames of a client alone tell its compositor's time, and not its compositor" "$(json "[(r['comm'], (r['composited'] or 0) > 10, (r['compositor_p50_ns'] or 0) > 0) for r in rows]" <"$scratch/rows")" \
	"[('weston-simple-s', True, True)]"
done_testing
