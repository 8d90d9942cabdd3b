const INK = [0.53, 0.61];  // shares at which the number in a cell changes its ink: dark, light ground
const part = share => 100 * share + '%';

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

export default function (component) {
  const { data: [data], parentElement, setTriggerValue } = component;
  const plot = el('div', 'heat');
  plot.setAttribute('role', 'group');
  plot.setAttribute('aria-label', data.said);
  plot.append(...heat(data, cell => setTriggerValue('cell', cell)));
  parentElement.querySelector('.lk').replaceChildren(plot);
}
