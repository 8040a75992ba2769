"""How many threads of each user run or want to, on average over looks at /proc, and how much CPU time each user got:
`shares.py SECONDS REST USER USER [PARENT...]` prints the two averages and the two times in seconds. Children of PARENTs that have ended
count as the first user's."""
import os, sys, time
seconds, rest = float(sys.argv[1]), float(sys.argv[2])
users, parents = [int(a) for a in sys.argv[3:5]], sys.argv[5:]
wants, looks = [0, 0], 0


def fields(path):
    return open(path).read().rsplit(')', 1)[1].split()


def look():
    """Seconds of those that live, and of those that were waited for"""
    used = [sum(int(n) for parent in parents for n in fields(f'/proc/{parent}/stat')[13:15]), 0]
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            user = users.index(int(next(l for l in open(f'/proc/{pid}/status') if l.startswith('Uid')).split()[1]))
            for tid in os.listdir(f'/proc/{pid}/task'):
                wants[user] += fields(f'/proc/{pid}/task/{tid}/stat')[0] == 'R'
            used[user] += sum(int(n) for n in fields(f'/proc/{pid}/stat')[11:13])
        except (OSError, ValueError, StopIteration, IndexError):
            pass
    return [ticks / os.sysconf('SC_CLK_TCK') for ticks in used]


end = time.monotonic() + seconds
first = last = look()
while time.monotonic() < end:
    time.sleep(rest)
    last = look()
    looks += 1
print(*(round(w / (looks + 1), 2) for w in wants), *(round(b - a, 1) for a, b in zip(first, last)))
