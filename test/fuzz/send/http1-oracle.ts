/** Judges the bytes of an HTTP/1.1 connection: every response is valid HTTP with a status below 500. */
import { type Outcome, truncate } from "../input.js";

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) /;

interface ParsedResponse {
  /** 0 for bytes that are no HTTP response. */
  readonly status: number;
  readonly text: string;
}

function parseResponses(bytes: Buffer): readonly ParsedResponse[] {
  const responses: ParsedResponse[] = [];
  let rest = bytes.toString("latin1");
  while (rest !== "") {
    const status = STATUS_LINE.exec(rest)?.[1];
    if (status === undefined) return isTruncated(rest) ? responses : [...responses, { status: 0, text: rest }];
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) return [...responses, { status: Number(status), text: rest }];
    const head = rest.slice(0, end + 2);
    const afterHead = rest.slice(end + 4);
    responses.push({ status: Number(status), text: rest.slice(0, end + 400) });
    rest = afterHead.slice(readBodyLength(head, afterHead));
  }
  return responses;
}

/** Whether the text may be the beginning of a response on a connection that was cut. */
const isTruncated = (text: string): boolean => text.length < 13 && "HTTP/1.1 ".startsWith(text.slice(0, 9));

/** Responses to HEAD and interim responses have no body: another status line follows. */
function readBodyLength(head: string, afterHead: string): number {
  if (STATUS_LINE.test(afterHead)) return 0;
  if (!/\r\ntransfer-encoding: chunked\r\n/i.test(head))
    return Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? 0);
  const lastChunk = afterHead.indexOf("0\r\n\r\n");
  return lastChunk === -1 ? afterHead.length : lastChunk + 5;
}

export function judgeHttp1(bytes: Buffer): Outcome {
  const responses = parseResponses(bytes);
  const faulty = responses.find(({ status }) => status === 0 || status >= 500);
  const result = responses.at(-1)?.status.toString() ?? "nothing";
  if (faulty === undefined) return { result };
  return { result, fault: faulty.status === 0 ? `not HTTP: ${truncate(faulty.text)}` : truncate(faulty.text) };
}
