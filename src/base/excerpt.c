// SPDX-License-Identifier: GPL-2.0
/* What --from, --to, --around and --margin take. A moment has a unit, and may be 0s.
 */
#include "excerpt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum { MARGIN_DEFAULT_NS = 100 * NSEC_PER_MSEC };

/* Added to any time it is still one. */
#define MOMENT_LAST_NS (~0ULL / 4)

/* "0", "0s", "0.0ms": a span can't be nothing, a moment can. */
static bool is_zero(const char *text)
{
	static const char *const units[] = { "", "s", "ms", "us", "m", "h" };
	size_t digits = strspn(text, "0.");

	if (!digits || text[0] == '.')
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(text + digits, units[i]))
			return true;
	return false;
}

static const char *take_moment(const char *text, u64 *moment_ns)
{
	*moment_ns = 0;
	if (is_zero(text))
		return NULL;
	/* No recording is so long: that is past its end, and not wrong. */
	if (parse_duration(text, moment_ns) == -ERANGE && strtod(text, NULL) >= 1 &&
	    text[strspn(text, "0123456789.")]) {
		*moment_ns = MOMENT_LAST_NS;
		return NULL;
	}
	return parse_span(text, moment_ns);
}

const char *excerpt_take(struct excerpt *excerpt, int key, const char *value)
{
	switch (key) {
	case EXCERPT_FROM:
		excerpt->has_from = true;
		return take_moment(value, &excerpt->from_ns);
	case EXCERPT_TO:
		excerpt->has_to = true;
		return take_moment(value, &excerpt->to_ns);
	case EXCERPT_MARGIN:
		excerpt->has_margin = true;
		return take_moment(value, &excerpt->margin_ns);
	default:
		if (parse_number(value, ~0ULL, &excerpt->around) || !excerpt->around)
			return "is not the number of a frame, such as 'tactus frames --why' prints it";
		return NULL;
	}
}

bool excerpt_check(struct excerpt *excerpt, struct reason *why)
{
	if (excerpt->around && (excerpt->has_from || excerpt->has_to))
		reason_set(why, "--around says what is shown, or --from and --to do, not both");
	else if (excerpt->has_margin && !excerpt->around)
		reason_set(why, "--margin is for --around FRAME");
	else if (excerpt->has_to && excerpt->to_ns <= excerpt->from_ns)
		reason_set(why, excerpt->has_from ? "--to is not later than --from: there is nothing between them"
						  : "nothing comes before --to 0");
	else {
		if (!excerpt->has_margin)
			excerpt->margin_ns = MARGIN_DEFAULT_NS;
		return true;
	}
	return false;
}

bool excerpt_is_empty(const struct excerpt *excerpt)
{
	return !excerpt->has_from && !excerpt->has_to && !excerpt->around;
}
