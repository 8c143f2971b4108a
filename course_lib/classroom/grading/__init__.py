"""Grade a class; nothing of a submission runs in the grader's own process.

Read in this order:

1. `records`, what a grading run knows; `classfile`, what a lecturer decides; `release`, what a learner gets.
2. `archive`, `layouts`, `roster`, `cells`, `intake`: from whatever was handed in to the code cells of one student.
3. `session`, `sandbox`, `jail`, `trial`, `channel`: run them behind walls; `inside`, `student`, `standins` run there.
4. `keys`, `marking`, `worker`: what must come out, what came out, what it earns.
5. `grade`, `crew`, `log`, `regrade`: a class of any size, on any number of machines, killed or not.
6. `standings`, `survey`, `report`: the marks that count, and the pages.
7. `interchange`, `gradescope`, `nbgrader`: to other platforms; `lecturer`, `exports`: the commands.
"""
