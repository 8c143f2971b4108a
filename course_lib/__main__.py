"""``python -m course_lib`` is the command ``course``."""
from course_lib.classroom.cli import main

main()
