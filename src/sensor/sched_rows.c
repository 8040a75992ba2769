// SPDX-License-Identifier: GPL-2.0
/* Runs an iterator of the kernel half over threads and hands out the rows that it writes, one by one.
 */
#include "sched_rows.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { ROW_BYTES_AT_ONCE = 32 << 10 };

int run_iterator(const struct bpf_program *program, u32 pid, const struct row_reader *reader)
{
	union bpf_iter_link_info of_process = { .task = { .pid = pid } };
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &of_process, .link_info_len = sizeof(of_process));
	/* One that this kernel refuses meets nobody. */
	bool is_there = bpf_program__autoload(program);
	struct bpf_link *link = is_there ? bpf_program__attach_iter(program, pid ? &options : NULL) : NULL;
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -errno, error = fd < 0 ? fd : 0;
	_Alignas(u64) char bytes[ROW_BYTES_AT_ONCE];
	size_t held = 0, used, row;
	ssize_t got;

	if (!is_there)
		return 0;
	while (!error) {
		got = read(fd, bytes + held, sizeof(bytes) - held);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0) {
			error = got < 0 ? -errno : 0;
			break;
		}
		held += (size_t)got;
		for (used = 0; !error && (row = reader->row_bytes(bytes + used, held - used)) && row <= held - used;
		     used += row)
			error = reader->take ? reader->take(reader->data, bytes + used) : 0;
		/* A read may end inside a row: its first part waits for the rest. */
		memmove(bytes, bytes + used, held - used);
		held -= used;
	}
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return error;
}
