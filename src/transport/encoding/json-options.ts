/** JSON of REST and RPC: required fields are written even where they are empty. */
export const JSON_WRITE_OPTIONS = { alwaysEmitImplicit: true } as const;
