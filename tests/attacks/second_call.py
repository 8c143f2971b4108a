# tries: answers differently the second time
# happens: it is called twice, and the difference is reported
# triple: returned
# double: kept
calls = []


def triple(x):
    calls.append(x)
    return 0 if len(calls) % 2 else 3 * x
