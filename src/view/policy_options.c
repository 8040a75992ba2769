// SPDX-License-Identifier: GPL-2.0
/* The scheduler's settings as numbers in words.
 */
#include "policy_options.h"

#include "../../core/tier.h"
#include "../base/options.h"

enum { SLICE_US_LEAST = 100, SLICE_US_MOST = 100000 };

const char *parse_slice_us(const char *text, u64 *slice_us)
{
	return parse_number(text, SLICE_US_MOST, slice_us) || *slice_us < SLICE_US_LEAST
		       ? "is not a number of microseconds from 100 to 100000"
		       : NULL;
}

const char *parse_light_us(const char *text, u64 *light_us)
{
	return parse_number(text, TIER_LIGHT_MOST_US, light_us) || *light_us < TIER_LIGHT_LEAST_US
		       ? "is not a number of microseconds from 50 to 2000"
		       : NULL;
}

const char *parse_credit(const char *text, u64 *credit)
{
	return parse_number(text, TIER_CREDIT_MOST, credit) || *credit < TIER_CREDIT_LEAST
		       ? "is not a number of slices from 2 to 16"
		       : NULL;
}

const char *parse_discount(const char *text, u64 *discount)
{
	return parse_number(text, TIER_DISCOUNT_MOST, discount) || !*discount ? "is not a number from 1 to 32" : NULL;
}
