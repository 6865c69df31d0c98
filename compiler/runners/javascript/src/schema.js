/** JSON Schema of drafts 4, 6, 7, 2019-09 and 2020-12, as far as schemas of plans need it (§ 2.1 of the format). */

import { has, names, parse, same, write } from "./json.js";

export class Refused extends Error {}

/** Return what a function makes, null where it throws. */
export function attempt(make) {
  try {
    return make();
  } catch {
    return null;
  }
}
const succeeds = (make) => Boolean(attempt(make));

const DIALECT = /^https?:\/\/json-schema\.org\/(?:draft-0([467])|draft\/(?:(2019)-09|(2020)-12))\/schema#?$/;
/** From which draft on a keyword means something, and until which; every other keyword always does. */
const SINCE = {
  ...{ const: 6, contains: 6, propertyNames: 6, contentEncoding: 6, contentMediaType: 6, if: 7 },
  ...{ dependentRequired: 2019, dependentSchemas: 2019, unevaluatedProperties: 2019, unevaluatedItems: 2019 },
  ...{ $recursiveRef: 2019, prefixItems: 2020, $dynamicRef: 2020 },
};
const UNTIL = { additionalItems: 2019, format: 7, contentEncoding: 7, contentMediaType: 7, $recursiveRef: 2019 };
/** Keywords that contain no schemas, and those that judge what no other keyword has judged. */
const OPAQUE = ["enum", "const", "default", "examples"];
const LATE = ["unevaluatedProperties", "unevaluatedItems"];

const patterns = new Map();
/** Return a regular expression in the dialect of `pattern`, or null. `\-` is an error only where `u` is set. */
export function regex(source) {
  const make = () => attempt(() => new RegExp(source, "u")) ?? attempt(() => new RegExp(source));
  if (!patterns.has(source)) patterns.set(source, make());
  return patterns.get(source);
}

const fitsPattern = (source, text) => regex(source).test(text);

const NAME = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
const HOST = new RegExp(`^(?=.{1,253}$)${NAME}(\\.${NAME})*$`, "i");
const USER = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
const HOUR = "([01]\\d|2[0-3]):[0-5]\\d";
const CLOCK = new RegExp(`^(${HOUR}:[0-5]\\d(\\.\\d+)?(z|[+-]${HOUR})|23:59:60(\\.\\d+)?(z|[+-]00:00))$`, "i");
const LETTER = "[\\w\\-.~:/?@!$&'()*+,;=]|%[0-9a-f]{2}";
const REFERENCE = new RegExp(`^([a-z][a-z0-9+.-]*:)?(${LETTER}|[[\\]])*(#(${LETTER})*)?$`, "i");
const POINTER = "(/([^~/]|~[01])*)*";
const matches = (pattern) => (text) => new RegExp(pattern).test(text);
const isDay = (text) => /^\d{4}-\d\d-\d\d$/.test(text) && succeeds(() => new Date(text).toISOString().startsWith(text));
const FORMATS = {
  ...{ date: isDay, time: matches(CLOCK), hostname: matches(HOST), "uri-reference": matches(REFERENCE) },
  ...{ "json-pointer": matches(`^${POINTER}$`), "relative-json-pointer": matches(`^(0|[1-9]\\d*)(#|${POINTER})$`) },
  "date-time": (text) => /^.{10}t/i.test(text) && isDay(text.slice(0, 10)) && CLOCK.test(text.slice(11)),
  email: (text) => USER.test(text.replace(/@[^@]*$/, "")) && text.includes("@") && HOST.test(text.split("@").at(-1)),
  ipv4: matches(/^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(?!$)|$)){4}$/),
  ipv6: (text) => /^[0-9a-f:.]+$/i.test(text) && succeeds(() => new URL(`http://[${text}]/`)),
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && REFERENCE.test(text),
  regex: (text) => regex(text) !== null,
};
/** Formats that are not judged here: a plan with one is refused. */
const UNKNOWN = ["idn-email", "idn-hostname", "iri", "iri-reference", "uri-template"];
/** The drafts that define formats; in earlier ones these always hold. */
const FORMAT_SINCE = {
  ...{ "uri-reference": 6, "uri-template": 6, "json-pointer": 6 },
  ...{ "relative-json-pointer": 7, "idn-hostname": 7, iri: 7, "iri-reference": 7 },
};
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** One schema that is ready to judge values. */
export class Schema {
  constructor(text, at = "#") {
    const root = parse(text);
    this.draft = has(Object(root), "$schema") ? Number(DIALECT.exec(root.$schema)?.findLast(Boolean)) : 2020;
    if (!this.draft) throw new Refused(`the dialect ${root.$schema} is not known`);
    this.places = new Map();
    this.bases = new Map();
    this.index(root, "stagec:/", true);
    const resources = new Set(this.bases.values()).size;
    if (resources > 1 && /"\$(?:dynamic|recursive)Ref":/.test(write(root))) {
      throw new Refused("dynamic references lead from resource to resource");
    }
    this.start = at === "#" ? root : this.find(at, root);
  }

  /** Note the address of each schema, and the base of the references in it. */
  index(schema, base, isRoot = false) {
    if (schema === null || typeof schema !== "object") return;
    const id = schema[this.draft === 4 ? "id" : "$id"];
    const counts = typeof id === "string" && !(this.draft < 2019 && has(schema, "$ref"));
    if (counts) base = new URL(id, base).href.replace(/#$/, "");
    if (counts || isRoot) this.places.set(base, schema);
    const anchors = this.draft < 2019 ? [] : [schema.$anchor, schema.$dynamicAnchor];
    for (const each of anchors) if (typeof each === "string") this.places.set(`${base}#${each}`, schema);
    this.bases.set(schema, base);
    const { format } = schema;
    if (UNKNOWN.includes(format) && this.judges(format)) throw new Refused(`nothing judges ${format} here`);
    const sources = [schema.pattern, ...Object.keys(schema.patternProperties ?? {})];
    const isPattern = (each) => typeof each !== "string" || regex(each) !== null;
    if (!sources.every(isPattern)) throw new Refused("a pattern is no regular expression");
    for (const name of Object.keys(schema)) if (!OPAQUE.includes(name)) this.index(schema[name], base);
  }

  judges(format) { return this.draft <= 7 && this.draft >= (FORMAT_SINCE[format] ?? 4); }

  find(reference, from) {
    const address = new URL(reference, this.bases.get(from)).href.replace(/#$/, "");
    if (this.places.has(address)) return this.places.get(address);
    const [base, pointer = ""] = address.split("#");
    let found = this.places.get(base);
    for (const part of decodeURIComponent(pointer).split("/").slice(1)) {
      found = found?.[part.replaceAll("~1", "/").replaceAll("~0", "~")];
    }
    if (found === undefined) throw new Refused(`the reference ${reference} leads out of its schema`);
    return found;
  }

  /** Say whether a value satisfies the schema. */
  accepts(value) { return new Judgement(this, this.start, value).holds(); }
}

const kindOf = (value) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

/** A schema that judges a value; `seen` are the names of members, or the indexes of elements, that it has judged. */
class Judgement {
  constructor(whole, schema, value) { Object.assign(this, { whole, schema, value, seen: new Set() }); }

  holds() {
    const { whole: { draft }, schema, value } = this;
    if (typeof schema === "boolean") return schema;
    const judges = KEYWORDS[kindOf(value)] ?? ANY;
    const counts = (name) => has(judges, name) && draft >= (SINCE[name] ?? 0) && draft <= (UNTIL[name] ?? draft);
    const keywords = draft < 2019 && has(schema, "$ref") ? ["$ref"] : names(schema).filter(counts);
    keywords.sort((one, other) => LATE.includes(one) - LATE.includes(other));
    return keywords.every((name) => judges[name](schema[name], value, this));
  }

  /** Say whether a value fits another schema. */
  fits(schema, value) { return new Judgement(this.whole, schema, value).holds(); }

  /** Say whether the same value fits another schema; what that has judged is judged then. */
  inPlace(schema) {
    const other = new Judgement(this.whole, schema, this.value);
    const isFit = other.holds();
    for (const key of isFit ? other.seen : []) this.seen.add(key);
    return isFit;
  }

  /** Say whether members or elements fit a schema, and note that they are judged. */
  parts(keys, schema) { return keys.every((key) => this.fits(schema, this.value[key]) && this.seen.add(key)); }
}

/** Say whether one decimal number is a multiple of another one, exactly. */
function isMultiple(value, of) {
  const parts = [value, of].map((each) => /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(each)));
  const exponents = parts.map(([, , fraction = "", exponent = 0]) => Number(exponent) - fraction.length);
  const scale = (index) => 10n ** BigInt(exponents[index] - Math.min(...exponents));
  const [one, other] = parts.map(([, digits, fraction = ""], index) => BigInt(digits + fraction) * scale(index));
  return one % other === 0n;
}

// Each keyword judges by its own value, the value that is judged, and the judgement that it is part of.

const keys = Object.keys;
const size = (value) => (typeof value === "string" ? [...value] : keys(value)).length;
const atLeast = (given, value) => size(value) >= given;
const atMost = (given, value) => size(value) <= given;
const refer = (given, _, at) => at.inPlace(at.whole.find(given, at.schema));
const listed = (given, value, at) => keys(given).every((key) => !has(value, key) || at.parts([key], given[key]));
const unevaluated = (given, value, at) => at.parts(keys(value).filter((key) => !at.seen.has(key)), given);
const dependent = (given, value, at) => {
  const wanted = keys(given).filter((name) => has(value, name)).map((name) => given[name]);
  return wanted.every((each) => (Array.isArray(each) ? each.every((name) => has(value, name)) : at.inPlace(each)));
};

const ANY = {
  ...{ $ref: refer, $dynamicRef: refer, $recursiveRef: refer },
  type: (given, value) => {
    const kinds = Number.isInteger(value) ? ["integer", "number"] : [kindOf(value)];
    return kinds.some((each) => [given].flat().includes(each));
  },
  enum: (given, value) => given.some((each) => same(each, value)),
  const: same,
  allOf: (given, _, at) => given.every((each) => at.inPlace(each)),
  anyOf: (given, _, at) => given.filter((each) => at.inPlace(each)).length > 0,
  oneOf: (given, value, at) => {
    const fit = given.filter((each) => at.fits(each, value));
    return fit.length === 1 && at.inPlace(fit[0]);
  },
  not: (given, value, at) => !at.fits(given, value),
  if: (given, _, at) => at.inPlace((at.inPlace(given) ? at.schema.then : at.schema.else) ?? true),
};

const KEYWORDS = {
  number: {
    ...ANY,
    minimum: (given, value, { schema }) => (schema.exclusiveMinimum === true ? value > given : value >= given),
    maximum: (given, value, { schema }) => (schema.exclusiveMaximum === true ? value < given : value <= given),
    exclusiveMinimum: (given, value) => typeof given === "boolean" || value > given,
    exclusiveMaximum: (given, value) => typeof given === "boolean" || value < given,
    multipleOf: (given, value) => isMultiple(value, given),
  },
  string: {
    ...{ ...ANY, minLength: atLeast, maxLength: atMost, pattern: fitsPattern },
    format: (given, value, { whole }) => !has(FORMATS, given) || !whole.judges(given) || FORMATS[given](value),
    contentEncoding: (given, value) => given !== "base64" || BASE64.test(value),
    contentMediaType: (given, value, { schema }) => {
      const text = () => (schema.contentEncoding === "base64" ? atob(value) : value);
      return given !== "application/json" || succeeds(() => [parse(text())]);
    },
  },
  array: {
    ...{ ...ANY, minItems: atLeast, maxItems: atMost, prefixItems: listed, unevaluatedItems: unevaluated },
    uniqueItems: (given, value) =>
      !given || value.every((one, index) => !value.slice(0, index).some((other) => same(one, other))),
    contains: (given, value, at) => {
      const { draft } = at.whole;
      const found = keys(value).filter((key) => at.fits(given, value[key]));
      if (draft === 2020) for (const key of found) at.seen.add(key);
      const { minContains = 1, maxContains = Infinity } = draft >= 2019 ? at.schema : {};
      return found.length >= minContains && found.length <= maxContains;
    },
    items: (given, value, at) => {
      if (Array.isArray(given)) return listed(given, value, at);
      const before = at.whole.draft === 2020 ? size(at.schema.prefixItems ?? []) : 0;
      return at.parts(keys(value).slice(before), given);
    },
    additionalItems: (given, value, at) => {
      const { items } = at.schema;
      return !Array.isArray(items) || at.parts(keys(value).slice(items.length), given);
    },
  },
  object: {
    ...{ ...ANY, minProperties: atLeast, maxProperties: atMost, properties: listed },
    ...{ dependentRequired: dependent, dependentSchemas: dependent, dependencies: dependent },
    required: (given, value) => given.every((name) => has(value, name)),
    patternProperties: (given, value, at) =>
      keys(given).every((source) => at.parts(keys(value).filter((name) => fitsPattern(source, name)), given[source])),
    additionalProperties: (given, value, at) => {
      const { properties = {}, patternProperties = {} } = at.schema;
      const isNamed = (name) => keys(patternProperties).some((source) => fitsPattern(source, name));
      return at.parts(keys(value).filter((name) => !has(properties, name) && !isNamed(name)), given);
    },
    unevaluatedProperties: unevaluated,
    propertyNames: (given, value, at) => keys(value).every((name) => at.fits(given, name)),
  },
};
