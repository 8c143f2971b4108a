# tries: answers a list that contains itself
# happens: values have a greatest depth
# triple: not plain
# double: kept
def triple(x):
    answer = []
    answer.append(answer)
    return answer
