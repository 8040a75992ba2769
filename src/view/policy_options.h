/* SPDX-License-Identifier: GPL-2.0 */
/* The scheduler's settings as numbers in words: one range for 'tactus run', for its configuration, and for those that
 * simulate it. */
#ifndef TACTUS_VIEW_POLICY_OPTIONS_H
#define TACTUS_VIEW_POLICY_OPTIONS_H

#include "../../core/types.h"

/* Each returns NULL, or what is wrong with the text. */
const char *parse_slice_us(const char *text, u64 *slice_us);
const char *parse_light_us(const char *text, u64 *light_us);
const char *parse_credit(const char *text, u64 *credit);
const char *parse_discount(const char *text, u64 *discount);

#endif
