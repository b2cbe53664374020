import type { AnyDesc } from "@bufbuild/protobuf";
import { getComments } from "@bufbuild/protoplugin";

/** The text of a comment, and the errors after "Errors:". */
export interface Comment {
  readonly text: string;
  /** The cause of each error by its name, such as `not_found`. */
  readonly errors: ReadonlyMap<string, string>;
}

const PATH_NOTE = / ?Taken from the path over REST\./;

/** Throws if a descriptor has no comment: everything public must be documented. */
export function readComment(desc: AnyDesc): Comment {
  const { leading } = getComments(desc as never);
  if (leading === undefined) throw new Error(`${desc.toString()} has no comment`);
  const [text = "", errors] = unwrap(leading).split(/(?:^|\n\n)Errors: /);
  return { text: text.replace(PATH_NOTE, ""), errors: parseErrors(errors ?? "") };
}

/** Joins the lines of each paragraph, and converts field names to JSON names. */
function unwrap(comment: string): string {
  const paragraphs = comment.trim().split(/\n\s*\n/);
  const lines = paragraphs.map((paragraph) =>
    paragraph
      .split("\n")
      .map((line) => line.trim())
      .join(" "),
  );
  return lines.join("\n\n").replaceAll(/`([a-z]+(?:_[a-z]+)+)`/g, (_, name: string) => `\`${camel(name)}\``);
}

/** Parses "not_found when …; aborted when …." */
function parseErrors(text: string): Map<string, string> {
  const parts = text
    .replace(/\.$/, "")
    .split("; ")
    .filter((part) => part !== "");
  return new Map(
    parts.map((part) => {
      const [name = "", ...rest] = part.split(" ");
      const cause = rest.join(" ").replace(/^,/, "");
      return [name, `${cause.charAt(0).toUpperCase()}${cause.slice(1)}.`];
    }),
  );
}

export const camel = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
