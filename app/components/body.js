const SLICE = 60000;  // characters put into the page at once; the rest waits behind a button

// One text of any length. Its beginning is shown at once, the rest slice by slice, one per frame,
// so that five megabytes never hold the page up. `marks` are {start, end, cls, on} in order.
class Body {
  constructor(tag, cls, text, part, name, marks = []) {
    this.text = text;
    this.part = part;
    this.marks = marks;
    this.filled = 0;
    this.box = el('div', 'body');
    this.node = el(tag, cls);
    this.node.dataset.part = part;
    if (tag === 'pre') {
      this.node.tabIndex = 0;
      this.node.setAttribute('role', 'region');
      this.node.setAttribute('aria-label', name);
    }
    this.box.append(this.node);
    this.fold = null;
    this.slice();
    this.rest();
  }

  // Where the next slice ends: after a line where one ends nearby, never inside a character.
  edge() {
    const far = this.filled + SLICE;
    if (far >= this.text.length) return this.text.length;
    const line = this.text.lastIndexOf('\n', far - 1) + 1;
    if (line > far - 4000) return line;
    return /[\ud800-\udbff]/.test(this.text[far - 1]) ? far + 1 : far;
  }

  slice() {
    const from = this.filled, to = this.edge();
    const piece = this.text.length > SLICE ? el('div', 'slice') : this.node;
    let last = from;
    for (const mark of this.marks) {
      if (mark.start < last || mark.end > to) continue;
      add(piece, this.text.slice(last, mark.start));
      const node = el('mark', mark.cls, this.text.slice(mark.start, mark.end));
      if (mark.on) node.onclick = mark.on;
      piece.append(node);
      last = mark.end;
    }
    add(piece, this.text.slice(last, to));
    if (piece !== this.node) this.node.append(piece);
    this.filled = to;
    this.texts = null;
  }

  rest() {
    this.box.querySelector(':scope > .more')?.remove();
    const hidden = this.text.length - this.filled;
    if (!hidden) return;
    const more = el('div', 'more');
    more.append(
      button('', 'Show more (' + size(hidden) + ' hidden)', () => { this.slice(); this.rest(); }),
      button('', 'Show all', () => this.all()));
    this.box.append(more);
  }

  all() {
    this.slice();
    this.rest();
    if (this.filled < this.text.length) requestAnimationFrame(() => this.all());
  }

  // A range of the page for characters of the text; opens and fills what hides them.
  range(start, end) {
    if (this.fold && !this.fold.open) this.fold.open = true;
    while (this.filled < end) this.slice();
    this.rest();
    if (!this.texts) {
      this.texts = [];
      let at = 0;
      const walk = document.createTreeWalker(this.node, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        this.texts.push([at, walk.currentNode]);
        at += walk.currentNode.length;
      }
    }
    const range = document.createRange();
    range.setStart(...this.at(start));
    range.setEnd(...this.at(end));
    return range;
  }

  at(offset) {
    let low = 0, high = this.texts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.texts[middle][0] <= offset) low = middle; else high = middle - 1;
    }
    const [from, node] = this.texts[low];
    return [node, Math.min(offset - from, node.length)];
  }

  // Bring characters before the reader's eyes and select them.
  show(start, end) {
    const range = this.range(start, end);
    const box = this.node, there = range.getBoundingClientRect();
    const here = box.getBoundingClientRect();
    if (box.scrollHeight > box.clientHeight) {
      box.scrollTop += there.top - here.top - box.clientHeight / 2;
      box.scrollIntoView({ block: 'nearest' });
    } else {
      const near = range.startContainer.parentElement;
      near.scrollIntoView({ block: 'center' });
    }
    getSelection()?.setBaseAndExtent(
      range.startContainer, range.startOffset, range.endContainer, range.endOffset);
    return range;
  }
}
