// Questions with their labels as buttons, a note, quotes, a flag: what one says about a trace.
const COLOURS = 8;
// Labels without an order have colours of their own; steps of a scale one colour, ever stronger.
function colour(question, place) {
  if (question.type !== 'ordinal') return 'var(--c' + place % COLOURS + ')';
  const share = Math.round(30 + 70 * place / Math.max(1, question.labels.length - 1));
  return 'color-mix(in oklab, var(--accent) ' + share + '%, var(--line))';
}

class Asking extends Desk {
  build(draft) {
    this.answers = { ...(draft.answers || {}) };
    this.quotes = [...(draft.quotes || [])];
    this.flagged = !!draft.flagged;
    this.turn = Math.max(0, this.data.questions.findIndex(q => !(q.id in this.answers)));
  }

  one() { return this.data.questions.length === 1; }

  said() {
    return { answers: this.answers, note: this.note ? this.note.value : '', flagged: this.flagged,
      quotes: this.quotes };
  }

  question(question, place) {
    const box = el('div', 'question');
    box.setAttribute('role', 'group');
    const text = el('h2', '', question.text);
    text.id = 'q' + place;
    if (!this.one()) text.onclick = () => this.turnTo(place);
    box.setAttribute('aria-labelledby', text.id);
    box.append(text);
    const list = el('div', question.type === 'boolean' ? 'choices row' : 'choices');
    question.labels.forEach((label, i) => {
      const one = button('choice', '', () => this.choose(place, label.name));
      one.style.setProperty('--mine', colour(question, i));
      one.dataset.label = label.name;
      one.dataset.trace = this.data.trace;
      one.append(el('kbd', '', label.key), el('span', '', label.title));
      list.append(one);
    });
    box.append(list);
    return box;
  }

  // Marks what is chosen and whose turn it is.
  mark() {
    [...this.asked.children].forEach((box, place) => {
      const question = this.data.questions[place];
      box.classList.toggle('turn', !this.one() && place === this.turn);
      box.querySelectorAll('.choice').forEach(one => {
        one.setAttribute('aria-pressed', this.answers[question.id] === one.dataset.label);
      });
    });
    this.saves?.();
  }

  choose(place, name) {
    if (!this.ready()) return;
    this.answers[this.data.questions[place].id] = name;
    this.chosen(place);
  }

  move(by) {
    this.turnTo(Math.min(this.data.questions.length - 1, Math.max(0, this.turn + by)));
  }

  // Only the question in turn shows all its labels where they are many.
  turnTo(place) {
    this.turn = place;
    this.turned = performance.now();
    this.mark();
    this.asked.children[this.turn]?.scrollIntoView({ block: 'nearest' });
  }

  labelKeys() {
    const keys = {}, question = this.data.questions[this.turn];
    for (const label of question?.labels || []) {
      keys[label.key.toLowerCase()] = () => this.choose(this.turn, label.name);
    }
    if (!this.one()) {
      keys.arrowdown = () => this.move(1);
      keys.arrowup = () => this.move(-1);
    }
    return keys;
  }

  noteField(title, value, rows) {
    const label = el('label', 'field'), head = el('span', '', title);
    head.prepend(el('kbd', '', 'n'), ' ');
    label.append(head);
    const field = el('textarea');
    field.rows = rows;
    field.value = value || '';
    field.maxLength = 20000;
    field.oninput = () => this.changed();
    field.onblur = () => this.flush();
    label.append(field);
    this.note = field;
    return label;
  }

  quoteList() {
    const list = el('div', 'quotes');
    this.quotes.forEach(([text, part], place) => {
      const item = el('blockquote');
      const jump = button('jump', short(text, 160), () => document.dispatchEvent(
        new CustomEvent('labelkit:go', { detail: { part, quote: text } })));
      const drop = button('drop', '\u00d7', () => {
        this.quotes.splice(place, 1);
        this.changed();
        this.showQuotes();
      });
      drop.setAttribute('aria-label', 'Remove this quote');
      item.append(jump, el('span', 'small', part), drop);
      list.append(item);
    });
    if (!this.quotes.length) list.append(el('p', 'hint', 'Select text in the trace, then \u21b5: it is attached as a quote.'));
    return list;
  }

  showQuotes() {
    const list = this.quoteList();
    this.quoteBox.replaceChildren(list);
  }

  quote({ part, quote }) {
    if (this.quotes.length >= 50) return;
    this.quotes.push([quote, part]);
    this.changed();
    this.showQuotes();
  }
}

function keyed(cls, key, text, act) {
  const node = button(cls, '', act);
  node.append(el('kbd', '', key), el('span', '', text));
  return node;
}

function guideline(data) {
  const box = el('details', 'guideline'), top = el('summary');
  box.open = true;
  top.append(el('strong', '', 'Guideline'), el('span', 'small', data.version));
  box.append(top, marked(data.text));
  return box;
}
