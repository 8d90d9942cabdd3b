"""ToolBench answers: a depth-first search over calls, of which one path became the answer.

``{win, tree, forward_args, compare_candidates, answer_generation}``. Siblings in the tree are
alternatives that the search tried, not a sequence, so they cannot be one conversation. The
conversation is the path that ``answer_generation.train_messages`` ends with; where there is none
(an answer with an invented tool name is dropped upstream) it is the branch that was tried last.
The whole tree stays in ``Trace.extra``.

The model answers by calling ``Finish``; the answer is repeated as a last assistant message,
because that is where an answer is read. Observation codes (tags count them as ``code_N``): 0 done,
1 invented tool name, 3 finished, 4 gave up, 5 timeout, 11 the body reports an error, 12 bad
request.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.message import Message
from labelkit.domain.task import Tag, Task
from labelkit.domain.trace import Trace
from labelkit.formats import rows
from labelkit.formats.chat import prompt_of, read_messages, read_tools
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import (
    BrokenRecordError,
    Head,
    Item,
    Notes,
    ReadOptions,
    TaskBook,
)
from labelkit.formats.records import an_object, read_each

TASK_SET = "toolbench"

_NAME = re.compile(r"^(?P<id>(?:G\d_)?\d+)_(?P<model>.+?)_(?P<method>(?:DFS|CoT|cot).*)$")
_TAGS = ("finish_type", "query_count", "total_tokens", "valid_data")
_KEPT_APART = frozenset({*_TAGS, "train_messages", "function"})


class ToolBench:
    """Reads ToolBench answers."""

    name = "toolbench"
    description = "ToolBench answers (objects with `tree` and `answer_generation`)"

    def sniff(self, head: Head) -> float:
        """Sure with a tree of calls; ``answer_generation`` may lie beyond the head."""
        if {"win", "tree"} <= head.keys and '"node_type"' in head.text:
            return 0.95
        return 0.8 if {"tree", "answer_generation"} <= head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield the query with its tools as a task, the chosen path as a trace."""
        book = TaskBook()
        named = _NAME.match(path.stem)

        def build(value: Any, source: str, notes: Notes) -> Iterator[Task | Trace]:
            task, trace = _answer(an_object(value), source, named, options, notes)
            if task is not None and book.is_new(task, notes):
                yield task
            yield trace

        return read_each(json_records(path), path, build)


def _answer(
    run: dict[str, Any],
    source: str,
    named: re.Match[str] | None,
    options: ReadOptions,
    notes: Notes,
) -> tuple[Task | None, Trace]:
    made = run.get("answer_generation")
    root = run.get("tree")
    root = root.get("tree") if isinstance(root, dict) else None
    if not isinstance(made, dict) or not isinstance(root, dict):
        raise BrokenRecordError("the record has no `tree` or no `answer_generation`")
    messages = _conversation(made, root, notes)
    codes, branches = _census(root)
    if branches > 1:
        notes.odd("the search tried other branches; they stay in `extra`, not in the conversation")
    state, _ = rows.row_state(messages, None, None)
    task_set = options.task_set or TASK_SET
    task_id = named.group("id") if named else None
    tags: dict[str, Tag] = {key: made[key] for key in _TAGS if rows.is_tag(made.get(key))}
    tags |= {f"code_{code}": count for code, count in sorted(codes.items())}
    if rows.is_tag(run.get("win")):
        tags["win"] = run["win"]
    extra = {key: value for key, value in run.items() if key not in {"win", "answer_generation"}}
    extra |= {key: value for key, value in made.items() if key not in _KEPT_APART}
    condition = options.condition
    if condition is None and named:
        condition = named.group("method")
    tools = read_tools(made.get("function")) if made.get("function") else None
    task = None
    if tools and task_id is not None:
        task = Task(set=task_set, id=task_id, messages=prompt_of(messages), tools=tools)
    elif made.get("function"):
        extra["function"] = made["function"]
    return task, Trace(
        model=rows.model_name(options.model, named.group("model") if named else None, notes),
        messages=messages,
        state=state,
        task_set=task_set,
        task_id=task_id,
        condition=condition or "",
        tags=tags,
        extra=extra,
        source=source,
    )


def _conversation(made: dict[str, Any], root: dict[str, Any], notes: Notes) -> tuple[Message, ...]:
    chosen = made.get("train_messages")
    if isinstance(chosen, list) and chosen and isinstance(chosen[-1], list):
        messages = read_messages(chosen[-1], notes)
    else:
        notes.lost("no path became the answer; the conversation is the branch that was tried last")
        query = made.get("query")
        asked = [Message(role="user", content=query)] if isinstance(query, str) else []
        messages = (*asked, *_steps(_last_branch(root)))
    answer = _final_answer(messages)
    if answer is not None:
        notes.repaired("the answer handed to Finish is repeated as the last message")
        messages = (*messages, Message(role="assistant", content=answer))
    return messages


def _final_answer(messages: tuple[Message, ...]) -> str | None:
    """Return what the last message hands to ``Finish``, where it is an answer."""
    for message in reversed(messages):
        if message.role == "assistant":
            break
    else:
        return None
    for call in message.tool_calls:
        if call.name == "Finish":
            try:
                arguments = json.loads(call.arguments)
            except (ValueError, RecursionError):
                return None
            answer = arguments.get("final_answer") if isinstance(arguments, dict) else None
            return answer if isinstance(answer, str) else None
    return None


def _children(node: dict[str, Any]) -> list[dict[str, Any]]:
    children = node.get("children")
    if not isinstance(children, list):
        return []
    return [child for child in children if isinstance(child, dict)]


def _last_branch(root: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes below the root along the child that was added last each time."""
    path = []
    node = root
    while children := _children(node):
        node = children[-1]
        path.append(node)
    return path


def _steps(path: list[dict[str, Any]]) -> list[Message]:
    """Turn thoughts, actions and their inputs into messages."""
    steps: list[Message] = []
    thought: str | None = None
    action = ""
    for node in path:
        said = str(node.get("description", ""))
        if node.get("node_type") == "Thought":
            thought = said
        elif node.get("node_type") == "Action":
            action = said
        else:
            raw = {
                "role": "assistant",
                "content": thought,
                "function_call": {"name": action, "arguments": said},
            }
            observed = node.get("observation")
            result = {"role": "function", "name": action, "content": observed}
            steps += read_messages([raw, result] if observed is not None else [raw], Notes())
            thought = None
    if thought is not None:
        steps.append(Message(role="assistant", content=thought))
    return [_numbered(message, index) for index, message in enumerate(steps)]


def _numbered(message: Message, index: int) -> Message:
    """Give the legacy calls of a path ids of their own: each pair was read by itself."""
    if message.tool_calls:
        call = message.tool_calls[0].model_copy(update={"id": f"function_call_{index}"})
        return message.model_copy(update={"tool_calls": (call,)})
    if message.role == "tool":
        return message.model_copy(update={"tool_call_id": f"function_call_{index - 1}"})
    return message


def _census(root: dict[str, Any]) -> tuple[Counter[int], int]:
    """Count the observation codes and the leaves of the tree."""
    codes: Counter[int] = Counter()
    leaves = 0
    nodes = [root]
    while nodes:
        node = nodes.pop()
        code = rows.count(node.get("observation_code"))
        if code is not None:
            codes[code] += 1
        children = _children(node)
        leaves += not children
        nodes += children
    return codes, leaves


READER = ToolBench()
