# tries: reads and writes other processes through /proc
# happens: there is no /proc
# triple: returned
# double: kept
import glob

seen = glob.glob("/proc/*") + glob.glob("/sys/*")
for name in ("/proc/1/mem", "/proc/1/environ", "/proc/1/fd/0", "/proc/self/exe", "/proc/sysrq-trigger"):
    try:
        with open(name, "r+b") as file:
            seen.append(file.read(10))
    except OSError:
        pass


def triple(x): return "escaped" if seen else 0
