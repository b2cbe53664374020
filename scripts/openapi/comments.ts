/** Comments of the proto files -> texts of the OpenAPI document. */
import type { AnyDesc } from "@bufbuild/protobuf";
import { getComments } from "@bufbuild/protoplugin";

/** What a comment says, and the errors that it lists behind "Errors:". */
export interface Told {
  readonly text: string;
  /** By the name of the error, for example `not_found`: when it comes. */
  readonly errors: ReadonlyMap<string, string>;
}

const PATH_NOTE = / ?Taken from the path over REST\./;

/** Throws where something has no comment: everything that is public has to be documented. */
export function told(desc: AnyDesc): Told {
  const { leading } = getComments(desc as never);
  if (leading === undefined) throw new Error(`${desc.toString()} has no comment`);
  const [text = "", errors] = unwrap(leading).split(/(?:^|\n\n)Errors: /);
  return { text: text.replace(PATH_NOTE, ""), errors: errorsIn(errors ?? "") };
}

/** Lines to paragraphs, and names of fields as they stand in JSON. */
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

/** "not_found when …; aborted when …." */
function errorsIn(text: string): Map<string, string> {
  const parts = text
    .replace(/\.$/, "")
    .split("; ")
    .filter((part) => part !== "");
  return new Map(
    parts.map((part) => {
      const [name = "", ...rest] = part.split(" ");
      const when = rest.join(" ").replace(/^,/, "");
      return [name, `${when.charAt(0).toUpperCase()}${when.slice(1)}.`];
    }),
  );
}

export const camel = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
