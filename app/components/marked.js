// The little of Markdown that guidelines use, as elements: headings, lists, tables, emphasis, code.
// Nothing else is understood; links and images stay the text they are.
function inline(node, text) {
  const pieces = text.split(/(\*\*[^*]+\*\*|\*[^*\s][^*]*\*|`[^`]+`)/);
  for (const piece of pieces) {
    if (/^\*\*[^*]+\*\*$/.test(piece)) node.append(el('strong', '', piece.slice(2, -2)));
    else if (/^\*[^*]+\*$/.test(piece)) node.append(el('em', '', piece.slice(1, -1)));
    else if (/^`[^`]+`$/.test(piece)) node.append(el('code', '', piece.slice(1, -1)));
    else add(node, piece);
  }
  return node;
}

const FEW = 3;  // columns that stand side by side in a narrow place
const TERSE = 14;  // characters of a cell that shares its line with others there

// Roles are said: a style that lays out rows as cards would take them away.
function row(line, tag) {
  const node = el('tr');
  node.setAttribute('role', 'row');
  for (const text of line.replace(/^\s*\|/, '').replace(/\|\s*$/, '').split('|')) {
    const cell = inline(el(tag), text.trim());
    cell.setAttribute('role', tag === 'th' ? 'columnheader' : 'cell');
    node.append(cell);
  }
  return node;
}

// In a narrow place each row of a table of many columns becomes a card that repeats the headings.
function carded(table) {
  const [head, ...body] = table.rows, names = [...head.cells].map(cell => cell.textContent);
  if (names.length <= FEW) return;
  table.classList.add('many');
  names.forEach((name, i) => {
    const cells = body.map(line => line.cells[i]).filter(Boolean);
    const long = cells.some(cell => cell.textContent.length > TERSE);
    for (const cell of cells) {
      cell.dataset.head = name;
      if (long) cell.classList.add('long');
    }
  });
}

function marked(text) {
  const box = el('div', 'marked');
  let list = null, table = null, last = null;
  for (const line of text.split('\n')) {
    const head = /^(#{1,6})\s+(.*)$/.exec(line);
    const item = /^\s*(?:([-*])|\d+\.)\s+(.*)$/.exec(line);
    const bar = /^\s*\|.*\|\s*$/.test(line);
    if (!bar) table = null;
    if (!line.trim()) { last = null; continue; }
    if (head) {
      list = last = null;
      box.append(inline(el('h' + Math.min(6, head[1].length + 2)), head[2]));
    } else if (bar) {
      list = last = null;
      if (/^[\s|:-]+$/.test(line)) continue;
      if (!table) {
        table = el('table');
        table.setAttribute('role', 'table');
        table.append(row(line, 'th'));
        const frame = el('div', 'wide');
        frame.tabIndex = 0;
        frame.setAttribute('role', 'region');
        frame.setAttribute('aria-label', 'table');
        frame.append(table);
        box.append(frame);
      } else table.append(row(line, 'td'));
    } else if (item) {
      const kind = item[1] ? 'ul' : 'ol';
      if (!list || list.localName !== kind) { list = el(kind); box.append(list); }
      last = inline(el('li'), item[2]);
      list.append(last);
    } else if (last) {
      last.append(' ');
      inline(last, line.trim());
    } else {
      list = null;
      last = inline(el('p'), line.trim());
      box.append(last);
    }
  }
  for (const one of box.querySelectorAll('table')) carded(one);
  return box;
}
