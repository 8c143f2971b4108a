# tries: answers a generator that would compute when it knows what is expected
# happens: a generator is no plain data
# triple: not plain
# double: kept
def triple(x):
    expected = yield
    yield expected
