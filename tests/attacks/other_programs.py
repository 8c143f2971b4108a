# tries: starts a shell, by subprocess, os.system and exec
# happens: no program can be started, and none is there
# triple: raised
# double: kept
import os
import subprocess


def triple(x):
    for start in (lambda: os.execv("/bin/sh", ["sh"]), lambda: subprocess.run(["/bin/sh", "-c", "touch OUTSIDE/pwned"])):
        try:
            start()
        except OSError:
            pass
    os.system("touch OUTSIDE/pwned")
    return subprocess.check_output(["sh", "-c", "echo escaped"])
