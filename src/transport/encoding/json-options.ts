/** How messages are written as JSON, on REST and on RPC: required fields stand there also when they are empty. */
export const JSON_WRITE_OPTIONS = { alwaysEmitImplicit: true } as const;
