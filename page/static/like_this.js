// Messages like this one: a rule whose match is filled in from an exchange, and made narrower or wider by ticks.
import {call} from "./api.js";
import {append, Would} from "./rules.js";
import {go, set, state} from "./store.js";
import {plain} from "./text.js";
import {html, useEffect, useRef, useState} from "./vendor/preact.js";

const ACTS = [
  ["delay", "delay"], ["hold", "hold, until it is released"], ["breakpoint", "stop at"], ["respond", "refuse with an error"], ["drop", "drop"], ["edit", "change a field of"],
  ["lose_reply", "lose the reply to"], ["duplicate", "repeat"], ["corrupt", "corrupt"], ["truncate", "cut off"], ["throttle", "slow down"],
  ["close", "close the connection at"], ["reset", "reset the connection at"],
];

export function LikeThis({number}) {
  const dialog = useRef(), turn = useRef(0);
  const [want, ask] = useState({do: "delay", direction: "request", fields: null, settings: null});
  const [found, put] = useState(null), [rule, write] = useState(""), [tried, count] = useState(null), [problem, say] = useState("");
  const [answered, answer] = useState(null);  // the wish that the rule's text is of
  const close = () => set({likeThis: null});
  useEffect(() => { dialog.current.showModal(); }, []);
  useEffect(() => {
    const mine = ++turn.current, {settings, fields, ...rest} = want;
    const body = {exchange: number, ...rest, ...fields && {fields}, ...settings && {settings}};
    call("POST", "/scenario/draft", JSON.stringify(body)).then(value => {
      if (mine !== turn.current) return;
      put(value);
      write(value.rule);
      say("");
      answer(want);
    }, refused => {
      if (mine !== turn.current) return;
      say(refused.message);
      answer(want);
    });
  }, [number, want]);
  useEffect(() => {
    const mine = turn.current, timer = setTimeout(() => {
      const alone = "version: 1\nrules:\n" + rule.trimEnd().split("\n").map((line, at) => (at ? "  " : "- ") + line).join("\n");
      if (rule) call("POST", "/scenario/try", alone).then(value => { if (mine === turn.current) { count(value); say(""); } }, refused => { count(null); say(refused.message); });
    }, 200);
    return () => clearTimeout(timer);
  }, [rule]);
  const parts = found?.parts ?? [], kept = want.fields ?? parts.filter(part => part.kept).map(part => part.name);
  const stale = Boolean(problem) || answered !== want;
  const tick = name => ask({...want, fields: kept.includes(name) ? kept.filter(each => each !== name) : [...kept, name]});
  const add = () => call("POST", "/scenario/rules", rule).then(() => { close(); go({view: "rules"}); }, refused => say(refused.message));
  return html`<dialog ref=${dialog} class="like" aria-labelledby="like-title" onClose=${close} onKeyDown=${event => event.stopPropagation()}>
    <h2 id="like-title">Messages like exchange ${number}</h2>
    <div class="fields">
      <label>do <select value=${want.do} onChange=${event => ask({...want, do: event.currentTarget.value, settings: null, ...event.currentTarget.value === "respond" && {direction: "request", fields: null}})}>
        ${ACTS.map(([name, label]) => html`<option value=${name}>${label}</option>`)}</select></label>
      <label>the <select value=${want.direction} onChange=${event => ask({...want, direction: event.currentTarget.value, fields: null, settings: null})}>
        <option value="request">request</option><option value="response">response</option></select></label>
      <label>with <input value=${want.settings ?? found?.settings ?? ""} spellcheck=${false} autocomplete="off"
        onInput=${event => ask({...want, settings: event.currentTarget.value})}/></label>
    </div>
    <fieldset><legend>where it has the same</legend>${parts.map(part => html`<label key=${part.name}>
      <input type="checkbox" checked=${kept.includes(part.name)} onChange=${() => tick(part.name)}/> ${part.name} <code>${plain([part.value].flat().join(", "))}</code></label>`)}</fieldset>
    <label>the rule <textarea rows=${Math.min(16, rule.split("\n").length + 1)} wrap="off" spellcheck=${false} value=${rule} onInput=${event => { say(""); write(event.currentTarget.value); }}/></label>
    <p role="status">${problem ? html`<span class="problem">${plain(problem)}</span>`
      : tried && html`Of the last ${tried.exchanges} exchanges: <${Would} rule=${tried.rules[0]} exchanges=${tried.exchanges}/>`}</p>
    <div class="bar">
      ${state.source.kind === "live" && html`<button class="primary" disabled=${stale} onClick=${add}>Add the rule</button>`}
      <button disabled=${stale} onClick=${() => { append(rule); close(); go({view: "rules"}); }}>Take it to the editor</button>
      <button onClick=${close}>Cancel</button>
    </div></dialog>`;
}
