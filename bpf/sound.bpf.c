// SPDX-License-Identifier: GPL-2.0
/* The sound sensor's first kernel half: threads that play into or record from a sound card, seen at the functions by
 * which every one of them does, whatever library it uses. */
#include "roles.h"

char LICENSE[] SEC("license") = "GPL";

/* The last byte of the card's requests, <sound/asound.h>: what moves samples, and what a program that writes them into
 * mapped memory asks in each period. */
enum {
	PCM_HWSYNC = 0x22,
	PCM_SYNC_PTR = 0x23,
	PCM_WRITEI_FRAMES = 0x50,
	PCM_READN_FRAMES = 0x53,
};

/* By all threads. */
u64 writes_seen = 0;

static __always_inline int moved_sound(void)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = role_here(current);

	__sync_fetch_and_add(&writes_seen, 1);
	/* One more than enough changes nothing. */
	if (thread && ++thread->role.facts.audio_writes == SOUND_WRITES_ENOUGH)
		role_update(current, thread, bpf_ktime_get_ns());
	return 0;
}

static __always_inline int asked(unsigned int request)
{
	u32 number = request & 0xff;

	if ((number >= PCM_WRITEI_FRAMES && number <= PCM_READN_FRAMES) || number == PCM_HWSYNC ||
	    number == PCM_SYNC_PTR)
		return moved_sound();
	return 0;
}

SEC("fentry/snd_pcm_ioctl")
int BPF_PROG(on_pcm_ioctl, void *file, unsigned int request)
{
	return asked(request);
}

SEC("fentry/snd_pcm_ioctl_compat")
int BPF_PROG(on_pcm_ioctl_compat, void *file, unsigned int request)
{
	return asked(request);
}

SEC("fentry/snd_pcm_poll")
int BPF_PROG(on_pcm_poll)
{
	return moved_sound();
}

SEC("fentry/snd_pcm_write")
int BPF_PROG(on_pcm_write)
{
	return moved_sound();
}

SEC("fentry/snd_pcm_writev")
int BPF_PROG(on_pcm_writev)
{
	return moved_sound();
}

SEC("fentry/snd_pcm_read")
int BPF_PROG(on_pcm_read)
{
	return moved_sound();
}

SEC("kprobe/snd_pcm_ioctl")
int BPF_KPROBE(probed_pcm_ioctl, void *file, unsigned int request)
{
	return asked(request);
}

SEC("kprobe/snd_pcm_ioctl_compat")
int BPF_KPROBE(probed_pcm_ioctl_compat, void *file, unsigned int request)
{
	return asked(request);
}

SEC("kprobe/snd_pcm_poll")
int probed_pcm_poll(void *registers)
{
	return moved_sound();
}

SEC("kprobe/snd_pcm_write")
int probed_pcm_write(void *registers)
{
	return moved_sound();
}

SEC("kprobe/snd_pcm_writev")
int probed_pcm_writev(void *registers)
{
	return moved_sound();
}

SEC("kprobe/snd_pcm_read")
int probed_pcm_read(void *registers)
{
	return moved_sound();
}
