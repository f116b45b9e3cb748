// What can stand at the caret of a scenario: the keys of a place, or the values of a key. `schema` is that of GET /scenario/schema.
const LINE = /^( *)((?:- +)*)(.*)$/, KEY = /^(?:"([^"]*)"|'([^']*)'|([\w.]+)) *:(?: |$)/;
const NONE = {options: [], word: "", eager: false};

// options: {label, about, insert, back: so far the caret goes back}; word: what they replace; eager: whether to offer them unasked
export function completion(schema, text, caret) {
  const before = text.slice(0, caret).split("\n");
  const [, spaces, dashes, rest] = before.at(-1).match(LINE);
  const {open, word, over} = scan(rest);
  if (over || /^[\w.]/.test(text.slice(caret))) return NONE;
  const {places, root} = schema, maps = open.filter(each => !each.list);
  const steps = [...around(before.slice(0, -1), spaces.length, dashes), ...maps.slice(0, -1).map(map => map.key)];
  let place = places[root], key = maps.at(-1).key;
  for (const [at, step] of steps.entries()) {
    const of = places[place?.[step]?.of];
    if (!of && dashes && key === null && at === steps.length - 1) key = step;  // an element of a list of values
    else place = of;
  }
  const starts = ({label}) => label.toLowerCase().startsWith(word.toLowerCase());
  if (key === null) {
    const options = Object.entries(place ?? {}).map(([name, one]) => option(name, one, steps.length === 0));
    return {options: options.filter(starts), word, eager: open.length > 1 || word !== ""};
  }
  if (!place?.[key]) return NONE;
  const rules = key === "rule" ? [...text.matchAll(/^ *- +name: *(.+?) *$/gm)].map(found => found[1]) : [];
  const inner = Object.entries(places[place[key].of] ?? {}), about = new Map(inner.map(([name, one]) => [name, one.about]));
  const values = [...rules, ...place[key].values].map(String);
  const options = [
    ...values.map(label => ({label, about: about.get(label) ?? "", insert: label, back: 0})),
    ...inner.filter(([name]) => !values.includes(name)).map(([name, one]) => {
      const {insert, back} = option(name, one);
      return {label: name, about: one.about, insert: `{${insert}}`, back: back + 1};
    }),
  ];
  return {options: options.filter(starts), word, eager: true};
}

// a key as it is put in: with brackets where a mapping follows, and the caret between them
function option(label, {about, values, of, listed}, top = false) {
  if (top && of && listed) return {label, about, insert: `${label}:\n- name: `, back: 0};
  if (of && !values.length) return {label, about, insert: `${label}: ${listed ? "[{}]" : "{}"}`, back: listed ? 2 : 1};
  return {label, about, insert: `${label}: `, back: 0};
}

// the keys around a line: those above it that stand further left
function around(lines, spaces, dashes) {
  const found = [];
  let left = dashes ? spaces + 0.5 : spaces;  // the list may stand as far left as its key
  for (const line of lines.toReversed()) {
    const [, indent, dash, rest] = line.match(LINE), key = rest.match(KEY);
    if (!rest || rest.startsWith("#")) continue;
    if (key && indent.length + dash.length < left) {
      found.unshift(key[1] ?? key[2] ?? key[3]);
      left = indent.length + (dash ? 0.5 : 0);
    } else if (dash && indent.length < left) left = indent.length + 0.5;
  }
  return found;
}

// what is open at the end of a line: brackets, the key whose value is begun (null: none), the word
function scan(text) {
  const open = [{key: null, list: false}];
  let start = 0, quote = "";
  for (let at = 0; at < text.length; at++) {
    const sign = text[at], top = open.at(-1), word = text.slice(start, at).trim();
    if (quote) {
      if (sign === quote) quote = "";
      continue;
    }
    if (sign === "#" && (at === 0 || text[at - 1] === " ")) return {open, word: "", over: true};
    if ((sign === '"' || sign === "'") && !word) quote = sign;
    else if ((sign === "{" || sign === "[") && !word) open.push({key: null, list: sign === "["});
    else if ((sign === "}" || sign === "]") && open.length > 1) open.pop();
    else if (sign === "," && open.length > 1) top.key = null;
    else if (sign === ":" && !top.list && top.key === null && /^( |$)/.test(text.slice(at + 1))) top.key = word.replace(/^["']|["']$/g, "");
    else continue;
    if (!quote) start = at + 1;
  }
  return {open, word: text.slice(start).trimStart(), over: quote !== ""};
}
