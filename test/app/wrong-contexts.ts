/** Random contexts files, and ways to make them wrong. What is wrong, and where, is known without the parser. */
import fc from "fast-check";

/** The lines of a good file. */
export type GoodFile = readonly string[];

export interface WrongFile {
  readonly content: string | Uint8Array;
  /** The line of a problem; undefined if it may be any. */
  readonly line: number | undefined;
}

const operation = fc.constantFrom(
  "transfer-factory/offer",
  "transfer-factory/*",
  "transfer-instruction/accept",
  "allocation/execute-transfer",
  "settlement-factory",
  "mint-offer/*",
  "burn-request/accept",
  "burn-mint-factory",
  "*",
);
const condition = fc.constantFrom(
  "    when: checkBlocklist",
  "    when: severalInstruments",
  '    when: { package: utility-registry-app-v0, from: "0.7.0", before: "0.9.0" }',
  '    when: { package: utility-registry-v0, before: "0.8.0" }',
);
interface EntryParts {
  readonly name: string;
  readonly field: string;
  readonly is: string;
  readonly prefix: number | undefined;
}

function linesOfEntry({ name, field, is, prefix }: EntryParts): string[] {
  return [
    `  ${name}:`,
    "    template:",
    "      package: example-blocklist",
    `      name: "Example.Blocklist:${name.replaceAll("-", "_")}"`,
    "    find:",
    `      - field: ${field}`,
    `        is: ${is}`,
    ...(prefix === undefined ? [] : [`        prefix: ${prefix}`]),
    "    value: list",
  ];
}

const entryArbitrary = fc
  .record({
    name: fc.constantFrom("shard", "blocklist", "a", "entry-2"),
    field: fc.constantFrom("registrar", "details.registrar", "owner"),
    is: fc.constantFrom("registrar", "provider", "instrument", "sender", "party"),
    prefix: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
  })
  .map(linesOfEntry);

/** Each change has keys of its own, so that none collides with another. */
const changeArbitrary = fc
  .record({
    operations: fc.uniqueArray(operation, { minLength: 1, maxLength: 3 }),
    required: fc.boolean(),
    keys: fc.integer({ min: 1, max: 3 }),
    rest: fc.oneof(condition, fc.constant("    rewards: true"), fc.constant("    credentials: optional")),
  })
  .map(({ operations, required, keys, rest }) => (index: number) => [
    "  - operations:",
    ...operations.map((name) => `      - "${name}"`),
    "    add:",
    "      - entry: transfer-rule",
    "        keys:",
    ...Array.from({ length: keys }, (_, key) => `          - own/${index}/${key}`),
    `        required: ${required}`,
    "      - disclosure: factory",
    ...(isUseful(rest, operations) ? [rest] : []),
  ]);

/** An offer has no rewards. */
const isUseful = (rest: string, operations: readonly string[]): boolean =>
  !rest.includes("rewards") || operations.some((name) => name !== "transfer-factory/offer");

interface FileParts {
  readonly packages: readonly string[];
  readonly entries: readonly (readonly string[])[];
  readonly changes: readonly ((index: number) => string[])[];
  readonly comments: number;
}

function linesOfFile({ packages, entries, changes, comments }: FileParts): string[] {
  return [
    ...Array.from({ length: comments }, () => "# a comment"),
    "packages:",
    ...packages.map((id, index) => `  ${id}: "0.${index}.1"`),
    ...(entries.length === 0 ? [] : ["entries:", ...entries.flat()]),
    "changes:",
    ...changes.flatMap((change, index) => change(index)),
  ];
}

export const fileArbitrary: fc.Arbitrary<GoodFile> = fc
  .record({
    packages: fc.uniqueArray(fc.stringMatching(/^[a-f][0-9a-f]{9}$/), { minLength: 1, maxLength: 4 }),
    entries: fc.uniqueArray(entryArbitrary, { maxLength: 3, selector: ([name]) => name }),
    changes: fc.array(changeArbitrary, { minLength: 1, maxLength: 4 }),
    comments: fc.nat(3),
  })
  .map(linesOfFile);

type Pick = () => number;
type Damage = (good: GoodFile, pick: Pick) => WrongFile;

const oneOf = <T>(values: readonly T[], pick: Pick): T => values[pick() % values.length] as T;
const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** Replaces the line at an index, or inserts before it. */
function edited(good: GoodFile, index: number, removed: number, ...added: readonly string[]): WrongFile {
  return { content: joined(good.toSpliced(index, removed, ...added)), line: index + 1 };
}

/** Indexes of the lines that match. */
const indexesOf = (good: GoodFile, pattern: RegExp): number[] =>
  good.flatMap((line, index) => (pattern.test(line) ? [index] : []));

/** Replaces what follows the match in one of the lines that match. */
function withValue(good: GoodFile, pick: Pick, pattern: RegExp, values: readonly string[]): WrongFile {
  const index = oneOf(indexesOf(good, pattern), pick);
  const [start = ""] = pattern.exec(good[index] ?? "") ?? [];
  return edited(good, index, 1, start + oneOf(values, pick));
}

/** By the name of a field: values that it must not have. */
const wrongValues: Readonly<Record<string, readonly string[]>> = {
  field: ["5", "[a]", '""', "a..b", "a b", "true", ".a"],
  is: ["owner", "Registrar", "[registrar]", "1", "~"],
  prefix: ["0", "301", "1.5", '"2"', "-1", "true", ".nan", ".inf", "~"],
  value: ["text", "List", "[list]", "1", "~"],
  required: ['"yes"', "yes", "1", "[]", "{}", "~"],
  rewards: ['"true"', "on", "0", "[true]", "~"],
  credentials: ["true", "needed", "[required]", "~"],
  when: ["never", "CheckBlocklist", "[checkBlocklist]", "true", "{}", "{ package: p }", '{ from: "1.0" }', "~"],
  entry: ["shards", "Transfer-Rule", "5", "[transfer-rule]", "~"],
  disclosure: ["transfer-rule", "Factory", "5", "{}", "~"],
  name: ["T", "5", '"M:"', '":T"', '"M:T:U"', "[]"],
  package: ["5", "a/b", "a b", "[]", '""'],
};

export const damages = {
  "a value of the wrong type or out of range": (good, pick) => {
    const patterns = Object.keys(wrongValues).map((name) => [name, new RegExp(`^[ -]*${name}: `)] as const);
    const [name, pattern] = oneOf(
      patterns.filter(([, known]) => good.some((line) => known.test(line))),
      pick,
    );
    return withValue(good, pick, pattern, wrongValues[name] ?? []);
  },
  "a version that is none": (good, pick) =>
    withValue(good, pick, /^ {2}[a-f][0-9a-f]{9}: /, ["0.7", "1", "latest", '"1."', '"v1"', "[]", "{}", "true"]),
  "an unknown operation": (good, pick) =>
    withValue(good, pick, /^ {6}- (?=")/, [
      "settlement",
      '"transfer/*"',
      "5",
      "~",
      '""',
      "[settlement-factory]",
      '"**"',
    ]),
  "a key that is given twice": (good, pick) => {
    const indexes = indexesOf(good, /^ +\w[\w-]*: \S/);
    const index = oneOf(indexes, pick);
    return edited(good, index + 1, 0, good[index] ?? "");
  },
  "a section that is given twice": (good) => edited(good, good.length, 0, "packages: {}"),
  "an unknown field": (good, pick) => {
    const index = oneOf(indexesOf(good, /^ {4,}(?:operations|add|entry|value|find|is|required|keys|package):/), pick);
    const [indent = ""] = /^ +/.exec(good[index] ?? "") ?? [];
    return edited(
      good,
      index,
      0,
      `${indent}${oneOf(["__proto__", "constructor", "toString", "hasOwnProperty", "<<", "x"], pick)}: {}`,
    );
  },
  "a key that is no text": (good, pick) => {
    const index = oneOf(indexesOf(good, /^ *\w[\w-]*:/), pick);
    const [indent = ""] = /^ */.exec(good[index] ?? "") ?? [];
    return edited(good, index, 0, `${indent}${oneOf(["[a]", "{ a: 1 }", "[]", '""', "__proto__"], pick)}: "1.0"`);
  },
  "a section of another kind": (good, pick) => {
    const [name, value] = oneOf(
      [
        ["packages", "[]"],
        ["packages", "1"],
        ["entries", "[]"],
        ["entries", "text"],
        ["changes", "{}"],
        ["changes", "true"],
        ["__proto__", "{}"],
        ["module", "{}"],
      ] as const,
      pick,
    );
    const first = good.indexOf(`${name}:`);
    if (first === -1) return edited(good, good.length, 0, `${name}: ${value}`);
    const next = good.findIndex((line, index) => index > first && /^\w/.test(line));
    return edited(good, first, (next === -1 ? good.length : next) - first, `${name}: ${value}`);
  },
  "a line that is no YAML": (good, pick) => {
    const added = oneOf(["\t- x", "{", "]", '"', "'", "@x", "`x", "a: b: c", "&", "- - :", "? ?", "[}", "x"], pick);
    const { content } = edited(good, pick() % (good.length + 1), 0, added);
    return { content, line: undefined };
  },
  "a tab as an indentation": (good, pick) => {
    const index = oneOf(indexesOf(good, /^ {2}/), pick);
    return { content: edited(good, index, 1, (good[index] ?? "").replace(/^ {2}/, "\t")).content, line: undefined };
  },
  "a tag": (good, pick) => {
    const index = oneOf(indexesOf(good, /^ +\w[\w-]*: [\w"]/), pick);
    const tag = oneOf(["!!binary", "!!set", "!!timestamp", "!x", "!!js/function"], pick);
    return edited(good, index, 1, (good[index] ?? "").replace(": ", `: ${tag} `));
  },
  "an alias of nothing": (good, pick) => withValue(good, pick, /^ +\w[\w-]*: (?=[\w"])/, ["*nothing"]),
  "an alias bomb": (good) => {
    const levels = Array.from({ length: 9 }, (_, level) =>
      level === 0
        ? "x0: &x0 [a, a]"
        : `x${level}: &x${level} [${Array(9)
            .fill(`*x${level - 1}`)
            .join(", ")}]`,
    );
    return { content: joined([...good, ...levels]), line: undefined };
  },
  "deep nesting": (good, pick) => {
    const levels = 150 + (pick() % 20_000);
    const added = oneOf(
      [
        [`x: ${"[".repeat(levels)}`],
        [`x: ${"{ a: ".repeat(levels)}`],
        ["x:", `  ${"- ".repeat(levels)}`],
        ["x:", ...Array.from({ length: 150 }, (_, level) => `${" ".repeat(level + 1)}a:`)],
      ],
      pick,
    );
    return { content: joined([...good, ...added]), line: undefined };
  },
  "more bytes than allowed": (good, pick) => ({
    content: joined([...good, `# ${"x".repeat(1_048_576 + (pick() % 100_000))}`]),
    line: 1,
  }),
  "bytes that are not UTF-8": (good, pick) => {
    const text = joined(good);
    const at = pick() % (text.length + 1);
    const bytes = oneOf(
      [[0xff], [0xc3, 0x28], [0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]],
      pick,
    );
    const content = Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(bytes), Buffer.from(text.slice(at))]);
    return { content, line: text.slice(0, at).split("\n").length };
  },
  "another encoding": (good) => ({ content: Buffer.from(`\uFEFF${joined(good)}`, "utf16le"), line: 1 }),
  "a second document": (good) => ({ content: joined([...good, "---", ...good]), line: good.length + 1 }),
  "another root": (_good, pick) => ({
    content: oneOf(["[]", "text", "5", "true", "- changes", '"changes: []"'], pick),
    line: 1,
  }),
} as const satisfies Readonly<Record<string, Damage>>;

export type DamageName = keyof typeof damages;
export const damage: fc.Arbitrary<DamageName> = fc.constantFrom(...(Object.keys(damages) as DamageName[]));
