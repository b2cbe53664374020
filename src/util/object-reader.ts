/** Keys and indexes from the root of a file to a value. */
export type Path = readonly (string | number)[];

/** Why a value cannot be used. */
export interface Problem {
  readonly path: Path;
  /** Names the value: "changes[0].when must be …, but is …". */
  readonly reason: string;
}

const MAX_SHOWN = 80;
const PLAIN_NAME = /^[\w#/-][\w#/.-]{0,79}$/;

/** Formats a path for messages: `changes[0].when`. Unusual names are quoted, so that a message stays one line. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    const name = PLAIN_NAME.test(part) ? part : quote(part);
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

/** Quotes a text of any length and content for messages, on one line. */
export function quote(text: string): string {
  // Half of a surrogate pair would not be text any more.
  return text.length > MAX_SHOWN ? `${JSON.stringify(text.slice(0, MAX_SHOWN).toWellFormed())}…` : JSON.stringify(text);
}

/**
 * Reads the fields of one object of an operator's file or module. A wrong field adds a problem and reads as undefined, so
 * that one run reports every problem; use what was read only if there are none. A field that is present without a value
 * (null) is wrong: its value may have been forgotten.
 */
export class ObjectReader {
  readonly path: Path;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #problems: Problem[];
  readonly #known = new Set<string>();

  constructor(value: unknown, path: Path, problems: Problem[]) {
    this.path = path;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    this.#fields = isObject ? Object.assign(Object.create(null), value) : {};
    if (!isObject) addProblem(problems, path, `must be a map, but ${found(value)}`);
    // Of a value that is no object one problem is enough.
    this.#problems = isObject ? problems : [];
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  /** The keys of a map whose names the operator chooses. */
  names(): string[] {
    return Object.keys(this.#fields);
  }

  raw(name: string): unknown {
    this.#known.add(name);
    return this.#fields[name];
  }

  /** A non-empty string. */
  text(name: string): string | undefined {
    const value = this.raw(name);
    return isText(value) ? value : this.wrong(name, "a non-empty string");
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  optionalBoolean(name: string): boolean | undefined {
    if (!this.has(name)) return undefined;
    const value = this.raw(name);
    return typeof value === "boolean" ? value : this.wrong(name, "true or false");
  }

  optionalInteger(name: string, min: number, max: number): number | undefined {
    if (!this.has(name)) return undefined;
    const value = this.raw(name);
    const isValid = typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
    return isValid ? value : this.wrong(name, `an integer from ${min} to ${max}`);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.raw(name);
    return values.find((known) => known === value) ?? this.wrong(name, `one of ${values.join(", ")}`);
  }

  optionalOneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    return this.has(name) ? this.oneOf(name, values) : undefined;
  }

  /** The elements of a list; none if it is absent. */
  list(name: string): readonly unknown[] {
    if (!this.has(name)) return [];
    const value = this.raw(name);
    if (Array.isArray(value)) return value as readonly unknown[];
    this.wrong(name, "a list");
    return [];
  }

  /** Whether a list is absent or has no elements. */
  isEmpty(name: string): boolean {
    const value = this.raw(name);
    return value === undefined || (Array.isArray(value) && value.length === 0);
  }

  /** Non-empty strings with their indexes; none if the list is absent. */
  texts(name: string): readonly { readonly text: string; readonly index: number }[] {
    return this.list(name).flatMap((value, index) => {
      if (isText(value)) return [{ text: value, index }];
      addProblem(this.#problems, [...this.path, name, index], `must be a non-empty string, but ${found(value)}`);
      return [];
    });
  }

  /** An object that must be present. */
  object(name: string): ObjectReader {
    return new ObjectReader(this.raw(name), [...this.path, name], this.#problems);
  }

  objects(name: string): readonly ObjectReader[] {
    return this.list(name).map((value, index) => new ObjectReader(value, [...this.path, name, index], this.#problems));
  }

  /** Reports every field that was not read. Call it last. */
  rejectUnknown(): void {
    const unknown = this.names().filter((name) => !this.#known.has(name));
    for (const name of unknown)
      this.report([name], `is not a known field; known fields: ${[...this.#known].join(", ")}`);
  }

  /** Adds the problem that a field is not what is expected. */
  wrong(name: string, expected: string): undefined {
    return this.report([name], `must be ${expected}, but ${found(this.#fields[name])}`);
  }

  /** Adds a problem of a value at a path below the object; `reason` follows its name. */
  report(path: Path, reason: string): undefined {
    addProblem(this.#problems, [...this.path, ...path], reason);
  }
}

function addProblem(problems: Problem[], path: Path, reason: string): void {
  problems.push({ path, reason: `${formatPath(path) || "the file"} ${reason}` });
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** What was found in place of a value, as a predicate. */
function found(value: unknown): string {
  if (value === undefined) return "is missing";
  if (value === null) return "has no value";
  if (Array.isArray(value)) return "is a list";
  if (typeof value === "object") return "is a map";
  if (typeof value === "string") return `is ${quote(value)}`;
  return typeof value === "number" || typeof value === "boolean" ? `is ${value}` : `is a ${typeof value}`;
}
