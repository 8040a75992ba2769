/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's BTF, read once. libbpf reads it anew for every object that is loaded, and the kernel hands it out a page
 * a call: a start of every sensor took 20,000 calls for that. So btf__load_vmlinux_btf() is ours, and the linker is
 * told to take the first of two (-z muldefs). */
#ifndef TACTUS_SENSOR_VMLINUX_BTF_H
#define TACTUS_SENSOR_VMLINUX_BTF_H

/* Gives the memory back. Who asks again has it read again. */
void vmlinux_btf_forget(void);

#endif
