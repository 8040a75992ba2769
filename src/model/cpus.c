// SPDX-License-Identifier: GPL-2.0
/* Sums and differences over the accounts of CPUs.
 * Plain arithmetic: no kernel, no printing. */
#include "cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cpus_init(struct cpus *cpus, u32 len)
{
	size_t bytes = (size_t)len * sizeof(struct cpu_account);

	*cpus = (struct cpus){ .len = len };
	cpus->accounts = aligned_alloc(_Alignof(struct cpu_account), bytes);
	if (!cpus->accounts)
		return -ENOMEM;
	memset(cpus->accounts, 0, bytes);
	return 0;
}

void cpus_free(struct cpus *cpus)
{
	free(cpus->accounts);
	*cpus = (struct cpus){ 0 };
}

bool cpu_was_seen(const struct cpu_account *account)
{
	return account->since_ns != 0;
}

void cpus_add(struct cpus *earlier, const struct cpus *since)
{
	for (u32 cpu = 0; cpu < since->len && cpu < earlier->len; cpu++) {
		struct cpu_account *account = &earlier->accounts[cpu];

		account->switches += since->accounts[cpu].switches;
		account->busy_ns += since->accounts[cpu].busy_ns;
		account->idle_ns += since->accounts[cpu].idle_ns;
		account->lost += since->accounts[cpu].lost;
	}
	earlier->refused += since->refused;
	earlier->recursion_misses += since->recursion_misses;
}

void cpus_subtract(struct cpus *later, const struct cpus *earlier)
{
	for (u32 cpu = 0; cpu < later->len && cpu < earlier->len; cpu++) {
		struct cpu_account *account = &later->accounts[cpu];
		const struct cpu_account *before = &earlier->accounts[cpu];

		account->switches -= before->switches;
		account->busy_ns -= before->busy_ns;
		account->idle_ns -= before->idle_ns;
		account->lost -= before->lost;
	}
	later->refused -= earlier->refused;
	later->recursion_misses -= earlier->recursion_misses;
}

struct cpu_account cpus_sum(const struct cpus *cpus)
{
	struct cpu_account sum = { 0 };

	for (u32 cpu = 0; cpu < cpus->len; cpu++) {
		sum.switches += cpus->accounts[cpu].switches;
		sum.busy_ns += cpus->accounts[cpu].busy_ns;
		sum.idle_ns += cpus->accounts[cpu].idle_ns;
		sum.lost += cpus->accounts[cpu].lost;
	}
	return sum;
}
