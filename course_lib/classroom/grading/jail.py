"""The walls of the sandbox: what of this machine can be seen inside, and which system calls are answered.

bubblewrap gives the process namespaces of its own and a file system in which only Python, numpy, scipy and matplotlib
are there to be read; the filter leaves one process, threads, files and time.
"""
from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

__all__ = ["BOOT", "SCRATCH", "command", "missing_parts", "syscall_filter"]

HERE = Path(__file__).resolve().parents[1]
PARTS = ("cases.py", "compare.py", "run.py", "wire.py",
         "grading/channel.py", "grading/inside.py", "grading/standins.py", "grading/student.py")
USERS = range(61_184, 65_520)                  # as systemd gives for a while; one each, for a kernel counts by user
PACKAGES = ("numpy", "scipy", "matplotlib")
HIDDEN = ("scipy/stats",)                      # ready-made solutions among them
SCRATCH, CODE, TABLES, EXTRA = "/scratch", "/grader/classroom", "/grader/tables", "/grader/data"
BOOT = ("import sys, types; package = types.ModuleType('classroom'); package.__path__ = [sys.argv[1]]; "
        "sys.modules['classroom'] = package; from classroom.grading import inside; getattr(inside, sys.argv[2])(*sys.argv[3:])")
QUIET_ENVIRONMENT = {"MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
                     "PYTHONHASHSEED": "0"}
ENVIRONMENT = {"HOME": f"{SCRATCH}/work", "LANG": "C.UTF-8", "MPLCONFIGDIR": SCRATCH, **QUIET_ENVIRONMENT}
INSTALL = {
    "bwrap": "bubblewrap is not installed: on Debian or Ubuntu run `apt install bubblewrap`, on Fedora "
             "`dnf install bubblewrap`.",
    "pyseccomp": f'pyseccomp is not installed: run "{sys.executable}" -m pip install pyseccomp',
    "libseccomp": "the library libseccomp is not installed: on Debian or Ubuntu run `apt install libseccomp2`.",
}

# What numpy, the interpreter and the C library need. Anything else is unknown to the process, as on an older kernel,
# and programs that probe fall back: no new process, program, namespace, socket, mount, key, trace or clock.
ANSWERED = """
    access brk chdir chmod clock_getres clock_gettime clock_nanosleep close close_range dup dup2 dup3 epoll_create
    epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd2 exit exit_group faccessat faccessat2 fadvise64
    fallocate fchdir fchmod fchmodat fcntl fdatasync flock fstat fstatfs fsync ftruncate futex futex_wait futex_wake
    futex_waitv get_robust_list getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpgid
    getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid gettid gettimeofday
    getuid ioctl kill link linkat lseek lstat madvise membarrier mincore mkdir mkdirat mlock mmap mprotect mremap msync
    munlock munmap nanosleep newfstatat open openat pause pipe pipe2 poll ppoll pread64 preadv pselect6 pwrite64 pwritev
    read readlink readlinkat readv recvfrom rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction
    rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_get_priority_max
    sched_get_priority_min sched_getaffinity sched_getparam sched_getscheduler sched_yield select sendto setitimer
    set_robust_list set_tid_address sigaltstack socketpair stat statfs statx symlink symlinkat sysinfo tgkill time
    timer_create timer_delete timer_gettime timer_settime times tkill truncate umask uname unlink unlinkat utime
    utimensat utimes wait4 waitid write writev alarm arch_prctl
"""
REFUSED = "fork vfork execve execveat socket connect bind"     # met by honest code: the usual words
CLONE_THREAD, CLONE_NAMESPACES = 0x10000, 0x7E020000 | 0x80


def command(data: Path, scratch_bytes: int) -> list[str]:
    """The command that starts the warm server inside."""
    walls = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try",
             "--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "grader", "--clearenv"]
    if os.getuid() == 0:                       # the server becomes one of `USERS` once it is behind the walls
        walls += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        walls += ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    for name, value in (ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(_folders())}).items():
        walls += ["--setenv", name, value]
    view = [*_system(), *_packages(), *_course(data)]
    view += [("--remount-ro", target) for kind, *_, target in view if kind == "--tmpfs"]    # masks: nobody's to fill
    above = sorted({str(folder) for *_, target in view for folder in Path(target).parents} - {"/"})
    walls += [word for folder in above for word in ("--dir", folder)]      # or some would be root's alone
    walls += [word for operation in view for word in operation]
    walls += ["--perms", "1777", "--size", str(scratch_bytes), "--tmpfs", SCRATCH, "--chdir", SCRATCH]
    walls += ["--remount-ro", "/"]
    user = str(secrets.choice(USERS))
    start = [os.path.realpath(sys.executable), "-P", "-s", "-S", "-B", "-c", BOOT, CODE, "serve", TABLES, SCRATCH, user]
    return [shutil.which("bwrap") or "bwrap", *walls, "--", *start]


def missing_parts() -> list[str]:
    """The sentences of `INSTALL` that apply here."""
    found = [INSTALL["bwrap"]] if shutil.which("bwrap") is None else []
    try:
        import pyseccomp  # noqa: F401
    except ImportError:
        return [*found, INSTALL["pyseccomp"]]
    except (OSError, RuntimeError):
        return [*found, INSTALL["libseccomp"]]
    return found


@lru_cache(maxsize=1)
def syscall_filter() -> bytes:
    """The filter as a program for the kernel, made by libseccomp for this machine's architecture."""
    import pyseccomp as seccomp

    made = seccomp.SyscallFilter(seccomp.ERRNO(errno.ENOSYS))
    refuse, known = seccomp.ERRNO(errno.EPERM), lambda name: seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) >= 0
    for name in filter(known, ANSWERED.split()):
        made.add_rule(seccomp.ALLOW, name)
    for name in filter(known, REFUSED.split()):
        made.add_rule(refuse, name)
    thread = seccomp.Arg(0, seccomp.MASKED_EQ, CLONE_THREAD | CLONE_NAMESPACES, CLONE_THREAD)
    made.add_rule(seccomp.ALLOW, "clone", thread)
    made.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, CLONE_THREAD, 0))
    made.add_rule(seccomp.ALLOW, "prlimit64", seccomp.Arg(0, seccomp.EQ, 0))    # its own limits, not the server's
    with tempfile.TemporaryFile() as file:
        made.export_bpf(file)
        file.seek(0)
        return file.read()


def _system() -> Iterator[tuple[str, ...]]:
    """The C library and the interpreter with its standard library, without any installed package."""
    libraries = Path("/usr/lib", f"{os.uname().machine}-linux-gnu")
    folders = [libraries, *Path("/usr/lib").glob("ld-*")] if libraries.exists() else [Path("/usr/lib")]
    standard = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    own = [] if sys.base_prefix == "/usr" else [Path(sys.base_prefix, "lib")]
    interpreter = os.path.realpath(sys.executable)
    for path in map(str, (*folders, "/usr/lib64", "/etc/ld.so.cache", *own, *sorted(standard), interpreter)):
        yield ("--ro-bind-try", path, path)
    for path in ("/lib", "/lib64"):
        yield ("--symlink", os.readlink(path), path) if os.path.islink(path) else ("--ro-bind-try", path, path)
    for device in ("null", "zero", "random", "urandom"):
        yield ("--dev-bind", f"/dev/{device}", f"/dev/{device}")
    for base in (*Path("/usr").glob("lib*/python3*"), *map(Path, sorted(standard))):
        yield from (("--tmpfs", str(folder)) for folder in base.glob("*-packages"))


def _packages() -> Iterator[tuple[str, ...]]:
    """numpy, scipy and matplotlib with what they require, where they are; nothing beside them."""
    for path in _installed():
        yield ("--ro-bind", str(path), str(path))
    for folder in (f / hidden for f in map(Path, _folders()) for hidden in HIDDEN):
        if folder.exists():
            yield ("--tmpfs", str(folder))


def _course(data: Path) -> Iterator[tuple[str, ...]]:
    for name in PARTS:
        yield ("--ro-bind", str(HERE / name), f"{CODE}/{name}")
    yield ("--ro-bind", str(HERE.parent / "data"), TABLES)
    yield ("--ro-bind", str(data), EXTRA)


def _folders() -> list[str]:
    return sorted({str(path.parent) for path in _installed()})


@lru_cache(maxsize=1)
def _installed() -> tuple[Path, ...]:
    """The files and folders of the packages, at the top of their site-packages."""
    from packaging.requirements import Requirement

    todo, seen, found = list(PACKAGES), set(), set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        package = metadata.distribution(name)
        found |= _tops(package)
        required = map(Requirement, package.requires or ())
        todo += [r.name for r in required if r.marker is None or r.marker.evaluate({"extra": ""})]
    return tuple(sorted(path for path in found if path.exists()))


def _tops(package: metadata.Distribution) -> set[Path]:
    if not package.files:                      # as some distributions of Linux pack them: without a list of their files
        spec = find_spec(package.name)
        return set(map(Path, spec.submodule_search_locations or [spec.origin])) if spec else set()
    return {Path(package.locate_file(file.parts[0])) for file in package.files
            if file.parts[0] not in ("..", "__pycache__") and not file.parts[0].endswith((".dist-info", ".pth"))}
