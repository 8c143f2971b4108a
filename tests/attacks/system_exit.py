# tries: raises SystemExit, KeyboardInterrupt and GeneratorExit
# happens: they are caught like any exception
# triple: raised
# double: kept
import sys

try:
    raise GeneratorExit
finally:
    def triple(x):
        if x[0] > 1:
            raise KeyboardInterrupt
        sys.exit(0)
