const FIRST = 20000;  // characters put into the page at once; the rest waits behind a button
const HEAD = 110;
const WHO = { system: 'System', user: 'User', agent: 'Agent', reasoning: 'Reasoning',
  call: 'Tool call', result: 'Tool result', final: 'Answer', other: 'Other' };

const size = n => n > 9999 ? Math.round(n / 1000) + ' kB' : n + ' characters';

// A text of any length: its beginning at once, four times as much with every click.
function long(tag, cls, text, name) {
  const box = el('div');
  const body = el(tag, cls);
  if (tag === 'pre') { body.tabIndex = 0; body.setAttribute('role', 'region'); body.setAttribute('aria-label', name); }
  box.append(body);
  let shown = FIRST;
  const fill = () => {
    // A pair of surrogates is one character: never cut between its halves.
    if (shown < text.length && /[\ud800-\udbff]/.test(text[shown - 1])) shown += 1;
    put(body, text.slice(0, shown));
    box.querySelector('.more')?.remove();
    if (text.length > shown) {
      const more = el('button', 'more', 'Show more (' + size(text.length - shown) + ' hidden)');
      more.onclick = () => { shown *= 4; fill(); };
      box.append(more);
    }
  };
  fill();
  return box;
}

function who(kind, message) {
  const node = el('div', 'who', WHO[kind]);
  if (message != null) node.append(el('small', '', '#' + message));
  return node;
}

// A fold is filled when it is first opened: a closed one costs nothing.
function fold(name, head, badges, parts) {
  const box = el('details'), top = el('summary');
  if (name) top.append(el('strong', '', name.length > 120 ? name.slice(0, 120) + '\u2026' : name));
  top.append(el('code', '', head.slice(0, HEAD).replace(/\s+/g, ' ')));
  for (const [text, cls] of badges) top.append(el('span', 'badge ' + cls, text));
  box.append(top);
  box.addEventListener('toggle', () => {
    if (!box.open || box.dataset.filled) return;
    box.dataset.filled = '1';
    for (const [title, text] of parts) {
      box.append(el('div', 'part', title), long('pre', '', text, title));
    }
  });
  return box;
}

function step(item) {
  const node = el('section', 'ev ' + item.kind + (item.is_error ? ' error' : ''));
  node.dataset.message = item.message;
  node.append(who(item.kind, item.message));
  if (item.kind === 'final') node.append(el('div', 'absent', 'the answer above'));
  else if (item.kind === 'call') node.append(call(item));
  else if (item.kind === 'user' || item.kind === 'agent') {
    node.append(item.text ? long('div', 't', item.text, '') : el('div', 'absent', 'said nothing'));
  } else {
    node.append(fold(item.name, item.text, [[size(item.text.length), '']], [['text', item.text]]));
  }
  return node;
}

function call(item) {
  const badges = [], parts = [['arguments', item.text]];
  if (item.is_error) badges.push(['error', 'bad']);
  if (item.status !== 'executed') badges.push([item.status, 'warn']);
  if (item.result == null) badges.push(['no result', 'warn']);
  else {
    parts.push(['result, message #' + item.result_message, item.result]);
    badges.push([size(item.result.length), '']);
  }
  return fold(item.name, item.text, badges, parts);
}

function label(item) {
  const node = el('article', 'label' + (item.labelled ? '' : ' null'));
  node.append(el('h3', '', item.rater), el('div', 'given', item.given));
  const facts = [item.kind, 'version ' + item.version, 'question ' + item.question];
  if (item.title) facts.unshift(item.title);
  if (item.repeat) facts.push('repeat ' + item.repeat);
  if (item.confidence) facts.push('confidence ' + item.confidence);
  node.append(el('div', 'small', facts.join(' \u00b7 ')));
  if (item.rationale) node.append(long('div', 'why', item.rationale, ''));
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

function build(root, data) {
  const facts = el('ul', 'facts');
  for (const [name, value] of data.facts) {
    if (!value) continue;
    const fact = el('li');
    fact.append(el('b', '', name), el('span', '', value.length > 300 ? value.slice(0, 300) + '\u2026' : value));
    facts.append(fact);
  }
  const question = el('section', 'ev user top');
  question.append(who('user', data.question_message),
    data.question ? long('div', 't', data.question, '') : el('div', 'absent', 'no question was recorded'));
  const answer = el('section', 'ev final top');
  answer.append(who('final', null),
    data.answer ? long('div', 't', data.answer, '') : el('div', 'absent', 'No visible answer: ' + data.no_answer));
  const path = el('div', 'path');
  path.append(facts, question, answer, el('h2', '', 'How the agent got there'));
  for (const item of data.steps) path.append(step(item));
  if (data.reference.length) {
    path.append(el('h2', '', 'What the author of the task knows'));
    for (const [name, text] of data.reference) {
      path.append(fold(name, text, [[size(text.length), '']], [[name, text]]));
    }
  }
  const labels = el('aside', 'labels');
  labels.setAttribute('aria-label', 'Labels');
  labels.append(el('h2', '', 'Labels'));
  for (const item of data.ratings) labels.append(label(item));
  if (!data.ratings.length) labels.append(el('div', 'absent', 'nobody has labelled this trace'));
  const both = el('div', 'both');
  both.append(path, labels);
  const end = el('span', 'end');
  end.dataset.trace = data.digest;
  root.replaceChildren(both, end);
}

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector('.lk');
  // Called again on every rerun of the page: what is unfolded stays so until the data change.
  const state = data.digest + ' ' + data.ratings.map(r => r.digest + r.created_at).join();
  if (root.dataset.state !== state) {
    root.dataset.state = state;
    build(root, data);
  }
}
