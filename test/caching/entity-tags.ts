/** The entity tags of all responses that were seen: equal tags have equal bodies, and the other way round. */
export class EntityTags {
  readonly #bodies = new Map<string, string>();
  /** By request and body. */
  readonly #tags = new Map<string, string>();

  /** Throws an Error if a response contradicts an earlier one. */
  note(key: string, etag: string, body: string): void {
    const named = `${key} ${body}`;
    const knownBody = this.#bodies.get(etag) ?? body;
    const knownTag = this.#tags.get(named) ?? etag;
    if (knownBody !== body) throw new Error(`two responses have the entity tag ${etag}:\n${knownBody}\n${body}`);
    if (knownTag !== etag)
      throw new Error(`one response has the entity tags ${knownTag} and ${etag}:\n${key}\n${body}`);
    this.#bodies.set(etag, body);
    this.#tags.set(named, etag);
  }
}
