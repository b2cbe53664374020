/** Splice's TestTokenV2: one contract of rules is every factory, and mints by offers. */
import type { TokenKind } from "../token.js";

const PACKAGE = "splice-test-token-v2";
const RULES = `#${PACKAGE}:Splice.Testing.Tokens.TestTokenV2:TokenRules`;

export const testTokenV2: TokenKind = {
  registry: "test-token-v2",
  contracts: (issuer) => [{ templateId: RULES, argument: { admin: issuer }, name: "the token's rules" }],
  mint: {
    offerTemplate: ":TokenTransferOffer",
    offer: (issuer, contractId, { receiver, instrument, amount }) => {
      // Holdings of a party itself, not in an account of a provider.
      const account = { owner: receiver, provider: null, id: "" };
      return {
        templateId: RULES,
        contractId,
        choice: "TokenRules_OfferMint",
        argument: {
          receiver: account,
          amount,
          instrumentId: { admin: issuer, id: instrument },
          offeredAt: new Date(Date.now() - 1_000).toISOString(),
          receiverConfig: {
            admin: issuer,
            account,
            ownerConfig: { canInitiate: true, mustApprove: true },
            providerConfig: { canInitiate: false, mustApprove: false },
          },
        },
      };
    },
  },
};
