// An element with properties and children; all that came from the wire is text.
export function h(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter(child => child !== null));
  return made;
}

const odd = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g;
export const plain = text => String(text).replace(odd, c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
