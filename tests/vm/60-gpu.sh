#!/usr/bin/env bash
# The gpu sensor on DRM drivers that need no hardware (vkms, vgem), built in and as modules, and on a double of NVIDIA's.
# One boot a kernel, and one in virtual time for how soon a thread is known; the guest's own results pass through.
. tests/tap.sh

# One CPU does, and there a guest cannot trip over code that another CPU patches.
export LIMIT=600 CPUS=1
for kernel in scx debian-6.1; do
	echo "# kernel $kernel"
	image=$(readlink -f "$(vm/kernel.sh $kernel)/image")
	# The double of NVIDIA's module is of the first kernel only.
	cuda=true
	[ $kernel != scx ] || cuda="tests/guest/cuda.sh '$image'"
	CMD="status=0; tests/guest/gpu.sh '$image' || status=1; $cuda || status=1; exit \$status" KERNEL=$kernel guest
	is "every check held on $kernel" $? 0
done
image=$(readlink -f "$(vm/kernel.sh scx)/image")
echo "# kernel scx in virtual time"
CMD="TACTUS_CLOCK=virtual tests/guest/gpu.sh '$image'" CLOCK=virtual guest
is "every check held in virtual time" $? 0
done_testing
