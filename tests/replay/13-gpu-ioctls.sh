#!/usr/bin/env bash
# Every number of core/ioc.h against the uapi headers of the drivers: what is a submit there is one here, and no other ioctl of
# the driver is. Headers are those of the kernel's source that libbpf is built from, of linux-libc-dev and of libdrm, where they are there.
. tests/tap.sh
. tools/lib.sh

# The folders that may have them, the newest first: HEADERS may name one.
folders=()
for folder in "${HEADERS:-/none}" "$cache/uapi-drm" /usr/include/drm /usr/include/libdrm; do
	[ ! -e "$folder/drm.h" ] || folders+=("$folder")
done
if [ ${#folders[@]} = 0 ]; then
	skip "numbers of ioctls against the drivers' headers" "there are no headers of DRM (libdrm-dev has some)"
	done_testing
fi

# driver, header, the ioctls that hand over work. An ioctl that is left out here must be no submit.
table() {
	cat <<'END'
I915 i915_drm.h I915_GEM_EXECBUFFER I915_GEM_EXECBUFFER2 I915_GEM_EXECBUFFER2_WR
XE xe_drm.h XE_EXEC
AMDGPU amdgpu_drm.h AMDGPU_CS AMDGPU_USERQ_SIGNAL
RADEON radeon_drm.h RADEON_CS
NOUVEAU nouveau_drm.h NOUVEAU_GEM_PUSHBUF NOUVEAU_EXEC
MSM msm_drm.h MSM_GEM_SUBMIT
V3D v3d_drm.h V3D_SUBMIT_CL V3D_SUBMIT_TFU V3D_SUBMIT_CSD V3D_SUBMIT_CPU
VC4 vc4_drm.h VC4_SUBMIT_CL
PANFROST panfrost_drm.h PANFROST_SUBMIT
PANTHOR panthor_drm.h PANTHOR_GROUP_SUBMIT
LIMA lima_drm.h LIMA_GEM_SUBMIT
ETNAVIV etnaviv_drm.h ETNAVIV_GEM_SUBMIT
POWERVR pvr_drm.h PVR_SUBMIT_JOBS
ASAHI asahi_drm.h ASAHI_SUBMIT
TEGRA tegra_drm.h TEGRA_SUBMIT TEGRA_CHANNEL_SUBMIT
VIRTIO virtgpu_drm.h VIRTGPU_EXECBUFFER
VMWGFX vmwgfx_drm.h VMW_EXECBUF
QXL qxl_drm.h QXL_EXECBUFFER
VGEM vgem_drm.h VGEM_FENCE_ATTACH VGEM_FENCE_SIGNAL
END
}

# names FOLDER HEADER: the names that it gives numbers, by macros without arguments and by enums
names() {
	printf '#include <stdint.h>\n#include "%s"\n' "$2" >"$scratch/include.c"
	{
		gcc -E -dM -D__user= -I"$1" -I"$1/.." "$scratch/include.c" | sed -n 's/^#define DRM_\([A-Z0-9_]*\) .*/\1/p'
		gcc -E -D__user= -I"$1" -I"$1/.." "$scratch/include.c" | grep -o 'DRM_IOCTL_[A-Z0-9_]* =' | sed 's/^DRM_//; s/ =//'
	} 2>/dev/null | sort -u
}

# own_ioctls FOLDER HEADER SUBMIT...: each ioctl that this header alone defines, one a line. Where it has only their numbers, as
# vmwgfx's, those of them that are submits.
own_ioctls() {
	names "$1" "$2" >"$scratch/names"
	sed -n 's/^IOCTL_//p' "$scratch/names" | grep -vxF -f "$scratch/of-drm"
	shift 2
	printf '%s\n' "$@" | grep -xF -f "$scratch/names" | sed 's/$/ by its number/'
}

# check_driver FOLDER DRIVER HEADER SUBMIT...: prints how many ioctls agree, and each that does not
check_driver() {
	local folder=$1 driver=$2 header=$3 name by
	shift 3
	{
		printf '#include <stdint.h>\n#include <stdio.h>\n#include "%s"\n#include "core/ioc.h"\n' "$header"
		echo 'static int agreed; static void check(const char *name, unsigned cmd, int is_submit) {'
		echo "if ((drm_is_submit(GPU_$driver, cmd) != 0) == is_submit) agreed++; else"
		echo 'printf("%s (0x%x) is %s submit in the header%c", name, cmd, is_submit ? "a" : "no", 10); }'
		echo 'int main(void) {'
		while read -r name by; do
			case "$by: $* " in
			by*) echo "check(\"$name\", 0x6440 + DRM_$name, 1);" ;;
			*" $name "*) echo "check(\"$name\", (unsigned)DRM_IOCTL_$name, 1);" ;;
			*) echo "check(\"$name\", (unsigned)DRM_IOCTL_$name, 0);" ;;
			esac
		done <"$scratch/own"
		echo 'printf("agreed %d%c", agreed, 10); return 0; }'
	} >"$scratch/check.c"
	if gcc -w -D__user= -I"$folder" -I"$folder/.." -I. -o "$scratch/check" "$scratch/check.c" 2>"$scratch/gcc"; then
		"$scratch/check"
	else
		head -3 "$scratch/gcc"
	fi
}

for folder in "${folders[@]}"; do
	name=$folder
	[ "$folder" != "$cache/uapi-drm" ] || name=the\ kernel\'s\ source
	names "$folder" drm.h | sed -n 's/^IOCTL_//p' >"$scratch/of-drm"
	echo BASE >>"$scratch/of-drm"
	while read -r driver header submits; do
		[ -e "$folder/$header" ] || continue
		known=""
		# shellcheck disable=SC2086
		own_ioctls "$folder" "$header" $submits >"$scratch/own"
		for submit in $submits; do grep -qw "$submit" "$scratch/own" && known+=" $submit"; done
		echo "$name/$header" >>"$scratch/compared"
		# shellcheck disable=SC2086
		said=$(check_driver "$folder" "$driver" "$header" $known)
		say_measured "$name/$header: ${said##*$'\n'} of $(wc -l <"$scratch/own") ioctls; submits:$known"
		is "$name/$header: the ioctls that submit are those of the table, and no others" "$said" "agreed $(wc -l <"$scratch/own")"
		like "$name/$header: one of the driver's submits is in it" "$known" '[A-Z]'
	done < <(table)
done
# The four that most machines have must have been compared with a kernel's own headers, not with libdrm's alone.
if [ -e "$cache/uapi-drm" ]; then
	for header in i915_drm.h amdgpu_drm.h xe_drm.h msm_drm.h; do
		holds "$header of the kernel's source was compared" grep -q "source/$header" "$scratch/compared"
	done
else
	skip "headers of the kernel's source" "'make deps' keeps them where it builds libbpf"
fi
done_testing
