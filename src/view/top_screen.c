// SPDX-License-Identifier: GPL-2.0
/* The terminal by ncurses. Signals are read from a descriptor, as everywhere in this program; only a crash is handled
 * where it happens, with calls that are allowed there. */
#include "top_screen.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "top_view.h"

enum { SAID_KEPT = 64 << 10, ESCAPE_DELAY_MS = 100, RESET_SIZE = 128 };

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

static struct {
	bool reserved, open, colours, ascii;
	int in_fd, out_fd; /* the terminal */
	int before[3];	   /* standard input, output and errors as they were */
	int said_fd;	   /* where what is printed goes meanwhile */
	int epoll_fd, signal_fd;
	FILE *in, *out;
	SCREEN *curses;
	struct termios saved;
	char reset[RESET_SIZE]; /* what puts the terminal back */
	sigset_t mask_before;
	char *said; /* what was printed, its end */
	size_t said_len;
	char last_words[TOP_LINE_SIZE];
} screen = { .in_fd = -1, .out_fd = -1, .said_fd = -1, .epoll_fd = -1, .signal_fd = -1 };

int screen_check(struct reason *why)
{
	const char *name = getenv("TERM");
	int error = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		reason_set(why, "not on a terminal: 'tactus top --once' prints one screen as text, -b one a second");
		return -ENOTTY;
	}
	if (setupterm(NULL, STDOUT_FILENO, &error) != OK || !tigetstr("cup") || tigetstr("cup") == (char *)-1) {
		reason_set(why,
			   "the terminal '%s' has no full screen: 'tactus top --once' prints one as text, -b one a "
			   "second",
			   name ? name : "");
		return -ENOTTY;
	}
	return 0;
}

static void keep_fd(int fd, int instead)
{
	screen.before[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	dup2(instead, fd);
}

int screen_reserve(struct reason *why)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	screen.said_fd = memfd_create("said", MFD_CLOEXEC);
	screen.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (null_fd < 0 || screen.said_fd < 0 || screen.epoll_fd < 0 || fcntl(screen.said_fd, F_SETFL, O_APPEND)) {
		reason_set(why, "%s", strerror(errno));
		if (null_fd >= 0)
			close(null_fd);
		return -errno;
	}
	screen.in_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	screen.out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	keep_fd(STDIN_FILENO, null_fd);
	keep_fd(STDOUT_FILENO, screen.said_fd);
	/* Errors that go to a file of their own go there still. */
	if (isatty(STDERR_FILENO))
		keep_fd(STDERR_FILENO, screen.said_fd);
	else
		screen.before[STDERR_FILENO] = -1;
	close(null_fd);
	screen.reserved = true;
	atexit(screen_close);
	return 0;
}

/* Takes what was printed since the last time, and keeps the end of it: a command may print without end. */
static void listen_in(void)
{
	off_t bytes = screen.said_fd >= 0 ? lseek(screen.said_fd, 0, SEEK_END) : 0;
	char *text, *line;
	size_t len;

	if (bytes <= 0)
		return;
	len = screen.said_len + (size_t)bytes;
	text = malloc(len + 1);
	if (!text)
		return;
	if (screen.said_len)
		memcpy(text, screen.said, screen.said_len);
	if (pread(screen.said_fd, text + screen.said_len, (size_t)bytes, 0) != bytes)
		len = screen.said_len;
	if (ftruncate(screen.said_fd, 0))
		len = screen.said_len;
	if (len > SAID_KEPT) {
		memmove(text, text + len - SAID_KEPT, SAID_KEPT);
		len = SAID_KEPT;
	}
	text[len] = '\0';
	free(screen.said);
	screen.said = text;
	screen.said_len = len;
	while (len && text[len - 1] == '\n')
		len--;
	line = memrchr(text, '\n', len);
	snprintf(screen.last_words, sizeof(screen.last_words), "%.*s",
		 (int)(len - (line ? (size_t)(line + 1 - text) : 0)), line ? line + 1 : text);
}

const char *screen_last_words(void)
{
	listen_in();
	return screen.last_words;
}

/* Only what a handler of signals may do. */
static void on_crash(int signal)
{
	if (write(screen.out_fd, screen.reset, strlen(screen.reset)) < 0)
		signal = signal + 0; /* nothing is left to be done about it */
	tcsetattr(screen.in_fd, TCSANOW, &screen.saved);
	if (screen.before[STDERR_FILENO] >= 0)
		dup2(screen.before[STDERR_FILENO], STDERR_FILENO);
	raise(signal); /* its handler is the default again */
}

static void add_reset(const char *capability)
{
	const char *text = tigetstr(capability);

	if (text && text != (char *)-1 && strlen(screen.reset) + strlen(text) < sizeof(screen.reset))
		strcat(screen.reset, text);
}

static void prepare_for_crashes(void)
{
	struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_RESETHAND | SA_NODEFER };

	add_reset("sgr0");
	add_reset("rmkx");
	add_reset("cnorm");
	add_reset("rmcup");
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &action, NULL);
}

static void take_signals(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, &screen.mask_before);
	/* Not as ncurses has them. */
	sigaction(SIGTSTP, &usual, NULL);
	sigaction(SIGWINCH, &usual, NULL);
	screen.signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	screen_add_fd(screen.signal_fd);
}

static void choose_colours(void)
{
	static const struct {
		short pair, colour;
	} pairs[] = { { STYLE_GOOD, COLOR_GREEN },
		      { STYLE_WARNING, COLOR_YELLOW },
		      { STYLE_BAD, COLOR_RED },
		      { STYLE_TITLE, COLOR_CYAN } };
	const char *none = getenv("NO_COLOR");

	screen.colours = !(none && none[0]) && has_colors() && start_color() == OK && use_default_colors() == OK;
	for (size_t i = 0; screen.colours && i < sizeof(pairs) / sizeof(pairs[0]); i++)
		init_pair(pairs[i].pair, pairs[i].colour, -1);
}

/* Terminals have two ways to send these, and are not always in the one that they were asked for. */
static void name_keys(void)
{
	static const struct {
		const char *sequence;
		int key;
	} keys[] = { { "\033[A", KEY_UP },    { "\033[B", KEY_DOWN }, { "\033[C", KEY_RIGHT }, { "\033[D", KEY_LEFT },
		     { "\033[H", KEY_HOME },  { "\033[F", KEY_END },  { "\033OA", KEY_UP },    { "\033OB", KEY_DOWN },
		     { "\033OC", KEY_RIGHT }, { "\033OD", KEY_LEFT }, { "\033OH", KEY_HOME },  { "\033OF", KEY_END } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		define_key(keys[i].sequence, keys[i].key);
}

int screen_open(struct reason *why)
{
	setlocale(LC_CTYPE, "");
	screen.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	tcgetattr(screen.in_fd, &screen.saved);
	screen.in = fdopen(screen.in_fd, "r");
	screen.out = fdopen(screen.out_fd, "w");
	screen.curses = screen.in && screen.out ? newterm(NULL, screen.out, screen.in) : NULL;
	if (!screen.curses) {
		reason_set(why, "cannot take the terminal");
		return -ENOTTY;
	}
	screen.open = true;
	prepare_for_crashes();
	take_signals();
	screen_add_fd(screen.in_fd);
	choose_colours();
	set_escdelay(ESCAPE_DELAY_MS);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	name_keys();
	nodelay(stdscr, TRUE);
	typeahead(-1); /* a screen goes out in one piece, not line by line with a look for keys in between */
	return 0;
}

static void give_back_fds(void)
{
	for (int fd = 0; fd < 3; fd++) {
		if (screen.before[fd] < 0)
			continue;
		dup2(screen.before[fd], fd);
		close(screen.before[fd]);
	}
}

static void print_said(void)
{
	size_t done = 0;

	while (done < screen.said_len) {
		ssize_t wrote = write(STDERR_FILENO, screen.said + done, screen.said_len - done);

		if (wrote <= 0)
			break;
		done += (size_t)wrote;
	}
	free(screen.said);
	screen.said = NULL;
	screen.said_len = 0;
}

void screen_close(void)
{
	if (screen.open) {
		screen.open = false;
		endwin();
		tcsetattr(screen.in_fd, TCSADRAIN, &screen.saved);
		sigprocmask(SIG_SETMASK, &screen.mask_before, NULL);
	}
	if (!screen.reserved)
		return;
	screen.reserved = false;
	fflush(stdout);
	listen_in();
	give_back_fds();
	print_said();
}

int screen_fd(void)
{
	return screen.epoll_fd;
}

void screen_add_fd(int fd)
{
	struct epoll_event readable = { .events = EPOLLIN, .data.fd = fd };

	if (fd >= 0 && screen.epoll_fd >= 0)
		epoll_ctl(screen.epoll_fd, EPOLL_CTL_ADD, fd, &readable);
}

int screen_key(void)
{
	static const struct {
		int from, to;
	} keys[] = { { KEY_UP, TOP_KEY_UP },	   { KEY_DOWN, TOP_KEY_DOWN },	   { KEY_LEFT, TOP_KEY_LEFT },
		     { KEY_RIGHT, TOP_KEY_RIGHT }, { KEY_PPAGE, TOP_KEY_PAGE_UP }, { KEY_NPAGE, TOP_KEY_PAGE_DOWN },
		     { KEY_HOME, TOP_KEY_HOME },   { KEY_END, TOP_KEY_END },	   { KEY_BACKSPACE, TOP_KEY_BACKSPACE },
		     { 0x7f, TOP_KEY_BACKSPACE },  { '\b', TOP_KEY_BACKSPACE },	   { KEY_ENTER, TOP_KEY_ENTER },
		     { '\r', TOP_KEY_ENTER } };
	int key = getch();

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (key == keys[i].from)
			return keys[i].to;
	return key > 0 && key < KEY_MIN ? key : TOP_KEY_NONE;
}

static void take_size(void)
{
	struct winsize size;

	if (!ioctl(screen.out_fd, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

/* Stops as anybody would, with the terminal as it was, until it is continued. */
static void stop(void)
{
	sigset_t set;

	endwin();
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL); /* here it stops */
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Sizes and modes may be others by now. */
static void come_back(void)
{
	reset_prog_mode();
	take_size();
	clearok(stdscr, TRUE);
	refresh();
	curs_set(0);
}

bool screen_take_signals(bool *goes_on)
{
	struct pollfd terminal = { .fd = screen.in_fd, .events = POLLIN };
	struct signalfd_siginfo info;
	bool anew = false;

	*goes_on = poll(&terminal, 1, 0) < 0 || !(terminal.revents & (POLLHUP | POLLERR | POLLNVAL));
	while (read(screen.signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		anew = true;
		if (info.ssi_signo == SIGQUIT)
			*goes_on = false;
		else if (info.ssi_signo == SIGTSTP)
			stop();
		else if (info.ssi_signo == SIGCONT)
			come_back();
		else
			take_size();
	}
	return anew;
}

void screen_size(u32 *width, u32 *height)
{
	*width = (u32)COLS;
	*height = (u32)LINES;
}

bool screen_is_ascii(void)
{
	return screen.ascii;
}

static attr_t look_of(u32 style)
{
	attr_t colour = screen.colours ? (attr_t)COLOR_PAIR(style) : 0;

	switch (style) {
	case STYLE_TITLE:
		return A_BOLD | colour;
	case STYLE_HEAD:
		return A_BOLD | A_UNDERLINE;
	case STYLE_FAINT:
		return A_DIM;
	case STYLE_GOOD:
		return colour;
	case STYLE_WARNING:
		return colour | (screen.colours ? 0 : A_BOLD);
	case STYLE_BAD:
		return colour | A_BOLD;
	case STYLE_CHOSEN:
		return A_REVERSE;
	default:
		return A_NORMAL;
	}
}

void screen_show(const struct canvas *canvas)
{
	erase();
	for (u32 row = 0; row < canvas->height; row++) {
		const struct canvas_place *places = &canvas->places[(size_t)row * canvas->width];
		u32 from = 0;

		while (from < canvas->width) {
			u32 style = places[from].style;

			move((int)row, (int)from);
			attrset(look_of(style));
			for (; from < canvas->width && places[from].style == style; from++)
				addstr(places[from].bytes);
		}
	}
	refresh();
}
