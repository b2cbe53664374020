import { invalidField } from "../../domain/errors.js";

/** Where a stream is: its client knows all changes up to here. */
export interface StreamPosition {
  /** As in Basis: with the configuration. */
  readonly generation: string;
  readonly offset: number;
}

const TOKEN = /^(\d{1,16})\.([\w.-]{1,200})$/;

export const resumeToken = ({ generation, offset }: StreamPosition): string => `${offset}.${generation}`;

/** Throws "invalid" for a text that is no resume token. */
export function parseResumeToken(token: string): StreamPosition {
  const [, offset, generation] = TOKEN.exec(token) ?? [];
  if (offset === undefined || generation === undefined || !Number.isSafeInteger(Number(offset)))
    throw invalidField("resumeToken", "is no token of this service: use that of the latest event, unchanged");
  return { generation, offset: Number(offset) };
}
