// SPDX-License-Identifier: GPL-2.0
/* What a process is held for, by the rules of the house and of a config file; and config files with every kind of
 * error. Texts of processes and of files may hold any bytes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/store/rules_file.h"
#include "tap.h"

/* Words and variables are written with '|' between them. */
struct sample {
	const char *comm;
	const char *exe;
	const char *words;
	const char *environ;
	u32 want;
};

enum { TEXT_SIZE = 8192 };

static size_t with_nuls(char *into, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i <= len; i++)
		into[i] = text[i] == '|' ? '\0' : text[i];
	return len ? len + 1 : 0;
}

static u32 bits_of(const struct rules *rules, const struct sample *sample, const char **why)
{
	static char words[TEXT_SIZE], environ[TEXT_SIZE];
	struct process_traits traits = { .pid = 4711, .comm = sample->comm, .exe = sample->exe };

	traits.words_len = with_nuls(words, sample->words);
	traits.environ_len = with_nuls(environ, sample->environ);
	traits.words = words;
	traits.environ = environ;
	return rules_process(rules, &traits, why);
}

#define STEAM "/home/u/.local/share/Steam"
#define PROTON STEAM "/steamapps/common/Proton 8.0/dist/bin/wine64-preloader"

enum { GAME = PROCESS_GAME, WINE = PROCESS_WINE, HELPER = PROCESS_HELPER };

static const struct sample samples[] = {
	{ "bash", "/usr/bin/bash", "bash", "HOME=/root", 0 },
	{ "Foo", STEAM "/steamapps/common/Foo/Foo", "./Foo", "", GAME },
	{ "Foo", STEAM "/steamapps/common/Foo/Foo (deleted)", "./Foo", "", GAME },
	{ "Foo", "/mnt/disk/SteamLibrary/steamapps/common/Foo/bin/Foo.x86_64", "", "", GAME },
	{ "chocolate-doom", "/usr/games/chocolate-doom", "chocolate-doom", "", GAME },
	{ "thing", "/opt/thing", "thing", "HOME=/|SteamAppId=440|A=b", GAME },
	{ "thing", "/opt/thing", "thing", "SteamAppId=0", 0 },
	{ "thing", "/opt/thing", "thing", "SteamAppId=", 0 },
	{ "thing", "/opt/thing", "thing", "NotSteamAppId=440", 0 },
	{ "thing", "/opt/thing", "thing", "GAMEID=umu-default", GAME },
	{ "thing", "/opt/thing", "thing", "GAMEID=17", 0 },
	{ "thing", "/opt/thing", "thing", "HEROIC_APP_NAME=Quail", GAME },
	{ "thing", "/opt/thing", "thing", "LUTRIS_GAME_UUID=25-37", GAME },
	{ "thing", "/opt/thing", "thing", "GAMESCOPE_WAYLAND_DISPLAY=gamescope-0", GAME },
	{ "thing", "/opt/thing", "thing", "GAMESCOPE_WAYLAND_DISPLAY=", 0 },
	{ "heroic", "/opt/Heroic/heroic", "heroic", "HEROIC_APP_NAME=Quail", HELPER },
	{ "legendary", "/opt/Heroic/resources/bin/legendary", "legendary", "HEROIC_APP_NAME=Quail", HELPER },
	{ "lutris-wrapper", "/usr/bin/python3.13", "python3|lutris-wrapper", "LUTRIS_GAME_UUID=25-37", HELPER },
	{ "retroarch-lx", "/home/u/.local/share/lutris/runners/libretro/retroarch-lx", "retroarch-lx", "", GAME },
	{ "thing", "/home/u/.var/app/net.lutris.Lutris/data/lutris/runners/zdoom/thing", "thing", "", GAME },
	{ "wineserver", "/home/u/.local/share/lutris/runners/wine/ge/bin/wineserver", "wineserver",
	  "LUTRIS_GAME_UUID=25-37", HELPER },
	{ "game.exe", "/home/u/.local/share/lutris/runners/wine/ge/bin/wine64-preloader", "C:\\Foo\\game.exe",
	  "LUTRIS_GAME_UUID=25-37", WINE | GAME },
	{ "notepad.exe", "/home/u/.local/share/lutris/runners/wine/ge/bin/wine64-preloader", "C:\\x\\notepad.exe", "",
	  WINE },
	{ "sh", "/usr/bin/dash", "sh|-c|x", "SteamAppId=440", HELPER },
	{ "python3", "/usr/bin/python3.11", "python3|proton", "SteamGameId=440", HELPER },
	{ "steam", STEAM "/ubuntu12_32/steam", "steam", "", HELPER },
	{ "reaper", STEAM "/ubuntu12_32/reaper", "reaper", "SteamAppId=440", HELPER },
	{ "reaper", "/opt/REAPER/reaper", "reaper", "", 0 },
	{ "UnityCrashHandl", STEAM "/steamapps/common/Foo/UnityCrashHandler64", "", "SteamAppId=440", HELPER },
	{ "wine", "/usr/bin/dash", "/bin/sh|/usr/bin/wine|game.exe", "", 0 },
	{ "game.exe", "/usr/lib/wine/wine64-preloader", "game.exe", "", WINE },
	{ "GAME.EXE", "/usr/lib/wine/wine64-preloader", "Z:\\tmp\\GAME.EXE|-x", "", WINE },
	{ "wine64-preloade", "/usr/lib/wine/wine64-preloader", "", "SteamAppId=440", WINE },
	{ "game.exe", PROTON, "S:\\steamapps\\common\\Foo\\game.exe", "", WINE | GAME },
	{ "game.exe", PROTON, "C:\\games\\game.exe", "SteamAppId=440", WINE | GAME },
	{ "game.exe", "/opt/w/wine64", "C:\\GOG Games\\Foo\\game.exe", "", WINE | GAME },
	{ "services.exe", PROTON, "C:\\windows\\system32\\services.exe", "SteamAppId=440", WINE | HELPER },
	{ "Explorer.EXE", PROTON, "C:\\Windows\\Explorer.EXE|/desktop", "SteamAppId=440", WINE | HELPER },
	{ "odd.exe", PROTON, "C:\\windows\\system32\\odd.exe", "SteamAppId=440", WINE | HELPER },
	{ "UnityCrashHandl", PROTON, "S:\\steamapps\\common\\Foo\\UnityCrashHandler64.exe", "SteamAppId=440",
	  WINE | HELPER },
	{ "steam.exe", PROTON, "C:\\x\\steam.exe|game", "SteamAppId=440", WINE | HELPER },
	{ "game.exe", "/usr/bin/box64", "/usr/bin/box64|/opt/wine64|D:\\game.exe", "", WINE },
	{ "anything", "/home/u/odd-loader", "game.exe", "WINEPREFIX=/home/u/.wine", WINE },
	{ "vim", "/usr/bin/vim.basic", "vim|game.exe", "WINEPREFIX=/home/u/.wine", 0 },
	{ "mono", "/usr/bin/mono-sgen", "mono|game.exe", "", 0 },
	{ "wineserver", "/usr/lib/wine/wineserver64", "wineserver", "", HELPER },
	{ "weston", "/usr/bin/weston", "weston|--backend=headless", "", PROCESS_COMPOSITOR },
	{ "Xvfb", "/usr/bin/Xvfb", "Xvfb|:9", "", PROCESS_COMPOSITOR },
	{ "gamescope-wl", "/usr/bin/gamescope", "gamescope", "SteamAppId=440", PROCESS_COMPOSITOR },
	{ "gnome-shell", "/usr/bin/gnome-shell", "", "", PROCESS_COMPOSITOR },
	{ "pipewire", "/usr/bin/pipewire", "pipewire", "", PROCESS_SOUND_SERVER },
	{ "pipewire-pulse", "/usr/bin/pipewire", "", "", PROCESS_SOUND_SERVER },
	{ "jackd", "/usr/bin/jackd", "jackd|-d|dummy", "", PROCESS_SOUND_SERVER },
	{ "\xff\x1b[2J\n", "/tmp/\x01\xfe\n/steamapps/common/\xff/x", "\x80|\n", "\xff=|=|==", GAME },
	{ "", "", "", "", 0 },
};

static void test_builtin(void)
{
	struct rules *rules = rules_new();
	struct process_traits nothing = { .pid = 1 };
	const char *why;

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		is(bits_of(rules, &samples[i], &why), samples[i].want, "sample %zu is what it is", i);
		ok(samples[i].want ? why[0] != '\0' : why[0] == '\0', "rule that decides a sample is told: %s", why);
	}
	is(rules_process(rules, &nothing, &why), 0, "a process of which nothing could be read is nothing");
	rules_free(rules);
	rules_free(NULL);
}

static u64 family_of(const char *environ)
{
	char bytes[256];
	size_t len = 0;

	for (; environ[len]; len++)
		bytes[len] = environ[len] == '|' ? '\0' : environ[len];
	return rules_family(&(struct process_traits){ .environ = bytes, .environ_len = len });
}

static void test_family(void)
{
	u64 steam = family_of("SteamAppId=480|A=b");

	ok(steam != 0, "what Steam starts is of a family");
	is(family_of("A=b|SteamGameId=480"), steam, "two variables with one game's number make one family");
	ok(family_of("SteamAppId=481") != steam, "another game's number makes another family");
	is(family_of("GAMESCOPE_WAYLAND_DISPLAY=gamescope-0|SteamAppId=480"), steam,
	   "game's number counts, and not the gamescope that it runs in, whichever comes first");
	ok(family_of("SteamAppId=default|LUTRIS_GAME_UUID=a") != family_of("SteamAppId=default|LUTRIS_GAME_UUID=b"),
	   "two games of Lutris, which gives both one number of Steam's, are two families");
	is(family_of("SteamAppId=default"), 0, "number that says nothing makes no family");
	is(family_of("SteamAppId=default|WINEPREFIX=/p"), family_of("WINEPREFIX=/p"),
	   "Wine prefix makes a family where no number does");
	ok(family_of("HEROIC_APP_NAME=Quail") != 0, "what Heroic starts is of a family");
	is(family_of("HOME=/root"), 0, "what no launcher started is of no family");
	ok(rules_compiles("fossilize_repla"), "Steam's replayer of shaders does nothing else");
	ok(!rules_compiles("fossil"), "program with a shorter name is no compiler of shaders");
}

/* Bytes without an end: what is after them must not be read. The sanitizers see to that. */
static void test_unended(void)
{
	struct rules *rules = rules_new();
	char *words = malloc(8), *environ = malloc(14), *long_exe = malloc(20000);
	struct process_traits traits = {
		.pid = 1, .words = words, .words_len = 8, .environ = environ, .environ_len = 14
	};
	const char *why;

	memcpy(words, "game.exe", 8);
	memcpy(environ, "WINEPREFIX=/x\0", 14);
	is(rules_process(rules, &traits, &why), PROCESS_WINE, "a command line without an end");
	free(environ);
	environ = malloc(12);
	memcpy(environ, "WINEPREFIX=/", 12);
	traits.environ = environ;
	traits.environ_len = 12;
	is(rules_process(rules, &traits, &why), PROCESS_WINE, "environment without an end is read");
	traits.environ_len = 11;
	is(rules_process(rules, &traits, &why), 0, "environment cut before its value tells nothing");
	memset(long_exe, 'a', 20000);
	long_exe[0] = '/';
	memcpy(long_exe + 19900, "/steamapps/common/", 18);
	long_exe[19999] = '\0';
	traits.exe = long_exe;
	is(rules_process(rules, &traits, &why), 0, "a path longer than paths are is cut");
	memcpy(long_exe + 3000, "/steamapps/common/", 18);
	is(rules_process(rules, &traits, &why), PROCESS_GAME,
	   "path longer than paths are is looked at as far as it goes");
	free(words);
	free(environ);
	free(long_exe);
	rules_free(rules);
}

static char folder[64], file[96], said[1 << 16];

/* What the reading of a file says on stderr. */
static int read_saying(struct rules *rules, const char *path, bool required)
{
	int old = dup(2), into, result;
	ssize_t len;

	snprintf(file, sizeof(file), "%s/said", folder);
	into = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
	dup2(into, 2);
	result = rules_read(rules, path, required);
	fflush(stderr);
	dup2(old, 2);
	len = pread(into, said, sizeof(said) - 1, 0);
	said[len > 0 ? len : 0] = '\0';
	close(into);
	close(old);
	return result;
}

static const char *write_file(const char *bytes, size_t len)
{
	static char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/conf", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (write(fd, bytes, len) != (ssize_t)len)
		printf("Bail out! can't write %s\n", path);
	close(fd);
	return path;
}

static int says(const char *line)
{
	if (strstr(said, line))
		return 1;
	printf("# said: %s", said);
	return 0;
}

static int lines_said(void)
{
	int lines = 0;

	for (const char *at = said; *at; at++)
		lines += *at == '\n';
	return lines;
}

struct found {
	int count, users;
	enum role foo, bar;
	bool foo_exact;
};

static void find_names(void *data, const struct name_rule *rule)
{
	struct found *found = data;

	found->count++;
	found->users += rule->by_user;
	if (!strcmp(rule->name, "foo")) {
		found->foo = rule->role;
		found->foo_exact = rule->exact;
	}
	if (!strcmp(rule->name, "bar"))
		found->bar = rule->role;
}

static void test_file(void)
{
	static const char text[] = "# a comment\n"
				   "; another\n"
				   "\n"
				   "[games]\n"
				   "mygame = yes\r\n"
				   "  Other Game.exe=yes ; with a word on it\n"
				   "chocolate-doom = no\n"
				   "/opt/arcade/* : YES\n"
				   "weston = yes\n"
				   "[helpers]\n"
				   "Foo = yes\n"
				   "[sound]\n"
				   "mysound=yes\n"
				   "[compositors]\n"
				   "mycomp=yes\n"
				   "sway=no\n"
				   "[roles]\n"
				   "foo* = audio\n"
				   "bar = render";
	const struct sample *doom = &samples[4], *foo = &samples[1];
	struct rules *rules = rules_new();
	struct found found = { 0 };
	const char *why;

	is(read_saying(rules, write_file(text, strlen(text)), true), 0, "good config file is read");
	is_text(said, "", "good config file gives no message");
	is(bits_of(rules, &(struct sample){ "mygame", "/usr/bin/mygame", "", "", 0 }, &why), PROCESS_GAME,
	   "a game by name, at the end of a line from another system");
	is_text(why, "[games] mygame = yes", "rule from a config file can be told");
	is(bits_of(rules, &(struct sample){ "x", "/usr/lib/wine/wine", "C:\\other game.EXE", "", 0 }, &why),
	   PROCESS_GAME | PROCESS_WINE, "a Windows game by name, large letters or small");
	is(bits_of(rules, &(struct sample){ "MYGAME", "/usr/bin/MYGAME", "", "", 0 }, &why), 0,
	   "on Linux letters' sizes count");
	is(bits_of(rules, &(struct sample){ "p", "/opt/arcade/pac/man", "", "", 0 }, &why), PROCESS_GAME,
	   "program in a folder of games is a game");
	is(bits_of(rules, doom, &why), 0, "'no' takes a rule of the house away");
	is(bits_of(rules, foo, &why), PROCESS_HELPER, "a helper in a game's place");
	is(bits_of(rules, &(struct sample){ "mysound", "/x", "", "", 0 }, &why), PROCESS_SOUND_SERVER,
	   "program of the section for sound servers is one");
	is(bits_of(rules, &(struct sample){ "mycomp", "/x", "", "", 0 }, &why), PROCESS_COMPOSITOR,
	   "program of the section for compositors is one");
	is(bits_of(rules, &(struct sample){ "sway", "/x", "", "", 0 }, &why), 0,
	   "compositor taken away by the user is none");
	is(bits_of(rules, &(struct sample){ "weston", "/x", "", "", 0 }, &why), PROCESS_COMPOSITOR | PROCESS_GAME,
	   "user's word is added to what the house knows");
	rules_names(rules, find_names, &found);
	is(found.users, 2, "names of threads in a config file are found");
	is(found.foo, ROLE_AUDIO, "beginning of a thread's name is a rule");
	ok(!found.foo_exact, "pattern with a star is a beginning");
	is(found.bar, ROLE_RENDER, "last line without an end counts");
	ok(found.count > 20, "house's guesses are found beside the user's");
	rules_free(rules);
}

static void test_wrong_lines(void)
{
	char long_line[1000];
	static char text[4096];
	struct rules *rules = rules_new();
	const char *why;

	memset(long_line, 'x', sizeof(long_line) - 1);
	long_line[sizeof(long_line) - 1] = '\0';
	snprintf(text, sizeof(text),
		 "early = yes\n[game]\na = yes\nb = yes\n[games]\nnonsense\nc = maybe\n= yes\nmy*game = yes\n%s = yes\n"
		 "d = yes\nd = no\n[roles]\nfoo = loud\nsixteen-letters- = audio\na*b = audio\n[helpers\ne = yes\n"
		 "[sound]\nlast = yes\n",
		 long_line);
	is(read_saying(rules, write_file(text, strlen(text)), true), 11, "wrong lines of a file are counted");
	ok(says("conf:1: 'early' stands before the first [section]"), "rule before any section is told");
	ok(says("conf:2: no section [game]: did you mean [games]?"), "section that does not exist is told");
	ok(says("conf:6: neither a [section] nor a 'pattern = value'"),
	   "line that is neither section nor rule is told");
	ok(says("conf:7: 'maybe' is neither yes nor no"), "value that is neither yes nor no is told");
	ok(says("conf:8: no pattern before the '='"), "line without a pattern is told");
	ok(says("conf:10: it is longer than the "), "line that is too long is told");
	ok(says("conf:12: 'd' again: this line counts, line 11 does not"), "rule given twice is told");
	ok(says("conf:14: 'loud' is no role: it is one of render, "), "role that does not exist is told");
	ok(says("conf:15: 'sixteen-letters-': a thread's name has up to 15 bytes"), "name that is too long is told");
	ok(says("conf:16: 'a*b': "), "pattern with a star in its middle is told");
	ok(says("conf:17: no ']' after '['"), "section without its end is told");
	is(lines_said(), 11, "wrong lines are told once");
	is(bits_of(rules, &(struct sample){ "my1game", "/x", "", "", 0 }, &why), PROCESS_GAME,
	   "right lines among wrong ones count");
	is(bits_of(rules, &(struct sample){ "d", "/x", "", "", 0 }, &why), 0, "later of two equal rules counts");
	is(bits_of(rules, &(struct sample){ "e", "/x", "", "", 0 }, &why), 0, "rules of half a section do not count");
	is(bits_of(rules, &(struct sample){ "a", "/x", "", "", 0 }, &why), 0, "rules of a wrong section do not count");
	is(bits_of(rules, &(struct sample){ "last", "/x", "", "", 0 }, &why), PROCESS_SOUND_SERVER,
	   "rules after wrong ones count up to the end");
	rules_free(rules);
}

static void test_junk(void)
{
	static char junk[300000];
	struct rules *rules = rules_new();
	u32 seed = 4711;

	for (size_t i = 0; i < sizeof(junk); i++) {
		seed = seed * 1664525 + 1013904223;
		junk[i] = (char)(seed >> 24);
	}
	ok(read_saying(rules, write_file(junk, sizeof(junk)), true) > 20, "random bytes are wrong");
	is(lines_said(), 21, "messages about random bytes have an end");
	ok(says("more lines are wrong"), "number of further wrong lines is told");
	for (const char *at = said; *at; at++)
		if ((unsigned char)*at > '~' || (*at < ' ' && *at != '\n')) {
			ok(0, "random bytes never reach the terminal");
			break;
		}
	is(read_saying(rules, write_file("[games]\na\0b = yes\nc\x1b[2J = yes\n\xff\xfe = yes\n", 40), true), 3,
	   "NULs and escapes in a config file are wrong lines");
	ok(says("conf:2: it has a byte that no text has"), "NUL in a config file is told");
	ok(says("conf:3: it has a byte that no text has"), "escape in a config file is told");
	is(read_saying(rules, write_file("\xef\xbb\xbf[games]\nx=yes\n", 17), true), 0,
	   "config file with a mark at its beginning is read");
	is_text(said, "", "mark at the beginning of a config file is passed over");
	is(read_saying(rules, write_file("", 0), true), 0, "empty config file is read");
	is_text(said, "", "empty config file gives no message");
	rules_free(rules);
}

static void test_no_file(void)
{
	static char large[(1 << 20) + 10];
	struct rules *rules = rules_new();
	char path[96];

	is(read_saying(rules, folder, true), -EISDIR, "a folder is no config file");
	ok(says("it is a folder"), "folder in the place of a config file is told");
	is(read_saying(rules, folder, false), 0, "unnamed config file that cannot be read stops nothing");
	ok(says("going on without it"), "unnamed config file that cannot be read is told");
	snprintf(path, sizeof(path), "%s/none", folder);
	is(read_saying(rules, path, false), 0, "missing config file is no trouble");
	is_text(said, "", "missing config file gives no message");
	is(read_saying(rules, path, true), -ENOENT, "missing config file that was named is refused");
	is(lines_said(), 1, "missing config file that was named is told in one line");
	memset(large, '\n', sizeof(large));
	is(read_saying(rules, write_file(large, sizeof(large)), true), -EFBIG, "a file too large to be meant");
	is(read_saying(rules, "/dev/zero", true), -EINVAL, "device as a config file is refused");
	is(read_saying(rules, "/dev/null", true), 0, "/dev/null is an empty one");
	rules_free(rules);
}

static void test_options(void)
{
	struct rules *rules = rules_new();
	const char *why;

	ok(!rules_add_game(rules, "4711"), "--game takes a PID");
	is(bits_of(rules, &(struct sample){ "weston", "/x", "", "", 0 }, &why), PROCESS_COMPOSITOR | PROCESS_GAME,
	   "process given by --game is a game whatever else it is");
	ok(!rules_add_game(rules, "UnityCrashHandl"), "--game takes a name");
	is(bits_of(rules, &samples[16], &why), PROCESS_GAME, "helper given by --game is a game");
	ok(!!rules_add_game(rules, ""), "--game refuses an empty name");
	ok(!!rules_add_game(rules, "0"), "--game refuses PID 0");
	ok(!!rules_add_game(rules, "99999999999999999999999"), "--game refuses a number that is too large");
	rules_free(rules);
}

struct launches {
	int folders, looked_at, names, everything;
	bool usr_bin_skipped, mine, deep, wanted;
};

static bool text_is(const struct launch_rule *rule, const char *text)
{
	return rule->len == strlen(text) && !memcmp(rule->text, text, rule->len);
}

static void count_launch(void *data, const struct launch_rule *rule)
{
	struct launches *seen = data;

	seen->folders += rule->is_path;
	seen->names += !rule->is_path;
	seen->looked_at += rule->is_path && rule->look;
	seen->everything += rule->len == 0;
	seen->usr_bin_skipped |= rule->is_path && !rule->look && text_is(rule, "/usr/bin/");
	seen->mine |= !rule->is_path && rule->exact && text_is(rule, "mygame");
	seen->deep |= !rule->is_path && rule->exact && text_is(rule, "deep");
	seen->wanted |= rule->is_path && rule->look && text_is(rule, "/usr/b");
}

static void test_launches(void)
{
	static const char text[] = "[games]\nmygame=yes\n/opt/*/deep=yes\nnever=no\n", all[] = "[games]\n*x=yes\n",
			  bin[] = "[games]\n/usr/b*=yes\n";
	struct launches builtin = { 0 }, user = { 0 }, whole = { 0 }, folders = { 0 };
	struct rules *rules = rules_new();

	rules_launches(rules, count_launch, &builtin);
	is(builtin.everything, 0, "house has no rule that demands a look at every program");
	ok(builtin.usr_bin_skipped, "programs of the system are not looked at");
	rules_read_bytes(rules, "conf", text, strlen(text));
	rules_launches(rules, count_launch, &user);
	is(user.names, builtin.names + 2, "programs that the user names are looked at by name");
	ok(user.mine, "user's program is found by name");
	ok(user.deep, "user's program in a folder is found by name");
	rules_read_bytes(rules, "conf", bin, strlen(bin));
	rules_launches(rules, count_launch, &folders);
	ok(folders.wanted, "folder that the user wants is looked at");
	ok(!folders.usr_bin_skipped, "folder that the user wants is no longer passed over");
	rules_read_bytes(rules, "conf", all, strlen(all));
	rules_launches(rules, count_launch, &whole);
	is(whole.everything, 1, "a pattern without a beginning demands everything");
	rules_free(rules);
}

int main(void)
{
	strcpy(folder, "/tmp/tactus-rules.XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	test_builtin();
	test_family();
	test_unended();
	test_file();
	test_wrong_lines();
	test_junk();
	test_no_file();
	test_options();
	test_launches();
	snprintf(file, sizeof(file), "%s/said", folder);
	unlink(file);
	snprintf(file, sizeof(file), "%s/conf", folder);
	unlink(file);
	rmdir(folder);
	return tap_end();
}
