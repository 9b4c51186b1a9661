"""The few system calls that Python 3.11 does not offer: namespaces, mounts and process control."""

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

_SYS_MOUNT_SETATTR = 442
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_RDONLY = 1
_NOSUID = 2

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Leave the given namespaces for new ones. Raises OSError, as every call here does."""
    _check(_libc.unshare(flags), f"unshare {flags:#x}")


def setns(descriptor: int, kind: int) -> None:
    """Enter the namespace that a descriptor stands for."""
    _check(_libc.setns(descriptor, kind), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Attach a file system to a folder, or one folder to another."""
    _check(
        _libc.mount(
            source.encode(),
            target.encode(),
            kind.encode() or None,
            ctypes.c_ulong(flags),
            data.encode() or None,
        ),
        f"mount {kind or 'bind'} {target}",
    )


def seal(target: str, *, below: bool = True) -> None:
    """Make a mount, and all `below` it, read-only and without set-user-id programs."""
    if not _set_attributes(target, _RDONLY | _NOSUID, 0, _AT_RECURSIVE if below else 0):
        # Before Linux 5.12: only the topmost mount, keeping the flags that are locked.
        _remount(target, MS_RDONLY | MS_NOSUID)


def unseal(target: str) -> None:
    """Make a mount writable again."""
    if not _set_attributes(target, 0, _RDONLY, 0):
        _remount(target, MS_NOSUID)


def _set_attributes(target: str, given: int, taken: int, flags: int) -> bool:
    attributes = struct.pack("QQQQ", given, taken, 0, 0)
    result = _libc.syscall(
        ctypes.c_long(_SYS_MOUNT_SETATTR),
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(target.encode()),
        ctypes.c_uint(flags),
        ctypes.c_char_p(attributes),
        ctypes.c_size_t(len(attributes)),
    )
    return bool(result == 0)


def _remount(target: str, flags: int) -> None:
    kept = os.statvfs(target).f_flag & (MS_NODEV | MS_NOEXEC)
    mount("", target, flags=MS_REMOUNT | MS_BIND | flags | kept)


def pivot_root(new_root: str) -> None:
    """Make a mount point the root and let go of the old one."""
    number = _SYS_PIVOT_ROOT[os.uname().machine]
    os.chdir(new_root)
    _check(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", MNT_DETACH), "umount the old root")
    os.chdir("/")


def die_with_parent(signal: int) -> None:
    """Get a signal when the parent ends."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal, 0, 0, 0), "prctl pdeathsig")


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl subreaper")


def no_new_privileges() -> None:
    """Give up every way to gain privileges by executing a program."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl no_new_privs")


def set_dumpable(value: bool) -> None:
    """Say whether processes of the same user may trace this one."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, int(value), 0, 0, 0), "prctl dumpable")


def raise_loopback() -> None:
    """Bring up the loopback interface of a new network namespace."""
    siocgifflags, siocsifflags, iff_up = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = fcntl.ioctl(control, siocgifflags, struct.pack("16sH14x", b"lo", 0))
        (flags,) = struct.unpack_from("H", request, 16)
        fcntl.ioctl(control, siocsifflags, struct.pack("16sH14x", b"lo", flags | iff_up))


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
