"""The interactive shell: a prompt with history, highlighting and completion; statements end with `;`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import DriverError, Neo4jError
from rich.console import Console
from rich.text import Text

from hoplite.cli.render import table
from hoplite.cli.schema import print_schema
from hoplite.cli.statements import is_finished, split_statements

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

    from hoplite.database import Database

HELP = """\
A statement ends with ; and may span lines. Tab completes labels, types and keys.
  :schema            labels, types and keys with their counts
  :explain CYPHER    the plan of a query, without running it
  :profile CYPHER    run a query and show its plan with row counts
  :help              this text
  :quit              leave (so does Ctrl-D)
"""
ROWS_SHOWN = 200


def run_shell(db: Database, *, timeout: float | None, max_rows: int | None, read_only: bool) -> int:
    shell = Shell(db, {"timeout": timeout, "max_rows": max_rows, "read_only": read_only})
    if not sys.stdin.isatty():
        return shell.run_script(sys.stdin.read())
    shell.run_prompt()
    return 0


class Shell:
    def __init__(self, db: Database, limits: dict[str, Any]) -> None:
        self.db, self.limits = db, limits
        self.console = Console()
        self.failures = 0

    def run_prompt(self) -> None:
        session = prompt_session(self.db)
        self.console.print("Hoplite. :help for help, :quit to leave.")
        while True:
            try:
                text = session.prompt("hoplite> ")
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if not self.run_text(text):
                return

    def run_script(self, text: str) -> int:
        """Statements and commands from standard input; stops at the first that fails."""
        entered = ""
        for line in [*text.splitlines(), ";"]:
            entered += line + "\n"
            if not is_finished(entered):
                continue
            failed_before = self.failures
            if not self.run_text(entered) or self.failures > failed_before:
                return 1 if self.failures else 0
            entered = ""
        return 0

    def run_text(self, text: str) -> bool:
        """What was entered at the prompt; False: leave."""
        stripped = text.strip()
        if stripped.startswith(":"):
            return self.run_command(stripped)
        statements, rest = split_statements(stripped)
        for statement in [*statements, rest] if rest else statements:
            if not self.run_statement(statement):
                break
        return True

    def run_command(self, text: str) -> bool:
        name, _, argument = text.rstrip(";").partition(" ")
        match name:
            case ":quit" | ":exit" | ":q":
                return False
            case ":help":
                self.console.print(Text(HELP))
            case ":schema":
                self.guarded(lambda: print_schema(self.db, self.console))
            case ":explain" | ":profile" if argument.strip():
                plan = self.db.explain if name == ":explain" else self.db.profile
                self.guarded(lambda: self.console.print(Text(plan(argument.strip())), soft_wrap=True))
            case ":explain" | ":profile":
                self.complain(f"{name} needs a query")
            case _:
                self.complain(f"There is no {name}; :help lists what there is.")
        return True

    def run_statement(self, statement: str) -> bool:
        return self.guarded(lambda: self.show(statement))

    def show(self, statement: str) -> None:
        began = time.perf_counter()
        with self.db.session(**self.limits) as session:
            result = session.run(statement)
            columns, more = list(result.keys()), 0
            rows: list[list[Any]] = []
            for record in result:
                if len(rows) < ROWS_SHOWN:
                    rows.append(record.values())
                else:
                    more += 1
            summary = result.consume()
        milliseconds = (time.perf_counter() - began) * 1000
        if columns:
            self.console.print(table(columns, rows))
        counted = f"{len(rows) + more:,} row{'' if len(rows) + more == 1 else 's'}"
        shown = f" (the first {ROWS_SHOWN} are shown)" if more else ""
        changes = ", ".join(f"{name.replace('_', ' ')}: {count}" for name, count in _counters(summary).items())
        self.console.print(
            Text(f"{counted}{shown}, {milliseconds:.1f} ms" + (f"; {changes}" if changes else ""), "dim")
        )

    def guarded(self, action: Any) -> bool:
        """Run it; an error is printed and the shell goes on. True where there was none."""
        try:
            action()
        except Neo4jError as error:
            self.complain(f"{error.code}\n{error.message}")
        except (DriverError, ValueError, OSError) as error:
            self.complain(str(error))
        except KeyboardInterrupt:
            self.complain("interrupted")
        else:
            return True
        return False

    def complain(self, message: str) -> None:
        self.failures += 1
        self.console.print(Text(message, "red"), soft_wrap=True)


def _counters(summary: Any) -> dict[str, int]:
    names = (
        *("nodes_created", "nodes_deleted", "relationships_created", "relationships_deleted", "properties_set"),
        *("labels_added", "labels_removed", "indexes_added", "indexes_removed"),
        *("constraints_added", "constraints_removed"),
    )
    return {name: count for name in names if (count := getattr(summary.counters, name, 0))}


def prompt_session(db: Database, **streams: Any) -> PromptSession[str]:
    """`streams`: an input and an output of prompt_toolkit's, for tests."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.history import FileHistory, History, InMemoryHistory
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.lexers import PygmentsLexer
    from pygments.lexers.graph import CypherLexer

    from hoplite.cli.completion import CypherCompleter

    keys = KeyBindings()

    @Condition
    def finished() -> bool:
        return is_finished(session.default_buffer.text)

    @keys.add("enter", filter=finished)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    path = history_path()
    history: History = FileHistory(str(path)) if path else InMemoryHistory()
    session: PromptSession[str] = PromptSession(
        history=history,
        lexer=PygmentsLexer(CypherLexer),
        completer=CypherCompleter(db),
        complete_while_typing=False,
        multiline=True,
        prompt_continuation="     ... ",
        key_bindings=keys,
        **streams,
    )
    return session


def history_path() -> Path | None:
    """Where the shell keeps its history; None where there is no place to write."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    folder = state / "hoplite"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder / "history"
