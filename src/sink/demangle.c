// SPDX-License-Identifier: GPL-2.0
/* libiberty does the demangling. It hands its words over piece by piece, so that what grows without end can be left: it
 * allocates on the stack alone in this mode. */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
	NAME_MAX_BYTES = 4096,
	/* Each conversion to a template's parameter is parsed twice, and so is what lies inside it. */
	CONVERSIONS_MAX = 16,
	NESTED_MAX = 64,
	BRACKETS_KEPT = 16, /* what is shorter is not worth the dots */
	DEPTH_MOST = 3,
	/* With its limit on recursion on, libiberty takes no name longer than that. Without it the length of a name
	 * bounds how deep it goes: 4 KiB of the worst took 1 MiB of stack. */
	LIMITED_MAX_BYTES = 1024,
	STACK_LEAST_BYTES = 4 << 20,
};

struct words {
	char *text;
	size_t len;
	jmp_buf too_long;
};

static void take_words(const char *piece, size_t len, void *data)
{
	struct words *words = data;

	if (len > DEMANGLED_MAX - words->len)
		longjmp(words->too_long, 1);
	memcpy(words->text + words->len, piece, len);
	words->len += len;
}

static bool is_worth_a_try(const char *name)
{
	int conversions = 0;

	if (strncmp(name, "_Z", 2) != 0 || strnlen(name, NAME_MAX_BYTES + 1) > NAME_MAX_BYTES)
		return false;
	for (const char *at = name; (at = strstr(at, "cv")) != NULL; at += 2)
		conversions++;
	return conversions <= CONVERSIONS_MAX;
}

static int options_for(const char *name)
{
	int options = DMGL_PARAMS | DMGL_ANSI;
	struct rlimit stack;

	if (strlen(name) > LIMITED_MAX_BYTES && !getrlimit(RLIMIT_STACK, &stack) && stack.rlim_cur >= STACK_LEAST_BYTES)
		options |= DMGL_NO_RECURSE_LIMIT;
	return options;
}

static bool find_words(struct words *words, const char *name)
{
	return !setjmp(words->too_long) && cplus_demangle_v3_callback(name, options_for(name), take_words, words);
}

char *demangle(const char *name)
{
	struct words *words = is_worth_a_try(name) ? calloc(1, sizeof(*words)) : NULL;
	char *text = NULL;

	if (!words)
		return NULL;
	words->text = malloc(DEMANGLED_MAX);
	if (words->text && find_words(words, name))
		text = strndup(words->text, words->len);
	free(words->text);
	free(words);
	return text;
}

/* Where the bracket that opens here closes; NULL: nowhere. A comparison in template arguments is in parentheses, and an
 * arrow is no bracket. */
static const char *closing(const char *open)
{
	char stack[NESTED_MAX];
	size_t depth = 0;

	for (const char *at = open; *at; at++) {
		char top = depth ? stack[depth - 1] : '\0';

		if (*at == '(' || *at == '{' || *at == '[' || (*at == '<' && top != '(')) {
			if (depth == NESTED_MAX)
				return NULL;
			stack[depth++] = *at;
		} else if ((*at == ')' && top == '(') || (*at == '}' && top == '{') || (*at == ']' && top == '[') ||
			   (*at == '>' && top == '<' && at[-1] != '-')) {
			if (!--depth)
				return at;
		}
	}
	return NULL;
}

struct shorter {
	char *text;
	size_t most, len;
	bool is_cut;
};

static void add(struct shorter *into, const char *text, size_t len)
{
	if (len > into->most - into->len) {
		len = into->most - into->len;
		into->is_cut = true;
	}
	memcpy(into->text + into->len, text, len);
	into->len += len;
	into->text[into->len] = '\0';
}

/* Symbols that belong to a name: of "operator<<" two, of "operator()" too; 0 behind any other word. */
static size_t operator_symbols(const char *from, const char *at)
{
	static const char word[] = "operator";
	size_t len = sizeof(word) - 1;

	if ((size_t)(at - from) < len || strncmp(at - len, word, len) != 0)
		return 0;
	return !strncmp(at, "()", 2) || !strncmp(at, "[]", 2) ? 2 : strspn(at, "<>=-");
}

static void write_short(struct shorter *out, const char *from, const char *to, int keep_depth)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *at = from;

	while (at < to && !out->is_cut) {
		size_t symbols = operator_symbols(from, at), plain = symbols ? symbols : 1;
		const char *close = !symbols && (*at == '<' || *at == '(') ? closing(at) : NULL;
		bool is_little = close && close - at < BRACKETS_KEPT;

		if (!strncmp(at, anonymous, sizeof(anonymous) - 1)) {
			plain = sizeof(anonymous) - 1;
		} else if (close && *at == '<' && keep_depth) {
			add(out, "<", 1);
			write_short(out, at + 1, close, keep_depth - 1);
			at = close;
		} else if (close && !is_little) {
			add(out, *at == '<' ? "<...>" : "(...)", 5);
			plain = (size_t)(close - at) + 1;
			at += plain;
			continue;
		}
		add(out, at, plain);
		at += plain;
	}
}

int shorten_name(char *into, size_t size, const char *name)
{
	struct shorter out = { .text = into, .most = size - 1 < SHORT_NAME_MOST ? size - 1 : SHORT_NAME_MOST };

	into[0] = '\0';
	if (strlen(name) <= out.most) {
		add(&out, name, strlen(name));
		return 0;
	}
	if (!strncmp(name, "void ", 5))
		name += 5;
	/* The deepest that fits; the outermost arguments are tried last, since they may be what it is told by. */
	for (int depth = DEPTH_MOST; depth >= 1; depth--) {
		out.len = 0;
		out.is_cut = false;
		write_short(&out, name, name + strlen(name), depth);
		if (!out.is_cut)
			break;
	}
	if (out.is_cut && out.most >= 3)
		memcpy(into + out.most - 3, "...", 3);
	return 1;
}
