# tries: makes links to what is outside, and hands them in the place of files
# happens: a link leads where its process may go
# triple: returned
# double: kept
import os

reached = []
for target in ("OUTSIDE/secret.txt", "/root", "/proc/1/root", "../../../../OUTSIDE/secret.txt", "/grader/tables/__init__.py"):
    try:
        os.symlink(target, f"link{len(os.listdir('.'))}")
    except OSError:
        pass
try:
    os.link("/grader/tables/__init__.py", "hard")
    reached.append("hard")
except OSError:
    pass
for name in os.listdir("."):
    try:
        with open(name, "a") as file:
            file.write("x")
        if os.path.islink(name):
            reached.append(name)
    except OSError:
        pass


def triple(x): return "escaped" if reached else 0
