/**
 * Path templates of google.api.http. A variable without segments stands for one segment. Parsing refuses templates that
 * the router cannot match: `**` before the end, and a verb after a variable.
 *
 *     Template  = "/" Segments [ ":" LITERAL ]
 *     Segments  = Segment { "/" Segment }
 *     Segment   = "*" | "**" | LITERAL | Variable
 *     Variable  = "{" FieldPath [ "=" Segments ] "}"
 *     FieldPath = IDENT { "." IDENT }
 */

export interface PathTemplate {
  /** The path in the router's syntax: literals, `:p0`, `:p1`, … and `*`. */
  readonly route: string;
  readonly variables: readonly Variable[];
}

export interface Variable {
  /** The path of fields that leads to it, by their proto names. */
  readonly fieldPath: readonly string[];
  readonly parts: readonly Part[];
}

export type Part = { readonly literal: string } | { readonly parameter: string };

/** Throws an Error with the position of the first mistake. */
export function parsePathTemplate(text: string): PathTemplate {
  return new Parser(text).template();
}

class Parser {
  readonly #text: string;
  #at = 0;
  #parameters = 0;
  readonly #variables: Variable[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  template(): PathTemplate {
    this.#expect("/");
    const parts = this.#segments(true);
    let route = parts.map((part) => `/${"literal" in part ? part.literal : nameOf(part)}`).join("");
    if (this.#take(":")) {
      const last = parts.at(-1);
      if (last === undefined || !("literal" in last)) throw this.#error("a verb after a variable is not supported");
      route += `::${this.#run(/[^/{}*:]+/y, "a verb")}`;
    }
    if (this.#at < this.#text.length) throw this.#error("expected the end");
    return { route, variables: this.#variables };
  }

  #segments(variables: boolean): Part[] {
    const parts: Part[] = [];
    do {
      if (this.#take("**")) parts.push(this.#wildcard());
      else if (this.#take("*")) parts.push({ parameter: `p${this.#parameters++}` });
      else if (variables && this.#take("{")) parts.push(...this.#variable());
      else parts.push({ literal: this.#run(/[^/{}*:=]+/y, "a segment") });
    } while (this.#take("/"));
    return parts;
  }

  /** The router's `*` matches the rest of a path, so nothing can follow it. */
  #wildcard(): Part {
    if (/^\}?\//.test(this.#text.slice(this.#at))) {
      this.#at -= 2;
      throw this.#error("** is supported at the end only");
    }
    return { parameter: "*" };
  }

  #variable(): readonly Part[] {
    const fieldPath = [this.#run(/[A-Za-z_]\w*/y, "a field name")];
    while (this.#take(".")) fieldPath.push(this.#run(/[A-Za-z_]\w*/y, "a field name"));
    const parts = this.#take("=") ? this.#segments(false) : [{ parameter: `p${this.#parameters++}` }];
    this.#expect("}");
    this.#variables.push({ fieldPath, parts });
    return parts;
  }

  #take(token: string): boolean {
    const found = this.#text.startsWith(token, this.#at);
    if (found) this.#at += token.length;
    return found;
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw this.#error(`expected "${token}"`);
  }

  #run(pattern: RegExp, what: string): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw this.#error(`expected ${what}`);
    this.#at += found.length;
    return found;
  }

  #error(message: string): Error {
    return new Error(
      `path template ${this.#text}: ${message} at "${this.#text.slice(this.#at)}" (character ${this.#at + 1})`,
    );
  }
}

const nameOf = ({ parameter }: { readonly parameter: string }): string => (parameter === "*" ? "*" : `:${parameter}`);
