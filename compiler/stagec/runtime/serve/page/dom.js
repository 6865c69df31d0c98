// Elements made of names and texts: nothing here ever reads markup.

const SVG = "http://www.w3.org/2000/svg";

// What moves other text about, or is not seen: controls, directions, characters without width, half characters.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;

const spell = (found) => [...found].map((each) => `\\u{${each.codePointAt(0).toString(16)}}`).join("");

/** Return a text of any length as it can be shown between others. */
export const shown = (text) => String(text).replace(UNSEEN, spell);

/** A part of an address as the text that it means; one that means none is the text as it is. */
export const decodePart = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** Return a name on one line. */
export const shownName = (text) => shown(text).replace(/[\t\n]/g, spell);

const append = (node, children) => {
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) {
      node.append(child instanceof Node ? child : shown(child));
    }
  }
  return node;
};

/** Make an element; `on…` are listeners, other attributes are texts, and those that are null or false are left out. */
export const el = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, told] of Object.entries(attributes)) {
    if (typeof told === "function") node.addEventListener(key.slice(2), told);
    else if (told === true) node.setAttribute(key, "");
    else if (told !== null && told !== false && told !== undefined) node.setAttribute(key, told);
  }
  return append(node, children);
};

export const svg = (name, attributes = {}, ...children) => {
  const node = document.createElementNS(SVG, name);
  for (const [key, told] of Object.entries(attributes)) node.setAttribute(key, told);
  return append(node, children);
};

/** Put children in place of what an element holds. */
export const fill = (node, ...children) => {
  node.replaceChildren();
  return append(node, children);
};

/** Set a text if it is another one: what has not changed is not drawn again. */
export const put = (node, text) => {
  const told = shownName(text);
  if (node.textContent !== told) node.textContent = told;
};

/** Set or remove an attribute. */
export const mark = (node, name, told) => {
  if (told === null || told === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(told)) node.setAttribute(name, told);
};

/** A name in the middle of a sentence, whatever its direction. */
export const bdi = (text, className = null) => el("bdi", { class: className }, shownName(text));

/** Return `1 event` or `2 events`. */
export const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** Tell it to whoever listens to the page. */
export const announce = (text) => {
  document.getElementById("news").textContent = shownName(text);
};
