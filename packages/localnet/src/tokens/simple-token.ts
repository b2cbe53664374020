/** 4meta5's simple-token: the issuer makes holdings of its own, and transfers them. */
import type { TokenKind } from "../token.js";

const PACKAGE = "simple-token";

export const simpleToken: TokenKind = {
  registry: "simple-token",
  contracts: (issuer, instruments) => [
    {
      templateId: `#${PACKAGE}:SimpleToken.Rules:SimpleTokenRules`,
      argument: { admin: issuer, supportedInstruments: instruments.map(({ id }) => id) },
      name: "the token's rules",
    },
  ],
  mint: {
    hold: (issuer, { instrument, amount }) => ({
      templateId: `#${PACKAGE}:SimpleToken.Holding:SimpleHolding`,
      argument: {
        admin: issuer,
        owner: issuer,
        instrumentId: { admin: issuer, id: instrument },
        amount,
        meta: { values: {} },
      },
    }),
  },
};
