#!/usr/bin/env python3
"""Starts the container of a DaemonSet as far as Linux is concerned: its root, mounts, capabilities and limits are those of the manifest.
Usage: pod.py MANIFEST ROOT VOLUMES CONFIGMAP PID-FILE   ROOT is the unpacked image; host paths below /run and /var are taken from the folder VOLUMES, the
files of the ConfigMap from the folder CONFIGMAP. Needs root and a mount namespace of its own (unshare -m). Becomes the container's first process."""
import ctypes, json, os, shutil, subprocess, sys
import yaml

# By their order in linux/capability.h.
NAMES = """CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW
IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE
AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE""".split()
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38


def run(*words):
    subprocess.run(words, check=True)


def mount_all(pod, container, root, volumes, configmap):
    run("mount", "--make-rprivate", "/")
    run("mount", "--bind", root, root)
    # What every runtime gives to a container.
    run("mount", "-t", "proc", "proc", root + "/proc")
    run("mount", "-t", "sysfs", "-o", "ro", "sysfs", root + "/sys")
    run("mount", "-t", "cgroup2", "-o", "ro", "cgroup2", root + "/sys/fs/cgroup")
    run("mount", "-t", "tmpfs", "tmpfs", root + "/dev")
    for device in "null", "zero", "urandom":
        open(f"{root}/dev/{device}", "w").close()
        run("mount", "--bind", "/dev/" + device, f"{root}/dev/{device}")
    sources = {volume["name"]: volume for volume in pod["volumes"]}
    for mount in container["volumeMounts"]:
        volume = sources[mount["name"]]
        if "configMap" in volume:
            # As a kubelet has it: a folder of links, of which one is turned when the ConfigMap changes.
            assert "subPath" not in mount, "a file of a ConfigMap never changes in a pod"
            source = os.path.join(volumes, "configmap")
            os.makedirs(os.path.join(source, "..1"))
            for name in ("tactus.conf",):
                shutil.copy(os.path.join(configmap, name), os.path.join(source, "..1", name))
                os.symlink("..data/" + name, os.path.join(source, name))
            os.symlink("..1", os.path.join(source, "..data"))
        else:
            source = volume["hostPath"]["path"]
            if source.startswith(("/run", "/var")):
                source = volumes + source
            if volume["hostPath"]["type"] == "DirectoryOrCreate":
                os.makedirs(source, exist_ok=True)
        target = root + mount["mountPath"]
        # Runtimes make what an image does not have.
        os.makedirs(target, exist_ok=True)
        run("mount", "--bind", source, target)
        if mount.get("readOnly"):
            run("mount", "-o", "remount,bind,ro", target)
    if container["securityContext"]["readOnlyRootFilesystem"]:
        run("mount", "-o", "remount,bind,ro", root)


def main(manifest, root, volumes, configmap, pid_file):
    with open(manifest) as file:
        pod = next(d for d in yaml.safe_load_all(file) if d["kind"] == "DaemonSet")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    with open(os.path.join(root, "..", "config.json")) as file:
        image = json.load(file)["config"]
    context = container["securityContext"]
    assert pod["hostPID"] and context["capabilities"]["drop"] == ["ALL"] and not context["privileged"]
    mount_all(pod, container, root, volumes, configmap)
    with open(pid_file, "w") as file:
        file.write(str(os.getpid()))
    os.chroot(root)
    os.chdir(image["WorkingDir"])
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    with open("/proc/sys/kernel/cap_last_cap") as file:
        last = int(file.read())
    for number in range(last + 1):
        if number >= len(NAMES) or NAMES[number] not in context["capabilities"]["add"]:
            prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    if not context["allowPrivilegeEscalation"]:
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    words = image["Entrypoint"] + container.get("args", image["Cmd"])
    os.execve(words[0], words, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME": os.uname().nodename})


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
