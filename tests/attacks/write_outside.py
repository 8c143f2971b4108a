# tries: writes into every folder that it can see
# happens: all but its scratch is read-only
# triple: returned
# double: kept
import os

written = []
for here, folders, _ in os.walk("/"):
    if here.startswith("/scratch"):
        folders.clear()
        continue
    for name in ("left", "__init__.py"):
        try:
            with open(os.path.join(here, name), "a") as file:
                file.write("x = 1")
            written.append(here)
        except OSError:
            pass


def triple(x): return "escaped" if written else 0
