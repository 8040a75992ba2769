// SPDX-License-Identifier: GPL-2.0
/* base/allowance.c: what one user may take up, beside others and beside root; and what belongs to the graphics stack,
 * and which mounts a user's program answers for. */
#include "../../src/base/mounts.h"
#include "../../src/base/allowance.h"
#include "../../src/model/graphics.h"
#include "tap.h"

#define MS ((u64)NSEC_PER_MSEC)

static struct allowance made(void)
{
	return (struct allowance){
		.held_each = 3, .held_users = 5, .held_all = 7, .burst_ns = 10 * MS, .pays_parts = 20
	};
}

static void test_held(void)
{
	struct allowance allowance = made();
	u32 got = 0;

	for (int i = 0; i < 10; i++)
		got += allowance_hold(&allowance, 1000);
	is(got, 3, "user holds as many as one user may");
	ok(allowance_hold(&allowance, 1001), "another user holds something beside one who holds all he may");
	ok(allowance_hold(&allowance, 1001), "another user holds two beside one who holds all he may");
	ok(!allowance_hold(&allowance, 1002), "users together hold no more than all users may");
	ok(allowance_hold(&allowance, 0), "root holds something where users hold all they may");
	ok(allowance_hold(&allowance, 0), "root holds two where users hold all they may");
	ok(!allowance_hold(&allowance, 0), "root holds no more than there is");
	allowance_release(&allowance, 1000);
	ok(allowance_hold(&allowance, 1002), "what one user releases another may hold");
	allowance_release(&allowance, 4711);
	is(allowance.users_held, 5, "release by a user who holds nothing frees nothing of the users'");
}

static void test_work(void)
{
	struct allowance allowance = made();
	u64 now_ns = 1000 * MS;

	ok(allowance_may_work(&allowance, 1000, now_ns), "work for a user who has had none may begin");
	allowance_worked(&allowance, 1000, now_ns, 11 * MS);
	ok(!allowance_may_work(&allowance, 1000, now_ns),
	   "work for a user who has had more than his burst may not begin");
	ok(allowance_may_work(&allowance, 1001, now_ns), "work for another user may begin");
	ok(allowance_may_work(&allowance, 0, now_ns), "work for root may begin");
	ok(!allowance_may_work(&allowance, 1000, now_ns + 19 * MS), "work may not begin before it is paid for");
	ok(allowance_may_work(&allowance, 1000, now_ns + 21 * MS), "work may begin once enough is paid for");
	allowance_worked(&allowance, 0, now_ns, 1000 * MS);
	ok(allowance_may_work(&allowance, 0, now_ns), "work for root is never owed");

	now_ns += 1000 * MS;
	allowance_worked(&allowance, 1000, now_ns, 60000 * MS);
	ok(!allowance_may_work(&allowance, 1000, now_ns + ALLOWANCE_KEPT_OUT_MOST_NS - MS),
	   "user whose work took a minute is kept out until nearly the longest time that anybody is");
	ok(allowance_may_work(&allowance, 1000, now_ns + ALLOWANCE_KEPT_OUT_MOST_NS + MS),
	   "user whose work took a minute is kept out no longer than anybody is");
}

static void test_many_users(void)
{
	struct allowance allowance = {
		.held_each = 1, .held_users = 1000, .held_all = 1000, .burst_ns = 1, .pays_parts = 1
	};
	u32 got = 0;

	for (u32 uid = 1; uid <= ALLOWANCE_USERS + 50; uid++)
		got += allowance_hold(&allowance, uid);
	is(got, ALLOWANCE_USERS, "users hold something as long as there is room for them");
	ok(!allowance_may_work(&allowance, 100000, 1), "work for one user too many may not begin");
	allowance_release(&allowance, 5);
	ok(allowance_may_work(&allowance, 100000, 1), "user who holds nothing makes room for another");
}

static void test_graphics(void)
{
	static const char *const yes[] = { "libvulkan.so.1.3.239", "libvulkan_radeon.so", "libVkLayer_MESA_overlay.so",
					   "libEGL_mesa.so.0.0.0", "libGLX_nvidia.so.0",  "libnvidia-glcore.so.580.65",
					   "radeonsi_dri.so",	   "libgallium-25.0.so",  "libMangoHud.so" };
	static const char *const no[] = { "libc.so.6", "libvictim.so", "firefox", "libssl.so.3", "", "libcrypto.so.3" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ok(graphics_is_library(yes[i]), "library %s belongs to the graphics stack", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ok(!graphics_is_library(no[i]), "file '%s' does not belong to the graphics stack", no[i]);
}

static void test_mounts(void)
{
	static const char line[] =
		"36 35 0:47 / /mnt/a\\040-\\040b rw,noatime master:1 - fuse.sshfs host: rw,user_id=0\n";
	char type[32] = "", cut[5];
	u32 major = 1, minor = 0;
	u64 mount = 0;

	ok(mount_line_type(line, 0, 47, type, sizeof(type)), "line of a device is found by its number");
	is_text(type, "fuse.sshfs", "line of a device tells its type");
	ok(!mount_line_type(line, 0, 48, type, sizeof(type)), "line of another device is passed over");
	ok(!mount_line_type(line, 1, 47, type, sizeof(type)), "line of another major number is passed over");
	ok(mount_line_type(line, 0, 47, cut, sizeof(cut)), "type is told where there is little room");
	is_text(cut, "fuse", "type is cut where there is little room");
	ok(!mount_line_type("36 35 0:47 / /mnt rw", 0, 47, type, sizeof(type)), "line without a type is passed over");
	ok(!mount_line_type("", 0, 47, type, sizeof(type)), "empty line is passed over");
	ok(mount_line_device(line, &mount, &major, &minor), "line of a mount tells its device");
	is(mount, 36, "line of a mount tells its number");
	is(major, 0, "line of a mount tells its device's major number");
	is(minor, 47, "line of a mount tells its device's minor number");
	ok(!mount_line_device("36 35 0", &mount, &major, &minor), "line without a device is passed over");
	ok(mount_is_answered(0, 8, 1), "device of a disk is answered for");
	ok(!mount_is_answered(0, 0, 0xfffff), "device that no list has is not answered for");
}

int main(void)
{
	test_held();
	test_work();
	test_many_users();
	test_graphics();
	test_mounts();
	return tap_end();
}
