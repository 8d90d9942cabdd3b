const HEAD = 150, CHIPS = 30, QUOTE = 2000;
const WHO = { system: 'System', user: 'User', agent: 'Agent', reasoning: 'Reasoning',
  call: 'Tool call', result: 'Tool result', final: 'Answer', other: 'Other' };
const FROM = { tool_result: 'in a result', question: 'in the question', derived: 'computed',
  nowhere: 'from nowhere' };

function who(kind, message) {
  const node = el('div', 'who', WHO[kind]);
  if (message != null) node.append(el('small', '', '#' + message));
  return node;
}

class TraceView {
  constructor(root, data) {
    this.data = data;
    this.bodies = [];
    this.parts = new Map();
    this.main = el('div', 'path');
    this.build(root);
  }

  body(tag, cls, text, part, name, marks, fold) {
    const body = new Body(tag, cls, text, part, name, marks);
    body.fold = fold || null;
    if (part) this.parts.set(part, body);
    return body;
  }

  // A text that is always open counts for Find at once; a folded one is made when it is needed.
  open(tag, cls, text, part, name, marks) {
    const body = this.body(tag, cls, text, part, name, marks);
    this.bodies.push(body);
    return body.box;
  }

  fold(name, head, badges, parts) {
    const box = el('details'), top = el('summary');
    if (name) top.append(el('strong', '', short(name, 120)));
    top.append(el('code', '', short(head.slice(0, HEAD + 1), HEAD).replace(/\s+/g, ' ')));
    for (const [text, cls] of badges) top.append(el('span', 'badge ' + cls, text));
    box.append(top);
    const fill = () => {
      if (box.dataset.filled) return;
      box.dataset.filled = '1';
      for (const late of lates) {
        late.real = this.body('pre', '', late.text, late.part, late.title, [], box);
        box.append(el('div', 'part', late.title), late.real.box);
      }
    };
    const lates = parts.map(([title, text, part]) => ({
      title, text, part, fold: box, filled: 0,
      show(start, end) { box.open = true; fill(); return this.real.show(start, end); },
      range(start, end) { fill(); return this.real.range(start, end); },
    }));
    for (const late of lates) {
      Object.defineProperty(late, 'filled', { get: () => late.real ? late.real.filled : 0 });
      if (late.part) this.parts.set(late.part, late);
      this.bodies.push(late);
    }
    box.addEventListener('toggle', () => { if (box.open) fill(); });
    return box;
  }

  go(part, start, end) {
    const body = this.parts.get(part);
    if (body) light('lk-now', [body.show(start, end)]);
  }

  answer() {
    const data = this.data, node = el('section', 'ev final top');
    node.append(who('final', null));
    if (!data.answer) {
      node.append(el('div', 'absent', 'No visible answer: ' + data.no_answer));
      return node;
    }
    const marks = data.values.map(value => ({
      start: units(data.answer, value.start), end: units(data.answer, value.end),
      cls: 'value ' + (value.source === 'nowhere' ? 'nowhere ' + value.strength : value.source),
      on: value.places.length ? () => this.follow(value) : null,
    }));
    const said = el('div');
    said.append(this.open('div', 't', data.answer, 'answer', '', marks), this.chips());
    node.append(said);
    return node;
  }

  follow(value) {
    value.turn = ((value.turn ?? -1) + 1) % value.places.length;
    const place = value.places[value.turn], text = this.parts.get(place.part)?.text;
    if (text != null) this.go(place.part, units(text, place.start), units(text, place.end));
  }

  chips() {
    const box = el('div', 'chips'), seen = new Map();
    for (const value of this.data.values) {
      if (value.source === 'nowhere' && value.strength === 'weak') continue;
      if (!seen.has(value.text)) seen.set(value.text, value);
    }
    if (!seen.size) return box;
    box.append(el('span', 'lead', 'Values:'));
    for (const value of [...seen.values()].slice(0, CHIPS)) {
      const from = value.places.length > 1 ? FROM[value.source] + ' \u00d7' + value.places.length
        : value.source === 'nowhere' && value.strength === 'unsure' ? 'not found' : FROM[value.source];
      const cls = 'chip ' + (value.source === 'nowhere' ? 'nowhere ' + value.strength : value.source);
      const chip = value.places.length ? button(cls, '', () => this.follow(value)) : el('span', cls);
      chip.append(el('b', '', short(value.text, 40)), el('span', '', from));
      const more = value.how || value.path;
      if (more && !value.places.length) chip.append(el('span', '', short(more, 60)));
      box.append(chip);
    }
    if (seen.size > CHIPS) box.append(el('span', '', 'and ' + (seen.size - CHIPS) + ' more'));
    return box;
  }

  step(item) {
    const node = el('section', 'ev ' + item.kind + (item.is_error ? ' error' : ''));
    node.dataset.message = item.message;
    node.append(who(item.kind, item.message));
    if (item.kind === 'final') node.append(el('div', 'absent', 'the answer above'));
    else if (item.kind === 'call') node.append(this.call(item));
    else if (item.kind === 'user' || item.kind === 'agent') {
      node.append(item.text ? this.open('div', 't', item.text, item.part, '')
        : el('div', 'absent', 'said nothing'));
    } else {
      node.append(this.fold(item.name, item.text, [[size(item.text.length), '']],
        [['text', item.text, item.part]]));
    }
    return node;
  }

  call(item) {
    const badges = [], parts = [['arguments', item.text, item.part]];
    if (item.is_error) badges.push(['error', 'bad']);
    if (item.status !== 'executed') badges.push([item.status, 'warn']);
    if (item.result == null) badges.push(['no result', 'warn']);
    else {
      parts.push(['result, message #' + item.result_message, item.result, item.result_part]);
      badges.push([size(item.result.length), '']);
    }
    return this.fold(item.name, item.text, badges, parts);
  }

  facts() {
    const facts = el('ul', 'facts');
    for (const [name, value] of this.data.facts) {
      if (!value || (name === 'state' && value === 'ok')) continue;
      const fact = el('li');
      fact.append(el('b', '', name), el('span', '', short(value, 300)));
      facts.append(fact);
    }
    facts.hidden = !facts.children.length;
    return facts;
  }

  build(root) {
    const data = this.data, main = this.main;
    const question = el('section', 'ev user top');
    question.append(who('user', data.question_message), data.question
      ? this.open('div', 't', data.question, 'question', '')
      : el('div', 'absent', 'no question was recorded'));
    const answer = this.answer();
    main.append(this.facts(), question, answer, el('h2', '', 'How the agent got there'));
    for (const item of data.steps) main.append(this.step(item));
    if (data.reference.length) {
      main.append(el('h2', '', 'What the author of the task knows'));
      for (const [name, text] of data.reference) {
        main.append(this.fold(name, text, [[size(text.length), '']], [[name, text, 'author:' + name]]));
      }
    }
    this.finder = new Finder(this.bodies);
    const folds = on => () => main.querySelectorAll('details').forEach(d => { d.open = on; });
    this.finder.bar.append(button('', 'Open all', folds(true)), button('', 'Close all', folds(false)));
    this.finder.field.addEventListener('blur', () => setTimeout(() => this.noticed()));
    const end = el('span', 'end');
    end.dataset.trace = data.digest;
    const whole = el('div', data.blind ? 'one' : 'both');
    whole.append(main);
    if (!data.blind) whole.append(labels(data.ratings));
    this.quoter = button('quote', 'Attach as quote  \u21b5', () => this.attach());
    this.quoter.hidden = true;
    this.quoter.onmousedown = ev => ev.preventDefault();  // keeps the selection
    root.replaceChildren(this.finder.bar, whole, this.quoter, end);
    this.root = root;
  }

  // What is selected: within one text, and said so where it was longer.
  selected() {
    const shadow = this.root.getRootNode(), picked = shadow.getSelection?.() || getSelection();
    if (!picked || picked.rangeCount === 0 || picked.isCollapsed) return null;
    const range = picked.getRangeAt(0);
    const start = range.startContainer.parentElement?.closest('[data-part]');
    if (!start || !this.root.contains(start) || !start.dataset.part) return null;
    const inside = range.cloneRange();
    if (!start.contains(range.endContainer)) inside.setEndAfter(start.lastChild);
    const quote = inside.toString();
    return quote.trim() && quote.length <= QUOTE ? { part: start.dataset.part, quote, range } : null;
  }

  noticed() {
    // While somebody steps through matches, nothing lies over the text.
    const seeking = this.finder.field.getRootNode().activeElement === this.finder.field;
    const found = this.data.quoting && !seeking ? this.selected() : null;
    this.quoter.hidden = !found || found.part.startsWith('author:');
    window.labelkitQuoting = !this.quoter.hidden;
    if (this.quoter.hidden) return;
    const there = found.range.getBoundingClientRect(), here = this.root.getBoundingClientRect();
    this.quoter.style.top = there.bottom - here.top + 4 + 'px';
    this.quoter.style.left = Math.max(0, Math.min(there.left - here.left, here.width - 170)) + 'px';
  }

  attach() {
    const found = this.selected();
    if (!found || this.quoter.hidden) return false;
    document.dispatchEvent(new CustomEvent('labelkit:quote', {
      detail: { trace: this.data.digest, part: found.part, quote: found.quote } }));
    getSelection()?.removeAllRanges();
    this.quoter.hidden = true;
    window.labelkitQuoting = false;
    return true;
  }
}

// A trace counts as seen once it was painted: the keys of the desk wait for that.
function painted(state, digest) {
  requestAnimationFrame(() => requestAnimationFrame(() => {
    if (state.digest !== digest) return;
    window.labelkitShown = { trace: digest, at: performance.now() };
    document.dispatchEvent(new CustomEvent('labelkit:painted', { detail: window.labelkitShown }));
  }));
}

const CALM = '[role="dialog"]';

export default function (component) {
  const { data: [data], parentElement } = component;
  const root = parentElement.querySelector('.lk');
  const state = root.labelkit ||= {};
  // Called again on every rerun of the page: what is unfolded stays so until the data change.
  const key = data.digest + ' ' + data.blind + data.ratings.map(r => r.digest + r.created_at).join();
  if (state.key !== key) {
    window.labelkitShown = null;
    const other = state.digest !== data.digest;
    state.key = key;
    state.digest = data.digest;
    state.view = new TraceView(root, data);
    if (other) document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
    painted(state, data.digest);
  }
  // The former call's listeners are not taken away for us.
  state.leave?.();
  const onKey = ev => {
    if (ev.defaultPrevented || ev.isComposing || ev.repeat || ev.ctrlKey || ev.metaKey || ev.altKey) return;
    const at = ev.composedPath()[0];
    if (ev.key === 'Escape' && at === state.view.finder.field) at.blur();
    if (document.querySelector(CALM) || at.closest?.('input, textarea, select, [contenteditable="true"]')) return;
    if (ev.key === '/') {
      ev.preventDefault();
      state.view.finder.field.focus();
      state.view.finder.field.select();
    } else if (ev.key === 'Enter' && !at.closest?.('button, a, summary') && state.view.attach()) ev.preventDefault();
  };
  const onSelect = () => state.view.noticed();
  const onGo = ev => {
    const { part, quote, start, end } = ev.detail, text = state.view.parts.get(part)?.text;
    if (text == null) return;
    const at = start == null ? text.indexOf(quote) : units(text, start);
    if (at >= 0) state.view.go(part, at, start == null ? at + quote.length : units(text, end));
  };
  document.addEventListener('keydown', onKey);
  document.addEventListener('selectionchange', onSelect);
  document.addEventListener('labelkit:go', onGo);
  state.leave = () => {
    document.removeEventListener('keydown', onKey);
    document.removeEventListener('selectionchange', onSelect);
    document.removeEventListener('labelkit:go', onGo);
  };
  return () => {
    state.leave();
    window.labelkitShown = null;
    window.labelkitQuoting = false;
  };
}
