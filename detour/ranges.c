// SPDX-License-Identifier: GPL-2.0
/* Ranges that a program itself names by NVTX. Its headers ask the library in NVTX_INJECTION64_PATH, which is this one,
 * what their functions shall be; these do nothing, and tactus has a probe at each. Loaded a second time for that, by
 * the program's own dlopen: nothing here is shared with what LD_AUDIT brought. */
#include "detour.h"

#ifdef __x86_64__

#define for_nvtx __attribute__((visibility("default"), noinline))

/* The numbers are those of NVTX 2 and 3: which table, and which function in it. */
enum { TABLE_OF_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { CORE_PUSH_EX = 8, CORE_PUSH_A = 9, CORE_POP = 11 };
enum { CORE2_PUSH_EX = 4, CORE2_POP = 5, CORE2_REGISTER_A = 10 };
enum { NOT_TRACKED = -2, NAMES_BYTES = 1 << 16, NAME_BYTES = 128 };

typedef void (*any_function)(void);

struct callbacks {
	u64 bytes;
	int (*table_of)(int module, any_function ***table, unsigned int *len);
};

/* Each has an address of its own, where its probe is. */
#define DOES_NOTHING(number) __asm__ volatile("nopl %c0(%%rax)" : : "i"(number))

for_nvtx int nvtxRangePushA(const char *text);
for_nvtx int nvtxRangePushEx(const void *attributes);
for_nvtx int nvtxDomainRangePushEx(void *domain, const void *attributes);

for_nvtx int nvtxRangePushA(const char *text)
{
	DOES_NOTHING(1);
	(void)text;
	return NOT_TRACKED;
}

for_nvtx int nvtxRangePushEx(const void *attributes)
{
	DOES_NOTHING(2);
	(void)attributes;
	return NOT_TRACKED;
}

for_nvtx int nvtxDomainRangePushEx(void *domain, const void *attributes)
{
	DOES_NOTHING(3);
	(void)domain;
	(void)attributes;
	return NOT_TRACKED;
}

static int pop(void)
{
	return NOT_TRACKED;
}

/* What a program registers it names by the handle from then on, whatever becomes of its own text. */
static char names[NAMES_BYTES];
static u32 names_len;

static const char *register_name(const void *domain, const char *text)
{
	u32 len = 0, at;

	(void)domain;
	while (text && len < NAME_BYTES - 1 && text[len])
		len++;
	if (!len || __atomic_load_n(&names_len, __ATOMIC_RELAXED) > NAMES_BYTES - NAME_BYTES)
		return 0;
	at = __atomic_fetch_add(&names_len, len + 1, __ATOMIC_RELAXED);
	if (at > NAMES_BYTES - NAME_BYTES)
		return 0;
	for (u32 i = 0; i < len; i++)
		names[at + i] = text[i];
	return names + at;
}

static void put(any_function **table, unsigned int len, unsigned int at, any_function function)
{
	if (at < len && table[at])
		*table[at] = function;
}

for_nvtx int InitializeInjectionNvtx2(const void *(*table_of)(u32 table));
for_nvtx int InitializeInjectionNvtx2(const void *(*table_of)(u32 table))
{
	const struct callbacks *callbacks = table_of(TABLE_OF_CALLBACKS);
	any_function **table = 0;
	unsigned int len = 0;

	if (!callbacks || callbacks->bytes < sizeof(*callbacks) || !callbacks->table_of(MODULE_CORE, &table, &len))
		return 0;
	put(table, len, CORE_PUSH_EX, (any_function)nvtxRangePushEx);
	put(table, len, CORE_PUSH_A, (any_function)nvtxRangePushA);
	put(table, len, CORE_POP, (any_function)pop);
	if (callbacks->table_of(MODULE_CORE2, &table, &len)) {
		put(table, len, CORE2_PUSH_EX, (any_function)nvtxDomainRangePushEx);
		put(table, len, CORE2_POP, (any_function)pop);
		put(table, len, CORE2_REGISTER_A, (any_function)register_name);
	}
	return 1;
}

#endif
