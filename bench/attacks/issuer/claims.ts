/** The issuer and the audience of tokens in the bench. */
export const ISSUER = "https://issuer.example";
export const AUDIENCE = "offledger";
