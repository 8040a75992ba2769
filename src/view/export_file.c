// SPDX-License-Identifier: GPL-2.0
/* One file, its form, and what makes a trace of the stream.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../base/say.h"
#include "export.h"

bool trace_file_open(struct trace_file *file, const struct options *options, bool only_whole)
{
	static const char *const beginnings[OUTPUT_FORMATS] = { [OUTPUT_TRACE] = CHROME_BEGINNING,
								[OUTPUT_PERFETTO] = PERFETTO_BEGINNING,
								[OUTPUT_CSV] = CSV_BEGINNING,
								[OUTPUT_PARQUET] = PARQUET_BEGINNING };
	struct output_rule rule = { .beginning = beginnings[options->output_format], .force = options->force };
	struct reason why;

	file->format = options->output_format;
	if (export_output_open(&file->output, options->output, &rule, only_whole, &why)) {
		fail(options->output, "%s", why.text);
		return false;
	}
	return file->is_open = true;
}

bool trace_file_begin(struct trace_file *file, struct capture *capture, const char *name, u64 over_ns)
{
	struct trace_machine machine = { .name = name,
					 .kernel = capture->info.kernel,
					 .wall_ns = capture->info.wall_start_ns,
					 .mono_ns = capture->info.mono_start_ns,
					 .boot_ns = capture->info.mono_start_ns + capture->info.suspended_ns,
					 .cpus_len = capture->info.cpus_len };

	if (file->format == OUTPUT_TRACE) {
		file->text = export_output_text(&file->output);
		file->chrome = file->text ? chrome_open(file->text, &machine) : NULL;
	} else {
		file->perfetto = perfetto_open(&machine, export_output_write, &file->output);
	}
	if (!file->perfetto && !file->chrome) {
		fail(capture->request.view, "out of memory");
		return false;
	}
	exporter_open(&file->exporter, file->chrome ? &chrome_form : &perfetto_form,
		      file->chrome ? (void *)file->chrome : file->perfetto, &capture->threads, over_ns,
		      (capture->info.wall_start_ns ^ capture->info.mono_start_ns << 20) << 24 | 1);
	return true;
}

bool trace_file_begin_table(struct trace_file *file, u64 kinds)
{
	if (file->format == OUTPUT_PARQUET) {
		file->parquet = parquet_open(export_output_write, &file->output, kinds);
	} else {
		file->text = export_output_text(&file->output);
		file->csv = file->text ? csv_open(file->text, kinds) : NULL;
	}
	if (!file->csv && !file->parquet)
		fail("export", "out of memory");
	return file->csv || file->parquet;
}

void trace_file_row(struct trace_file *file, const struct event_header *event, const struct comm *comm)
{
	file->rows++;
	if (file->parquet)
		parquet_event(file->parquet, event, comm);
	else
		csv_event(file->csv, event, comm);
}

void trace_file_flush(struct trace_file *file)
{
	file->exporter.form->flush(file->exporter.sink);
}

int trace_file_error(const struct trace_file *file)
{
	if (file->parquet)
		return parquet_error(file->parquet);
	return file->perfetto ? perfetto_error(file->perfetto) : file->output.error;
}

int trace_file_close(struct trace_file *file, const struct capture *capture, const char *path, bool dropped)
{
	int error = 0, status = 0;

	if (!file->is_open)
		return 0;
	if (file->perfetto || file->chrome) {
		if (!dropped)
			exporter_end(&file->exporter,
				     capture->threads.last_ns ? capture->threads.last_ns : capture->info.mono_start_ns);
		error = file->perfetto ? perfetto_error(file->perfetto) : 0;
		if (file->exporter.failed || (file->chrome && chrome_failed(file->chrome)))
			note("there was no memory for all of it: something is missing from %s", path);
		if (file->exporter.unplaced)
			note("%s: %" PRIu64 " more lay across each other than there are tracks for: they are left out",
			     path, file->exporter.unplaced);
		exporter_close(&file->exporter);
		perfetto_close(file->perfetto);
		chrome_close(file->chrome);
	}
	csv_close(file->csv);
	if (file->parquet)
		error = parquet_close(file->parquet, !dropped);
	if (file->text && fclose(file->text) && !error)
		error = file->output.error ? file->output.error : -EIO;
	if (error && !file->output.error)
		file->output.error = error;
	error = export_output_close(&file->output, !dropped);
	/* Who read it has enough. */
	if (error == -EPIPE && file->output.is_stdout)
		error = 0;
	if (error && !dropped)
		status = fail(path, "%s: %s", strerror(-error),
			      file->output.whole.made[0] ? "nothing was written" : "the trace ends early");
	file->is_open = false;
	return status;
}
