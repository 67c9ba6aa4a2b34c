"""`python -m tests.plans.rewrite`: puts the plans of today into the .test files of this folder; review the diff."""

from __future__ import annotations

from pathlib import Path

from tests.casefiles import Case, read_cases
from tests.plans.test_plans import FILES, plan_of


def rewrite(path: Path) -> int:
    """The number of plans that changed."""
    cases = {case.name: case for case in read_cases(path)}
    lines, changed = path.read_text(encoding="utf-8").splitlines(), 0
    out: list[str] = []
    case: Case | None = None
    in_plan = False
    for line in [*lines, "@end"]:
        if line.startswith(("@", "#")):
            in_plan = False
        if line.startswith("@case "):
            case = cases[line.removeprefix("@case ").strip()]
        if in_plan or line == "@end":
            continue
        out.append(line)
        if line == "@plan":
            assert case is not None
            plan = plan_of(case)
            changed += plan != getattr(case.expected, "text", None)
            out += [*plan.splitlines(), ""]
            in_plan = True
    path.write_text("\n".join(out).rstrip("\n") + "\n", encoding="utf-8")
    return changed


if __name__ == "__main__":
    for file in FILES:
        print(f"{file.name}: {rewrite(file)} plans changed")
