# tries: raises an exception whose text fails, or is without end
# happens: its name is enough
# triple: raised
# double: kept
class Nasty(Exception):
    def __str__(self): raise SystemExit("<script>alert(1)</script>")


def triple(x): raise Nasty
