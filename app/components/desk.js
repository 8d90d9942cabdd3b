// What every desk needs: one act per item, sent until the server says that it is stored; keys that
// never fire while somebody types; a draft that survives a reload; the time really spent.
const SETTLE = 300;     // ms after the trace was painted, or the question changed, before keys count
const AGAIN = 2000;     // ms until an act that was not acknowledged is sent once more
const RELOAD = 3;       // times, before the page is loaded anew: a server that was started anew
                        // does not know this page, and lets what it sends fall
const QUIET = 500;      // ms without a key stroke before a draft is sent
const IDLE = 60000;     // a longer pause is no work
const TYPING = 'input:not([type=radio]):not([type=checkbox]):not([type=button]), textarea, select, [contenteditable="true"]';

const fresh = () => crypto.randomUUID?.() ??
  Array.from(crypto.getRandomValues(new Uint8Array(16)), n => n.toString(16).padStart(2, '0')).join('');

class Desk {
  constructor(root) {
    this.root = root;
    this.pending = null;
    this.active = 0;
    this.last = performance.now();
    this.turned = performance.now();
  }

  // Called for every run of the page: new data, the same or another item.
  take(component) {
    const { data: [data], setTriggerValue, setStateValue } = component;
    this.trigger = setTriggerValue;
    this.state = setStateValue;
    const other = this.data?.key !== data.key;
    this.data = data;
    const id = this.pending?.request_id;
    if (id && (data.acks.includes(id) || data.fault?.request_id === id)) {
      clearInterval(this.timer);
      this.pending = null;
      this.forget(this.pendingKey());
      if (!data.fault || data.fault.request_id !== id) this.forget(this.saidKey);
    }
    if (other) this.begin();
    else this.refresh();
    if (!this.pending) this.resume();
    this.busy();
  }

  // An act that this tab had sent before it was loaded anew.
  resume() {
    const left = this.kept(this.pendingKey());
    if (!left || this.data.acks.includes(left.request_id)) return;
    this.pending = left;
    this.saidKey = this.storeKey(left.key);
    this.out();
  }

  // Send the act, and again until it is acknowledged.
  out() {
    this.tries = 0;
    clearInterval(this.timer);
    const send = () => {
      this.tries += 1;
      this.trigger('act', this.pending);
      this.busy();
      if (this.tries > RELOAD) fetch('/_stcore/health', { cache: 'no-store' })
        .then(answer => { if (answer.ok && this.pending) location.reload(); }, () => {});
    };
    this.timer = setInterval(send, AGAIN);
    send();
  }

  begin() {
    const kept = this.kept(this.storeKey()), draft = kept || this.data.draft || {};
    this.turned = performance.now();
    this.last = performance.now();
    this.active = draft.active_ms || 0;
    this.saidKey = this.storeKey();
    clearTimeout(this.drafting);
    this.build(draft);
    if (kept) this.changed();
  }

  now() {
    const at = performance.now(), gap = at - this.last;
    if (gap < IDLE && !document.hidden) this.active += gap;
    this.last = at;
    return Math.round(this.active);
  }

  seen() {
    const shown = window.labelkitShown, at = performance.now();
    return at - this.turned >= SETTLE && (!this.data.trace ||
      (shown && shown.trace === this.data.trace && at - shown.at >= SETTLE));
  }

  ready() { return !this.pending && this.seen(); }

  send(act, more) {
    if (this.pending) return false;
    const { key, trace } = this.data;
    clearTimeout(this.drafting);
    this.pending = { act, key, trace_id: trace, request_id: fresh(), ms: this.now(), ...this.said(), ...more };
    this.keep(this.pendingKey(), this.pending);
    this.out();
    return true;
  }

  busy() {
    // Dimmed only when it takes long: two repaints for every label would cost more than they tell.
    this.root.classList.toggle('waiting', !!this.pending && this.tries > 1);
    if (!this.status) return;
    if (this.pending) put(this.status, this.tries > 1 ? 'Not saved yet, trying again\u2026' : 'Saving\u2026');
    else put(this.status, this.data.fault?.text || this.data.saved || '');
    this.status.classList.toggle('bad', !this.pending && !!this.data.fault);
  }

  // Drafts: kept in this tab at once, at the server after a moment.
  changed() {
    this.keep(this.storeKey(), { ...this.said(), active_ms: this.now() });
    clearTimeout(this.drafting);
    this.drafting = setTimeout(() => this.flush(), QUIET);
  }

  flush() {
    clearTimeout(this.drafting);
    if (this.pending || !this.data.trace) return;
    this.state('draft', { key: this.data.key, trace_id: this.data.trace, seq: fresh(), ms: this.now(), ...this.said() });
  }

  storeKey(key) { return 'labelkit:' + this.data.person + ':' + (key ?? this.data.key); }
  pendingKey() { return 'labelkit:' + this.data.person + ':sending:' + this.constructor.name; }
  keep(key, value) {
    try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* full */ }
  }
  kept(key) {
    try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; }
  }
  forget(key) {
    try { sessionStorage.removeItem(key); } catch { /* none */ }
  }

  key(ev) {
    if (ev.isComposing || ev.keyCode === 229) return;
    const at = ev.composedPath()[0], typing = at.closest?.(TYPING);
    const mine = this.root.contains(at);
    if (ev.key === 'Escape' && mine) { if (!this.escape?.()) at.blur?.(); return; }
    if (ev.ctrlKey || ev.metaKey || ev.altKey || typing) return;
    if (document.querySelector('[role="dialog"]')) return;
    if (ev.key === 'Enter') {
      if (ev.repeat || window.labelkitQuoting || at.closest?.('button, a, summary')) return;
      if (this.enter?.()) ev.preventDefault();
      return;
    }
    // By position for digits: other keyboard layouts and the number pad work.
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(ev.code || '');
    const name = digit && !ev.shiftKey ? digit[1] : ev.key.toLowerCase();
    const act = this.keys()[name];
    if (!act) return;
    ev.preventDefault();
    ev.stopImmediatePropagation();
    if (!ev.repeat) act();
  }

  listen() {
    const onKey = ev => this.key(ev), onWork = () => this.now();
    const onQuote = ev => { if (ev.detail.trace === this.data.trace) this.quote?.(ev.detail); };
    const onHide = () => { if (this.drafted) this.flush(); };
    document.addEventListener('keydown', onKey, true);
    document.addEventListener('labelkit:quote', onQuote);
    document.addEventListener('visibilitychange', onHide);
    const work = ['pointermove', 'pointerdown', 'wheel', 'keydown', 'scroll'];
    for (const name of work) document.addEventListener(name, onWork, { capture: true, passive: true });
    return () => {
      document.removeEventListener('keydown', onKey, true);
      document.removeEventListener('labelkit:quote', onQuote);
      document.removeEventListener('visibilitychange', onHide);
      for (const name of work) document.removeEventListener(name, onWork, { capture: true });
      clearInterval(this.timer);
    };
  }
}

// One desk per root for all calls; the former call's listeners are taken away first.
function seat(component, Kind) {
  const root = component.parentElement.querySelector('.lk');
  const desk = root.labelkit ||= new Kind(root);
  desk.leave?.();
  desk.take(component);
  desk.leave = desk.listen();
  return () => desk.leave();
}
