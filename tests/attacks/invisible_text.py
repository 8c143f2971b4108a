# tries: hides code by characters that turn the direction of reading
# happens: the code counts, not what it looks like
# triple: returned
# double: kept
def triple(x):
    answer = 3 * x
    """‮⁦ the rest is a comment ⁩⁦""" ; answer = 0
    return answer
