const CUT = 160;  // characters of one cell; the whole text is in the trace
const WHOLE = /^(?:\S{1,24}|\d{4}-\d\d-\d\d.{0,10})$/;  // words, names and dates are not broken
const WORD = 32;  // a longer text may be broken anywhere, a shorter one keeps its words whole

export default function (component) {
  const { data: [data], parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector('.lk');
  const table = el('table');
  const caption = el('caption', '', data.caption);
  caption.style.cssText = 'position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)';
  const top = el('tr');
  for (const column of data.columns) {
    const cell = el('th', column.number ? 'number' : '', column.name);
    cell.scope = 'col';
    top.append(cell);
  }
  const thead = el('thead');
  thead.append(top);
  const body = el('tbody');
  for (const row of data.rows) {
    const line = el('tr');
    row.cells.forEach((text, i) => {
      const state = text.startsWith('(') && text.endsWith(')');
      const cell = el('td', data.columns[i].number ? 'number' : '');
      if (state) cell.classList.add('state');
      if (WHOLE.test(text)) cell.classList.add('whole');
      const short = text.length > CUT ? text.slice(0, CUT) + '\u2026' : text;
      if (short.length > WORD) cell.classList.add('wide');
      if (i === 0 && row.open) {
        const link = el('a', '', short);
        link.href = data.page + '?trace=' + encodeURIComponent(row.open);
        link.dataset.trace = row.open;
        link.onclick = ev => {
          if (ev.ctrlKey || ev.metaKey || ev.shiftKey || ev.button) return;  // a new tab is wanted
          ev.preventDefault();
          setTriggerValue('open', row.open);
        };
        cell.append(link);
      } else put(cell, short);
      const share = row.shares[i];
      if (share != null) {
        cell.classList.add('bar');
        cell.style.setProperty('--share', Math.min(1, Math.max(0, share)));
      }
      line.append(cell);
    });
    body.append(line);
  }
  table.append(caption, thead, body);
  const frame = el('div', 'frame');
  frame.tabIndex = 0;
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', data.caption);
  frame.append(data.rows.length ? table : el('div', 'none', data.empty));
  const end = el('span', 'end');
  end.dataset.rows = data.rows.length;
  root.replaceChildren(frame, end);
}
