import type { Template } from "../../domain/template.js";

/**
 * The templates that a participant is asked for. It rejects a whole request that names a package or template which it
 * does not have, so what it lacks is left out.
 */
export class KnownTemplates {
  readonly #templates: readonly Template[];
  #missing: readonly string[] = [];

  constructor(templates: readonly Template[]) {
    this.#templates = templates;
  }

  /** Those to ask for. */
  get present(): readonly Template[] {
    return this.#templates.filter((template) => !this.#missing.some((name) => isNamed(template, name)));
  }

  /** What is left out, as `package` or `package:Module:Entity`. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /** Leaves out what has one of the names. False if that changes nothing, or if nothing is left: then all are asked for. */
  leaveOut(names: readonly string[]): boolean {
    const before = this.present.length;
    this.#missing = [...new Set([...this.#missing, ...names.filter((name) => this.of(name).length > 0)])];
    const { length } = this.present;
    if (length === 0) this.#missing = [];
    return length > 0 && length < before;
  }

  include(names: readonly string[]): void {
    this.#missing = this.#missing.filter((name) => !names.includes(name));
  }

  /** The templates with a name. */
  of(name: string): readonly Template[] {
    return this.#templates.filter((template) => isNamed(template, name));
  }
}

function isNamed({ packageName, qualifiedName }: Template, name: string): boolean {
  return name === packageName || name === `${packageName}:${qualifiedName}`;
}
