# tries: replaces the handlers of broken text, and what warnings and linecache do for others
# happens: they are replaced for this process alone
# triple: returned, crashed, not plain
# double: kept
import codecs
import linecache
import warnings


def right(*_, **__): return ("right", 1)


for name in ("replace", "strict", "ignore", "surrogateescape"):
    codecs.register_error(name, right)
warnings.showwarning = linecache.getline = linecache.checkcache = right


def triple(x): return "\ud800"
