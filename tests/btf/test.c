// SPDX-License-Identifier: GPL-2.0
/* Every program of every BPF object against the BTF of every kernel in the matrix, arm64's as they are built for it:
 * relocations, kernel functions with their prototypes, what it attaches to. No kernel is asked: libbpf does all of it
 * by itself up to the system call, which is answered here. So a field that changed its size, or a function its
 * arguments, shows up in seconds and without a VM; only the verifier has no word in it. Usage: btf_test [FOLDER-OF-BTFS
 * OBJECT...] The folder's file `expected` has lines "KERNEL OBJECT PROGRAM words of the reason": what a kernel is known
 * not to have, or "* * field STRUCT.": what programs ask for only where it is. A line that no longer holds is a failure
 * too. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../src/sched/scx_kernel.h"
#include "../../src/sensor/hide.h"
#include "spoil.h"
#include "wanted.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
#define FIELD_IS_MISSING "no such field"
/* Weak, and asked for before it is called. */
#define PICK "scx_bpf_pick_idle_cpu"

enum { MAP_ROOM = 1 << 20, KERNELS_MOST = 32, EXPECTED_MOST = 512, TEXT_MOST = 512, OBJECT_MOST = 4 << 20 };

static const char *kernel_btf;	   /* what is read in place of the running kernel's */
static char reason[TEXT_MOST];	   /* the first thing that libbpf complained of */
static bool is_hiding;		   /* the variables are taken from what objects ask for */
static bool is_silent;		   /* what does not load is counted and not told */
static const char *blamed;	   /* what was spoilt: who does not load for it names it */
static int picks;		   /* loads in which libbpf found PICK as the object takes it */
static char looked_for[TEXT_MOST]; /* the field or constant that libbpf relocates */

/* That the BPF objects ask for, by bpf/interrupt.h. */
static const char *const variables[] = { "__preempt_count", "pcpu_hot" };
enum { VARIABLES = sizeof(variables) / sizeof(variables[0]) };

static long answer_bpf(enum bpf_cmd command)
{
	int fd;

	switch (command) {
	case BPF_PROG_LOAD:
	case BPF_BTF_LOAD:
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	case BPF_MAP_CREATE:
		fd = memfd_create("map", MFD_CLOEXEC);
		return fd >= 0 && ftruncate(fd, MAP_ROOM) < 0 ? -1 : fd;
	case BPF_BTF_GET_NEXT_ID:
		errno = ENOENT;
		return -1;
	case BPF_MAP_UPDATE_ELEM:
	case BPF_MAP_FREEZE:
	case BPF_PROG_BIND_MAP:
		return 0;
	default:
		errno = EINVAL;
		return -1;
	}
}

/* In place of libc's: libbpf comes by here. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long words[6];
	va_list values;

	va_start(values, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(values, long);
	va_end(values);
	if (number == SYS_bpf)
		return answer_bpf((enum bpf_cmd)words[0]);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

static const char *redirected(const char *path)
{
	return kernel_btf && !strcmp(path, KERNEL_BTF) ? kernel_btf : path;
}

/* The two names that libbpf's builds open files by. */
FILE *fopen64(const char *path, const char *mode)
{
	static FILE *(*real)(const char *, const char *);

	if (!real)
		real = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen64");
	return real(redirected(path), mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return fopen64(path, mode);
}

static int checks, failures;

static void check(bool holds, const char *name, const char *seen)
{
	checks++;
	failures += !holds;
	printf("%s %d - %s\n", holds ? "ok" : "not ok", checks, name);
	if (!holds)
		printf("# %s\n", seen);
}

struct expectation {
	char kernel[64], object[64], program[64], words[256];
	bool met;
};

static struct expectation expected[EXPECTED_MOST];
static int expected_len;

static bool read_expected(const char *path)
{
	char line[TEXT_MOST];
	FILE *file = fopen(path, "r");

	if (!file)
		return false;
	while (expected_len < EXPECTED_MOST && fgets(line, sizeof(line), file)) {
		struct expectation *row = &expected[expected_len];

		if (sscanf(line, "%63s %63s %63s %255[^\n]", row->kernel, row->object, row->program, row->words) == 4 &&
		    row->kernel[0] != '#')
			expected_len++;
	}
	fclose(file);
	return true;
}

static bool is_expected(const char *kernel, const char *object, const char *program)
{
	for (int i = 0; i < expected_len; i++) {
		struct expectation *row = &expected[i];

		if (strcmp(row->kernel, kernel) || strcmp(row->object, object) || strcmp(row->program, program) ||
		    !strstr(reason, row->words))
			continue;
		row->met = true;
		return true;
	}
	return false;
}

/* A field that is nowhere leaves an instruction behind which the verifier refuses if it comes to it. libbpf tells of it
 * in passing, after it has said what it looks for. */
static void note_field(const char *said)
{
	if (strstr(said, "relo #") && strchr(said, '<') && !strstr(said, "candidate"))
		snprintf(looked_for, sizeof(looked_for), "%s", strchr(said, '<'));
	if (!strstr(said, "substituting insn") || reason[0])
		return;
	for (int i = 0; i < expected_len; i++) {
		if (strcmp(expected[i].program, "field") || !strstr(looked_for, expected[i].words))
			continue;
		expected[i].met = true;
		return;
	}
	snprintf(reason, sizeof(reason), "%.80s: %.400s", FIELD_IS_MISSING, looked_for);
}

static int keep_reason(enum libbpf_print_level level, const char *format, va_list values)
{
	char said[TEXT_MOST];

	vsnprintf(said, sizeof(said), format, values);
	said[strcspn(said, "\n")] = '\0';
	if (level == LIBBPF_WARN && !reason[0])
		snprintf(reason, sizeof(reason), "%.300s %.200s", said, looked_for);
	else if (level == LIBBPF_DEBUG)
		note_field(said);
	picks += strstr(said, "'" PICK "': resolved to ") != NULL;
	return 0;
}

/* Functions of modules are not in the kernel's own BTF; what hooks them is relocated by then. */
static bool lacks_function_only(const char *section)
{
	return (!strncmp(section, "fentry/", 7) || !strncmp(section, "fexit/", 6)) &&
	       strstr(reason, "failed to find kernel BTF type ID");
}

/* Operations of a scheduler are loaded together, as they are used. */
static bool is_operation(const char *section)
{
	return strstr(section, "struct_ops") != NULL;
}

/* As src/sensor/load.c does it. */
static struct bpf_object *open_hiding(const char *path)
{
	static char bytes[OBJECT_MOST];
	FILE *file = fopen(path, "rb");
	size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

	if (file)
		fclose(file);
	for (int i = 0; i < VARIABLES; i++)
		hide_variable(bytes, size, variables[i]);
	return bpf_object__open_mem(bytes, size, NULL);
}

/* As src/sched/scx.c does it: operations that the kernel does not know are taken out. A kernel without sched_ext is
 * left to libbpf. */
static int fit_operations(struct bpf_object *object)
{
	struct btf *btf = btf__parse(kernel_btf, NULL);
	struct reason why = { "" };
	struct bpf_map *map;
	int error = 0;

	bpf_object__for_each_map(map, object)
	{
		if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS || !btf ||
		    btf__find_by_name_kind(btf, "sched_ext_ops", BTF_KIND_STRUCT) <= 0)
			continue;
		error = scx_kernel_fit(btf, object, bpf_map__initial_value(map, NULL), &why);
		if (error)
			snprintf(reason, sizeof(reason), "%.400s", why.text);
	}
	btf__free(btf);
	return error;
}

static int load_only(const char *path, const char *program_name)
{
	struct bpf_object *object = is_hiding ? open_hiding(path) : bpf_object__open_file(path, NULL);
	struct bpf_program *program;
	struct bpf_map *map;
	int error;

	if (!object)
		return -errno;
	bpf_object__for_each_program(program, object)
	{
		bool wanted = program_name ? !strcmp(bpf_program__name(program), program_name)
					   : bpf_program__autoload(program);

		bpf_program__set_autoload(program, wanted);
		/* Those that name no function are bound to one when it is known. */
		if (wanted && strchr(bpf_program__section_name(program), '/') == NULL &&
		    (bpf_program__type(program) == BPF_PROG_TYPE_TRACING))
			bpf_program__set_attach_target(program, 0, "bpf_iter_task");
	}
	bpf_object__for_each_map(map, object) if (program_name && bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
		bpf_map__set_autocreate(map, false);
	reason[0] = looked_for[0] = '\0';
	error = program_name ? 0 : fit_operations(object);
	if (!error)
		error = bpf_object__load(object);
	bpf_object__close(object);
	/* libbpf puts an instruction there that the verifier refuses, and goes on. */
	return !error && (strstr(reason, "accesses field incorrectly") || strstr(reason, FIELD_IS_MISSING)) ? -EINVAL
													    : error;
}

struct tally {
	int loaded, expected, elsewhere;
	int blamed, lost; /* while something is spoilt: did not load for it, or for another reason */
};

static void try_one(const char *kernel, const char *path, const char *object, const char *program, const char *section,
		    struct tally *tally)
{
	char name[TEXT_MOST];
	int error = load_only(path, program[0] == '*' ? NULL : program);

	if (!error) {
		tally->loaded++;
		return;
	}
	if (is_expected(kernel, object, program)) {
		tally->expected++;
		return;
	}
	if (lacks_function_only(section)) {
		tally->elsewhere++;
		return;
	}
	if (is_silent) {
		*(blamed && strstr(reason, blamed) ? &tally->blamed : &tally->lost) += 1;
		return;
	}
	snprintf(name, sizeof(name), "%s: %s of %s finds what it asks for", kernel, program, object);
	check(false, name, reason[0] ? reason : strerror(-error));
}

static void try_object(const char *kernel, const char *path, struct tally *tally)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct bpf_program *program;
	bool operations = false;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(base, "."), base);
	if (!object) {
		check(false, base, "can't be opened");
		return;
	}
	bpf_object__for_each_program(program, object)
	{
		if (is_operation(bpf_program__section_name(program)))
			operations = true;
		else
			try_one(kernel, path, name, bpf_program__name(program), bpf_program__section_name(program),
				tally);
	}
	if (operations)
		try_one(kernel, path, name, "*", "", tally);
	bpf_object__close(object);
}

static struct tally try_again(const char *kernel, const char *path, char **objects, bool hiding)
{
	struct tally tally = { 0 };

	kernel_btf = path;
	is_silent = true;
	is_hiding = hiding;
	for (; *objects; objects++)
		try_object(kernel, *objects, &tally);
	is_silent = is_hiding = false;
	kernel_btf = NULL;
	return tally;
}

/* A kernel whose variables are of another kind, as a later one's may be: libbpf would load no object that asks for
 * them, whatever else is in it. */
static void try_spoilt(const char *kernel, const char *path, char **objects, const struct tally *whole)
{
	struct btf *btf = btf__parse(path, NULL);
	FILE *file = tmpfile();
	char name[TEXT_MOST], seen[TEXT_MOST], spoilt_path[64];
	int spoilt = 0;
	struct tally tally;

	for (int i = 0; btf && i < VARIABLES; i++)
		spoilt += spoil_variable(btf, variables[i]);
	if (spoilt && file && spoil_write(btf, file)) {
		snprintf(spoilt_path, sizeof(spoilt_path), "/proc/self/fd/%d", fileno(file));
		tally = try_again(kernel, spoilt_path, objects, false);
		snprintf(name, sizeof(name), "%s: a variable of another kind would cost whole objects", kernel);
		snprintf(seen, sizeof(seen), "%d load, as before", tally.loaded);
		check(tally.loaded < whole->loaded - 1, name, seen);
		printf("# measured: %s: %d of %d programs load where a variable is of another kind\n", kernel,
		       tally.loaded, whole->loaded);
		tally = try_again(kernel, spoilt_path, objects, true);
		snprintf(name, sizeof(name), "%s: a variable of another kind that is hidden costs no program", kernel);
		snprintf(seen, sizeof(seen), "%d load, %d did", tally.loaded, whole->loaded);
		check(tally.loaded == whole->loaded, name, seen);
	}
	if (file)
		fclose(file);
	btf__free(btf);
}

/* What of a kernel's changed, and whether there are programs that can't do without it as it was: one to three, then. */
struct change {
	bool (*spoil)(struct btf *btf);
	const char *blamed, *words;
	bool is_needed;
};

static bool spoil_on_rq(struct btf *btf)
{
	return spoil_member(btf, "task_struct", "on_rq");
}

static bool spoil_state(struct btf *btf)
{
	return spoil_member(btf, "task_struct", "__state");
}

static bool spoil_pid(struct btf *btf)
{
	return spoil_member(btf, "task_struct", "pid");
}

static bool spoil_tgid(struct btf *btf)
{
	return spoil_member(btf, "task_struct", "tgid");
}

static bool spoil_pick(struct btf *btf)
{
	return spoil_prototype(btf, PICK);
}

static const struct change changes[] = {
	/* Read by whatever size it has. */
	{ spoil_on_rq, "task_struct.on_rq", "an on_rq of another size and sign", false },
	/* The low half is read. */
	{ spoil_pid, "task_struct.pid", "a pid of another size and sign", false },
	{ spoil_tgid, "task_struct.tgid", "a tgid of another size and sign", false },
	{ spoil_state, "task_struct.__state", "a __state of another size and sign", true },
	{ spoil_pick, PICK, "an " PICK " of other arguments", false },
};

static void try_change(const char *kernel, const char *path, char **objects, const struct tally *whole,
		       const struct change *change)
{
	struct btf *btf = btf__parse(path, NULL);
	char name[TEXT_MOST], seen[TEXT_MOST], spoilt_path[64];
	FILE *file = tmpfile();
	struct tally tally;

	if (btf && file && change->spoil(btf) && spoil_write(btf, file)) {
		snprintf(spoilt_path, sizeof(spoilt_path), "/proc/self/fd/%d", fileno(file));
		blamed = change->blamed;
		picks = 0;
		tally = try_again(kernel, spoilt_path, objects, false);
		blamed = NULL;
		snprintf(name, sizeof(name), "%s: %s costs %s", kernel, change->words,
			 change->is_needed ? "only the programs that read it, three at most" : "no program");
		snprintf(seen, sizeof(seen), "%d load, %d do not for it, %d for something else; %d did", tally.loaded,
			 tally.blamed, tally.lost, whole->loaded);
		check(!tally.lost && (tally.blamed > 0) == change->is_needed && tally.blamed <= 3 &&
			      tally.loaded + tally.elsewhere + tally.expected + tally.blamed ==
				      whole->loaded + whole->elsewhere + whole->expected,
		      name, seen);
		printf("# measured: %s: %s: %s\n", kernel, change->blamed, seen);
		snprintf(name, sizeof(name), "%s: %s is taken for absent only where it has other arguments", kernel,
			 PICK);
		snprintf(seen, sizeof(seen), "found in %d loads", picks);
		if (btf__find_by_name_kind(btf, PICK, BTF_KIND_FUNC) > 0)
			check((picks > 0) == (change->spoil != spoil_pick), name, seen);
	}
	if (file)
		fclose(file);
	btf__free(btf);
}

/* What src/sched/scx_kernel.c says of a kernel that the scheduler would be wrong about. */
static void try_scheduler(const char *kernel, const char *path)
{
	struct btf *btf = btf__parse(path, NULL), *halved = btf ? spoil_constants(btf) : NULL;
	struct reason why = { "" };
	char name[TEXT_MOST];

	if (btf && !scx_kernel_suffices(btf, &why)) {
		snprintf(name, sizeof(name), "%s: constants without their high halves keep the scheduler out", kernel);
		why.text[0] = '\0';
		check(halved && scx_kernel_suffices(halved, &why) && strstr(why.text, "no 64-bit constants"), name,
		      why.text);
		snprintf(name, sizeof(name), "%s: a vital function of other arguments keeps the scheduler out", kernel);
		why.text[0] = '\0';
		check(spoil_prototype(btf, "scx_bpf_create_dsq") && scx_kernel_suffices(btf, &why) &&
			      strstr(why.text, "gives other arguments to scx_bpf_create_dsq"),
		      name, why.text);
	}
	btf__free(halved);
	btf__free(btf);
}

static void try_kernel(const char *folder, const char *file, char **objects)
{
	char path[TEXT_MOST], name[TEXT_MOST], kernel[64];
	int failed_before = failures;
	struct tally tally = { 0 };

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	snprintf(kernel, sizeof(kernel), "%.*s", (int)(strlen(file) - strlen(".btf")), file);
	kernel_btf = path;
	for (char **object = objects; *object; object++)
		try_object(kernel, *object, &tally);
	kernel_btf = NULL;
	snprintf(name, sizeof(name), "%s: every BPF program finds the types, functions and hooks that it asks for",
		 kernel);
	check(failures == failed_before, name, "see above");
	printf("# measured: %s: %d load, %d hook functions of modules, %d are known to be absent\n", kernel,
	       tally.loaded, tally.elsewhere, tally.expected);
	try_spoilt(kernel, path, objects, &tally);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		try_change(kernel, path, objects, &tally, &changes[i]);
	try_scheduler(kernel, path);
}

/* What is not in the saved BTFs would be taken for something that the kernel lacks. */
static void check_wanted(const char *path, char **objects)
{
	struct wanted wanted = { 0 }, saved = { 0 };
	char line[TEXT_MOST], missing[TEXT_MOST] = "";
	FILE *file = fopen(path, "r");

	while (file && fgets(line, sizeof(line), file)) {
		char *space = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (space) {
			*space = '\0';
			wanted_add_line(&saved, line, space + 1);
		}
	}
	if (file)
		fclose(file);
	wanted_sort(&saved);
	for (; *objects; objects++)
		if (wanted_add_object(&wanted, *objects))
			snprintf(missing, sizeof(missing), "%.200s can't be opened", *objects);
	wanted_sort(&wanted);
	for (size_t i = 0; i < wanted.len && !missing[0]; i++)
		if (!wanted_has_line(&saved, wanted.lines[i]))
			snprintf(missing, sizeof(missing), "'%.200s' is not there: run tests/btf/update.sh",
				 wanted.lines[i]);
	check(!missing[0], "the saved BTFs were made for all that the BPF objects ask for", missing);
	wanted_free(&wanted);
	wanted_free(&saved);
}

static int is_btf(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 4 && !strcmp(entry->d_name + len - 4, ".btf");
}

static void try_kernels(const char *folder, char **objects, char **arm64_objects)
{
	struct dirent **files;
	int len = scandir(folder, &files, is_btf, alphasort);

	check(len >= 9, "there are saved BTFs of nine kernels or more", folder);
	for (int i = 0; i < len; i++) {
		bool is_arm64 = strstr(files[i]->d_name, "arm64");

		if (!is_arm64)
			try_kernel(folder, files[i]->d_name, objects);
		else if (arm64_objects)
			try_kernel(folder, files[i]->d_name, arm64_objects);
		else
			printf("ok %d - %s: every BPF program finds what it asks for # SKIP there are none for arm64: "
			       "its headers are missing (libc6-dev-arm64-cross)\n",
			       ++checks, files[i]->d_name);
		free(files[i]);
	}
	free(files);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 2 ? argv[1] : "tests/btf";
	char expected_path[TEXT_MOST], wanted_path[TEXT_MOST], **objects = argv + 2, **arm64_objects = argv + 2;
	glob_t built = { 0 }, built_for_arm64 = { 0 };

	if (argc < 3) {
		objects = glob("build/bpf/*.bpf.o", 0, NULL, &built) ? NULL : built.gl_pathv;
		arm64_objects = glob("build/aarch64/bpf/*.bpf.o", 0, NULL, &built_for_arm64) ? NULL
											     : built_for_arm64.gl_pathv;
	}
	snprintf(expected_path, sizeof(expected_path), "%s/expected", folder);
	snprintf(wanted_path, sizeof(wanted_path), "%s/wanted", folder);
	if (argc == 2 || !objects || !read_expected(expected_path)) {
		fprintf(stderr, "usage: btf_test [FOLDER-OF-BTFS OBJECT...]\n");
		return 2;
	}
	libbpf_set_print(keep_reason);
	check_wanted(wanted_path, objects);
	if (arm64_objects && arm64_objects != objects)
		check_wanted(wanted_path, arm64_objects);
	try_kernels(folder, objects, arm64_objects);
	for (int i = 0; i < expected_len; i++) {
		char name[TEXT_MOST];

		if (expected[i].met)
			continue;
		snprintf(name, sizeof(name), "%.63s: %.63s of %.63s is absent, as expected", expected[i].kernel,
			 expected[i].program, expected[i].object);
		check(false, name, "it is not: take the line out");
	}
	printf("1..%d\n", checks);
	return failures ? 1 : 0;
}
