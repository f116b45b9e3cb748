// Calls of the API. The token comes in the address once, and stays in this tab.
const given = new URLSearchParams(location.hash.slice(1));
if (given.has("token")) {
  sessionStorage.setItem("token", given.get("token"));
  given.delete("token");
  history.replaceState(null, "", "#" + given);
}

async function call(path) {
  const headers = {Authorization: "Bearer " + sessionStorage.getItem("token")};
  const answer = await fetch("/api/" + path, {headers});
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body;
}

export const source = () => call("source");
export const columns = () => call("columns");
export const numbers = (after, filter) => call("exchanges?" + new URLSearchParams({after, filter}));
export const rows = numbers => call("rows?numbers=" + numbers.join(","));
export const exchange = number => call("exchanges/" + number);
