/** The answers of HTTP/1.1 in the bytes of a connection. */
import { brief, type Outcome } from "../input.js";

const HEAD = /^HTTP\/1\.1 (\d{3}) /;

interface Found {
  readonly status: number;
  readonly text: string;
}

function answersIn(bytes: Buffer): readonly Found[] {
  const found: Found[] = [];
  let rest = bytes.toString("latin1");
  while (rest !== "") {
    const status = HEAD.exec(rest)?.[1];
    // Of an answer that was cut there may be the beginning alone.
    if (status === undefined) return isBeginning(rest) ? found : [...found, { status: 0, text: rest }];
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) return [...found, { status: Number(status), text: rest }];
    const head = rest.slice(0, end + 2);
    const behind = rest.slice(end + 4);
    found.push({ status: Number(status), text: rest.slice(0, end + 400) });
    rest = behind.slice(lengthOf(head, behind));
  }
  return found;
}

const isBeginning = (text: string): boolean => text.length < 13 && "HTTP/1.1 ".startsWith(text.slice(0, 9));

/** How much of what stands behind a head is its body. That of HEAD, and of an interim answer, has none. */
function lengthOf(head: string, behind: string): number {
  if (HEAD.test(behind)) return 0;
  if (!/\r\ntransfer-encoding: chunked\r\n/i.test(head))
    return Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? 0);
  const last = behind.indexOf("0\r\n\r\n");
  return last === -1 ? behind.length : last + 5;
}

/** Judges all that came back. */
export function judgeHttp1(bytes: Buffer): Outcome {
  const answers = answersIn(bytes);
  const bad = answers.find(({ status }) => status === 0 || status >= 500);
  const came = answers.at(-1)?.status.toString() ?? "nothing";
  if (bad === undefined) return { came };
  return { came, wrong: bad.status === 0 ? `no HTTP: ${brief(bad.text)}` : brief(bad.text) };
}
