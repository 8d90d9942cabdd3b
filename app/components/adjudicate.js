class Adjudicate extends Asking {
  build(draft) {
    super.build(draft);
    const data = this.data;
    this.gap = !!draft.gap;
    this.status = el('div', 'status');
    this.status.setAttribute('role', 'status');
    this.top = el('div', 'meter');
    this.table = el('div', 'table');
    this.machines = el('div', 'machines');
    this.asked = el('div', 'asked two');
    data.questions.forEach((question, place) => this.asked.append(this.question(question, place)));
    this.asked.querySelector('.choices').append(this.noLabel());
    const tags = el('label', 'field');
    tags.append(el('span', '', 'Failure clusters, separated by commas'));
    this.tags = el('input');
    this.tags.value = draft.tags || '';
    this.tags.maxLength = 1000;
    this.tags.oninput = () => this.changed();
    tags.append(this.tags);
    const known = el('div', 'tools');
    for (const tag of data.known_tags.slice(0, 8)) known.append(button('', tag, () => this.addTag(tag)));
    this.reason = this.noteField('Reason, kept with the decision (Ctrl \u21b5 records it)', draft.note, 2);
    this.note.onkeydown = ev => {
      if (ev.key === 'Enter' && (ev.ctrlKey || ev.metaKey) && !ev.isComposing) {
        ev.preventDefault();
        ev.stopPropagation();
        this.enter();
      }
    };
    this.gapButton = button('', 'Guideline gap', () => {
      this.gap = !this.gap;
      this.changed();
      this.showGap();
    });
    this.decide = keyed('save', '\u21b5', 'Record the decision', () => this.enter());
    this.back = button('', 'Send back to the raters', () => this.sendBack());
    const tools = el('div', 'tools');
    tools.append(this.gapButton, this.back);
    tools.append(el('span', 'hint', 'Gap: the guideline does not settle this case.'));
    this.past = el('div', 'past');
    this.root.replaceChildren(this.top, this.table, this.machines, this.asked, this.reason, this.decide, this.status, tags,
      known, tools, this.past, guideline(data.guideline));
    this.root.setAttribute('role', 'region');
    this.root.setAttribute('aria-label', 'Decision');
    this.showGap();
    this.mark();
    this.refresh();
  }

  noLabel() {
    const one = button('choice', '', () => this.choose(0, ''));
    one.style.setProperty('--mine', 'var(--muted)');
    one.dataset.label = '';
    one.append(el('span', '', 'No label applies'));
    return one;
  }

  said() {
    return { answers: this.answers, note: this.note ? this.note.value : '', gap: this.gap,
      tags: this.tags ? this.tags.value : '' };
  }

  flush() { /* a decision is not begun on one machine and ended on another: this tab keeps it */ }
  chosen() { this.changed(); this.mark(); }
  showGap() { this.gapButton.setAttribute('aria-pressed', this.gap); }
  addTag(tag) {
    const have = this.tags.value.split(',').map(t => t.trim()).filter(Boolean);
    if (!have.includes(tag)) this.tags.value = [...have, tag].join(', ');
    this.changed();
  }

  saves() {
    if (this.decide) this.decide.disabled = !(this.data.questions[0].id in this.answers);
  }

  enter() {
    const id = this.data.questions[0].id;
    if (!this.ready() || !(id in this.answers)) return false;
    if (!this.note.value.trim()) {
      put(this.status, 'Write the reason first.');
      this.note.focus();
      return true;
    }
    return this.send('decide', { value: this.answers[id] });
  }

  sendBack() {
    if (!this.ready()) return;
    if (!this.note.value.trim()) {
      put(this.status, 'Write what the raters should look at as the reason, then send back.');
      this.note.focus();
      return;
    }
    this.send('send_back');
  }

  name(value, reason) {
    const place = this.data.questions[0].labels.findIndex(label => label.name === value);
    const chip = el('span', 'given', place < 0 ? value || reason : this.data.questions[0].labels[place].title);
    if (place >= 0) chip.style.setProperty('--mine', colour(this.data.questions[0], place));
    else chip.classList.add('null');
    return chip;
  }

  card(title, item, more) {
    const card = el('article', 'card'), top = el('div', 'cardtop');
    top.append(el('strong', '', title), item.opened === false ? '' : this.name(item.value, item.reason));
    card.append(top);
    const wordless = !item.note && !(item.quotes || []).length;
    if (more && wordless) top.firstChild.after(el('span', 'small', more));  // on one line
    if (item.note) card.append(new Body('div', 'why', item.note, '', '').box);
    for (const quote of item.quotes || []) {
      const box = el('blockquote', quote.start == null ? 'lost' : '');
      box.append(button('jump', short(quote.quote, 300), () => document.dispatchEvent(new CustomEvent(
        'labelkit:go', { detail: { part: quote.part, quote: quote.quote, start: quote.start, end: quote.end } }))));
      box.append(el('span', 'small', quote.part + (quote.start == null ? ', not found word for word' : '')));
      card.append(box);
    }
    if (more && !wordless) card.append(el('div', 'small', more));
    return card;
  }

  refresh() {
    const data = this.data;
    const moves = el('div', 'moves');
    for (const [key, text, act, able] of [['\u2190', 'Previous', 'prev', data.before],
      ['\u2192', 'Next', 'next', data.after]]) {
      const node = keyed('', key, text, () => this.go(act));
      node.disabled = !able;
      moves.append(node);
    }
    moves.append(el('strong', '', data.case));
    this.top.replaceChildren(moves, el('div', 'small', data.place));
    this.table.replaceChildren(el('h2', '', data.opinions_title));
    for (const item of data.opinions) {
      const facts = [...item.flags];
      if (item.confidence) facts.push('confidence ' + item.confidence);
      if (item.revised) facts.push('given after it was sent back');
      this.table.append(this.card(item.name || 'Rater ' + item.letter, item, facts.join(' \u00b7 ')));
    }
    this.machines.replaceChildren();
    const shut = data.machines.filter(item => !item.opened), closed = el('div', 'closed');
    if (shut.length) {
      closed.append(el('span', 'small', 'See what a rule or judge said (kept with the decision):'));
      this.machines.append(closed);
    }
    for (const item of data.machines) {
      if (item.opened) {
        const facts = [item.kind, ...item.flags];
        if (item.confidence) facts.push('confidence ' + item.confidence);
        this.machines.append(this.card(item.name, item, facts.join(' \u00b7 ')));
      } else {
        closed.append(button('open', short(item.name, 60), () => {
          if (this.ready()) this.send('reveal', { rater: item.rater });
        }));
      }
    }
    this.past.replaceChildren();
    if (data.history.length) this.past.append(el('h2', '', 'Decided before'));
    for (const item of data.history) {
      this.past.append(this.card(item.name, { ...item, note: item.reason, quotes: [] },
        [item.when, item.gap ? 'guideline gap' : '', ...item.tags].filter(Boolean).join(' \u00b7 ')));
    }
  }

  go(act) {
    if (this.pending || !this.seen()) return;
    if (act === 'prev' ? this.data.before : this.data.after) this.send(act);
  }

  keys() {
    return { ...this.labelKeys(), n: () => this.note.focus(), arrowleft: () => this.go('prev'),
      arrowright: () => this.go('next') };
  }
}

export default function (component) { return seat(component, Adjudicate); }
