// SPDX-License-Identifier: GPL-2.0
/* A Windows program with sound, for Wine: player.exe keeps three buffers of 10 ms with the sound system and fills each
 * as soon as it comes back. Each return is stamped, as the programs of stamp.h do it. */
#include <windows.h>
#include <mmsystem.h>
#include <stdio.h>
#include <stdlib.h>

enum { RATE_HZ = 48000, BUFFER_FRAMES = RATE_HZ / 100, BUFFERS = 3, CHANNELS = 2, CLOCK_MONOTONIC_LINUX = 1 };

static short samples[BUFFERS][BUFFER_FRAMES * CHANNELS];
static WAVEHDR headers[BUFFERS];

/* Wine gives Windows code a clock of its own, so Linux is asked for the one of the marks. */
static long long now_ns(void)
{
	long long time[2];
	long status;

	__asm__ volatile("syscall"
			 : "=a"(status)
			 : "a"(228), "D"(CLOCK_MONOTONIC_LINUX), "S"(time)
			 : "rcx", "r11", "memory");
	return status ? 0 : time[0] * 1000000000LL + time[1];
}

static void stamp(FILE *into)
{
	static long long last_ns;
	long long record[2] = { now_ns(), 0 };

	record[1] = record[0] - last_ns;
	if (last_ns) {
		fwrite(record, sizeof(record), 1, into);
		fflush(into);
	}
	last_ns = record[0];
}

static void fill(short *buffer)
{
	static unsigned phase;

	for (int i = 0; i < BUFFER_FRAMES * CHANNELS; i++)
		buffer[i] = (short)((phase++ / CHANNELS % 109 - 54) * 200);
}

int main(void)
{
	WAVEFORMATEX format = { .wFormatTag = WAVE_FORMAT_PCM,
				.nChannels = CHANNELS,
				.nSamplesPerSec = RATE_HZ,
				.nAvgBytesPerSec = RATE_HZ * CHANNELS * sizeof(short),
				.nBlockAlign = CHANNELS * sizeof(short),
				.wBitsPerSample = 16 };
	HANDLE done = CreateEventA(NULL, FALSE, FALSE, NULL);
	char path[MAX_PATH];
	HWAVEOUT out;
	FILE *into;

	snprintf(path, sizeof(path), "Z:%s", getenv("STAMPS_INTO") ? getenv("STAMPS_INTO") : "");
	into = fopen(path, "ab");
	if (!into || waveOutOpen(&out, WAVE_MAPPER, &format, (DWORD_PTR)done, 0, CALLBACK_EVENT) != MMSYSERR_NOERROR) {
		fprintf(stderr, "player: no %s\n", into ? "sound" : path);
		return 1;
	}
	SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL);
	for (int i = 0; i < BUFFERS; i++) {
		headers[i].lpData = (char *)samples[i];
		headers[i].dwBufferLength = sizeof(samples[i]);
		waveOutPrepareHeader(out, &headers[i], sizeof(headers[i]));
		headers[i].dwFlags |= WHDR_DONE;
	}
	SetEvent(done);
	for (;;) {
		WaitForSingleObject(done, INFINITE);
		for (int i = 0; i < BUFFERS; i++) {
			if (!(headers[i].dwFlags & WHDR_DONE))
				continue;
			stamp(into);
			fill(samples[i]);
			headers[i].dwFlags &= ~WHDR_DONE;
			waveOutWrite(out, &headers[i], sizeof(headers[i]));
		}
	}
}
