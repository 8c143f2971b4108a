# tries: calls the grader's machine, a name server and an abstract socket
# happens: no socket can be made, and there is no network
# triple: returned
# double: kept
import socket
import urllib.request

reached = []
for family, address in ((socket.AF_INET, ("127.0.0.1", PORT)), (socket.AF_INET, ("1.1.1.1", 53)),
                        (socket.AF_UNIX, "\0course"), (socket.AF_INET6, ("::1", PORT)), (socket.AF_NETLINK, (0, 0))):
    try:
        with socket.socket(family) as sock:
            sock.settimeout(0.2)
            sock.connect(address)
            sock.sendall(b"escaped")
        reached.append(address)
    except OSError:
        pass
try:
    urllib.request.urlopen("http://127.0.0.1:PORT/", timeout=0.2)
    reached.append("http")
except OSError:
    pass


def triple(x): return "escaped" if reached else 0
