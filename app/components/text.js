// Text as it was recorded. Control and direction characters stay in the text (copying gives them
// back) but stand alone in an element of their own, where they cannot act, and are shown by code.
const ACTING = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const MARKS = 5000;  // more marks in one text would cost the browser more than they tell

const el = (tag, cls, text) => {
  const node = document.createElement(tag);
  if (cls) node.className = cls;
  if (text != null) put(node, String(text));
  return node;
};

function put(node, text) {
  node.replaceChildren();
  add(node, text);
}

function add(node, text) {
  let last = 0, marks = 0;
  for (const found of text.matchAll(ACTING)) {
    if (++marks > MARKS) break;
    if (found.index > last) node.append(text.slice(last, found.index));
    const mark = document.createElement('span');
    const code = 'U+' + found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    mark.className = 'acting';
    mark.dataset.code = found[0].length > 1 ? code + ' \u00d7' + found[0].length : code;
    mark.textContent = found[0];
    node.append(mark);
    last = found.index + found[0].length;
  }
  if (last < text.length) node.append(text.slice(last));
}

const button = (cls, text, act) => {
  const node = el('button', cls, text);
  node.type = 'button';
  node.onclick = act;
  return node;
};

// Python counts characters, this language counts UTF-16 units.
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/;
function units(text, points) {
  if (!PAIR.test(text)) return points;
  let at = 0;
  while (points-- > 0 && at < text.length) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

const size = n => n > 9999 ? Math.round(n / 1000) + ' kB' : n + ' characters';
const short = (text, most) => text.length > most ? text.slice(0, most) + '\u2026' : text;
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
