class Annotate extends Asking {
  build(draft) {
    super.build(draft);
    const data = this.data;
    this.skipping = null;
    this.status = el('div', 'status');
    this.status.setAttribute('role', 'status');
    this.meter = el('div', 'meter');
    this.asked = el('div', 'asked');
    data.questions.forEach((question, place) => this.asked.append(this.question(question, place)));
    this.quoteBox = el('div');
    this.tools = el('div', 'tools');
    this.reasons = el('div', 'reasons');
    this.help = el('div', 'help');
    this.help.hidden = true;
    const parts = [this.meter];
    if (data.message) {
      const sent = el('div', 'sent', data.message);
      sent.setAttribute('role', 'note');
      sent.prepend(el('strong', '', 'Sent back to you: '));
      parts.push(sent);
    }
    parts.push(this.asked);
    if (data.trace) {
      if (!this.one()) {
        this.save = keyed('save', '\u21b5', 'Save and go on', () => this.enter());
        parts.push(this.save);
      }
      parts.push(this.noteField('Note', draft.note, 3), this.quoteBox);
      this.showQuotes();
    }
    parts.push(this.tools, this.reasons, this.status, this.help);
    if (data.trace) parts.push(guideline(data.guideline));
    this.root.replaceChildren(...parts);
    this.root.setAttribute('role', 'region');
    this.root.setAttribute('aria-label', 'Your label');
    this.drawTools();
    this.drawHelp();
    this.mark();
    this.refresh();
  }

  refresh() {
    const { progress } = this.data, bar = el('div', 'progress'), fill = el('div');
    fill.style.width = Math.round(100 * progress.share) + '%';
    bar.append(fill);
    bar.setAttribute('role', 'progressbar');
    bar.setAttribute('aria-label', 'Your progress');
    bar.setAttribute('aria-valuenow', Math.round(100 * progress.share));
    this.meter.replaceChildren(bar, el('div', 'small', progress.text));
  }

  saves() {
    if (this.save) this.save.disabled = this.data.questions.some(q => !(q.id in this.answers));
  }

  drawTools() {
    const data = this.data, tools = [];
    if (data.trace) {
      const flag = keyed('', 'f', 'Flag', () => this.flag());
      flag.setAttribute('aria-pressed', this.flagged);
      tools.push(flag, keyed('', 's', 'Skip', () => this.skip()));
    }
    const undo = keyed('', 'z', 'Undo', () => this.undo());
    undo.disabled = !data.can_undo;
    tools.push(undo);
    if (data.trace) tools.push(button('', 'Send back unlabelled', () => { if (this.ready()) this.send('back'); }));
    tools.push(keyed('', '?', 'Keys', () => this.toggleHelp()));
    this.tools.replaceChildren(...tools);
  }

  drawHelp() {
    const lines = [['n', 'write a note, Esc leaves it'], ['/', 'find in the trace'],
      ['f', 'label it, and let an adjudicator look too'], ['s', 'skip it for good, with a reason'],
      ['z', 'take back the last label'],
      ['\u21b5', 'quote the selected text' + (this.one() ? '' : ', or save the answers')]];
    if (!this.one()) lines.push(['\u2191 \u2193', 'another question']);
    const back = el('div', '', 'Send back unlabelled: others may take it, you get it again last.');
    this.help.replaceChildren(...lines.map(([key, text]) => {
      const line = el('div');
      line.append(el('kbd', '', key), el('span', '', text));
      return line;
    }), back);
  }

  toggleHelp() { this.help.hidden = !this.help.hidden; }

  chosen(place) {
    if (this.one()) {
      this.mark();
      this.send('label');
      return;
    }
    this.changed();
    const next = this.data.questions.findIndex(q => !(q.id in this.answers));
    if (next >= 0) this.turn = next;
    else this.turn = Math.min(place + 1, this.data.questions.length - 1);
    this.turned = performance.now();
    this.mark();
    this.asked.children[this.turn].scrollIntoView({ block: 'nearest' });
  }

  enter() {
    if (this.skipping || !this.data.trace || this.one()) return false;
    if (!this.ready() || this.data.questions.some(q => !(q.id in this.answers))) return false;
    return this.send('label');
  }

  flag() {
    this.flagged = !this.flagged;
    this.changed();
    this.drawTools();
  }

  undo() { if (this.data.can_undo && this.seen() && !this.pending) this.send('undo'); }

  skip() {
    if (!this.ready()) return;
    const box = el('div', 'why');
    box.setAttribute('role', 'group');
    box.setAttribute('aria-label', 'Why do you skip this trace?');
    box.append(el('h2', '', 'Why do you skip it?'));
    this.data.skips.forEach((text, i) => box.append(
      keyed('', String(i + 1), text, () => this.skipFor(text))));
    const other = el('input');
    other.placeholder = 'Another reason, then Enter';
    other.setAttribute('aria-label', 'Another reason');
    other.maxLength = 300;
    other.onkeydown = ev => {
      if (ev.key === 'Enter' && !ev.isComposing && other.value.trim()) {
        ev.preventDefault();
        this.skipFor(other.value.trim());
      }
    };
    box.append(other, button('', 'Cancel', () => this.escape()));
    this.skipping = box;
    this.reasons.replaceChildren(box);
    box.scrollIntoView({ block: 'nearest' });
    box.querySelector('button').focus();
  }

  skipFor(reason) { if (this.ready()) this.send('skip', { reason }); }

  escape() {
    if (!this.skipping) return false;
    this.skipping = null;
    this.reasons.replaceChildren();
    return true;
  }

  keys() {
    if (this.skipping) {
      return Object.fromEntries(this.data.skips.map((text, i) => [String(i + 1), () => this.skipFor(text)]));
    }
    const own = { '?': () => this.toggleHelp(), z: () => this.undo() };
    if (!this.data.trace) return own;
    return { ...own, ...this.labelKeys(), f: () => this.flag(), s: () => this.skip(),
      n: () => { this.note.focus(); } };
  }
}

export default function (component) { return seat(component, Annotate); }
