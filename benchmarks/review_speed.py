"""How fast the review app is in real browsers, over a store of any size.

    python benchmarks/review_speed.py --traces 2000 --browsers 1,5 --labels 200 --bursts 50

Prints one line per figure with the limit it is meant to keep; asserts nothing. The store is made
once per size in --folder and used again. Every browser is a Chromium of its own process, because
on two cores the browsers cost more than the server, and their time is part of what people wait for.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.review_served import READY, Bench, chromium, cpu_s, rss_mb  # noqa: E402
from labelkit.catalog.rubrics import load_rubric  # noqa: E402
from labelkit.store import Store  # noqa: E402
from labelkit.store.people import person_named  # noqa: E402
from labelkit.workflows.review.annotate import Choice, Draft, submit  # noqa: E402
from labelkit.workflows.review.assignment import next_item  # noqa: E402
from labelkit.workflows.review.people import add_person, issue_token  # noqa: E402
from labelkit.workflows.review.samples import Wanted, draw  # noqa: E402

ITEMS = 2500
RATERS = 5
LIMITS_MS = {1: 200, 5: 300, 10: 600}

# From the key to the next trace painted: the desk's own clock, so that no round trip of the test
# driver is counted. The viewer says when a trace was painted.
TIMED = """
key => new Promise(done => {
  const roots = [...document.querySelectorAll('[class*=st-key-] *')].map(e => e.shadowRoot)
    .filter(Boolean).map(r => r.querySelector('.lk'));
  const desk = roots.map(r => r?.labelkit).find(d => d?.ready);
  const wait = () => {
    if (!desk.ready()) { setTimeout(wait, 10); return; }
    const before = desk.data.trace, from = performance.now();
    const painted = ev => {
      if (ev.detail.trace === before) return;
      document.removeEventListener('labelkit:painted', painted);
      done({ ms: ev.detail.at - from, chars: JSON.stringify(desk.data).length, trace: before });
    };
    document.addEventListener('labelkit:painted', painted);
    document.body.dispatchEvent(new KeyboardEvent('keydown',
      { key, code: 'Digit' + key, bubbles: true, cancelable: true, composed: true }));
  };
  wait();
})
"""
LONG_TASKS = """
() => { window.longTasks = []; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
}).observe({ type: 'longtask', buffered: true }); }
"""


def say(name: str, value: str, limit: str = "") -> None:
    """One figure."""
    print(f"{name:58s} {value:>22s}   {limit}", flush=True)


def at(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0f} / {at(values, 0.95):.0f} ms (n={len(values)})"


def first_trace(bench: Bench) -> None:
    """From the address to a painted trace: a fresh server and browser, then both warm."""
    with bench.serving() as pid, chromium() as browser:
        say("server memory at the start", f"{rss_mb(pid):.0f} MB")
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        token = bench.newcomer()
        context.add_cookies([{"name": "labelkit_session", "value": token, "url": bench.address}])
        page = context.new_page()
        for name, limit in (("cold first trace", "< 4 s"), ("warm first trace", "< 1 s")):
            began = time.monotonic()
            page.goto(f"{bench.address}/?sample={bench.sample[:12]}")
            page.wait_for_function("() => !!window.labelkitShown")
            say(name, f"{time.monotonic() - began:.2f} s", limit)
        context.close()


def key_to_next(bench: Bench, pid: int, browsers: int, labels: int, pause_ms: int) -> None:
    """Labels by keys in several browsers at once, each with a pause before the next key."""

    def work(_: int) -> list[dict[str, float]]:
        found = []
        with chromium() as browser, bench.desk(browser) as page:
            # Others that still load their page are no part of the pace of work.
            everybody.wait()
            page.wait_for_timeout(dice.uniform(0, 1.5) * pause_ms)
            for number in range(labels):
                found.append(page.evaluate(TIMED, str(number % 4 + 1)))
                page.wait_for_timeout(dice.uniform(0.5, 1.5) * pause_ms)
        return found

    dice, at_desk = random.Random(3), []
    everybody = Barrier(browsers, lambda: at_desk.extend((cpu_s(pid), time.monotonic())))
    with ThreadPoolExecutor(browsers) as pool:
        every = [one["ms"] for found in pool.map(work, range(browsers)) for one in found]
    spent, took = cpu_s(pid) - at_desk[0], time.monotonic() - at_desk[1]
    limit = LIMITS_MS.get(browsers)
    say(f"key to next trace painted, {browsers} browsers, p50 / p95", spread(every),
        f"p95 < {limit} ms" if limit else "")  # fmt: skip
    say("   the slowest of them", f"{max(every):.0f} ms", "< 500 ms (among them 500 kB traces)")
    say("   CPU of the server", f"{1000 * spent / len(every):.0f} ms/label")
    say("   labels per second", f"{len(every) / took:.1f}")


def big_trace(bench: Bench, number: int) -> None:
    """Half a megabyte: opening the page, unfolding, the longest time the browser was busy."""
    with Store.open(bench.url) as store, store.reading() as connection:
        rows = connection.exec_driver_sql(
            "select digest from trace order by body_chars desc limit 200"
        ).all()
        admin = f"bench admin {time.time_ns()}"
        token = issue_token(store, add_person(store, None, admin, "admin", subject=admin))
    opened, busy = [], []
    with chromium() as browser:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": "labelkit_session", "value": token, "url": bench.address}])
        page = context.new_page()
        page.goto(f"{bench.address}/traces")
        page.wait_for_selector(".end[data-rows]", state="attached")
        for (digest,) in rows[:number]:
            page.goto(f"{bench.address}/traces?trace={digest}")
            page.wait_for_selector(f".end[data-trace='{digest}']", state="attached")
            page.evaluate(LONG_TASKS)
            began = time.monotonic()
            page.get_by_role("button", name="Open all").click()
            page.locator(".ev.call pre").nth(1).wait_for()
            page.evaluate(
                "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
            )
            opened.append((time.monotonic() - began) * 1000)
            busy.append(max(page.evaluate("() => window.longTasks"), default=0))
        context.close()
    say("500 kB trace: all folds opened, p50 / p95", spread(opened), "< 500 ms")
    say("500 kB trace: longest task of the page, worst", f"{max(busy):.0f} ms", "< 200 ms")


def many_sockets(bench: Bench, clients: int, seconds: float) -> None:
    """Pages open at once in one browser, each labelling at a person's pace."""
    with chromium() as browser, contextlib.ExitStack() as stack:
        pages = [stack.enter_context(bench.desk(browser)) for _ in range(clients)]
        found: list[float] = []
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found += [page.evaluate(TIMED, "1")["ms"] for page in pages]
        say(
            f"{clients} websocket clients, key to painted, p50 / p95",
            spread(found),
            "p95 < 150 ms (server)",
        )


def memory(bench: Bench, pid: int, labels: int) -> None:
    """The server with ten sessions after many labels."""
    with chromium() as browser, contextlib.ExitStack() as stack:
        pages = [stack.enter_context(bench.desk(browser)) for _ in range(10)]
        for number in range(labels):
            pages[number % 10].evaluate(TIMED, "1")
        say(
            f"server memory, 10 sessions, {labels} labels more", f"{rss_mb(pid):.0f} MB", "< 250 MB"
        )


def bursts(bench: Bench, number: int) -> None:
    """Random bursts of keys: how many labels fell on a trace nobody had seen for 300 ms."""
    script = """
    times => new Promise(done => {
      const roots = [...document.querySelectorAll('[class*=st-key-] *')].map(e => e.shadowRoot)
        .filter(Boolean).map(r => r.querySelector('.lk'));
      const desk = roots.map(r => r?.labelkit).find(d => d?.ready);
      const sent = [];
      if (!desk.watched) {
        desk.watched = true;
        const send = desk.send.bind(desk);
        desk.send = (act, more) => {
          const shown = window.labelkitShown, at = performance.now();
          (window.acts ||= []).push({ trace: desk.data.trace, act,
            seen: shown && shown.trace === desk.data.trace ? at - shown.at : -1 });
          return send(act, more);
        };
      }
      window.acts = [];
      times.forEach((t, i) => setTimeout(() => {
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: String(i % 4 + 1),
          code: 'Digit' + (i % 4 + 1), bubbles: true, cancelable: true, composed: true }));
        if (i === times.length - 1) setTimeout(() => done(window.acts), 60);
      }, t));
    })
    """
    dice = random.Random(5)
    unseen, keys, acts = 0, 0, 0
    with chromium() as browser, bench.desk(browser) as page:
        for _ in range(number):
            page.wait_for_function(READY)
            at_ms, times = 0.0, []
            for _ in range(dice.randrange(2, 9)):
                at_ms += dice.choice([0, 5, 20, 40, 60, 80, 120])
                times.append(at_ms)
            keys += len(times)
            for act in page.evaluate(script, times):
                acts += 1
                unseen += act["seen"] < 300
    say(f"{number} bursts, {keys} keys, {acts} labels: on unseen traces", str(unseen), "0")


def labelled_by_all(bench: Bench, items: int, raters: int) -> str:
    """Draw a sample of which so many people label everything; returns its id."""
    with Store.open(bench.url) as store:
        wanted = Wanted(n=min(items, bench.n), overlap=raters, seed=int(time.time()))
        sample = draw(store, None, load_rubric("tool-failure"), wanted)
        for number in range(raters):
            name = f"rater {time.time_ns()} {number}"
            add_person(store, None, name, "annotator", subject=name)
            found = person_named(store, name)
            assert found is not None
            count = 0
            while (offer := next_item(store, found[0], sample.id)) is not None:
                names = [label.name for label in offer.questions[0].labels]
                told = names[(int(offer.trace[:6], 16) + (count % 7 == number)) % len(names)]
                said = Draft(answers={offer.questions[0].id: told}, active_ms=9000)
                choice = Choice(f"{name} {count}", offer.lease, offer.trace, said)
                submit(store, found[0], choice)
                count += 1
    return sample.id


def agreement_page(bench: Bench, sample: str, views: int) -> list[float]:
    """From a click on the page of samples to charts, in ms; the first one is of a fresh browser."""
    with Store.open(bench.url) as store:
        admin = f"bench admin {time.time_ns()}"
        token = issue_token(store, add_person(store, None, admin, "admin", subject=admin))
    with chromium() as browser:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": "labelkit_session", "value": token, "url": bench.address}])
        page = context.new_page()
        page.goto(f"{bench.address}/samples")
        page.wait_for_selector(".end[data-rows]", state="attached")
        times = []
        for _ in range(views):
            page.goto(f"{bench.address}/samples?sample={sample[:12]}")
            page.wait_for_selector(".end[data-rows]", state="attached")
            page.wait_for_timeout(1500)
            began = time.monotonic()
            page.get_by_role("link", name="Agreement").click()
            page.wait_for_selector(".heat")
            # The page of samples has charts too, but with another key.
            page.wait_for_selector(".st-key-agreement_widths :is(canvas, svg)")
            times.append((time.monotonic() - began) * 1000)
        context.close()
    return times


def agreement_pages(bench: Bench, items: int, starts: int, views: int) -> None:
    """The first view after the server started, then warm ones."""
    sample = labelled_by_all(bench, items, RATERS)
    first, warm = [], []
    for _ in range(starts):
        with bench.serving():
            cold, *rest = agreement_page(bench, sample, views + 1)
            first.append(cold)
            warm += rest
    name = f"agreement page, {min(items, bench.n)} items, {RATERS} raters"
    say(f"{name}, first view, p50 / p95", spread(first), "<= 500 ms")
    say(f"{name}, warm, p50 / p95", spread(warm), "<= 500 ms")


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--browsers", default="1,5,10", help="one measurement for each number")
    parser.add_argument("--labels", type=int, default=100, help="labels per browser")
    parser.add_argument("--pause", type=int, default=2000, help="ms from painted to the next key")
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30, help="of the websocket clients")
    parser.add_argument("--memory-labels", type=int, default=2000)
    parser.add_argument("--bursts", type=int, default=1000)
    parser.add_argument("--big", type=int, default=10, help="500 kB traces to open")
    parser.add_argument("--agreement-items", type=int, default=2000)
    parser.add_argument("--folder", type=Path, help="keeps the store for the next run")
    parser.add_argument("--json", action="store_true", help="print the settings as JSON first")
    asked = parser.parse_args()
    if asked.json:
        print(json.dumps({k: str(v) for k, v in vars(asked).items()}))
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="labelkit-review-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        bench = Bench(folder, asked.traces, ITEMS)
        say("store", f"{asked.traces} traces, {bench.size_mb:.0f} MB")
        say("load of the machine before", f"{os.getloadavg()[0]:.2f}")
        first_trace(bench)
        with bench.serving() as pid:
            for number in map(int, asked.browsers.split(",")):
                key_to_next(bench, pid, number, asked.labels, asked.pause)
            if asked.big:
                big_trace(bench, asked.big)
            if asked.clients:
                many_sockets(bench, asked.clients, asked.seconds)
            if asked.bursts:
                bursts(bench, asked.bursts)
            if asked.memory_labels:
                memory(bench, pid, asked.memory_labels)
            say("server memory at the end", f"{rss_mb(pid):.0f} MB")
            say("acts stored", f"{bench.submissions()}")
        if asked.agreement_items:
            agreement_pages(bench, asked.agreement_items, starts=3, views=10)
    finally:
        if asked.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
