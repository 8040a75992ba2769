# The scenarios of the labelled set: each starts real programs that go on until they are stopped.
# Sourced by run.sh, which gives begin, wait_until, free_display and the folders $work and $here.

sdl=/usr/libexec/installed-tests/SDL2
all_scenarios="gears vulkan glmark doom doom35 sdlgl sprites soft shm egl wlvulkan jack pipewire mpv mpvx11 web download netplay
	stress compile squeeze sleepers wine crowd nested westonx orchestra stream winsound direct3d"
# These need devices that are made by /dev/uinput; where there is none, they run in a VM.
input_scenarios="readers pads desktop"
input_packages="evtest joystick triggerhappy interception-tools libinput-tools udev xserver-xorg-core xserver-xorg-video-dummy
	xserver-xorg-input-libinput"
quick_scenarios="gears shm jack web stress sleepers"
left_out_scenarios="gears jack web wine"
evidence_kinds="launch gpu wine input frame socket sound names runtime"

# The first number that is free: with one from 10 on, programs take the display for a remote one.
display() {
	begin Xvfb Xvfb -displayfd 3 -screen 0 800x600x24 -nolisten tcp -noreset 3>"$work/display"
	wait_until test -s "$work/display"
	DISPLAY=:$(cat "$work/display")
	export DISPLAY
}

scenario_gears() { display; begin glxgears glxgears; }
scenario_vulkan() { display; begin vkcube vkcube; }
scenario_glmark() { display; begin glmark2 glmark2 -s 300x200 -b build:duration=60; }
# As fast as it can, and at the game's own pace of 35 frames a second.
scenario_doom() { display; doom -timedemo; }
scenario_doom35() { display; doom -playdemo; }
doom() {
	SDL_AUDIODRIVER=dummy begin doom /usr/games/chocolate-doom -iwad /usr/share/games/doom/freedoom1.wad "$1" demo1 -nogui \
		-nosound -window
}
scenario_sdlgl() { display; begin testgl2 $sdl/testgl2; }
scenario_sprites() { display; (cd $sdl && begin testsprite2 $sdl/testsprite2 --vsync); }
# Drawn without OpenGL: images put on the window.
scenario_soft() { display; (cd $sdl && SDL_RENDER_DRIVER=software begin testsprite2 $sdl/testsprite2); }

wayland() {
	begin weston weston --backend=headless-backend.so --socket=roles --width=640 --height=480
	export WAYLAND_DISPLAY=roles
	wait_until test -S "$XDG_RUNTIME_DIR/roles"
}
scenario_shm() { wayland; begin simple-shm weston-simple-shm; begin damage weston-simple-damage; begin presentation weston-presentation-shm; }
# X in X: the outer server shows what the inner ones draw.
scenario_nested() {
	local outer
	display
	outer=$DISPLAY
	for n in 1 2; do
		DISPLAY=$outer begin Xephyr Xephyr -displayfd 3 -screen 300x200 -nolisten tcp -noreset 3>"$work/inner$n"
		wait_until test -s "$work/inner$n"
		DISPLAY=:$(cat "$work/inner$n") begin glxgears glxgears
	done
}
# A compositor whose screen is a window.
scenario_westonx() {
	display
	begin weston weston --backend=x11-backend.so --use-pixman --socket=roles --width=640 --height=480
	export WAYLAND_DISPLAY=roles
	wait_until test -S "$XDG_RUNTIME_DIR/roles"
	begin simple-shm weston-simple-shm
	begin damage weston-simple-damage
}
scenario_egl() { wayland; begin simple-egl weston-simple-egl; begin es2gears es2gears_wayland; }
scenario_wlvulkan() { wayland; begin vkcube vkcube-wayland; }

scenario_jack() {
	export JACK_DEFAULT_SERVER=roles$number JACK_NO_AUDIO_RESERVATION=1
	begin jackd jackd -n "$JACK_DEFAULT_SERVER" -R -P 60 -d dummy -r 48000 -p 512
	wait_until jack_lsp
	begin metro jack_metro -b 120
	begin simple jack_simple_client sine "$JACK_DEFAULT_SERVER"
}

# Many clients of one sound server.
scenario_orchestra() {
	local n
	export JACK_DEFAULT_SERVER=roles$number JACK_NO_AUDIO_RESERVATION=1
	begin jackd jackd -n "$JACK_DEFAULT_SERVER" -R -P 60 -d dummy -r 48000 -p 512
	wait_until jack_lsp
	for n in 1 2 3; do begin metro jack_metro -n "metro$n" -b $((100 + n)); done
	for n in 1 2 3; do begin simple jack_simple_client "sine$n" "$JACK_DEFAULT_SERVER"; done
}

sound_server() {
	begin dbus dbus-daemon --session --nofork --address="unix:path=$work/dbus"
	export DBUS_SESSION_BUS_ADDRESS=unix:path=$work/dbus
	wait_until test -S "$work/dbus"
	begin pipewire pipewire -c pipewire.conf
	wait_until test -S "$XDG_RUNTIME_DIR/pipewire-0"
	begin wireplumber wireplumber -c wireplumber.conf
	sleep 1
	pw-cli create-node adapter '{ factory.name=support.null-audio-sink node.name=nowhere media.class=Audio/Sink
		object.linger=true audio.position=[FL FR] }' >/dev/null 2>&1
	sleep 0.5
}
scenario_pipewire() {
	sound_server
	begin pw-play pw-play "$work/tone.wav"
	begin pw-play pw-play "$work/tone.wav"
	(cd $sdl && SDL_AUDIODRIVER=pipewire begin loopwave $sdl/loopwave)
}

movie="av://lavfi:testsrc=size=320x240:rate=30"
sound=--audio-file=av://lavfi:sine=frequency=440
scenario_mpv() {
	display
	sound_server
	begin mpv mpv --no-config --no-terminal --ao=pipewire --vo=gpu --gpu-sw=yes --gpu-api=opengl $sound "$movie"
}
scenario_mpvx11() { display; begin mpv mpv --no-config --no-terminal --ao=null --vo=x11 $sound "$movie"; }

web_server() {
	port=$((18000 + number))
	mkdir -p "$work/web"
	head -c 64M /dev/zero >"$work/web/large"
	cat >"$work/web.conf" <<-END
		daemon off; worker_processes 4; pid $work/web.pid; error_log $work/web.log; user root;
		events { worker_connections 64; }
		http {
			access_log off; client_body_temp_path $work/b; proxy_temp_path $work/p; fastcgi_temp_path $work/f;
			uwsgi_temp_path $work/u; scgi_temp_path $work/s;
			server { listen 127.0.0.1:$port; location / { return 200 "hello"; } location /large { root $work/web; } }
		}
	END
	begin nginx nginx -p "$work" -c "$work/web.conf"
	wait_until test -s "$work/web.pid"
}
scenario_web() { web_server; begin wrk wrk -t4 -c16 -d60 "http://127.0.0.1:$port/"; }
scenario_download() {
	web_server
	for _ in 1 2 3 4; do begin curl curl -s --limit-rate 4M -o /dev/null "http://127.0.0.1:$port/large"; done
}
# A stream of data at a limited rate, each with its server.
scenario_stream() {
	local n
	for n in 1 2 3; do
		port=$((19000 + number * 4 + n))
		begin iperf-server iperf3 -s -B 127.0.0.1 -p "$port"
		wait_until grep -q ":$(printf %04X "$port") .* 0A " /proc/net/tcp
		begin iperf iperf3 -c 127.0.0.1 -p "$port" -b 20M -l 8K -t 60
	done
}

scenario_netplay() { begin netplay build/workloads/netplay; begin netplay build/workloads/netplay; }

scenario_stress() { begin stress-ng stress-ng --cpu 6 --timeout 60; }

# Real files through the real compiler.
scenario_compile() {
	local cc=gcc
	[ -z "$conceal" ] || cc="gcc -wrapper $here/as-copy.sh"
	cat >"$work/compile.mk" <<-END
		all: \$(patsubst src/%.c,$work/%.o,\$(wildcard src/model/*.c src/sink/*.c src/base/*.c))
		$work/%.o: src/%.c ; mkdir -p \$(@D) && $cc -std=gnu11 -O3 -g3 -D_GNU_SOURCE -c \$< -o \$@
	END
	begin compile make -s -j2 -f "$work/compile.mk"
}

scenario_squeeze() {
	head -c 48M /dev/urandom >"$work/noise"
	for _ in 1 2; do
		begin xz xz -9 -k -c -T1 "$work/noise"
		begin gzip gzip -9 -c "$work/noise"
	done
}

scenario_sleepers() {
	begin tail50 tail ---disable-inotify -s 0.05 -f "$work/tone.wav"
	begin tail20 tail ---disable-inotify -s 0.02 -f "$work/tone.wav"
	begin loop sh -c 'while :; do sleep 0.4; done'
	begin vmstat vmstat 1
	begin top top -b -d 1
}

scenario_wine() {
	display
	export WINEDEBUG=-all WINEPREFIX=$wine_prefix
	begin wine wine "$(windows_program)" "Z:$work/names/threads"
	# Wine takes its time to start.
	wait_until grep -q solver "$work/names/threads"
}

# Windows programs with sound through Wine, and with Direct3D, which Wine draws by OpenGL in a thread of its own.
scenario_winsound() {
	sound_server
	begin pipewire-pulse pipewire-pulse -c pipewire-pulse.conf
	wait_until test -S "$XDG_RUNTIME_DIR/pulse/native"
	export WINEDEBUG=-all WINEPREFIX=$wine_prefix
	touch "$work/uses-wine"
	x86_64-w64-mingw32-gcc -O2 bench/real/player.c -o "$work/copies/player.exe" -lwinmm
	STAMPS_INTO=$work/stamps begin wine wine "$work/copies/player.exe"
	wait_until pgrep -f "$work/copies/player.exe"
	sleep 3
}
scenario_direct3d() {
	display
	export WINEDEBUG=-all WINEPREFIX=$wine_prefix
	touch "$work/uses-wine"
	x86_64-w64-mingw32-gcc -O2 bench/roles/direct3d.c -o "$work/copies/direct3d.exe" -ld3d9
	begin wine wine "$work/copies/direct3d.exe" "Z:$work/names/threads"
	wait_until grep -q presenter "$work/names/threads"
}

# A game while the machine is full of other work.
scenario_crowd() {
	display
	begin glxgears glxgears
	begin stress-ng stress-ng --cpu 2 --timeout 60
	begin loop sh -c 'while :; do sleep 0.4; done'
}

# Looks anew for nodes each time: a device that was just made has one that was not there before.
is_plugged() { grep -qs "Tactus test $1" /sys/class/input/event*/device/name; }
# Input devices that go on sending, and the programs that read them. plug KIND RATE: leaves its node in $node
plug() {
	wait_until test -e /dev/uinput
	begin device build/workloads/mouse "$1" 100000 "$2" 0 unrelated
	wait_until is_plugged "$1"
	node=/dev/input/$(grep -ls "Tactus test $1" /sys/class/input/event*/device/name | cut -d / -f 5)
	wait_until test -e "$node"
}
# What programs ask about devices; a VM runs none.
device_manager() {
	[ -e /run/udev/control ] || /lib/systemd/systemd-udevd --daemon
	udevadm trigger --subsystem-match=input --action=add
	udevadm settle
}
scenario_readers() {
	local kind
	for kind in mouse keyboard pad; do
		case $kind in mouse) plug mouse 125 ;; keyboard) plug keyboard 30 ;; pad) plug pad 60 ;; esac
		begin evtest evtest "$node"
		begin cat cat "$node"
		begin interception interception "$node"
		begin python python3 -c 'import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
while os.read(fd, 4096): pass' "$node"
	done
	begin mice cat /dev/input/mice
	begin ways build/workloads/mouse mouse 100000 125 0
}
scenario_pads() {
	plug pad 60
	begin jstest jstest --event /dev/input/js0
	begin jstest jstest --select /dev/input/js0
	begin evtest evtest "$node"
	plug keyboard 30
	begin thd thd --triggers /dev/null "$node"
	begin evtest evtest "$node"
}
scenario_desktop() {
	plug mouse 125
	local mouse=$node
	plug keyboard 30
	device_manager
	begin libinput libinput debug-events --device "$mouse"
	begin libinput libinput debug-events --device "$node"
	begin libinput libinput debug-events --udev seat0
	cat >"$work/xorg.conf" <<-END
		Section "Device"
			Identifier "none"
			Driver "dummy"
		EndSection
	END
	begin Xorg Xorg -displayfd 3 -config "$work/xorg.conf" -noreset -nolisten tcp -novtswitch -sharevts 3>"$work/display"
	wait_until test -s "$work/display"
	DISPLAY=:$(cat "$work/display") begin glxgears glxgears
}
