// What comes from the wire is text, and what can't be seen is written out.
const odd = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/gu;
export const plain = text => String(text).replace(odd, c => "\\u" + c.codePointAt(0).toString(16).padStart(4, "0"));
export const count = number => number.toLocaleString("en");
export const plural = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;
// 64-bit integers, which a number does not hold, stand as BigInt
export const json = (value, indent) => JSON.stringify(value, (_, each) => typeof each === "bigint" ? JSON.rawJSON(each) : each, indent);
export const ms = value => value === null ? "" : value < 10 ? value.toFixed(2) : value.toFixed(0);
export const bytes = size => size < 10000 ? `${size} B` : size < 1e7 ? `${(size / 1024).toFixed(0)} KiB` : `${(size / 1048576).toFixed(0)} MiB`;
// times are ns since the epoch, as text: they exceed what a number holds
export const toMs = ns => Number(BigInt(ns) / 1000n) / 1000;
export const clock = ns => new Date(toMs(ns)).toISOString().slice(11, 23);
// a value as a filter has it: a literal of JMESPath
export const literal = value => typeof value === "number" ? `\`${value}\`` : /['\\]/.test(value) ? "`" + JSON.stringify(value).replaceAll("`", "\\`") + "`" : `'${value}'`;
