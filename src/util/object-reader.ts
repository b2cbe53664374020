/** Keys and indexes from the root of a file to a value. */
export type Path = readonly (string | number)[];

/** Why a value cannot be used. */
export interface Problem {
  readonly path: Path;
  /** Names the value: "changes[0].when must be …, but is …". */
  readonly reason: string;
}

/** Formats a path for messages: `changes[0].when`. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}

/**
 * Reads the fields of one object of an operator's file. A wrong field adds a problem and reads as undefined, so that
 * one run reports every problem; use what was read only if there are none.
 */
export class ObjectReader {
  readonly path: Path;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #problems: Problem[];
  readonly #known = new Set<string>();

  constructor(value: unknown, path: Path, problems: Problem[]) {
    this.path = path;
    this.#problems = problems;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    this.#fields = isObject ? Object.assign(Object.create(null), value) : {};
    if (!isObject) this.#add(path, `must be a map, but is ${describe(value)}`);
  }

  has(name: string): boolean {
    this.#known.add(name);
    return this.#fields[name] !== undefined && this.#fields[name] !== null;
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
    return typeof value === "string" && value !== "" ? value : this.wrong(name, "a non-empty string");
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

  optionalOneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    if (!this.has(name)) return undefined;
    const value = this.raw(name);
    return values.find((known) => known === value) ?? this.wrong(name, `one of ${values.join(", ")}`);
  }

  /** The elements of a list; none if it is absent. */
  list(name: string): readonly unknown[] {
    if (!this.has(name)) return [];
    const value = this.raw(name);
    if (Array.isArray(value)) return value as readonly unknown[];
    this.wrong(name, "a list");
    return [];
  }

  /** Non-empty strings; none if the list is absent. */
  texts(name: string): readonly string[] {
    return this.list(name).flatMap((value, index) => {
      if (typeof value === "string" && value !== "") return [value];
      this.#add([...this.path, name, index], `must be a non-empty string, but is ${describe(value)}`);
      return [];
    });
  }

  object(name: string): ObjectReader {
    return new ObjectReader(this.raw(name), [...this.path, name], this.#problems);
  }

  objects(name: string): readonly ObjectReader[] {
    return this.list(name).map((value, index) => new ObjectReader(value, [...this.path, name, index], this.#problems));
  }

  /** Reports every field that was not read. Call it last. */
  rejectUnknown(): void {
    const unknown = Object.keys(this.#fields).filter((name) => !this.#known.has(name));
    for (const name of unknown)
      this.#add([...this.path, name], `is not a known field; known fields: ${[...this.#known].join(", ")}`);
  }

  /** Adds the problem that a field is not what is expected. */
  wrong(name: string, expected: string): undefined {
    const value = this.#fields[name];
    const found = value === undefined || value === null ? "is missing" : `is ${describe(value)}`;
    this.#add([...this.path, name], `must be ${expected}, but ${found}`);
  }

  /** Adds a problem of a field; `reason` follows its name. */
  report(name: string | number, reason: string): undefined {
    this.#add([...this.path, name], reason);
  }

  #add(path: Path, reason: string): void {
    this.#problems.push({ path, reason: `${formatPath(path) || "the file"} ${reason}` });
  }
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a map";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}
