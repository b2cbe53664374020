import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type ParsedNode,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { findDeepNesting, MAX_DEPTH } from "../util/yaml.js";

/** A YAML document that collects problems, each with its line. */
export class YamlDocument {
  /** One text for each problem, as `line: problem`. Syntax errors are here from the start. */
  readonly problems: string[] = [];
  readonly #lines = new LineCounter();
  readonly #document;

  constructor(text: string) {
    const tooDeep = findDeepNesting(text);
    this.#document = parseDocument(tooDeep === undefined ? text : "", {
      lineCounter: this.#lines,
      prettyErrors: false,
    });
    if (tooDeep !== undefined) {
      const line = text.slice(0, tooDeep).split("\n").length;
      this.problems.push(`${line}: values must be nested at most ${MAX_DEPTH} levels deep`);
    }
    for (const { pos, message } of this.#document.errors)
      this.problems.push(`${this.#lines.linePos(pos[0]).line}: ${message}`);
  }

  /** Null when the document is empty. */
  get root(): Node | null {
    const { contents } = this.#document;
    return isScalar(contents) && contents.value === null ? null : contents;
  }

  /** A map's entries by key text; reports other nodes and duplicate keys. A missing value is a null scalar. */
  *entries(node: Node | null, path: string, content: string): Generator<[name: string, value: Node]> {
    if (!isMap(node)) return this.report(node, `${path} must be a map of ${content}`);
    const names = new Set<string>();
    for (const { key, value } of (node as YAMLMap.Parsed).items) {
      if (!isScalar(key) || key.value === null) {
        this.report(key, `${path} has a key that is not a string`);
      } else if (names.has(key.source)) {
        this.report(key, `${path}.${key.source} is a duplicate key`);
      } else {
        names.add(key.source);
        yield [key.source, this.#resolve(value) ?? nullAt(key)];
      }
    }
  }

  /** The items of a list, with their positions; reports other nodes. A missing item is a null scalar. */
  *items(node: Node, path: string, content: string): Generator<[index: number, item: Node]> {
    if (!isSeq(node)) return this.report(node, `${path} must be a list of ${content}`);
    for (const [index, item] of (node as YAMLSeq.Parsed).items.entries())
      yield [index, this.#resolve(item) ?? nullAt(node)];
  }

  /** Adds a problem at the line of a node. Problems in an alias are reported at its anchor. */
  report(node: Node | null, problem: string): undefined {
    this.problems.push(`${this.#lines.linePos(node?.range?.[0] ?? 0).line}: ${problem}`);
    return undefined;
  }

  #resolve(node: ParsedNode | null): Node | undefined {
    return (isAlias(node) ? node.resolve(this.#document) : node) ?? undefined;
  }
}

function nullAt(key: Node): Scalar<null> {
  const scalar = new Scalar(null);
  if (key.range) scalar.range = key.range;
  return scalar;
}
