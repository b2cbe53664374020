const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** The first character that controls a terminal, reorders text or cannot be seen; undefined without one. */
export const firstInvisible = (text: string): string | undefined => INVISIBLE.exec(text)?.[0];

/**
 * Escapes such characters, except for line breaks: the service quotes what callers and operators wrote, which must neither
 * control a terminal nor look like what it is not.
 */
export const printable = (text: string): string =>
  text.replaceAll(new RegExp(INVISIBLE, "gu"), (character) => (character === "\n" ? character : escaped(character)));

/** The same for a text that is one line. */
export const printableLine = (text: string): string => printable(text).replaceAll("\n", escaped);

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
