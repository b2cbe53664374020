/**
 * Escapes what controls a terminal or reorders text, except for line breaks: the service quotes what callers sent, who must
 * not control the operator's terminal.
 */
export const printable = (text: string): string =>
  text.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
