// A text in colours with the numbers of its lines, marks where it is wrong, and completion in a list below the line.
import {completion} from "./completion.js";
import {plain} from "./text.js";
import {html, useEffect, useLayoutEffect, useRef, useState} from "./vendor/preact.js";
import {colour, START} from "./yaml_colours.js";

const HEIGHT = 18, SHOWN = 10, TOP = 6, LEFT = 52, LINES = 80;

// puts another text in as if it were typed: so the browser can undo it
function replace(area, text) {
  const {value} = area, least = Math.min(value.length, text.length), focused = document.activeElement;
  let start = 0, end = 0;
  while (start < least && value[start] === text[start]) start++;
  while (end < least - start && value.at(-1 - end) === text.at(-1 - end)) end++;
  const piece = text.slice(start, text.length - end);
  area.focus({preventScroll: true});
  area.setSelectionRange(start, value.length - end);
  document.execCommand(piece ? "insertText" : "delete", false, piece);
  if (area.value !== text) area.value = text;
  if (focused === area) return;
  area.blur();
  focused?.focus({preventScroll: true});
}

// was: the text before `text`, to which one can go back; problems: [{line, text}]; schema: what it completes from, or null
export function Editor({label, text, was, change, problems, schema}) {
  const area = useRef(), chosen = useRef(), replaces = useRef(false);
  const [list, setList] = useState(null);  // {options, word, at, line, column}
  const [[top, left], scroll] = useState([0, 0]);
  const [first] = useState(was ?? text);
  useLayoutEffect(() => {
    if (area.current.value === text) return;
    replaces.current = true;
    replace(area.current, text);
    replaces.current = false;
  }, [text]);
  useEffect(() => chosen.current?.scrollIntoView({block: "nearest"}));

  const offer = requested => {
    const {value, selectionStart: caret, selectionEnd} = area.current;
    const {options, word, eager} = schema && caret === selectionEnd ? completion(schema, value, caret) : {options: []};
    const done = options.length === 1 && options[0].insert === word;
    if (!options.length || done || !(requested || eager)) return setList(null);
    const line = value.slice(0, caret).split("\n");
    setList({options, word, at: requested ? 0 : -1, line: line.length, column: line.at(-1).length - word.length});
  };
  const take = ({insert, back}) => {
    const input = area.current, end = input.selectionStart;
    const indent = input.value.slice(0, end).split("\n").at(-1).match(/^ */)[0];
    input.setSelectionRange(end - list.word.length, end);
    document.execCommand("insertText", false, insert.replaceAll("\n", "\n" + indent));  // unlike setRangeText it can be undone
    input.setSelectionRange(input.selectionStart - back, input.selectionStart - back);
    offer(false);
  };
  const key = event => {
    const {key: pressed, ctrlKey} = event;
    if (pressed === " " && ctrlKey) offer(true);
    else if (!list || ctrlKey) return;
    else if (pressed === "Escape") setList(null);
    else if (pressed === "ArrowDown") setList({...list, at: (list.at + 1) % list.options.length});
    else if (pressed === "ArrowUp") setList({...list, at: (list.at <= 0 ? list.options.length : list.at) - 1});
    else if (pressed === "Tab" && !event.shiftKey) take(list.options[Math.max(0, list.at)]);
    else if (pressed === "Enter" && list.at >= 0) take(list.options[list.at]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const wrong = new Map(problems.map(each => [each.line, each.text]));
  const lines = text.split("\n"), from = Math.max(0, Math.floor(top / HEIGHT) - 2);
  const numbers = lines.slice(from, from + LINES).map((_, place) => from + place + 1);
  let begins = START;
  const painted = lines.slice(0, from + LINES).map(line => {
    const [pieces, next] = colour(line, begins);
    begins = next;
    return pieces;
  }).slice(from);
  const go = line => {
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    area.current.focus();
    area.current.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    area.current.scrollTop = Math.max(0, (line - 5) * HEIGHT);
  };
  return html`<div class="editor"><div class="sheet">
      <div class="gutter" aria-hidden="true"><div style=${{top: `${TOP + from * HEIGHT - top}px`}}>${numbers.map(number => html`
        <i key=${number} class=${wrong.has(number) ? "wrong" : ""} title=${wrong.get(number) ?? ""}>${number}</i>`)}</div></div>
      <div class="paint" aria-hidden="true"><div style=${{top: `${TOP + from * HEIGHT - top}px`, left: `${LEFT - left}px`}}>${painted.map((pieces, place) => html`
        <div key=${from + place} class=${wrong.has(from + place + 1) ? "wrong" : ""}>${pieces.map(([kind, piece]) => html`<span class=${kind}>${piece}</span>`)}</div>`)}</div></div>
      <textarea ref=${area} defaultValue=${first} aria-label=${label} wrap="off" spellcheck=${false} autocapitalize="off" autocomplete="off"
        aria-autocomplete="list" aria-controls="options" aria-activedescendant=${list && list.at >= 0 ? `option-${list.at}` : undefined}
        aria-invalid=${String(problems.length > 0)} aria-describedby="wrong"
        onScroll=${({currentTarget: {scrollTop, scrollLeft}}) => { scroll([scrollTop, scrollLeft]); setList(null); }}
        onInput=${event => { if (!replaces.current) { change(event.currentTarget.value); offer(false); } }}
        onKeyDown=${key} onClick=${() => setList(null)} onBlur=${() => setList(null)}/>
      <ul id="options" class="options" role="listbox" aria-label="Completions" hidden=${!list}
        style=${list ? {top: `${TOP + list.line * HEIGHT - top}px`, left: `calc(${list.column}ch + ${LEFT - left}px)`, "max-height": `${SHOWN * 22}px`} : {}}>
        ${list?.options.map((each, at) => html`<li id=${`option-${at}`} key=${each.label} role="option" aria-selected=${String(at === list.at)}
          ref=${at === list.at ? chosen : undefined} onMouseDown=${event => { event.preventDefault(); take(each); }}>
          <b>${each.label}</b> ${each.about}</li>`)}</ul></div>
    <div id="wrong" role="status"><ul class="faults">${problems.map(each => html`
      <li><button onClick=${() => go(each.line)}>line ${each.line}</button> ${plain(each.text)}</li>`)}</ul></div></div>`;
}
