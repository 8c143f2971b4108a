# tries: prints a million lines
# happens: what is printed is kept up to a limit
# triple: returned, timed out
# double: kept
def triple(x):
    for number in range(10**6):
        print("x" * 10, number)
    return 0
