# tries: asks the grader for the answer
# happens: input() is not allowed
# triple: raised
# double: kept
def triple(x): return float(input("What is three times that? "))
