// SPDX-License-Identifier: GPL-2.0
/* What is made says who does what when: it is for who made it, as its caller and not as root where there is one.
 */
#include "export_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "../base/privileges.h"

int export_output_open(struct export_output *output, const char *path, const struct output_rule *rule, bool only_whole,
		       struct reason *why)
{
	bool is_new;
	uid_t uid;
	gid_t gid;

	if (output_is_stdout(path)) {
		*output = (struct export_output){ .fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), .is_stdout = true };
		if (output->fd < 0)
			reason_set(why, "%s", strerror(errno));
		return output->fd < 0 ? -errno : 0;
	}
	*output = (struct export_output){ .fd = output_file(path, 0600, &is_new, why) };
	if (output->fd < 0)
		return output->fd;
	if (is_new && sudo_caller(&uid, &gid) && fchown(output->fd, uid, gid)) {
		/* On a file system without owners it is whose the file system is. */
	}
	if (!is_new && !output_may_replace(path, rule, why)) {
		close(output->fd);
		return -EEXIST;
	}
	if (flock(output->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		reason_set(why, "another process is writing to it");
		close(output->fd);
		return -EBUSY;
	}
	if (only_whole)
		output->fd = output_whole_begin(&output->whole, path, output->fd, is_new, why);
	if (output->fd >= 0 && ftruncate(output->fd, 0))
		output->error = -errno;
	return output->fd < 0 ? output->fd : 0;
}

int export_output_write(void *data, const void *bytes, size_t len)
{
	struct export_output *output = data;
	const char *from = bytes;
	size_t done = 0;

	while (done < len && !output->error) {
		ssize_t wrote = output->is_stdout
					? write(output->fd, from + done, len - done)
					: pwrite(output->fd, from + done, len - done, (off_t)(output->bytes + done));

		if (wrote > 0)
			done += (size_t)wrote;
		else if (wrote == 0 || errno != EINTR)
			output->error = wrote ? -errno : -EIO;
	}
	if (!output->error)
		output->bytes += len;
	else if (!output->is_stdout && ftruncate(output->fd, (off_t)output->bytes)) {
		/* It then ends within something, as after a kill. */
	}
	return output->error;
}

static ssize_t write_text(void *data, const char *from, size_t bytes)
{
	/* None: it failed. */
	return export_output_write(data, from, bytes) ? 0 : (ssize_t)bytes;
}

FILE *export_output_text(struct export_output *output)
{
	static const cookie_io_functions_t functions = { .write = write_text };
	FILE *text = fopencookie(output, "w", functions);

	if (text)
		setvbuf(text, output->text, _IOFBF, sizeof(output->text));
	return text;
}

int export_output_folder(const struct export_output *output)
{
	return output->whole.begun ? output->whole.folder : 0;
}

int export_output_close(struct export_output *output, bool is_whole)
{
	int error = output->error, named;

	if (close(output->fd) && errno != EINTR && !error)
		error = -errno;
	named = output_whole_end(&output->whole, is_whole && !error);
	return error ? error : named;
}
