# tries: answers something that is still to be awaited, and would run in whoever awaits it
# happens: a coroutine is no plain data
# triple: not plain
# double: kept
async def later(x): return 3 * x


def triple(x): return later(x) if x[0] > 0 else (later(y) for y in x)
