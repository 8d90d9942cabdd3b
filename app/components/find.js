const HITS = 5000, LIT = 500;
const literal = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const light = (name, ranges) => {
  if (window.CSS?.highlights && window.Highlight) CSS.highlights.set(name, new Highlight(...ranges));
};

// Find in every text of the trace, folded and unshown ones too.
class Finder {
  constructor(bodies) {
    this.bodies = bodies;
    this.hits = [];
    this.now = -1;
    this.bar = el('div', 'bar');
    this.bar.setAttribute('role', 'search');
    this.field = el('input');
    this.field.type = 'search';
    this.field.placeholder = 'Find in trace  ( / )';
    this.field.setAttribute('aria-label', 'Find in trace');
    this.count = el('span', 'count');
    this.count.setAttribute('role', 'status');
    const up = button('', '\u2191', () => this.step(-1)), down = button('', '\u2193', () => this.step(1));
    up.setAttribute('aria-label', 'Previous match');
    down.setAttribute('aria-label', 'Next match');
    this.bar.append(this.field, this.count, up, down);
    this.field.oninput = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.run(), 180);
    };
    this.field.onkeydown = ev => {
      if (ev.key !== 'Enter' || ev.isComposing) return;
      ev.preventDefault();
      clearTimeout(this.timer);
      if (this.sought !== this.field.value) this.run(); else this.step(ev.shiftKey ? -1 : 1);
    };
  }

  run() {
    this.sought = this.field.value;
    this.hits = [];
    this.now = -1;
    if (this.sought.length > 1) {
      const wanted = new RegExp(literal(this.sought), 'gi');
      for (const body of this.bodies) {
        for (const found of body.text.matchAll(wanted)) {
          this.hits.push([body, found.index, found.index + found[0].length]);
          if (this.hits.length >= HITS) break;
        }
        if (this.hits.length >= HITS) break;
      }
    }
    this.step(1);
  }

  step(by) {
    const all = this.hits.length;
    if (!all) {
      put(this.count, this.sought && this.sought.length > 1 ? 'no match' : '');
      light('lk-found', []);
      light('lk-now', []);
      return;
    }
    this.now = (this.now + by + all) % all;
    const focused = this.field.getRootNode().activeElement === this.field;
    const [body, start, end] = this.hits[this.now];
    light('lk-now', [body.show(start, end)]);
    if (focused) this.field.focus({ preventScroll: true });
    const seen = this.hits.filter(([b, , to]) => to <= b.filled && (!b.fold || b.fold.open));
    light('lk-found', seen.slice(0, LIT).map(([b, from, to]) => b.range(from, to)));
    put(this.count, (this.now + 1) + ' of ' + (all >= HITS ? HITS + '+' : all));
  }
}
