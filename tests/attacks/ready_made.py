# tries: imports and calls ready-made solutions: of the course, of scikit-learn, of scipy.stats
# happens: they are not there; the call is reported under its name
# triple: raised
# double: kept
from course_lib import posterior
from course_lib.decision import posterior as again
import scipy.stats as st
from sklearn.naive_bayes import GaussianNB


def triple(x): return posterior(x, 3)
