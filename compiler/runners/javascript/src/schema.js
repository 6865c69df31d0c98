/** JSON Schema of drafts 4, 6, 7, 2019-09 and 2020-12, as far as schemas of plans need it (§ 2.1 of the format). */

import { has, isObject, names, parse, same, write } from "./json.js";

export class Refused extends Error {}

const DIALECT = /^https?:\/\/json-schema\.org\/(?:draft-0([467])|draft\/(?:(2019)-09|(2020)-12))\/schema#?$/;
/** From which draft on a keyword means something, and until which; every other keyword always does. */
const SINCE = { const: 6, contains: 6, propertyNames: 6, if: 7, dependentRequired: 2019, dependentSchemas: 2019 };
Object.assign(SINCE, { unevaluatedProperties: 2019, unevaluatedItems: 2019, $recursiveRef: 2019, prefixItems: 2020, $dynamicRef: 2020 });
const UNTIL = { additionalItems: 2019, format: 7, contentEncoding: 7, contentMediaType: 7, $recursiveRef: 2019 };
const OPAQUE = new Set(["enum", "const", "default", "examples"]);
const LATE = ["unevaluatedProperties", "unevaluatedItems"];

/** Return what a function makes, null where it throws. */
export const attempt = (make) => {
  try {
    return make();
  } catch {
    return null;
  }
};
const succeeds = (make) => Boolean(attempt(make));
const day = (text) => /^\d{4}-\d\d-\d\d$/.test(text) && succeeds(() => new Date(text).toISOString().startsWith(text));
const CLOCK = /^(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)|23:59:60(?:\.\d+)?(?:z|[+-]00:00))$/i;
const host = (text) => text.length < 254 && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(text);
const ip4 = (text) => /^(?:(?:25[0-5]|2[0-4]\d|1?\d\d|\d)(?:\.(?!$)|$)){4}$/.test(text) && !/(^|\.)0\d/.test(text);
const ip6 = (text) => /^[0-9a-f:.]+$/i.test(text) && succeeds(() => new URL(`http://[${text}]/`));
const REFERENCE = /^(?:[a-z][a-z0-9+.-]*:)?(?:[\w\-.~:/?@!$&'()*+,;=[\]]|%[0-9a-f]{2})*(?:#(?:[\w\-.~:/?@!$&'()*+,;=]|%[0-9a-f]{2})*)?$/i;
const mail = (text) => {
  const at = text.lastIndexOf("@");
  return /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i.test(text.slice(0, Math.max(at, 0))) && host(text.slice(at + 1));
};
const FORMATS = {
  date: day,
  time: (text) => CLOCK.test(text),
  "date-time": (text) => /^.{10}[tT]/.test(text) && day(text.slice(0, 10)) && CLOCK.test(text.slice(11)),
  email: mail,
  ...{ hostname: host, ipv4: ip4, ipv6: ip6 },
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && REFERENCE.test(text),
  "uri-reference": (text) => REFERENCE.test(text),
  "json-pointer": (text) => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text),
  "relative-json-pointer": (text) => /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/.test(text),
  regex: (text) => regex(text) !== null,
};
/** Formats that drafts 4, 6 or 7 define and that are not judged here: a plan with one is refused. */
const UNKNOWN = new Set(["idn-email", "idn-hostname", "iri", "iri-reference", "uri-template"]);

/** Return a regular expression in the dialect of `pattern`; null for what is none. `\-` is an error in the strict one only. */
export const regex = (source) => attempt(() => new RegExp(source, "u")) ?? attempt(() => new RegExp(source));

const typed = (type) => (value) => typeof value === type;
const TYPES = { string: typed("string"), boolean: typed("boolean"), number: typed("number"), null: (value) => value === null };
Object.assign(TYPES, { integer: Number.isInteger, array: Array.isArray, object: isObject });

/** Say whether one decimal number is a multiple of another one, exactly. */
function isMultiple(value, of) {
  const parts = [value, of].map((each) => /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(each)));
  const exponents = parts.map((part) => Number(part[3] ?? 0) - (part[2] ?? "").length);
  const least = Math.min(...exponents);
  const [one, other] = parts.map((part, index) => BigInt(part[1] + (part[2] ?? "")) * 10n ** BigInt(exponents[index] - least));
  return one % other === 0n;
}

/** One schema that is ready to judge values. */
export class Schema {
  constructor(text, at = "") {
    this.root = typeof text === "string" ? parse(text) : text;
    const named = isObject(this.root) ? this.root.$schema : undefined;
    const found = named === undefined ? [2020] : DIALECT.exec(named);
    this.draft = Number(found?.findLast(Boolean));
    if (!this.draft) throw new Refused(`the dialect ${named} is not known`);
    this.places = new Map();
    this.bases = new Map();
    this.patterns = new Map();
    this.index(this.root, "stagec:/", true);
    const resources = new Set(this.bases.values()).size;
    if (resources > 1 && /"\$(?:dynamic|recursive)Ref":/.test(write(this.root))) throw new Refused("dynamic references lead from resource to resource");
    this.start = at === "" ? this.root : this.find(at, this.root);
  }

  index(schema, base, isRoot = false) {
    if (schema === null || typeof schema !== "object") return;
    if (isObject(schema)) {
      const id = schema[this.draft === 4 ? "id" : "$id"];
      const counts = typeof id === "string" && !(this.draft < 2019 && has(schema, "$ref"));
      if (counts) base = new URL(id, base).href.replace(/#$/, "");
      if (counts || isRoot) this.places.set(base, schema);
      for (const keyword of ["$anchor", "$dynamicAnchor"]) {
        if (this.draft >= 2019 && typeof schema[keyword] === "string") this.places.set(`${base}#${schema[keyword]}`, schema);
      }
      this.bases.set(schema, base);
      if (this.draft <= 7 && UNKNOWN.has(schema.format)) throw new Refused(`the format ${schema.format} is not judged`);
    }
    for (const name of Object.keys(schema)) if (!OPAQUE.has(name)) this.index(schema[name], base);
  }

  find(reference, from) {
    const address = new URL(reference, this.bases.get(from)).href.replace(/#$/, "");
    if (this.places.has(address)) return this.places.get(address);
    const [base, pointer] = address.split("#");
    let found = this.places.get(base);
    for (const part of decodeURIComponent(pointer ?? "").split("/").slice(1)) {
      found = found?.[part.replaceAll("~1", "/").replaceAll("~0", "~")];
    }
    if (found === undefined) throw new Refused(`the reference ${reference} leads out of its schema`);
    return found;
  }

  pattern(source) {
    if (!this.patterns.has(source)) this.patterns.set(source, regex(source));
    const found = this.patterns.get(source);
    if (found === null) throw new Refused(`${source} is no regular expression`);
    return found;
  }

  /** Say whether a value satisfies the schema. */
  accepts(value) { return this.judge(this.start, value, fresh()); }

  /** Judge a value; `seen` collects the members and elements that something has judged. */
  judge(schema, value, seen) {
    if (typeof schema === "boolean") return schema;
    if (this.draft < 2019 && has(schema, "$ref")) return this.judge(this.find(schema.$ref, schema), value, seen);
    const context = { schema, value, seen, inner: (each, part = value, into = fresh()) => this.judge(each, part, into) };
    const keywords = names(schema).filter((name) => !LATE.includes(name));
    return [...keywords, ...LATE.filter((name) => has(schema, name))].every((name) => this.keyword(name, context));
  }

  keyword(name, context) {
    const { schema, value } = context;
    if (!has(KEYWORDS, name) || this.draft < (SINCE[name] ?? 0) || this.draft > (UNTIL[name] ?? 9999)) return true;
    const [type, judge] = KEYWORDS[name];
    return (type !== null && !TYPES[type](value)) || judge(schema[name], value, context, this);
  }
}

const fresh = () => ({ names: new Set(), items: new Set() });
const merge = (seen, more) => {
  for (const kind of ["names", "items"]) for (const each of more[kind]) seen[kind].add(each);
  return true;
};

/** Judge by one more schema in place, and keep what it has seen if it accepts. */
function inPlace(schema, { inner, value, seen }) {
  const more = fresh();
  return inner(schema, value, more) && merge(seen, more);
}
const member = (name, schema, { inner, value, seen }) => inner(schema, value[name]) && Boolean(seen.names.add(name));
const element = (index, schema, { inner, value, seen }) => inner(schema, value[index]) && Boolean(seen.items.add(index));
const elements = (from, schema, context) => context.value.every((_, index) => index < from || element(index, schema, context));

const KEYWORDS = {
  $ref: [null, (given, _, context, judge) => inPlace(judge.find(given, context.schema), context)],
  $dynamicRef: [null, (given, _, context, judge) => inPlace(judge.find(given, context.schema), context)],
  $recursiveRef: [null, (given, _, context, judge) => inPlace(judge.find(given, context.schema), context)],
  type: [null, (given, value) => [given].flat().some((each) => TYPES[each](value))],
  enum: [null, (given, value) => given.some((each) => same(each, value))],
  const: [null, (given, value) => same(given, value)],
  allOf: [null, (given, _, context) => given.every((each) => inPlace(each, context))],
  anyOf: [null, (given, _, context) => given.filter((each) => inPlace(each, context)).length > 0],
  oneOf: [null, (given, value, context) => {
    const fits = given.filter((each) => context.inner(each, value));
    return fits.length === 1 && inPlace(fits[0], context);
  }],
  not: [null, (given, value, { inner }) => !inner(given, value)],
  if: [null, (given, _, context) => {
    const { schema } = context;
    const next = inPlace(given, context) ? schema.then : schema.else;
    return next === undefined || inPlace(next, context);
  }],
  minimum: ["number", (given, value, { schema }, { draft }) => (draft === 4 && schema.exclusiveMinimum === true ? value > given : value >= given)],
  maximum: ["number", (given, value, { schema }, { draft }) => (draft === 4 && schema.exclusiveMaximum === true ? value < given : value <= given)],
  exclusiveMinimum: ["number", (given, value) => typeof given === "boolean" || value > given],
  exclusiveMaximum: ["number", (given, value) => typeof given === "boolean" || value < given],
  multipleOf: ["number", (given, value) => isMultiple(value, given)],
  minLength: ["string", (given, value) => [...value].length >= given],
  maxLength: ["string", (given, value) => [...value].length <= given],
  pattern: ["string", (given, value, _, judge) => judge.pattern(given).test(value)],
  format: ["string", (given, value) => !has(FORMATS, given) || FORMATS[given](value)],
  contentEncoding: ["string", (given, value, _, { draft }) =>
    draft === 4 || given !== "base64" || (/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value))],
  contentMediaType: ["string", (given, value, { schema }, { draft }) =>
    draft === 4 || given !== "application/json" || succeeds(() => [parse(schema.contentEncoding === "base64" ? atob(value) : value)])],
  minItems: ["array", (given, value) => value.length >= given],
  maxItems: ["array", (given, value) => value.length <= given],
  uniqueItems: ["array", (given, value) => !given || value.every((one, at) => !value.slice(0, at).some((other) => same(one, other)))],
  contains: ["array", (given, value, { inner, seen, schema }, { draft }) => {
    const found = value.flatMap((each, index) => (inner(given, each) ? [index] : []));
    if (draft === 2020) merge(seen, { names: [], items: found });
    const { minContains = 1, maxContains = Infinity } = draft >= 2019 ? schema : {};
    return found.length >= minContains && found.length <= maxContains;
  }],
  prefixItems: ["array", (given, value, context) => given.every((each, index) => index >= value.length || element(index, each, context))],
  items: ["array", (given, value, context, { draft }) => {
    if (Array.isArray(given)) return given.every((each, index) => index >= value.length || element(index, each, context));
    return elements(draft === 2020 ? (context.schema.prefixItems ?? []).length : 0, given, context);
  }],
  additionalItems: ["array", (given, _, context) => !Array.isArray(context.schema.items) || elements(context.schema.items.length, given, context)],
  unevaluatedItems: ["array", (given, value, context) =>
    value.every((_, index) => context.seen.items.has(index) || element(index, given, context))],
  minProperties: ["object", (given, value) => Object.keys(value).length >= given],
  maxProperties: ["object", (given, value) => Object.keys(value).length <= given],
  required: ["object", (given, value) => given.every((name) => has(value, name))],
  properties: ["object", (given, value, context) =>
    Object.keys(given).every((name) => !has(value, name) || member(name, given[name], context))],
  patternProperties: ["object", (given, value, context, judge) =>
    Object.keys(given).every((source) =>
      Object.keys(value).every((name) => !judge.pattern(source).test(name) || member(name, given[source], context)))],
  additionalProperties: ["object", (given, value, context, judge) => {
    const { properties = {}, patternProperties = {} } = context.schema;
    const sources = Object.keys(patternProperties);
    const isNamed = (name) => has(properties, name) || sources.some((source) => judge.pattern(source).test(name));
    return Object.keys(value).every((name) => isNamed(name) || member(name, given, context));
  }],
  unevaluatedProperties: ["object", (given, value, context) =>
    Object.keys(value).every((name) => context.seen.names.has(name) || member(name, given, context))],
  propertyNames: ["object", (given, value, { inner }) => Object.keys(value).every((name) => inner(given, name))],
  dependentRequired: ["object", (given, value) =>
    Object.keys(given).every((name) => !has(value, name) || given[name].every((each) => has(value, each)))],
  dependentSchemas: ["object", (given, value, context) =>
    Object.keys(given).every((name) => !has(value, name) || inPlace(given[name], context))],
  dependencies: ["object", (given, value, context) =>
    Object.keys(given).every((name) => {
      if (!has(value, name)) return true;
      return Array.isArray(given[name]) ? given[name].every((each) => has(value, each)) : inPlace(given[name], context);
    })],
};
