/** How messages are written as JSON, on REST and on RPC: required fields stand there also when they are empty. */
export const jsonWriting = { alwaysEmitImplicit: true } as const;
