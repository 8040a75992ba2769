/* SPDX-License-Identifier: GPL-2.0 */
/* The words that both halves speak: integer types, lengths, and the mark for functions that live in headers.
 * No libc and no kernel header is included here, so that clang -target bpf and a host compiler read the same text. */
#ifndef TACTUS_CORE_TYPES_H
#define TACTUS_CORE_TYPES_H

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __INT16_TYPE__ s16;
typedef __INT32_TYPE__ s32;
typedef __INT64_TYPE__ s64;

#define core_fn static inline __attribute__((always_inline, unused))

/* A step of a long decision. For the kernel it is a function of its own, which the verifier looks at once, and not
 * again for every way that leads there, with every number known that was known on that way: decisions in steps load in
 * a tenth of the time. The verifier wants to see that it bears NULLs, and that it returns a number. */
#ifdef __bpf__
#define core_step __attribute__((noinline))
#else
#define core_step static inline __attribute__((unused))
#endif

enum {
	COMM_LEN = 16, /* the kernel's TASK_COMM_LEN, its NUL included */
	TAIL_LEN = 48, /* of a path, its NUL included */
	LONG_NAME_LEN = 184,
	NSEC_PER_USEC = 1000,
	NSEC_PER_MSEC = 1000000,
	NSEC_PER_SEC = 1000000000,
};

/* A wrapper, so that a name is a type like any other in the event table. */
struct comm {
	char text[COMM_LEN];
};

/* The last part of a path that may be longer. */
struct tail {
	char text[TAIL_LEN];
};

/* A name that a program chose, such as a kernel's, perhaps cut. */
struct long_name {
	char text[LONG_NAME_LEN];
};

#endif
