// SPDX-License-Identifier: GPL-2.0
/* See kernel_types.h. */
#include "kernel_types.h"

#include <bpf/btf.h>
#include <stdio.h>

#include "vmlinux_btf.h"

static struct btf *kernel;

const struct btf *kernel_types(void)
{
	if (!kernel)
		kernel = btf__load_vmlinux_btf();
	return kernel;
}

void kernel_types_forget(void)
{
	btf__free(kernel);
	kernel = NULL;
	vmlinux_btf_forget();
}

static int find(const char *name, __u32 kind)
{
	const struct btf *types = kernel_types();
	int id = types ? btf__find_by_name_kind(types, name, kind) : 0;

	return id > 0 ? id : 0;
}

bool kernel_has_function(const char *name)
{
	return find(name, BTF_KIND_FUNC);
}

bool kernel_has_tracepoint(const char *name)
{
	char full[128];

	snprintf(full, sizeof(full), "btf_trace_%s", name);
	return find(full, BTF_KIND_TYPEDEF);
}

int kernel_variable(const char *name)
{
	return find(name, BTF_KIND_VAR);
}
