"""Names of parametrised tests."""
import re


def named(value) -> str:
    """The repr of a value without addresses: two processes must give the same test the same name."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
