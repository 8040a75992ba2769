// SPDX-License-Identifier: GPL-2.0
/* A process's library may say anything of itself. So its word leads to a file; what begins where is asked of that file,
 * and the probe is for that process alone, so that nobody can have a breakpoint written into what others run. */
#include "frame_told.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/elf.h"
#include "../base/loop.h"
#include "../base/maps.h"
#include "../base/owner.h"
#include "../model/graphics.h"
#include "libraries.h"

/* A process has a few such functions. Each takes three descriptors. */
enum { PLACES_EACH_USER = 64, PLACES_ALL_USERS = 256, PLACES_ALL = 512, BURST_MS = 200, PAYS_PARTS = 20 };

void told_open(struct told_places *told)
{
	told->allowance = (struct allowance){ .held_each = PLACES_EACH_USER,
					      .held_users = PLACES_ALL_USERS,
					      .held_all = PLACES_ALL,
					      .burst_ns = BURST_MS * (u64)NSEC_PER_MSEC,
					      .pays_parts = PAYS_PARTS };
}

void told_close(struct told_places *told)
{
	for (u32 i = 0; i < told->len; i++)
		close(told->places[i].pid_fd);
	free(told->places);
	*told = (struct told_places){ .refused = told->refused };
}

int told_may_work(struct told_places *told, u32 pid, u32 *uid, u64 now_ns)
{
	for (u32 i = 0; i < HASTY_MAX; i++)
		if (told->hasty[i].pid == pid && now_ns < told->hasty[i].until_ns)
			return -EDQUOT;
	if (process_charged_to(pid, uid))
		return -ESRCH;
	if (allowance_may_work(&told->allowance, *uid, now_ns))
		return 0;
	told->hasty[told->hasty_next].pid = pid;
	told->hasty[told->hasty_next].until_ns = now_ns + NSEC_PER_SEC;
	told->hasty_next = (told->hasty_next + 1) % HASTY_MAX;
	return -EDQUOT;
}

void told_worked(struct told_places *told, u32 uid, u64 began_ns)
{
	u64 now_ns = clock_now_ns();

	allowance_worked(&told->allowance, uid, now_ns, now_ns - began_ns);
}

struct search {
	u64 address;
	struct told_function *function;
	bool is_graphics;
};

static int find_address(void *data, const struct mapping *mapping)
{
	struct search *search = data;
	struct told_function *function = search->function;
	struct stat seen;

	if (search->address < mapping->start || search->address >= mapping->end)
		return 0;
	if (mapping->executable && mapping->inode)
		function->fd = library_open(function->pid, mapping, &seen);
	if (function->fd < 0)
		return 1;
	search->is_graphics = graphics_is_library(path_base(mapping->path));
	function->device = seen.st_dev;
	function->inode = seen.st_ino;
	function->changed_ns = (u64)seen.st_ctim.tv_sec * NSEC_PER_SEC + (u64)seen.st_ctim.tv_nsec;
	function->offset = search->address - mapping->start + mapping->offset;
	return 1;
}

static bool is_proven(const struct told_places *told, const struct told_function *function)
{
	for (u32 i = 0; i < PROVEN_MAX; i++) {
		const struct told_proven *proven = &told->proven[i];

		if (proven->inode == function->inode && proven->device == function->device &&
		    proven->offset == function->offset && proven->changed_ns == function->changed_ns)
			return true;
	}
	return false;
}

static void keep_proven(struct told_places *told, const struct told_function *function)
{
	told->proven[told->proven_next] = (struct told_proven){ .device = function->device,
								.inode = function->inode,
								.offset = function->offset,
								.changed_ns = function->changed_ns };
	told->proven_next = (told->proven_next + 1) % PROVEN_MAX;
}

static int prove(struct told_places *told, const struct told_function *function, bool is_graphics, struct reason *why)
{
	int error;

	if (is_proven(told, function))
		return 0;
	if (!is_graphics && !elf_exports_any(function->open, graphics_doors)) {
		reason_set(why, "its file is none of the graphics stack");
		return -EPERM;
	}
	error = elf_begins_function(function->open, function->offset, why);
	if (!error)
		keep_proven(told, function);
	return error;
}

static int find_function(struct told_places *told, struct told_function *function, u64 address, struct reason *why)
{
	struct search search = { .address = address, .function = function };

	function->pid_fd = (int)syscall(SYS_pidfd_open, (pid_t)function->pid, 0);
	if (function->pid_fd < 0)
		return -errno;
	maps_read(function->pid, find_address, &search);
	if (function->fd < 0) {
		reason_set(why, "no file that can be read is mapped there");
		return -ENOENT;
	}
	snprintf(function->open, sizeof(function->open), "/proc/self/fd/%d", function->fd);
	return prove(told, function, search.is_graphics, why);
}

int told_find(struct told_places *told, u32 pid, u64 address, struct told_function *function, struct reason *why)
{
	u64 began_ns = clock_now_ns();
	int error;

	*function = (struct told_function){ .pid = pid, .fd = -1, .pid_fd = -1 };
	reason_set(why, "its user had more done than one may have");
	error = told_may_work(told, pid, &function->charged_to, began_ns);
	if (!error) {
		if (allowance_hold(&told->allowance, function->charged_to)) {
			error = find_function(told, function, address, why);
			if (error)
				told_forget(told, function);
		} else {
			error = -EDQUOT;
		}
		told_worked(told, function->charged_to, began_ns);
	}
	told->refused += error && error != -ESRCH;
	return error;
}

static void close_both(struct told_function *function)
{
	if (function->fd >= 0)
		close(function->fd);
	if (function->pid_fd >= 0)
		close(function->pid_fd);
	function->fd = function->pid_fd = -1;
}

void told_forget(struct told_places *told, struct told_function *function)
{
	allowance_release(&told->allowance, function->charged_to);
	close_both(function);
}

void told_keep(struct told_places *told, struct told_function *function)
{
	u32 room = told->room ? told->room * 2 : 16;
	struct told_place *places = told->places;

	if (told->len == told->room) {
		places = realloc(places, room * sizeof(*places));
		/* The probe stays then, until the end. */
		if (!places) {
			close_both(function);
			return;
		}
		told->places = places;
		told->room = room;
	}
	places[told->len++] = (struct told_place){ .pid = function->pid,
						   .charged_to = function->charged_to,
						   .pid_fd = function->pid_fd,
						   .device = function->device,
						   .inode = function->inode };
	function->pid_fd = -1;
	close_both(function);
}

void told_review(struct told_places *told, void (*ended)(void *data, const struct told_place *place), void *data)
{
	u32 kept = 0;

	for (u32 i = 0; i < told->len; i++) {
		struct told_place place = told->places[i];
		struct pollfd end = { .fd = place.pid_fd, .events = POLLIN };

		if (poll(&end, 1, 0) <= 0) {
			told->places[kept++] = place;
			continue;
		}
		ended(data, &place);
		close(place.pid_fd);
		allowance_release(&told->allowance, place.charged_to);
	}
	told->len = kept;
}
