// Calls of the API. The token comes in the address once, and stays in this tab.
const given = new URLSearchParams(location.hash.slice(1));
if (given.has("token")) {
  sessionStorage.setItem("token", given.get("token"));
  given.delete("token");
  history.replaceState(null, "", "#" + given);
}

const VERSION = "/v1";

async function ask(path, options = {}) {
  const headers = {Authorization: "Bearer " + sessionStorage.getItem("token"), ...options.headers};
  let answer;
  try {
    answer = await fetch(VERSION + path, {...options, headers});
  } catch (problem) {
    throw problem.name === "AbortError" ? problem : new Error("barnabas has stopped: start it again, and open its new address");
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({error: answer.statusText}));
  const why = answer.status === 401 ? "this address has no token (any longer): open the one that barnabas printed" : said.error;
  throw Object.assign(new Error(why), {status: answer.status});
}

// a number holds 53 bits; a browser that does not say what stood there (before 2025) shows what it has
const whole = (_, value, context) => context && Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
export const call = (method, path, body) => ask(path, {method, body}).then(answer => answer.text()).then(text => JSON.parse(text, whole));
export const get = path => call("GET", path);
export const source = () => get("/source");
export const columns = () => get("/columns");
export const values = column => get("/values?" + new URLSearchParams({column}));
export const rows = numbers => get("/exchanges/rows?numbers=" + numbers.join(","));
export const order = (order, filter) => get("/exchanges/order?" + new URLSearchParams({order, filter}));
export const retries = after => get("/exchanges/retries?after=" + after);
export const take = wanted => ask("/take", {method: "POST", body: JSON.stringify(wanted)}).then(async answer => ({
  name: answer.headers.get("Content-Disposition").match(/filename="(.+)"/)[1],
  said: answer.headers.get("Barnabas-Said"),
  data: await answer.blob(),
}));
export const exchange = number => get("/exchanges/" + number);

// lines of JSON as they come, until they end or `signal` ends them
export async function follow(after, filter, signal, take) {
  const answer = await ask("/exchanges/follow?" + new URLSearchParams({after, filter}), {signal});
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const {value, done} = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) take(JSON.parse(line));
  }
}
