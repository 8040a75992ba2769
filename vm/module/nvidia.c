// SPDX-License-Identifier: GPL-2.0
/* A double of NVIDIA's kernel driver for the VM, which has no such hardware: the driver's major number, the names of
 * its functions that can be hooked, and nothing behind them. A test loads it; no machine with a GPU ever does. */
#include <linux/fs.h>
#include <linux/module.h>

/* NVIDIA's, see the kernel's devices.txt. */
enum { NVIDIA_MAJOR = 195 };

static noinline int nvidia_open(struct inode *inode, struct file *file)
{
	return 0;
}

static noinline long nvidia_unlocked_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = nvidia_open,
	.unlocked_ioctl = nvidia_unlocked_ioctl,
};

static int __init double_init(void)
{
	return register_chrdev(NVIDIA_MAJOR, "nvidia", &operations);
}

static void __exit double_exit(void)
{
	unregister_chrdev(NVIDIA_MAJOR, "nvidia");
}

module_init(double_init);
module_exit(double_exit);
MODULE_DESCRIPTION("a double of NVIDIA's driver, for tests");
MODULE_LICENSE("GPL");
