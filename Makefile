# tactus: build, install, run, test. 'make help' lists the targets.
# What the machine lacks is found or made by tools/deps.sh, which writes where it is to build/deps.mk.
VERSION := 0.1.0
PREFIX ?= /usr/local
SBINDIR ?= $(PREFIX)/sbin
DESTDIR ?=
SHARE = $(DESTDIR)$(PREFIX)/share

# ARCH=aarch64 on another machine: by Debian's cross compiler, below build/aarch64.
HOST := $(shell uname -m)
ARCH := $(HOST)
CROSS = $(if $(filter-out $(HOST),$(ARCH)),$(ARCH)-linux-gnu-)
B := build$(if $(CROSS),/$(ARCH))
CC = $(CROSS)gcc $(CROSS_FLAGS)
CLANG ?= clang
PKG_CONFIG ?= pkg-config

ifneq ($(filter-out deps run demo test test-long test-kernels help clean uninstall cross dist,$(or $(MAKECMDGOALS),all)),)
-include $(B)/deps.mk
endif

WERROR ?= -Werror # Who builds a package of a release has another compiler, whose new warnings are no reason to have none: WERROR=
WARN := -Wall -Wextra $(WERROR)
CFLAGS ?= -O2 -g
# What makes a fault in a root program harder to use; tools/lint.sh looks for it in the binary. FORTIFY needs optimization.
HARDENED = -fPIE -fstack-protector-strong -U_FORTIFY_SOURCE $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-D_FORTIFY_SOURCE=2)
HARDENED_LINK := -Wl,-z,relro,-z,now,-z,noexecstack,-z,muldefs
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(HARDENED) -D_GNU_SOURCE -DTACTUS_VERSION='"$(VERSION)"' -I$(B)/bpf $(LIBBPF_CFLAGS)
LIBS = $(LIBBPF_A) -lelf -lz -linih -liberty -lm $(or $(shell $(PKG_CONFIG) --libs-only-l ncursesw 2>/dev/null),-lncursesw -ltinfo) $(or $(TLS_LIBS),-l:libmbedtls.a -l:libmbedx509.a -l:libmbedcrypto.a)
STATIC_LIBS = $(LIBS) $(shell $(PKG_CONFIG) --static --libs-only-l libelf 2>/dev/null)
# Where the headers of one machine lie, which clang does not look for when it makes BPF.
HEADERS = $(if $(CROSS),/usr/$(ARCH)-linux-gnu/include,$(addprefix /usr/include/,$(shell gcc -print-multiarch 2>/dev/null)))
BPF_ARCH = $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(ARCH)))
BPF_CFLAGS = -std=gnu11 $(WARN) -Wno-unused-parameter -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) \
	$(LIBBPF_CFLAGS) $(addprefix -idirafter ,$(HEADERS))

SRC := $(wildcard src/*.c src/*/*.c)
OBJ := $(SRC:%.c=$(B)/%.o)
SKEL := $(patsubst bpf/%.bpf.c,$(B)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/*_test.c))
WORKLOADS := $(patsubst tests/workloads/%.c,$(B)/workloads/%,$(wildcard tests/workloads/*.c))
WORKLOADS += $(B)/workloads/libcuda.so.1 $(B)/workloads/libnccl.so $(B)/workloads/clock.so $(B)/workloads/faults.so $(B)/workloads/overwrite.so
WORKLOADS += $(patsubst tests/guest/%.c,$(B)/workloads/%,$(wildcard tests/guest/*.c))
WINDOWS := $(patsubst tests/workloads-windows/%.c,$(B)/workloads/%.exe,$(wildcard tests/workloads-windows/*.c))

begin = @mkdir -p $(@D) && echo "  CC    $<"
make_bpf = @mkdir -p $(@D) && echo "  BPF   $@" && $(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@
.DELETE_ON_ERROR .SECONDARY:
.PHONY: all help deps run demo test test-long test-kernels test-unit test-workloads cross static clang install uninstall lint pictures format vm bench bench-overhead bench-scale bench-export bench-roles bench-latency bench-simulate bench-learned bench-delivery bench-frames bench-real bench-cuda clean deb dist tarballs image

all: $(B)/tactus

help:
	@sed -n 's/^## //p' Makefile

## make             build build/tactus (run 'make deps' once before)
## make deps        install or build what the build needs
deps:
	@tools/deps.sh build $(ARCH)

## make run         set up, build, and run the main job (tactus run); in a VM where this machine does not allow it
## make demo        the main job in a VM, on any machine: a game-like load before and after
run demo: deps
	@echo "==> building" >&2
	@$(MAKE) --no-print-directory -s all $(B)/bench/load
	@tools/$@.sh

## make test        set up, build, and run every test; make test-kernels: those of the other kernels, arm64 among them
test test-kernels:
	@tools/deps.sh test
	@tests/run.sh $(patsubst test-%,%,$(filter-out test,$@))
## make test-long   what is rare and long: stress of the scheduler, a thousand restarts, an hour of fuzzing each parser; a day
test-long:
	@tools/deps.sh test
	@FUZZ_SECONDS=3600 ALL_COMBINATIONS=1 FAULTS_EVERY=1 tests/run.sh fuzz host/57-without hostile/60-faults long
## make test-unit   the tests that need no root
test-unit: test-workloads
	@tests/run.sh unit fuzz

$(B)/deps.mk:
	@$(if $(CROSS),tools/deps.sh build $(ARCH),echo "tactus: the build needs libbpf and bpftool: run 'make deps' first" >&2; exit 1)

$(B)/bpf/%.bpf.o: bpf/%.bpf.c $(B)/deps.mk
	$(make_bpf)

$(B)/bpf/%.skel.h: $(B)/bpf/%.bpf.o
	@$(BPFTOOL) gen skeleton $< name $*_bpf >$@

$(B)/src/%.o: src/%.c $(B)/deps.mk Makefile | $(SKEL)
	$(begin)
	@$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# What a traced program takes in lies in tactus itself; it brings no C library along. There is none but for x86-64.
$(B)/detour.so: $(wildcard detour/*.[ch] core/*.h) Makefile
	@mkdir -p $(@D) && echo "  CC    $@"
	@$(CC) -std=gnu11 $(WARN) -O2 -D_GNU_SOURCE -fPIC -fvisibility=hidden -ffreestanding -fno-stack-protector \
		-mgeneral-regs-only -fcf-protection -nostdlib -shared -Wl,-z,now,--no-undefined \
		$(wildcard detour/*.c) -o $@
$(B)/src/sensor/cuda_detour.o: ALL_CFLAGS += -DDETOUR_IMAGE='"$(B)/detour.so"'
$(B)/src/sensor/cuda_detour.o: $(if $(filter x86,$(BPF_ARCH)),$(B)/detour.so)
$(B)/page.html: $(wildcard report/*) tools/page.py
	@mkdir -p $(@D) && tools/page.py report >$@
$(B)/src/view/report_page.o: ALL_CFLAGS += -DREPORT_PAGE='"$(B)/page.html"'
$(B)/src/view/report_page.o: $(B)/page.html

# What goes into a package needs the C library and libelf alone.
$(B)/tactus-packaged: LINK_WITH = $(LIBBPF_A) -Wl,-Bstatic $(filter-out $(LIBBPF_A) -lelf -lm,$(LIBS)) -Wl,-Bdynamic -lelf -lm
$(B)/tactus-static: LINK_WITH = $(STATIC_LIBS)
$(B)/tactus $(B)/tactus-static $(B)/tactus-packaged: $(OBJ)
	@echo "  LINK  $@"
	@$(CC) $(ALL_CFLAGS) $(if $(filter %-static,$@),-static-pie,-pie) $(HARDENED_LINK) $(LDFLAGS) $^ $(or $(LINK_WITH),$(LIBS)) -o $@
## make static      build/tactus-static, which runs on any distribution of this architecture
static: $(B)/tactus-static
## make clang       build everything again with clang, to see that it is clean there too
# The BPF objects are clang's own in either build; what is looked for here are warnings, so nothing is optimized.
clang: $(SKEL)
	@mkdir -p build/clang && cp -rpu $(B)/bpf build/clang/
	@$(MAKE) --no-print-directory CC=$(CLANG) CFLAGS=-O0 B=build/clang LIBBPF_A=$(LIBBPF_A) LIBBPF_CFLAGS="$(LIBBPF_CFLAGS)" \
		BPFTOOL=$(BPFTOOL) build/clang/tactus
build/clang/deps.mk: build/deps.mk
	@mkdir -p $(@D) && cp -p $< $@

# Unit tests are built with the sanitizers, from the sources that need no kernel.
PURE := $(filter-out src/main.c src/sensor/% src/sched/% src/view/% src/capture/%,$(SRC))
PURE += $(wildcard src/view/*_words.c src/view/top_paint*.c) src/view/status.c src/view/top_keys.c src/view/record_ring.c src/sensor/library_files.c src/sched/holds.c src/sched/journal.c src/sched/scx_events.c src/sched/scx_places.c
# In emulation the one for addresses takes minutes.
SANITIZED = $(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE $(LIBBPF_CFLAGS) -fno-sanitize-recover=all \
	-fsanitize=undefined $(if $(CROSS),-static-libubsan,-fsanitize=address)
$(B)/pure/%.o: %.c Makefile
	@mkdir -p $(@D) && echo "  CC    $< (sanitizers)"
	@$(SANITIZED) -MMD -MP -c $< -o $@
$(B)/pure.a: $(PURE:%.c=$(B)/pure/%.o)
	@rm -f $@ && $(CROSS)ar rcs $@ $^
$(B)/tests/%: tests/unit/%.c $(B)/pure.a
	@mkdir -p $(@D) && echo "  CC    $< (sanitizers)"
	@$(SANITIZED) -MMD -MP -MF $@.d $< $(B)/pure.a $(LIBBPF_A) -lelf -lz -linih -liberty -lm -o $@

# BPF objects against saved BTFs, without a kernel: see tests/btf/test.c.
BPF_OBJECTS := $(patsubst bpf/%.bpf.c,$(B)/bpf/%.bpf.o,$(wildcard bpf/*.bpf.c))
# For arm64 too, where its headers are: the BTFs are of kernels of both.
ARM64_OBJECTS := $(if $(CROSS),,$(if $(wildcard /usr/aarch64-linux-gnu/include/asm/ptrace.h),$(BPF_OBJECTS:build/%=build/aarch64/%)))
$(ARM64_OBJECTS): private ARCH := aarch64
$(ARM64_OBJECTS): build/aarch64/%.bpf.o: %.bpf.c $(B)/deps.mk
	$(make_bpf)
# Which headers each file takes in, the compilers write down.
-include $(OBJ:.o=.d) $(SKEL:.skel.h=.bpf.d) $(PURE:%.c=$(B)/pure/%.d) $(UNIT:%=%.d) $(ARM64_OBJECTS:.o=.d)
$(B)/tests/btf_%: tests/btf/%.c tests/btf/wanted.c $(addprefix src/,sensor/hide.c sched/scx_kernel.c base/say.c) $(wildcard tests/btf/*.h) $(BPF_OBJECTS)
	$(begin)
	@$(CC) $(ALL_CFLAGS) $(filter %.c,$^) $(LIBBPF_A) -lelf -lz -o $@

$(B)/workloads/%: tests/workloads/%.c $(wildcard tests/workloads/*.h)
	$(begin)
	@$(CC) -std=gnu11 $(WARN) -O2 -D_GNU_SOURCE -fno-omit-frame-pointer -rdynamic $< -o $@ -lpthread -ldl
$(B)/workloads/libcuda.so.1: tests/fakes/libcuda.c
	$(begin)
	@$(CC) -std=gnu11 $(WARN) -O2 -D_GNU_SOURCE -fPIC -fvisibility=hidden -fno-omit-frame-pointer -fno-shrink-wrap \
		$(if $(filter x86,$(BPF_ARCH)),-fcf-protection) -shared $< -o $@
$(B)/workloads/%.so: tests/fakes/%.c
	$(begin)
	@$(CC) -std=gnu11 $(WARN) -O2 -D_GNU_SOURCE -fPIC -shared $< -o $@ -ldl
# Guests' programs that bring the scheduler along.
$(B)/workloads/%: tests/guest/%.c $(B)/bpf/scx.skel.h
	$(begin)
	@$(CC) $(ALL_CFLAGS) $< $(LIBS) -o $@
# Windows programs, where their compiler is: without root it is not installed, and nothing runs them.
$(B)/workloads/%.exe: tests/workloads-windows/%.c
	@mkdir -p $(@D) && echo "  MINGW $<"
	@x86_64-w64-mingw32-gcc -std=gnu11 $(WARN) -Wno-missing-field-initializers -O2 $< -o $@

# Windows programs and what looks at saved BTFs are of x86-64.
OF_X86 := $(if $(filter x86,$(BPF_ARCH)),$(ARM64_OBJECTS) $(B)/tests/btf_test $(B)/tests/btf_spoil $(if $(shell command -v x86_64-w64-mingw32-gcc),$(WINDOWS)))
test-workloads: $(UNIT) $(WORKLOADS) $(B)/bench/load $(B)/bench/locks $(OF_X86)
## make ARCH=aarch64   the same or 'static' for that architecture, by Debian's cross compiler, below build/aarch64
## make cross       all of it, and its tests, for aarch64, unless this machine is one
cross:
	@$(if $(filter aarch64,$(HOST)),:,tools/deps.sh build aarch64 && $(MAKE) --no-print-directory ARCH=aarch64 all static test-workloads)
## make install     into PREFIX (/usr/local), below DESTDIR if given; SBINDIR=/usr/bin where that is the one folder for programs
SHARED := man/tactus.8:man/man8/tactus.8 completions/tactus.bash:bash-completion/completions/tactus completions/tactus.zsh:zsh/site-functions/_tactus \
	completions/tactus.fish:fish/vendor_completions.d/tactus.fish examples/tactus.conf:doc/tactus/tactus.conf \
	packaging/dbus/com.feralinteractive.GameMode.service:doc/tactus/com.feralinteractive.GameMode.service
UNIT = $(DESTDIR)$(PREFIX)/lib/systemd/system/tactus.service
PROGRAM ?= $(B)/tactus
install: $(PROGRAM)
	install -D -m 755 $< $(DESTDIR)$(SBINDIR)/tactus
	set -e; for pair in $(SHARED); do install -D -m 644 $${pair%%:*} $(SHARE)/$${pair#*:}; done
	install -D -m 644 packaging/systemd/tactus.service $(UNIT) && sed -i 's|/usr/sbin/|$(SBINDIR)/|' $(UNIT)
## make uninstall   take out what 'make install' put in
uninstall:
	rm -f $(DESTDIR)$(SBINDIR)/tactus $(UNIT) $(foreach pair,$(SHARED),$(SHARE)/$(lastword $(subst :, ,$(pair))))
## make deb         Debian packages, in build/packages
## make dist        the source tarball of what is committed there, the same bytes each time; 'make tarballs' static binaries too, with checksums
## make image       a container image of the static binary, as one tar file
deb dist tarballs image: $(if $(filter deb tarballs image,$(MAKECMDGOALS)),$(B)/deps.mk)
	@packaging/$@.sh build/packages
## make lint        formatting, static analysis, shell scripts, the rules of the rooms
lint:
	@tools/lint.sh
## make pictures    the pictures of README.md and docs/, anew from examples/
pictures: all
	@docs/pictures/make.sh
## make format      put every C file into the house's format
format:
	clang-format -i $$(git ls-files --cached --others --exclude-standard '*.c' '*.h')
## make vm CMD='..' run a shell command as root in a VM; KERNEL=scx|debian-6.1|6.12|6.16|6.17|6.18|7.2|newest CPUS=n TOPOLOGY=sockets=2,.. CLOCK=real|virtual LIMIT=s
vm: export override CMD := $(value CMD)
vm:
	@vm/run.sh
## make bench       what each hook costs a run, against an empty program at the same hook
bench: $(B)/bench/switch_cost $(B)/bench/sched_cost
	@$(B)/bench/switch_cost && $(B)/bench/sched_cost
## make bench-overhead   the slowdown of a benchmark that only switches, beside tactus and beside its peers
## make bench-scale  replay of 10 million events, 100,000 threads, 2 to 16 CPUs; bench-export: files and pages of 10 million
bench-overhead bench-scale bench-export: all test-workloads
	@$(wildcard bench/$(@:bench-%=%).*) $(OPTIONS)
## make bench-delivery   from the kernel's time stamp to the program, and what sending an event costs
bench-delivery: $(B)/bench/delivery
	@$(B)/bench/delivery
## make bench-frames  what 'tactus frames' costs glxgears, beside MangoHud; bench-simulate OPTIONS='validate speed': how far simulation can be believed
## make bench-real OPTIONS=..   real programs beside a load, with and without tactus; OPTIONS=--help lists what can be chosen
## make bench-roles  how often roles are right, on real programs whose threads are known, with and without names
## make bench-latency LOADS=..  scheduler against scheduler in VMs (KERNEL=), on one CPU and on several; hints against none on this machine
bench-roles: test-workloads $(B)/bench/conceal.so $(B)/bench/windows.exe
bench-latency bench-simulate: $(B)/bench/load $(B)/bench/unknown $(B)/bench/locks $(B)/bench/programs $(B)/bench/minute
bench-frames bench-real bench-roles bench-latency bench-simulate: all
	@bench/$(@:bench-%=%)/run.sh $(OPTIONS) $(LOADS)
## make bench-learned    what learning costs, and what it does to an urgent thread beside a compile
bench-learned: all $(B)/bench/load $(B)/bench/procdb_cost
	@$(B)/bench/procdb_cost && bench/learned.sh
## make bench-cuda OUT=DIR  everything of 'tactus cuda' that needs a real GPU, nvcc and PyTorch
bench-cuda: static
	@bench/cuda/h200.sh "$(or $(OUT),$(B)/bench/cuda)"
# Before the rule of bench/%: it takes no BPF.
$(B)/bench/load $(B)/bench/unknown $(B)/bench/locks: $(B)/bench/%: bench/latency/%.c
	$(begin)
	@$(CC) -std=gnu11 $(WARN) -O2 -D_GNU_SOURCE $< -o $@ -lpthread
$(B)/bench/programs: bench/latency/programs.c
	$(begin)
	@$(CC) $(ALL_CFLAGS) $< $(LIBS) -o $@
$(B)/bench/conceal.so: bench/roles/conceal.c
	@mkdir -p $(@D) && $(CC) -std=gnu11 $(WARN) -O2 -D_GNU_SOURCE -fPIC -shared $< -o $@
$(B)/bench/windows.exe: bench/roles/windows.c
	@mkdir -p $(@D) && x86_64-w64-mingw32-gcc $(WARN) -O2 $< -o $@ -lopengl32 -lgdi32
$(B)/bench/%.skel.h: bench/%.bpf.c bpf/kernel.h $(B)/deps.mk
	@mkdir -p $(@D) && $(CLANG) $(BPF_CFLAGS) -c $< -o $(@:.skel.h=.bpf.o)
	@$(BPFTOOL) gen skeleton $(@:.skel.h=.bpf.o) name $*_bpf >$@
$(B)/bench/%: bench/%.c bench/cost.h $(B)/bench/empty.skel.h $(OBJ)
	@echo "  CC    $<"
	@$(CC) $(ALL_CFLAGS) $(HARDENED_LINK) -I$(B)/bench $< $(filter-out $(B)/src/main.o,$(OBJ)) $(LIBS) -o $@ -lpthread
clean:
	rm -rf build
