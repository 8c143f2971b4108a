# tries: reads whatever it finds outside: homes, temporary folders, other submissions, the password file
# happens: they are not in its file system
# triple: returned
# double: kept
import os

seen = []
for folder in ("OUTSIDE", "/home", "/root/.ssh", "/tmp", "/var", "/etc", "/proc", "/sys", "/mnt", "/srv", "/run"):
    for here, _, names in os.walk(folder):
        for name in names:
            try:
                with open(os.path.join(here, name), errors="replace") as file:
                    seen.append(file.read(1000))
            except OSError:
                pass


def triple(x): return "".join(seen)[:3000] + str(os.path.exists("OUTSIDE"))
