// SPDX-License-Identifier: GPL-2.0
/* The double of Wine's ntdll.so as newer Wine builds it: its functions get their arguments as Linux's own do. */
#define SYSTEM_V
#include "ntdll_double.c"
