// SPDX-License-Identifier: GPL-2.0
/* What fuzzing the exporter starts from: the same streams as for the models, in the same form. */
#include "models_seeds.c"
