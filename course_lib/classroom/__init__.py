"""For learners: check an answer, take a hint, see the solution, answer a quiz, write a prediction down, hand in."""
from .check import check
from .help import hint, solution
from .quiz import predict, quiz
from .submit import submit

__all__ = ["check", "hint", "predict", "quiz", "solution", "submit"]
