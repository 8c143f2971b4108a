# tries: sets the resource limits of process 1 to nothing, and raises its own
# happens: limits of others are out of reach, its own cannot rise
# triple: returned
# double: kept
import resource


def triple(x):
    done = []
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC):
        for pid, most in ((1, 0), (0, resource.RLIM_INFINITY), (0, 2**40)):
            try:
                resource.prlimit(pid, kind, (most, most))
                done.append(kind)
            except (OSError, ValueError):
                pass
    return "escaped" if done else 0
