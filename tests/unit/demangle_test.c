// SPDX-License-Identifier: GPL-2.0
/* sink/demangle.c: names in words, whole and short, and names that were made to do harm. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/sink/demangle.h"
#include "tap.h"

#define PYTORCH                                                                                                   \
	"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_21CUDAFunctorOnSelf_addIfEESt5arrayIPcLm2EEEEviT0_" \
	"T1_"

static void words(const char *name, const char *want, const char *what)
{
	char *got = demangle(name);

	is_text(got ? got : "(none)", want, "%s demangles as wanted", what);
	free(got);
}

static void shorter(const char *name, const char *want, const char *what)
{
	char out[256];

	shorten_name(out, sizeof(out), name);
	is_text(out, want, "%s shortens as wanted", what);
}

static void test_names_in_words(void)
{
	words("_Z12small_kernelPi", "small_kernel(int*)", "a function");
	words(PYTORCH,
	      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctorOnSelf_add<float>, "
	      "std::array<char*, "
	      "2ul> >(int, at::native::CUDAFunctorOnSelf_add<float>, std::array<char*, 2ul>)",
	      "a template of PyTorch's");
	words("saxpy", "(none)", "a name of C is none");
	words("", "(none)", "nothing is none");
	words("_Z", "(none)", "no more than the beginning is none");
	words("_ZN2at6native29vectorized_elem", "(none)", "one that is cut is none");
}

static void test_short_names(void)
{
	char *whole = demangle(PYTORCH), out[256], small[16];

	shorter("small_kernel(int*)", "small_kernel(int*)", "what is short stays");
	is(shorten_name(out, sizeof(out), whole), 1, "name shortened is said to leave something out");
	is_text(out,
		"at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctorOnSelf_add<float>, "
		"std::array<char*, 2ul> >(...)",
		"arguments as deep as there is room, parameters left out");
	is(shorten_name(small, sizeof(small), whole), 1, "name shortened into little room is said to be cut");
	is_text(small, "at::native::...", "name that is cut ends with dots");
	free(whole);
	shorter("void at::native::elementwise_kernel<128, 2, "
		"at::native::gpu_kernel_impl<at::native::CUDAFunctor_add<float> >(at"
		"::TensorIteratorBase&, at::native::CUDAFunctor_add<float> const&)::{lambda(int)#1}>(int, at::native::"
		"gpu_kernel_impl<at::native::CUDAFunctor_add<float> >::{lambda(int)#1})",
		"at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<...>(...)::{lambda(int)#1}>(...)",
		"less deep where there is less");
	shorter("void (anonymous namespace)::elementwise<float, int>(float const*, int const*, (anonymous namespace)::"
		"offsets<4>, unsigned long)",
		"(anonymous namespace)::elementwise<float, int>(...)", "a namespace without a name stays");
	shorter("void run<f(int)::{lambda(float)#1}>(f(int)::{lambda(float)#1})::{lambda(int, int, int, int, int, int, "
		"int)"
		"#2}::operator()(int, int) const",
		"run<f(int)::{lambda(float)#1}>(...)::{lambda(...)#2}::operator()(int, int) const", "a lambda, called");
	shorter("std::ostream& operator<< <std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> "
		">&, char, int, unsigned int)",
		"std::ostream& operator<< <std::char_traits<char> >(...)", "an operator that looks like a bracket");
	shorter("void f<(1>2), a->b, x<3>, (unsigned char)7, 1111111111111111111111111>(float const*, float const*, "
		"float const"
		"*, int, unsigned)",
		"f<(1>2), a->b, x<3>, (unsigned char)7, 1111111111111111111111111>(...)",
		"comparisons and arrows in arguments");
	memset(out, '<', 200);
	out[200] = '\0';
	is(shorten_name(small, sizeof(small), out), 1, "brackets that never close");
	is_text(small, "<<<<<<<<<<<<...", "name of brackets alone is cut and ends with dots");
}

/* A name with so many times `part`, then `middle`, then so many times `close`. */
struct nested {
	const char *head, *part, *middle, *close;
	size_t times;
	const char *end, *what;
};

static char *make_name(const struct nested *of)
{
	char *name = calloc(1, 8192), *at = stpcpy(name, of->head);

	for (size_t i = 0; i < of->times; i++)
		at = stpcpy(at, of->part);
	at = stpcpy(at, of->middle);
	for (size_t i = 0; i < of->times; i++)
		at = stpcpy(at, of->close);
	strcpy(at, of->end);
	return name;
}

static double seconds_of(const char *name)
{
	clock_t before = clock();

	free(demangle(name));
	return (double)(clock() - before) / CLOCKS_PER_SEC;
}

static void test_names_that_do_harm(void)
{
	static const struct nested names[] = {
		{ "_Z1f", "P", "i", "", 4000, "", "pointers to pointers" },
		{ "_Z1f", "PF", "v", "iE", 1000, "", "functions of functions" },
		{ "_Z1f", "1AI", "i", "E", 900, "", "arguments in arguments" },
		{ "_Z1fI", "L_ZN1AcvT_I", "i", "EEvE", 200, "Evv", "conversions in conversions" },
		{ "_Z1fI", "L_ZN1AcvPT_I", "i", "EEvE", 15, "Evv", "as many of them as are taken" },
		{ "_Z1fIX", "ng", "Li1E", "", 1900, "EEvv", "signs before signs" },
		{ "_ZN", "1a", "E", "", 2000, "i", "names in names" },
		{ "_Z1f", "DT", "1a", "E", 1300, "", "types of expressions" },
		{ "_Z1f", "Dv4_", "f", "", 1000, "", "vectors of vectors" },
	};
	/* Each is two of the one before it. */
	char doubled[2048] = "_Z1fSt4pairIiiE", *at = doubled + strlen(doubled), one[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *name = make_name(&names[i]);
		double seconds = seconds_of(name);

		ok(seconds < 1, "%s take %.3f s, less than a second", names[i].what, seconds);
		free(name);
	}
	for (int i = 0; i < 35; i++) {
		snprintf(one, sizeof(one), "S%c_", i < 10 ? '0' + i : 'A' + i - 10);
		at += sprintf(at, "S_I%s%sE", one, one);
	}
	ok(seconds_of(doubled) < 1, "name that stands for gigabytes takes no time");
	words(doubled, "(none)", "and has no words");
}

int main(void)
{
	test_names_in_words();
	test_short_names();
	test_names_that_do_harm();
	return tap_end();
}
