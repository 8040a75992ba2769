// SPDX-License-Identifier: GPL-2.0
/* Fuzzing 'tactus top' starts from what fuzzing the models starts from: the form is the same. */
#include "models_seeds.c"
