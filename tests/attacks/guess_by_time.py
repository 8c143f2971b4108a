# tries: sleeps for different times and hopes to learn from what is asked next
# happens: questions do not depend on answers
# triple: returned
# double: kept
import time

asked = []


def triple(x):
    asked.append(time.monotonic())
    time.sleep(0.01 * len(asked))
    return asked[-1] - asked[0]
