// Fields of a form, made of a JSON Schema: each knows its value, and what is wrong with it.

import { bdi, decodePart, el, shownName } from "/static/dom.js";

const DEEPEST = 6;
const LONG = 200;
let number = 0;

/** What is wrong with what somebody has typed. */
class Wrong extends Error {}

/** Follow references inside a schema; one that leads nowhere allows anything. */
const follow = (schema, root) => {
  let found = schema;
  for (let steps = 0; steps < 32 && found && typeof found === "object" && typeof found.$ref === "string"; steps++) {
    if (!found.$ref.startsWith("#/")) return {};
    let target = root;
    for (const part of found.$ref.slice(2).split("/")) {
      const name = decodePart(part).replaceAll("~1", "/").replaceAll("~0", "~");
      target = target && typeof target === "object" && Object.hasOwn(target, name) ? target[name] : undefined;
    }
    found = target;
  }
  return found && typeof found === "object" && found.$ref === undefined ? found : {};
};

const write = (given) => (typeof given === "string" ? given : JSON.stringify(given));
const describeRange = (least, most, noun) => {
  if (least === 1 && noun && most === undefined) return "not empty";
  if (least !== undefined && most !== undefined) return `${least} to ${most}${noun}`;
  if (least !== undefined) return `at least ${least}${noun}`;
  return most === undefined ? "" : `at most ${most}${noun}`;
};
const check = (fits, why) => {
  if (!fits) throw new Wrong(why);
};

const KINDS = {
  integer: {
    hint: (schema) => `a whole number ${describeRange(schema.minimum, schema.maximum, "")}`,
    mode: "numeric",
    read: (text, schema) => {
      check(/^[+-]?\d+$/.test(text.trim()), "a whole number is expected");
      check(Number.isSafeInteger(Number(text)), "the number is too large to be exact");
      return readNumber(Number(text), schema);
    },
  },
  number: {
    hint: (schema) => `a number ${describeRange(schema.minimum, schema.maximum, "")}`,
    mode: "decimal",
    read: (text, schema) => {
      check(/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) && Number.isFinite(Number(text)), "a number is expected");
      return readNumber(Number(text), schema);
    },
  },
  string: {
    hint: (schema) => (schema.minLength || schema.maxLength ? describeRange(schema.minLength, schema.maxLength, " characters") : ""),
    read: (text, schema) => {
      const { length } = [...text];
      check(schema.minLength === undefined || length >= schema.minLength, `at least ${schema.minLength} ${schema.minLength === 1 ? "character is" : "characters are"} expected`);
      check(schema.maxLength === undefined || length <= schema.maxLength, `at most ${schema.maxLength} characters are allowed, and there are ${length}`);
      return text;
    },
  },
  json: {
    hint: (schema) => (schema.type === "array" ? "a list, as JSON: [1, 2]" : schema.type === "object" ? 'an object, as JSON: {"a": 1}' : "JSON"),
    read: (text, schema) => {
      const found = parse(text);
      check(schema.type !== "array" || Array.isArray(found), "a list is expected: [1, 2]");
      check(schema.type !== "object" || (found !== null && typeof found === "object" && !Array.isArray(found)), 'an object is expected: {"a": 1}');
      check(!Array.isArray(found) || schema.minItems === undefined || found.length >= schema.minItems, `at least ${schema.minItems} elements are expected`);
      check(!Array.isArray(found) || schema.maxItems === undefined || found.length <= schema.maxItems, `at most ${schema.maxItems} elements are allowed`);
      return found;
    },
  },
};

const readNumber = (found, schema) => {
  check(schema.minimum === undefined || found >= schema.minimum, `at least ${schema.minimum} is expected`);
  check(schema.maximum === undefined || found <= schema.maximum, `at most ${schema.maximum} is allowed`);
  return found;
};

const parse = (text) => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Wrong(`this is not JSON: ${error.message}`);
  }
};

/** Return the label, the hint and the place for what is wrong, around a control. */
const frame = (name, control, { isRequired, description, hint }) => {
  const id = `field-${number++}`;
  const wrong = el("p", { class: "wrong", id: `${id}-wrong` });
  const told = [description ? shownName(description) : "", hint.trim()].filter(Boolean).join(" · ");
  const about = el("p", { class: "said", id: `${id}-about` }, told || null);
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-about ${id}-wrong`);
  if (isRequired) control.setAttribute("aria-required", "true");
  const node = el("div", { class: "field" }, el("label", { for: id }, bdi(name), isRequired ? null : " (may be left out)"), about, control, wrong);
  const complain = (why) => {
    wrong.textContent = shownName(why);
    control.setAttribute("aria-invalid", why ? "true" : "false");
  };
  return { node, control, complain };
};

/** A field whose value is chosen among several. */
const makeChoice = (name, choices, about) => {
  const select = el("select", {}, el("option", { value: "" }, about.isRequired ? "choose …" : "not given"));
  for (const [at, each] of choices.entries()) {
    select.append(el("option", { value: String(at), selected: about.start !== undefined && write(each) === write(about.start) }, shownName(write(each)) || '""'));
  }
  const made = frame(name, select, { ...about, hint: "" });
  return {
    ...made,
    read: () => {
      check(select.value !== "" || !about.isRequired, "one of these is expected");
      return select.value === "" ? undefined : choices[Number(select.value)];
    },
  };
};

/** A field that somebody types in. */
const makeText = (name, kind, schema, about) => {
  const isLong = kind === KINDS.json || (kind === KINDS.string && !(schema.maxLength <= LONG) && schema.format === undefined);
  const start = about.start === undefined || about.start === null ? "" : kind === KINDS.string ? String(about.start) : JSON.stringify(about.start, null, 2);
  const control = isLong
    ? el("textarea", { rows: kind === KINDS.json ? "5" : "2", spellcheck: kind === KINDS.string ? null : "false", dir: "auto" })
    : el("input", { type: "text", inputmode: kind.mode ?? null, autocomplete: "off", dir: "auto" });
  control.value = start;
  const made = frame(name, control, { ...about, hint: kind.hint(schema) });
  return {
    ...made,
    read: () => {
      check(control.value !== "" || !about.isRequired, "this is missing");
      return control.value === "" ? undefined : kind.read(control.value, schema);
    },
  };
};

/** A field of several others. Names may be anything, so that the object has no prototype. */
const makeGroup = (name, schema, root, about, depth) => {
  const wanted = new Set(Array.isArray(schema.required) ? schema.required : []);
  const start = about.start !== null && typeof about.start === "object" ? about.start : {};
  const inside = Object.entries(schema.properties).map(([key, each]) => [
    key,
    makeField(key, each, root, { isRequired: wanted.has(key), start: Object.hasOwn(start, key) ? start[key] : undefined }, depth + 1),
  ]);
  const wrong = el("p", { class: "wrong", tabindex: "-1" });
  const node = el(
    "fieldset",
    { class: "field" },
    el("legend", {}, bdi(name), about.isRequired ? null : " (may be left out)"),
    about.description ? el("p", { class: "said" }, shownName(about.description)) : null,
    wrong,
    ...inside.map(([, field]) => field.node),
  );
  const isEmpty = () => !about.isRequired && inside.every(([, field]) => field.isEmpty());
  return {
    node,
    control: wrong,
    complain: (why) => {
      wrong.textContent = shownName(why);
    },
    isEmpty,
    read: () => {
      if (isEmpty()) return undefined;
      const found = Object.create(null);
      let failed = null;
      for (const [key, field] of inside) {
        const told = readField(field);
        if (told === FAILED) failed ??= field;
        else if (told !== undefined) found[key] = told;
      }
      if (failed !== null) throw failed;
      return found;
    },
  };
};

export const FAILED = Symbol("failed");

/** Return the value of a field, undefined where none is given; show what is wrong with it otherwise. */
export const readField = (field) => {
  field.complain("");
  try {
    return field.read();
  } catch (error) {
    if (error instanceof Wrong) field.complain(error.message);
    else if (error?.complain === undefined) throw error;
    return FAILED;
  }
};

/** Make the field of a schema. */
export const makeField = (name, given, root, about, depth = 0) => {
  const schema = follow(given, root);
  const own = { description: schema.description ?? schema.title, start: schema.default, ...about };
  if (own.start === undefined) own.start = schema.default;
  const choices = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : schema.type === "boolean" ? [true, false] : null;
  let made;
  if (choices !== null) made = makeChoice(name, choices, own);
  else if (schema.type === "object" && schema.properties && depth < DEEPEST) made = makeGroup(name, schema, root, own, depth);
  else made = makeText(name, Object.hasOwn(KINDS, schema.type) ? KINDS[schema.type] : KINDS.json, schema, own);
  made.isEmpty ??= () => made.control.value === "";
  return made;
};
