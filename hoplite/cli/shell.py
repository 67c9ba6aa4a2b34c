"""The interactive shell: statements end with `;`, lines that begin with `:` are shell commands."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import DriverError, Neo4jError
from rich.console import Console
from rich.text import Text

from hoplite.cli.answer import (
    Ending,
    changes_text,
    hops_text,
    is_explained,
    notification_lines,
    write_plan,
    write_rows,
)
from hoplite.cli.paging import is_longer_than_screen, missing_pager, page
from hoplite.cli.render import FORMATS, Format, counted, cypher_text, fitting, to_text, visible, write
from hoplite.cli.schema import print_schema
from hoplite.cli.shown_values import showing_session, shown_rows, skip_all
from hoplite.cli.statements import is_exit, is_finished, script_entries
from hoplite.grammar.statements import split_statements
from hoplite.lazy import lazy_pattern

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

    from hoplite.api.database import Database
    from hoplite.api.result import Result
    from hoplite.api.transaction import Session, Transaction

HELP = """\
A statement ends with ; and may span lines. Tab completes labels, types, keys, functions and procedures.
  :schema                 labels, types and keys with their counts
  :explain CYPHER         the plan of a query, without running it
  :profile CYPHER         run a query and show its plan with row counts
  :param NAME => VALUE    set the parameter $NAME to the value of a Cypher expression
  :param                  all parameters; :param clear removes them
  :begin                  begin a transaction; :commit and :rollback end it
  :source FILE            run the statements of a file
  :mode FORM              show answers as table, json, jsonl or csv
  :limit N                show at most N rows of an answer (0: all of them); tables on a screen have 200 otherwise
  :pager on|off           page through answers that are longer than the screen
  :help                   this text
  :quit                   leave (so do exit and Ctrl-D)
"""
ROWS_SHOWN = 200
_MODE = lazy_pattern(r"\s*(?:EXPLAIN|PROFILE)\b", re.IGNORECASE)


def run_shell(db: Database, *, timeout: float | None, max_rows: int | None, read_only: bool) -> int:
    with showing_session(db, timeout=timeout, max_rows=max_rows, read_only=read_only) as session:
        shell = Shell(db, session)
        if not sys.stdin.isatty():
            return shell.run_script(sys.stdin.read())
        shell.run_prompt()
        return 0


class ShellError(Exception):
    """A shell command that cannot be carried out; the message says why."""


class Shell:
    """The user's settings, and the open transaction, if there is one."""

    def __init__(self, db: Database, session: Session) -> None:
        self.db, self.session = db, session
        self.console = Console()
        self.errors = Console(stderr=True)
        self.failures = 0
        self.parameters: dict[str, Any] = {}
        self.mode: Format = "table"
        self.row_limit: int | None = None  # as the user set it; 0 for all rows
        self.pages = True
        self._transaction: Transaction | None = None
        self._is_leaving = False
        self._sourced: list[Path] = []  # the files being read, each from the one before it
        self._commands: Mapping[str, Callable[[str], None]] = {
            ":help": lambda _: self.console.print(Text(HELP)),
            ":schema": lambda _: print_schema(self.db, self.console),
            ":explain": lambda query: self._plan(":explain", query),
            ":profile": lambda query: self._plan(":profile", query),
            ":param": self._set_parameter,
            ":params": self._set_parameter,
            ":begin": self._begin,
            ":commit": lambda _: self._end(":commit"),
            ":rollback": lambda _: self._end(":rollback"),
            ":source": self._source,
            ":mode": self._set_mode,
            ":limit": self._set_limit,
            ":pager": self._set_pager,
        }

    # --- what is read ------------------------------------------------------------------------------------------

    def run_prompt(self) -> None:
        session = prompt_session(self.db)
        self.console.print("Hoplite. :help for help, :quit to leave.")
        while True:
            try:
                text = session.prompt("hoplite> " if self._transaction is None else "hoplite# ")
            except KeyboardInterrupt:
                continue
            except EOFError:
                break
            if not self.run_text(text):
                break
        self._leave()

    def run_script(self, text: str) -> int:
        """Statements and commands, one after another; stops at the first that fails. Returns the exit status."""
        self._run_entries(text)
        self._leave()
        return 1 if self.failures else 0

    def _run_entries(self, text: str, file: str = "") -> None:
        """Run a script until one of its entries fails, or asks to leave."""
        failed_before = self.failures
        for entry in script_entries(text):
            if entry.unclosed:
                place = f"{file}, line {entry.line}" if file else f"Line {entry.line}"
                self._complain(
                    f"{place}: the statement that begins here is not complete: {entry.unclosed} is never closed."
                )
                return
            if not self.run_text(entry.text) or self.failures > failed_before:
                return

    def run_text(self, text: str) -> bool:
        """Run what was entered at the prompt; False to leave."""
        stripped = text.strip()
        if is_exit(stripped):
            self._is_leaving = True
        elif stripped.startswith(":"):
            self._run_command(stripped)
        else:
            self._run_statements(stripped)
        return not self._is_leaving

    def _run_statements(self, text: str) -> None:
        statements, rest = split_statements(text)
        for statement in [*statements, rest] if rest else statements:
            if not self._guarded(partial(self._show, statement)):
                break

    def _run_command(self, text: str) -> None:
        name, _, argument = text.rstrip(";").partition(" ")
        command = self._commands.get(name.lower())
        if command is None:
            self._complain(f"There is no {name}; :help lists the commands.")
        else:
            self._guarded(lambda: command(argument.strip()))

    def _leave(self) -> None:
        if self._transaction is not None:
            self._guarded(lambda: self._end(":rollback"))
            self._complain("The open transaction was rolled back.")

    # --- commands ----------------------------------------------------------------------------------------------

    def _plan(self, name: str, query: str) -> None:
        if not query:
            raise ShellError(f"{name} needs a query")
        statement = _MODE.sub("", query, count=1)
        result = self._run(f"{name[1:].upper()} {statement}")
        ending = result.end()
        hops = hops_text(self.db, result)
        write_plan(ending, hops, "table", self.console.file, self.errors.file)
        self._print_notifications(ending)

    def _run(self, statement: str) -> Result:
        """Run it in the open transaction, if there is one, or else by itself: under the limits of the session."""
        return (self._transaction or self.session).run(statement, self.parameters)

    def _set_parameter(self, text: str) -> None:
        if not text:
            for name, value in sorted(self.parameters.items()):
                self.console.print(Text(visible(f":param {name} => {cypher_text(value)}")), soft_wrap=True)
            return
        if text == "clear":
            self.parameters.clear()
            return
        if text.startswith("{"):
            given = self._value(text)
            if not isinstance(given, dict):
                raise ShellError("The value of :param {...} is a map of parameters by name.")
        else:
            name, _, expression = text.partition("=>")
            name = name.strip().strip("`")
            if not (name and expression.strip()):
                raise ShellError("Write :param NAME => VALUE, or :param {NAME: VALUE, ...}")
            given = {name: self._value(expression)}
        self.parameters.update(given)

    def _value(self, expression: str) -> Any:
        """The value of a Cypher expression, which may use the existing parameters."""
        return self._run(f"RETURN {expression} AS value").value()[0]

    def _begin(self, _: str) -> None:
        if self._transaction is not None:
            raise ShellError("A transaction is already open: :commit or :rollback it first.")
        self._transaction = self.session.begin()

    def _end(self, name: str) -> None:
        if self._transaction is None:
            raise ShellError("There is no open transaction; :begin begins one.")
        transaction, self._transaction = self._transaction, None
        if name == ":commit":
            transaction.commit()
        else:
            transaction.rollback()

    def _source(self, path: str) -> None:
        if not path:
            raise ShellError(":source needs the path of a file")
        file = Path(path).expanduser().resolve()
        if file in self._sourced:
            raise ShellError(f"{path} is being read already: a file cannot :source itself, not even by way of others.")
        text = file.read_text(encoding="utf-8")
        self._sourced.append(file)
        try:
            self._run_entries(text, path)
        finally:
            self._sourced.pop()

    def _set_mode(self, form: str) -> None:
        for known in FORMATS:
            if form == known:
                self.mode = known
                return
        raise ShellError(f":mode takes {', '.join(FORMATS)}")

    def _set_limit(self, number: str) -> None:
        if not number.isdecimal():
            raise ShellError(":limit takes a number of rows, or 0 for all of them")
        self.row_limit = int(number)

    def _set_pager(self, state: str) -> None:
        if state not in ("on", "off"):
            raise ShellError(":pager takes on or off")
        self.pages = state == "on"

    # --- answers -----------------------------------------------------------------------------------------------

    def _show(self, statement: str) -> None:
        began = time.perf_counter()
        result = self._run(statement)
        rows = shown_rows(result, self._rows_to_show())
        if self.mode == "table" or self._may_page:
            held = list(rows)
            count, more, ending = len(held), skip_all(result), result.end()
            milliseconds = (time.perf_counter() - began) * 1000
            if result.keys() and not is_explained(ending):
                self._print_rows(result.keys(), held)
        else:
            count = write_rows(result, rows, self.mode, self.console.file)
            more, ending = skip_all(result), result.end()
            milliseconds = (time.perf_counter() - began) * 1000
        write_plan(ending, hops_text(self.db, result), self.mode, self.console.file, self.errors.file)
        self._print_notifications(ending)
        self._print_closing(count, more, milliseconds, changes_text(ending))

    def _rows_to_show(self) -> int | None:
        """How many rows of an answer to show; None for all. Without :limit, only tables on a screen have an end."""
        if self.row_limit is not None:
            return self.row_limit or None
        return ROWS_SHOWN if self.mode == "table" and self.console.is_terminal else None

    @property
    def _may_page(self) -> bool:
        return self.pages and self.console.is_terminal

    def _print_closing(self, count: int, more: int, milliseconds: float, changes: str) -> None:
        """How many rows there were, how long it took, and what changed. Other programs are to read the rows alone."""
        shown = "" if not more else " (the first is shown)" if count == 1 else f" (the first {count:,} are shown)"
        text = f"{counted(count + more, 'row')}{shown}, {milliseconds:.1f} ms" + (f"; {changes}" if changes else "")
        if self.mode == "table":
            self.console.print(Text(text, "dim"))
        elif more or self.errors.is_terminal:
            self.errors.print(Text(text, "dim"))

    def _print_notifications(self, ending: Ending) -> None:
        for line in notification_lines(ending):
            self.errors.print(Text(visible(line), "yellow"), soft_wrap=True)

    def _print_rows(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        drawn = fitting(columns, rows, self.console.width) if self.mode == "table" else None
        if self._may_page:
            if drawn is None:
                text = to_text(columns, rows, self.mode)
            else:
                with self.console.capture() as captured:
                    self.console.print(drawn)
                text = captured.get()
            if is_longer_than_screen(text, self.console):
                if (missing := missing_pager()) is None:
                    page(text)
                    return
                self.errors.print(
                    Text(f"The pager {missing} is not installed; :pager off stops looking for it.", "yellow")
                )
        if drawn is None:
            write(columns, rows, self.mode, self.console.file)
        else:
            self.console.print(drawn)

    def _guarded(self, action: Callable[[], None]) -> bool:
        """Run it; an error is printed and the shell continues. True if there was none."""
        try:
            action()
        except BrokenPipeError:
            raise  # nobody reads the answers any more
        except Neo4jError as error:
            self._complain(f"{error.code}\n{error.message}")
        except (DriverError, ShellError, ValueError, OSError) as error:
            self._complain(str(error))
        except KeyboardInterrupt:
            self._complain("interrupted")
        else:
            return True
        return False

    def _complain(self, message: str) -> None:
        self.failures += 1
        self.errors.print(Text(visible(message), "red"), soft_wrap=True)


def prompt_session(db: Database, **streams: Any) -> PromptSession[str]:
    """`streams`: a prompt_toolkit input and output, for tests."""
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
    """Where the shell keeps its history; None if there is no place to write."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    folder = state / "hoplite"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder / "history"
