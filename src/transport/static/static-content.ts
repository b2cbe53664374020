import { hash } from "node:crypto";
import { gzip } from "../compress.js";

/** An answer that is the same for every request. All responses share its bytes. */
export interface StaticContent {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** Weak: the same for both encodings. */
  readonly etag: string;
  /** The compressed bytes, made once; undefined where they would not be shorter. */
  readonly gzip: () => Promise<Buffer | undefined>;
}

export function staticContent(bytes: Buffer, contentType: string): StaticContent {
  let compressed: Promise<Buffer | undefined> | undefined;
  return {
    bytes,
    contentType,
    etag: `W/"${hash("sha256", bytes, "base64url")}"`,
    // On the first request: most processes never send it, and the start must not wait.
    gzip: () => (compressed ??= gzip(bytes)),
  };
}
