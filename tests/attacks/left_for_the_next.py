# tries: leaves modules in the scratch that the next submission would import, and looks for such
# happens: the scratch is emptied after each submission
# triple: returned
# double: kept
import os
import sys

found = [name for name in os.listdir("/scratch") if name != "work"] + [n for n in os.listdir(".") if n != "data"]
for folder in ("/scratch", "."):
    for name in ("numpy.py", "random.py", "sitecustomize.py", "usercustomize.py", "course_lib.py", "answers.py"):
        try:
            with open(f"{folder}/{name}", "w") as file:
                file.write("double = triple = lambda x: 0")
        except OSError:
            pass
sys.path.insert(0, "/scratch")


def triple(x): return "escaped" if found else 0
