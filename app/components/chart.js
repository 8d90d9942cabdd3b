const SVG = 'http://www.w3.org/2000/svg';
const SHAPES = [  // of series, in a box of ten by ten: colour never stands alone
  'M5 .5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z', 'M1 1h8v8H1z', 'M5 0l5 5l-5 5l-5-5z',
  'M5 .5L10 9.5H0z', 'M0 .5H10L5 9.5z', 'M3.5 0h3v3.5H10v3H6.5V10h-3V6.5H0v-3h3.5z',
];
const COLOURS = 8;
const ROW = 26, THIN = 13, GAP = 10;  // pixels: a row, one of several series in it, between such rows
const INK = [0.53, 0.61];  // shares at which the number in a cell changes its ink: dark, light ground
const part = share => 100 * share + '%';
const shade = series => 'var(--c' + series % COLOURS + ')';

function mark(series, cls) {
  const drawn = document.createElementNS(SVG, 'svg');
  drawn.setAttribute('viewBox', '0 0 10 10');
  drawn.setAttribute('class', cls);
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', SHAPES[series % SHAPES.length]);
  path.style.fill = shade(series);
  drawn.append(path);
  return drawn;
}

function box(cls, style, ...inside) {
  const node = el('div', cls);
  Object.assign(node.style, style);
  node.append(...inside);
  return node;
}

function legend(names, form) {
  const items = names.map((name, i) => {
    const item = el('span', '', name);
    item.prepend(form === 'bar' ? box('key', { background: shade(i) }) : mark(i, 'key'));
    return item;
  });
  return box('legend', {}, ...items);
}

// `across` says along which edge values run: left for rows, bottom for days.
function spots(data, found, across) {
  const along = across ? ['top', 'left', 'width'] : ['left', 'bottom', 'height'];
  return found.flatMap(([series, at, low, high]) => {
    const n = data.series.length;
    const side = across && n > 1 ? GAP / 2 + (series + 0.5) * THIN + 'px' : part((series + 0.5) / n);
    const colour = shade(series);
    const line = { [along[0]]: side, [along[1]]: part(low), [along[2]]: part(high - low), background: colour };
    const point = mark(series, 'point');
    Object.assign(point.style, { [along[0]]: side, [along[1]]: part(at) });
    return [box('interval', line), point];
  });
}

function lines(data, edge) {
  const drawn = data.ticks.map(([at]) => box('line', { [edge]: part(at) }));
  if (data.mark != null) drawn.push(box('line mark', { [edge]: part(data.mark) }));
  return drawn;
}

const ticks = (data, edge) => data.ticks.map(([at, text]) => {
  const tick = el('span', 'tick', text);
  tick.style[edge] = part(at);
  return tick;
});

function named(rows, width) {
  const table = box('rows', { gridTemplateColumns: 'fit-content(' + width + 'px) minmax(0, 1fr)' });
  rows.forEach(([name, track], i) => {
    const cell = el('div', 'name', name);
    for (const one of [cell, track]) one.style.gridRow = i + 1;
    table.append(cell, track);
  });
  return table;
}

function forest(data) {
  const several = data.series.length > 1;
  const height = (several ? THIN * data.series.length + GAP : ROW) + 'px';
  const table = named(data.rows.map(([name, found]) =>
    [name, box('track', { height }, ...spots(data, found, true))]), data.width);
  const n = data.rows.length;
  table.prepend(box('lines', { gridRow: '1 / ' + (n + 1) }, ...lines(data, 'left')));
  table.append(box('axis', { gridRow: n + 1 }, ...ticks(data, 'left')));
  return [...(several ? [legend(data.series)] : []), table, el('div', 'title', data.title)];
}

function columns(data, inside) {
  const days = data.days.map(([name, found], i) => {
    const day = el('span', 'day', i % data.every ? '' : name);
    return [box('column', {}, ...inside(found)), day];
  });
  const texts = data.ticks.map(tick => tick[1]);
  const longest = texts.reduce((one, other) => other.length > one.length ? other : one, '');
  const upright = box('upright', {}, el('div', 'room', longest), ...ticks(data, 'bottom'));
  const field = box('field', {}, ...lines(data, 'bottom'), ...days.map(day => day[0]));
  const title = el('div', 'aside', data.title);
  return box('upwards', {}, title, upright, field, box('dates', {}, ...days.map(day => day[1])));
}

const days = data => [legend(data.series),
  columns(data, found => [box('offsets', {}, ...spots(data, found, false))])];

const stacked = data => [legend(data.series, 'bar'), columns(data, found =>
  [box('stack', {}, ...found.map(([series, share]) => box('', { height: part(share), background: shade(series) })))])];

function bars(data) {
  const table = named(data.rows.map(([name, share, text]) => [name,
    box('track bar', {}, box('', { width: part(0.85 * share) }), el('span', '', text))]), 180);
  return [table, el('div', 'title', data.title)];
}

function heat(data, pick) {
  const table = el('table');
  const q = data.names.length;
  const widths = el('colgroup');
  widths.append(el('col', 'side'), el('col', 'names'), ...data.names.map(() => el('col')));
  const head = el('tr'), top = el('tr');
  const corner = el('td');
  corner.colSpan = corner.rowSpan = 2;
  const across = el('th', 'axis-name', data.columns);
  across.colSpan = q;
  top.append(corner, across);
  for (const name of data.names) {
    const cell = el('th', q > 7 ? 'upright-name' : '', name);
    cell.scope = 'col';
    head.append(cell);
  }
  const body = data.cells.map((cells, i) => {
    const line = el('tr');
    if (!i) {
      const down = el('th', 'axis-name down', data.rows);
      down.rowSpan = q;
      line.append(down);
    }
    const name = el('th', 'row-name', data.names[i]);
    name.scope = 'row';
    line.append(name, ...cells.map(([text, share], j) => {
      const cell = el('td', ['low', 'mid', 'high'][INK.filter(edge => share > edge).length], text);
      cell.style.setProperty('--share', part(share));
      const id = i + ':' + j;
      if (!share) cell.classList.add('zero');
      else if (i !== j) {
        cell.classList.add('open');
        cell.dataset.cell = id;
        cell.onclick = () => pick(id);
      }
      if (id === data.chosen) cell.classList.add('chosen');
      return cell;
    }));
    return line;
  });
  const rows = el('tbody');
  rows.append(...body);
  const heading = el('thead');
  heading.append(top, head);
  table.append(widths, heading, rows);
  return [table];
}

const KINDS = { forest, days, stacked, bars, heat };

export default function (component) {
  const { data: [data], parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector('.lk');
  const plot = box('plot ' + data.kind, {});
  plot.setAttribute('role', data.kind === 'heat' ? 'group' : 'img');
  plot.setAttribute('aria-label', data.said);
  plot.append(...KINDS[data.kind](data, cell => setTriggerValue('cell', cell)));
  root.replaceChildren(plot);
}
