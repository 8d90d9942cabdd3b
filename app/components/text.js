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
  let last = 0, marks = 0;
  for (const found of text.matchAll(ACTING)) {
    if (++marks > MARKS) break;
    node.append(text.slice(last, found.index));
    const mark = document.createElement('span');
    const code = 'U+' + found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    mark.className = 'acting';
    mark.dataset.code = found[0].length > 1 ? code + ' \u00d7' + found[0].length : code;
    mark.textContent = found[0];
    node.append(mark);
    last = found.index + found[0].length;
  }
  node.append(text.slice(last));
}
