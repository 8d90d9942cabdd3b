// Every label of a trace with its author, reason and quotes.
function label(item) {
  const node = el('article', 'label' + (item.labelled ? '' : ' null'));
  node.append(el('h3', '', item.rater), el('div', 'given', item.given));
  const facts = [item.kind, 'version ' + item.version, 'question ' + item.question];
  if (item.title) facts.unshift(item.title);
  if (item.repeat) facts.push('repeat ' + item.repeat);
  if (item.confidence) facts.push('confidence ' + item.confidence);
  node.append(el('div', 'small', facts.join(' \u00b7 ')));
  if (item.rationale) node.append(new Body('div', 'why', item.rationale, '', '').box);
  for (const quote of item.quotes) {
    const box = el('blockquote', quote.place.startsWith('not') ? 'lost' : '', quote.text);
    box.append(el('div', 'small', quote.part + ', ' + quote.place));
    node.append(box);
  }
  if (item.flags.length) node.append(el('div', 'small', 'flags: ' + item.flags.join(', ')));
  node.append(el('div', 'small', item.created_at));
  for (const [name, value] of [['saw', item.view], ['request', item.completion], ['rater', item.digest]]) {
    if (value) node.append(el('div', 'digest', name + ' ' + value.slice(0, 16)));
  }
  return node;
}

function labels(ratings) {
  const box = el('aside', 'labels');
  box.setAttribute('aria-label', 'Labels');
  box.append(el('h2', '', 'Labels'));
  for (const item of ratings) box.append(label(item));
  if (!ratings.length) box.append(el('div', 'absent', 'nobody has labelled this trace'));
  return box;
}
