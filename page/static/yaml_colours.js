// YAML in colours: the pieces of each line, which together are the line. Pure, and by line, so that an editor can show some.
const KEY = /^ *:(?= |$)/, NUMBER = /^(?:[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|0x[\da-f]+|true|false|null|~)$/i;
const BLOCK = /^[|>][-+\d]*(?= *(?:#.*)?$)/, SIGNS = {block: /^(?:[-?:](?= |$)|[[\]{},])/, flow: /^(?:[-?](?= |$)|[[\]{},:])/};
const PLAIN = {block: /^(?:(?!:(?: |$)| #).)+/, flow: /^(?:(?!:(?:[ ,\]}]|$)| #)[^,[\]{}])+/};
const QUOTED = {'"': /^(?:[^"\\]|\\.)*(?:"|\\?$)/, "'": /^(?:[^']|'')*(?:'(?!')|$)/};

// what a line begins with, from the line above: open brackets, an open quote, the indent of the line that began a block of text
export const START = {flow: 0, quote: "", block: null};

// [pieces as [kind, text], what the next line begins with]
export function colour(line, {flow, quote, block}) {
  const pieces = [], indent = line.match(/^ */)[0].length;
  const put = (kind, text) => { if (text) pieces.push([kind, text]); };
  if (block !== null && (indent > block || !line.trim())) {
    put("string", line);
    return [pieces, {flow, quote, block}];
  }
  block = null;
  let rest = line;
  const take = (kind, text) => {
    put(kind, text);
    rest = rest.slice(text.length);
  };
  const quoted = opening => {
    const [text] = rest.slice(opening.length).match(QUOTED[quote]), whole = opening + text;
    const ends = text.length > 0 && text.endsWith(quote) && !(quote === '"' && /(?:^|[^\\])(?:\\\\)*\\"$/.test(text));
    if (ends) quote = "";
    take(ends && KEY.test(rest.slice(whole.length)) ? "key" : "string", whole);
  };
  if (quote) quoted("");
  while (rest) {
    const kind = flow ? "flow" : "block", before = line[line.length - rest.length - 1] ?? " ";
    const [space] = rest.match(/^\s*/);
    if (space) take("space", space);
    else if (rest[0] === "#" && /\s/.test(before)) take("comment", rest);
    else if (rest[0] === '"' || rest[0] === "'") {
      quote = rest[0];
      quoted(quote);
    } else if (!flow && BLOCK.test(rest)) {
      block = indent;
      take("sign", rest.match(BLOCK)[0]);
    } else if (SIGNS[kind].test(rest)) {
      if ("[{".includes(rest[0])) flow++;
      else if ("]}".includes(rest[0])) flow = Math.max(0, flow - 1);
      take("sign", rest[0]);
    } else {
      const [text] = rest.match(PLAIN[kind]) ?? [rest[0]], word = text.trimEnd() || text;
      take(KEY.test(rest.slice(word.length)) ? "key" : NUMBER.test(word) ? "number" : "string", word);
    }
  }
  return [pieces, {flow, quote, block}];
}
