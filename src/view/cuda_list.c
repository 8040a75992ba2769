// SPDX-License-Identifier: GPL-2.0
/* tactus cuda --list: the functions of this machine's libcuda and of NVIDIA's kernel modules, and how each can be
 * watched here. */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/say.h"
#include "../sensor/cuda.h"
#include "../sink/table.h"
#include "cuda_view.h"

struct listing {
	const char *pattern, *api;
	struct table table;
	u64 functions, driver;
};

#define LISTED_TABLE(COLUMN, SHOWN)               \
	COLUMN(LISTED, layer, "LAYER", CELL_TEXT) \
	COLUMN(LISTED, name, "NAME", CELL_TEXT)   \
	COLUMN(LISTED, how, "WATCHED", CELL_TEXT) \
	COLUMN(LISTED, class, "FOR", CELL_TEXT)   \
	COLUMN(LISTED, also, "ALSO CALLED", CELL_TEXT)
TABLE_OF(columns, LISTED);

static bool fits(const struct listing *listing, const char *name)
{
	return !listing->pattern || !fnmatch(listing->pattern, name, 0);
}

static void add(struct listing *listing, const char *layer, const char *name, const char *how, const char *class,
		const char *also)
{
	union cell cells[LISTED_CELLS] = {
		[LISTED_layer] = { .text = layer },
		[LISTED_name] = { .text = name },
		[LISTED_how] = { .text = how },
		[LISTED_class] = { .text = class },
		[LISTED_also] = { .text = also ? also : "" },
	};

	table_row(&listing->table, cells);
}

static void take_function(void *data, const struct cuda_function *function)
{
	struct listing *listing = data;
	const struct cuda_api *api = cuda_api_of(function->name);
	bool chosen = cuda_is_chosen(function, listing->api);
	bool entry_only = api->class == CUDA_LAUNCHES && !strcmp(listing->api, "default");

	if (!fits(listing, function->name))
		return;
	listing->functions++;
	add(listing, "libcuda", function->name,
	    !chosen	 ? "not in this set"
	    : entry_only ? "at its entry"
			 : "entry and return",
	    cuda_class_name(api->class), function->aliases);
}

static void take_driver(void *data, const char *module, const char *symbol, const char *how)
{
	struct listing *listing = data;

	listing->driver++;
	add(listing, module, symbol, how, "", "");
}

int cuda_print_list(const struct options *options, const char *api)
{
	static const struct table_columns tables[] = { { columns, LISTED_CELLS }, { 0 } };
	const char *pattern = options->word;
	struct listing listing = { .pattern = pattern, .api = api };
	char path[PATH_MAX] = "";
	struct reason why = { "" };
	int got;

	table_check(options, "cuda", tables);
	table_open_for(&listing.table, options, "cuda_function", columns, LISTED_CELLS, ROWS_ALL, NULL);
	got = cuda_list_functions(path, sizeof(path), take_function, &listing, &why);
	driver_list(pattern, take_driver, &listing);
	table_close(&listing.table);
	if (got < 0)
		note("%s: %s", path[0] ? path : "libcuda", why.text);
	else
		note("%s exports %d functions, %llu fit", path, got, (unsigned long long)listing.functions);
	if (!listing.driver)
		note("no function of %s", !pattern		 ? "NVIDIA's modules is there: none is loaded"
					  : strchr(pattern, ':') ? "that module fits, or it is not loaded"
								 : "NVIDIA's modules fits, or none is loaded");
	return got < 0 && !listing.driver ? EXIT_FAILURE : EXIT_SUCCESS;
}
