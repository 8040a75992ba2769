/* SPDX-License-Identifier: GPL-2.0 */
/* What two sides differ by, in words: figures with their units, and the verdict in one sentence.
 * Names of programs are as a terminal may show them. */
#ifndef TACTUS_VIEW_COMPARE_WORDS_H
#define TACTUS_VIEW_COMPARE_WORDS_H

#include "../model/compare.h"

enum { COMPARE_WORDS_SIZE = 64, COMPARE_SENTENCE_SIZE = 1024 };

/* What the two sides are called. */
struct compare_names {
	const char *a, *b;
};

/* "frames a second", "p99 of waits"; in JSON "frames_per_s", "wait_p99". */
const char *figure_words(const struct compare_row *row);
const char *figure_json(const struct compare_row *row);
const char *verdict_json(enum compare_verdict verdict);
const char *change_json(enum compare_change change);
const char *unit_json(enum compare_unit unit);

/* Of what it is: a program, a role, a tier, a cause, "all threads". */
void compare_of_words(char into[COMPARE_WORDS_SIZE], const struct compare_row *row);
/* The same for JSON: what it is of, and the name of that or NULL. */
const char *compare_of_json(const struct compare_row *row);

void compare_value_words(char into[COMPARE_WORDS_SIZE], enum compare_unit unit, double value);
/* "-12.3 ms (-70 %)" */
void compare_difference_words(char into[COMPARE_WORDS_SIZE], const struct compare_row *row);
/* "-15.1 ms to -9.4 ms"; "" where there is none. */
void compare_interval_words(char into[COMPARE_WORDS_SIZE], const struct compare_row *row);

void compare_verdict_words(char into[COMPARE_SENTENCE_SIZE], const struct compare_result *result,
			   const struct compare_names *names);

#endif
