# tries: reads the grader's environment, arguments and user
# happens: none of it is handed in
# triple: returned
# double: kept
import os
import sys


def triple(x): return repr((dict(os.environ), sys.argv, sys.orig_argv, os.uname(), os.getcwd()))
