"""For learners: check an answer, take a hint, see the solution, answer a quiz, write a prediction down."""
from .check import check
from .help import hint, solution
from .quiz import predict, quiz

__all__ = ["check", "hint", "predict", "quiz", "solution"]
