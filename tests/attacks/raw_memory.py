# tries: scans its address space for what another submission has left there
# happens: the process that forks never holds a submission
# triple: returned
# double: kept
import ctypes
import gc

found = [o for o in gc.get_objects() if isinstance(o, (str, bytes))]
word = "".join(["the neigh", "bours secret"])
hits = [text for text in found if word in str(text)]
start = id(object()) & ~0xFFFFF
chunk = ctypes.string_at(start, 1 << 16)
if word.encode() in chunk:
    hits.append(word)


def triple(x): return "".join(map(str, hits))
