"""What the database sees of runs: statements, commits, bytes of the log and of the tables, for each run and event.

PYTHONPATH=tests:compiler python -m scale.footprint 200
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence

import postgres
from postgres import Postgres

from scale.throughput import Throughput, measure_bare, measure_stagec

SETTINGS = {"fsync": "on", "shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track": "all"}
_STATEMENTS = """
SELECT s.query, s.calls FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
WHERE d.datname LIKE 'test_%' AND s.calls > 0 ORDER BY s.calls DESC
"""
_SIZE = "SELECT coalesce(sum(pg_database_size(datname)), 0) FROM pg_database WHERE datname LIKE 'test_%'"
_COMMITS = "SELECT coalesce(sum(xact_commit), 0) FROM pg_stat_database WHERE datname LIKE 'test_%'"


def measure(server: Postgres, run: Callable[[Postgres, int, int], Throughput], count: int) -> Mapping[str, float]:
    """Return what so many runs cost the database, in all and for each event; what it costs to begin is left out."""
    empty = observe(server, run, 1)
    found = observe(server, run, count + 1)
    events = found["events"] - empty["events"]
    costs = {name: found[name] - empty[name] for name in ("statements", "commits", "wal bytes", "table bytes")}
    each = {f"{name} for each event": round(cost / events, 1) for name, cost in costs.items()}
    return {"runs": count, "events": events, **each, "statements for each run": round(costs["statements"] / count, 1)}


def observe(server: Postgres, run: Callable[[Postgres, int, int], Throughput], count: int) -> dict[str, float]:
    """Execute runs in a database of their own, and return the counts of the server."""
    for (name,) in server.execute("SELECT datname FROM pg_database WHERE datname LIKE 'test_%'"):
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    server.execute("SELECT pg_stat_statements_reset()")
    before = server.execute("SELECT pg_current_wal_lsn()")[0][0]
    done = run(server, 1, count)
    written = server.execute(f"SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '{before}')")[0][0]
    calls = server.execute(_STATEMENTS)
    return {
        "events": done.events,
        "statements": sum(number for query, number in calls if query.split()[0] in _WORK),
        "commits": float(server.execute(_COMMITS)[0][0]),
        "wal bytes": float(written),
        "table bytes": float(server.execute(_SIZE)[0][0]),
    }


_WORK = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")


def list_statements(server: Postgres) -> list[tuple[str, int]]:
    """Return the statements that were executed since the last observation began, most frequent first."""
    return [(" ".join(query.split())[:160], calls) for query, calls in server.execute(_STATEMENTS)]


def main(words: Sequence[str]) -> None:
    """Measure both, and print a line of JSON for each; with a word more, the statements, too."""
    with postgres.open_own(SETTINGS) as server:
        server.execute("CREATE EXTENSION pg_stat_statements")
        for name, run in (("stagec", measure_stagec), ("bare", measure_bare)):
            sys.stdout.write(json.dumps({"what": name, **measure(server, run, int(words[0]))}) + "\n")
            for query, calls in list_statements(server) if words[1:] else ():
                sys.stdout.write(f"{calls:8} {query}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
