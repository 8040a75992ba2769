# The programs of bench/real/run.sh: needs_NAME prints what is missing and fails, start_NAME starts it with its times going into
# $STAMPS_INTO. Sourced by run.sh, which gives begin, wait_until, say and $work.
# shellcheck shell=bash

all_programs="train supertux doom glmark mpv jack wine redis"
all_loads="compile hogs storm"

# need PROGRAM...: prints the first that is not there
need() {
	local name
	for name in "$@"; do
		command -v "$name" >/dev/null || [ -e "$name" ] || { echo "$name" && return 1; }
	done
}

# The first number that is free: with one from 10 on, programs take the display for a remote one.
display() {
	rm -f "$work/display"
	begin_display() { exec Xvfb -displayfd 3 -screen 0 640x480x24 -nolisten tcp -noreset 3>"$work/display"; }
	begin begin_display
	wait_until test -s "$work/display" || return 1
	DISPLAY=:$(cat "$work/display")
	export DISPLAY LIBGL_ALWAYS_SOFTWARE=1 SDL_AUDIODRIVER=dummy LP_NUM_THREADS=1 HOME=$work/home
	mkdir -p "$HOME"
}
stamped() { begin env LD_PRELOAD="$work/stamps.so" "$@"; }

# Four workers that feed one thread; a worker's batch takes a fifth of a step.
needs_train() { need gcc; }
start_train() { begin "$work/train" 4 200 1000; }

# Paces itself at 66 frames a second. The renderer that it takes by itself is too slow for that without a GPU.
needs_supertux() { need Xvfb /usr/games/supertux2; }
start_supertux() { display && stamped /usr/games/supertux2 --window --geometry 320x240 --renderer opengl20; }

# A real game at its own pace of 35 frames a second, which shows its demos one after another.
needs_doom() { need Xvfb /usr/games/chocolate-doom /usr/share/games/doom/freedoom1.wad; }
start_doom() { display && stamped /usr/games/chocolate-doom -iwad /usr/share/games/doom/freedoom1.wad -nogui -nosound -window; }

# A display of 60 Hz is what it lacks here.
needs_glmark() { need Xvfb glmark2; }
start_glmark() {
	display && begin env PACE_US=16667 LD_PRELOAD="$work/stamps-dlsym.so" glmark2 -s 300x200 -b build:duration=100000 --run-forever
}

needs_mpv() { need Xvfb mpv; }
start_mpv() {
	display && stamped mpv --no-config --no-terminal --ao=null --vo=gpu --gpu-sw=yes --gpu-api=opengl --gpu-context=x11egl \
		--audio-file=av://lavfi:sine=frequency=440 av://lavfi:testsrc=size=320x240:rate=30
}

# Without realtime priorities, which an ordinary user does not have: 256 samples at 48 kHz are 5.3 ms.
needs_jack() { need jackd jack_simple_client jack_lsp; }
start_jack() {
	export JACK_DEFAULT_SERVER=real$$ JACK_NO_AUDIO_RESERVATION=1
	begin jackd -n "$JACK_DEFAULT_SERVER" -r -d dummy -r 48000 -p 256
	wait_until jack_lsp || return 1
	stamped jack_simple_client sine "$JACK_DEFAULT_SERVER"
}

# 500 answers of 64 KB a second.
needs_redis() { need redis-server; }
start_redis() {
	begin redis-server --port 0 --unixsocket "$work/redis.sock" --save '' --appendonly no --dir "$work"
	wait_until test -S "$work/redis.sock" || return 1
	begin "$work/ask" "$work/redis.sock" 2000 65536
}

# A server with a sink that leads nowhere but has a clock.
sound_server() {
	export XDG_RUNTIME_DIR=$work/run DBUS_SESSION_BUS_ADDRESS=unix:path=$work/run/dbus
	rm -rf "$XDG_RUNTIME_DIR" && mkdir -m 700 "$XDG_RUNTIME_DIR"
	begin dbus-daemon --session --nofork --address="$DBUS_SESSION_BUS_ADDRESS"
	wait_until test -S "$work/run/dbus" || return 1
	begin pipewire -c pipewire.conf
	wait_until test -S "$XDG_RUNTIME_DIR/pipewire-0" || return 1
	begin wireplumber -c wireplumber.conf
	begin pipewire-pulse
	wait_until test -S "$XDG_RUNTIME_DIR/pulse/native" || return 1
	wait_until pw-cli create-node adapter '{ factory.name=support.null-audio-sink node.name=nowhere media.class=Audio/Sink
		object.linger=true audio.position=[FL FR] }'
}

# Sound in buffers of 10 ms.
needs_wine() { need wine wineserver x86_64-w64-mingw32-gcc dbus-daemon pipewire pipewire-pulse wireplumber pw-cli; }
start_wine() {
	export WINEPREFIX=$PWD/build/bench/wine WINEDEBUG=-all
	if [ ! -e "$WINEPREFIX/system.reg" ]; then
		say "making a Wine prefix"
		mkdir -p "$WINEPREFIX" && timeout 200 wine wineboot -i >>"$work/said" 2>&1 && wineserver -w || return 1
	fi
	x86_64-w64-mingw32-gcc -O2 bench/real/player.c -o "$work/player.exe" -lwinmm && sound_server || return 1
	begin wine "$work/player.exe"
}
# Its helpers go on for a while otherwise.
end_wine() { WINEPREFIX=$PWD/build/bench/wine timeout 30 wineserver -k; }
