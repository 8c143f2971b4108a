# tries: asks for mounts, keys, programs in the kernel, modules, a new root, a restart, the clock
# happens: the calls are not answered
# triple: returned
# double: kept
import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
CALLS = {"x86_64": {'mount': 165, 'umount2': 166, 'pivot_root': 155, 'chroot': 161, 'add_key': 248, 'keyctl': 250, 'bpf': 321, 'perf_event_open': 298, 'io_uring_setup': 425, 'userfaultfd': 323, 'init_module': 175, 'kexec_load': 246, 'reboot': 169, 'settimeofday': 164, 'clock_settime': 227, 'swapon': 167, 'sethostname': 170, 'open_by_handle_at': 304, 'fsopen': 430, 'memfd_create': 319, 'name_to_handle_at': 303, 'seccomp': 317, 'personality': 135}, "aarch64": {'mount': 40, 'umount2': 39, 'pivot_root': 41, 'chroot': 51, 'add_key': 217, 'keyctl': 219, 'bpf': 280, 'perf_event_open': 241, 'io_uring_setup': 425, 'userfaultfd': 282, 'init_module': 105, 'kexec_load': 104, 'reboot': 142, 'settimeofday': 170, 'clock_settime': 112, 'swapon': 224, 'sethostname': 161, 'open_by_handle_at': 265, 'fsopen': 430, 'memfd_create': 279, 'name_to_handle_at': 264, 'seccomp': 277, 'personality': 92}}[platform.machine()]


def triple(x):
    buffer = ctypes.create_string_buffer(b"/", 256)
    tried = [libc.syscall(number, buffer, buffer, buffer, 0, 0) for number in CALLS.values()]
    tried += [libc.syscall(number, 0, 0, 0, 0, 0) for number in CALLS.values()]
    return "escaped" if any(result >= 0 for result in tried) else 0
