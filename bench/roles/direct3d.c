// SPDX-License-Identifier: GPL-2.0
/* A Windows program that draws by Direct3D 9, 60 times a second: Wine has a thread of its own do that by OpenGL.
 * Usage: direct3d.exe FILE, which gets "LINUX-TID presenter" once a frame was presented. */
#include <windows.h>
#include <d3d9.h>
#include <stdio.h>

/* Wine gives Windows code no way to ask, so Linux is asked directly. */
static long linux_tid(void)
{
	long tid;

	__asm__ volatile("syscall" : "=a"(tid) : "a"(186) : "rcx", "r11", "memory");
	return tid;
}

static void note(const char *truth)
{
	FILE *file = fopen(truth, "ab");

	if (!file)
		return;
	fprintf(file, "%ld presenter\n", linux_tid());
	fclose(file);
}

int main(int argc, char **argv)
{
	IDirect3D9 *d3d = Direct3DCreate9(D3D_SDK_VERSION);
	HWND window = CreateWindowA("static", "game", WS_POPUP | WS_VISIBLE, 0, 0, 320, 240, NULL, NULL, NULL, NULL);
	D3DPRESENT_PARAMETERS how = { .Windowed = TRUE, .SwapEffect = D3DSWAPEFFECT_DISCARD, .hDeviceWindow = window };
	IDirect3DDevice9 *device = NULL;

	if (argc < 2 || !d3d ||
	    IDirect3D9_CreateDevice(d3d, D3DADAPTER_DEFAULT, D3DDEVTYPE_HAL, window,
				    D3DCREATE_SOFTWARE_VERTEXPROCESSING, &how, &device)) {
		fprintf(stderr, "no Direct3D\n");
		return 1;
	}
	for (unsigned frame = 0;; frame++) {
		MSG message;

		while (PeekMessageA(&message, NULL, 0, 0, PM_REMOVE))
			DispatchMessageA(&message);
		IDirect3DDevice9_Clear(device, 0, NULL, D3DCLEAR_TARGET, D3DCOLOR_XRGB(frame & 255, 0, 0), 1.0f, 0);
		IDirect3DDevice9_Present(device, NULL, NULL, NULL, NULL);
		if (frame == 10)
			note(argv[1]);
		Sleep(15);
	}
}
