// SPDX-License-Identifier: GPL-2.0
/* A process's library may say anything of itself. So its word leads to a file; what begins where is asked of that file,
 * and the probe is for that process alone, so that nobody can have a breakpoint written into what others run. */
#include "frame_reported.h"

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
#include "../base/vec.h"
#include "../model/graphics.h"
#include "libraries.h"

/* A process has a few such functions. Each takes three descriptors. */
enum { PLACES_EACH_USER = 64, PLACES_ALL_USERS = 256, PLACES_ALL = 512, BURST_MS = 200, PAYS_PARTS = 20 };

void reported_open(struct reported_places *reported)
{
	reported->allowance = (struct allowance){ .held_each = PLACES_EACH_USER,
						  .held_users = PLACES_ALL_USERS,
						  .held_all = PLACES_ALL,
						  .burst_ns = BURST_MS * (u64)NSEC_PER_MSEC,
						  .pays_parts = PAYS_PARTS };
}

void reported_close(struct reported_places *reported)
{
	for (u32 i = 0; i < reported->len; i++)
		close(reported->places[i].pid_fd);
	free(reported->places);
	*reported = (struct reported_places){ .refused = reported->refused };
}

int reported_may_work(struct reported_places *reported, u32 pid, u32 *uid, u64 now_ns)
{
	for (u32 i = 0; i < HASTY_MAX; i++)
		if (reported->hasty[i].pid == pid && now_ns < reported->hasty[i].until_ns)
			return -EDQUOT;
	if (process_charged_to(pid, uid))
		return -ESRCH;
	if (allowance_may_work(&reported->allowance, *uid, now_ns))
		return 0;
	reported->hasty[reported->hasty_next].pid = pid;
	reported->hasty[reported->hasty_next].until_ns = now_ns + NSEC_PER_SEC;
	reported->hasty_next = (reported->hasty_next + 1) % HASTY_MAX;
	return -EDQUOT;
}

void reported_worked(struct reported_places *reported, u32 uid, u64 began_ns)
{
	u64 now_ns = clock_now_ns();

	allowance_worked(&reported->allowance, uid, now_ns, now_ns - began_ns);
}

struct search {
	u64 address;
	struct reported_function *function;
	bool is_graphics;
};

static int find_address(void *data, const struct mapping *mapping)
{
	struct search *search = data;
	struct reported_function *function = search->function;
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

static bool is_proven(const struct reported_places *reported, const struct reported_function *function)
{
	for (u32 i = 0; i < PROVEN_MAX; i++) {
		const struct reported_proven *proven = &reported->proven[i];

		if (proven->inode == function->inode && proven->device == function->device &&
		    proven->offset == function->offset && proven->changed_ns == function->changed_ns)
			return true;
	}
	return false;
}

static void keep_proven(struct reported_places *reported, const struct reported_function *function)
{
	reported->proven[reported->proven_next] = (struct reported_proven){ .device = function->device,
									    .inode = function->inode,
									    .offset = function->offset,
									    .changed_ns = function->changed_ns };
	reported->proven_next = (reported->proven_next + 1) % PROVEN_MAX;
}

static int prove(struct reported_places *reported, const struct reported_function *function, bool is_graphics,
		 struct reason *why)
{
	int error;

	if (is_proven(reported, function))
		return 0;
	if (!is_graphics && !elf_exports_any(function->open, graphics_doors)) {
		reason_set(why, "its file is not part of the graphics stack");
		return -EPERM;
	}
	error = elf_begins_function(function->open, function->offset, why);
	if (!error)
		keep_proven(reported, function);
	return error;
}

static int find_function(struct reported_places *reported, struct reported_function *function, u64 address,
			 struct reason *why)
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
	return prove(reported, function, search.is_graphics, why);
}

int reported_find(struct reported_places *reported, u32 pid, u64 address, struct reported_function *function,
		  struct reason *why)
{
	u64 began_ns = clock_now_ns();
	int error;

	*function = (struct reported_function){ .pid = pid, .fd = -1, .pid_fd = -1 };
	reason_set(why, "its user has used up the allowance of one user");
	error = reported_may_work(reported, pid, &function->charged_to, began_ns);
	if (!error) {
		if (allowance_hold(&reported->allowance, function->charged_to)) {
			error = find_function(reported, function, address, why);
			if (error)
				reported_forget(reported, function);
		} else {
			error = -EDQUOT;
		}
		reported_worked(reported, function->charged_to, began_ns);
	}
	reported->refused += error && error != -ESRCH;
	return error;
}

static void close_both(struct reported_function *function)
{
	if (function->fd >= 0)
		close(function->fd);
	if (function->pid_fd >= 0)
		close(function->pid_fd);
	function->fd = function->pid_fd = -1;
}

void reported_forget(struct reported_places *reported, struct reported_function *function)
{
	allowance_release(&reported->allowance, function->charged_to);
	close_both(function);
}

void reported_keep(struct reported_places *reported, struct reported_function *function)
{
	/* The probe stays then, until the end. */
	if (!vec_reserve(reported->places, reported->room, reported->len + 1, 16)) {
		close_both(function);
		return;
	}
	reported->places[reported->len++] = (struct reported_place){ .pid = function->pid,
								     .charged_to = function->charged_to,
								     .pid_fd = function->pid_fd,
								     .device = function->device,
								     .inode = function->inode };
	function->pid_fd = -1;
	close_both(function);
}

void reported_review(struct reported_places *reported, void (*ended)(void *data, const struct reported_place *place),
		     void *data)
{
	u32 kept = 0;

	for (u32 i = 0; i < reported->len; i++) {
		struct reported_place place = reported->places[i];
		struct pollfd end = { .fd = place.pid_fd, .events = POLLIN };

		if (poll(&end, 1, 0) <= 0) {
			reported->places[kept++] = place;
			continue;
		}
		ended(data, &place);
		close(place.pid_fd);
		allowance_release(&reported->allowance, place.charged_to);
	}
	reported->len = kept;
}
