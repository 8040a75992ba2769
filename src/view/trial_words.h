/* SPDX-License-Identifier: GPL-2.0 */
/* A trial's answer in words.
 */
#ifndef TACTUS_VIEW_TRIAL_WORDS_H
#define TACTUS_VIEW_TRIAL_WORDS_H

#include "../model/trial.h"

enum { TRIAL_WORDS_SIZE = 640, TRIAL_VALUE_SIZE = 48, TRIAL_PAIRS_LEAST = 9 };

const char *trial_by_words(enum trial_by by);
const char *trial_by_json(enum trial_by by);
/* "helps", "harms", "no_difference", "too_little". */
const char *trial_verdict_json(const struct trial *trial, const struct trial_answer *answer);
void trial_value_words(char into[TRIAL_VALUE_SIZE], enum trial_by by, double value);
void trial_answer_words(char into[TRIAL_WORDS_SIZE], const struct trial *trial, const struct trial_answer *answer);

#endif
