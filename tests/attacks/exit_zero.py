# tries: leaves by os._exit(0), which looks like success
# happens: only an answer is an answer
# triple: crashed
# double: kept
import os


def triple(x): os._exit(0)
