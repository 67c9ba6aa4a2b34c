"""Many connections at once, each writing and reading, and nothing torn.

    python -m tests.server.side_by_side --connections 64 --seconds 120

Money is moved between accounts, some of it in transactions that are rolled back, some by clients that hang up in the
middle. Whoever adds it up, whenever, must find all of it; and every acknowledged move must be there in the end.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

from neo4j import Driver, GraphDatabase
from neo4j.exceptions import DriverError, TransientError

import hoplite

_ACCOUNTS, _MONEY = 50, 1_000
_MOVE = (
    "MATCH (a:Account {number: $giver}), (b:Account {number: $taker}) "
    "SET a.money = a.money - $sum SET b.money = b.money + $sum CREATE (:Move {by: $by, number: $number})"
)


@dataclass
class Outcome:
    """What the clients saw."""

    moves: int = 0
    sums: int = 0
    problems: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


def run(connections: int, seconds: float, seed: int = 1) -> Outcome:
    """So many clients for so long."""
    outcome = Outcome()
    with hoplite.open() as db, hoplite.serve(db) as uri:
        db.run("UNWIND range(1, $n) AS number CREATE (:Account {number: number, money: $m})", n=_ACCOUNTS, m=_MONEY)
        db.run("CREATE INDEX FOR (a:Account) ON (a.number)")
        end = time.monotonic() + seconds
        with GraphDatabase.driver(uri, max_connection_pool_size=connections + 1) as driver:
            threads = [
                threading.Thread(
                    target=_client, args=(driver, number, end, outcome, random.Random(seed * 1000 + number))
                )
                for number in range(connections)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        kept = db.run("MATCH (m:Move) RETURN count(DISTINCT [m.by, m.number]), count(m)").values()[0]
        if kept != [outcome.moves, outcome.moves]:
            outcome.problems.append(f"{outcome.moves} moves were acknowledged, and {kept} are there")
        _add_up(db.run("MATCH (a:Account) RETURN sum(a.money)").values()[0][0], outcome)
    return outcome


def _client(driver: Driver, by: int, end: float, outcome: Outcome, dice: random.Random) -> None:
    number = 0
    while time.monotonic() < end:
        number += 1
        try:
            with driver.session() as session:
                if dice.random() < 0.5:
                    total = session.run("MATCH (a:Account) RETURN sum(a.money) AS sum").single(strict=True)["sum"]
                    _add_up(total, outcome)
                else:
                    _move(session, by, number, outcome, dice)
        except TransientError:
            pass  # it was not this one's turn to write for too long
        except (DriverError, AssertionError) as error:
            with outcome.lock:
                outcome.problems.append(f"{type(error).__name__}: {error}")


def _move(session: object, by: int, number: int, outcome: Outcome, dice: random.Random) -> None:
    giver, taker = dice.sample(range(1, _ACCOUNTS + 1), 2)
    with session.begin_transaction() as tx:  # type: ignore[attr-defined]
        tx.run(_MOVE, giver=giver, taker=taker, sum=dice.randint(1, 10), by=by, number=number).consume()
        what = dice.random()
        if what < 0.2:
            tx.rollback()
        elif what < 0.25:
            tx._connection.kill()
            with suppress(DriverError):
                tx.rollback()
        else:
            tx.commit()
            with outcome.lock:
                outcome.moves += 1


def _add_up(total: int, outcome: Outcome) -> None:
    with outcome.lock:
        outcome.sums += 1
        if total != _ACCOUNTS * _MONEY:
            outcome.problems.append(f"the accounts hold {total} in all, not {_ACCOUNTS * _MONEY}")


def main() -> None:
    """Run, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    outcome = run(options.connections, options.seconds)
    print(f"{options.connections} connections, {outcome.moves} moves, {outcome.sums} sums, {outcome.problems[:5]}")
    raise SystemExit(1 if outcome.problems else 0)


if __name__ == "__main__":
    main()
