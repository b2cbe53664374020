import type { PartySearch } from "../../sdk/registry.js";
import {
  claimsOn,
  type Credential,
  credential,
  type TransferPreapproval,
  transferPreapproval,
} from "../templates/parties.js";

/** Credentials with claims on a party, whether they are valid now or not. */
export const findCredentials: PartySearch<Credential> = {
  template: credential,
  find: (_context, contracts, party) => ({
    credentials: contracts.flatMap((contract) => {
      const { fields } = contract;
      const claims = claimsOn(fields, party);
      if (claims.length === 0) return [];
      const { issuer, holder, validFrom, validUntil } = fields;
      return [{ contract, issuer, holder, claims, validFrom, validUntil }];
    }),
  }),
};

/** Preapprovals of a party as the receiver. */
export const findPreapprovals: PartySearch<TransferPreapproval> = {
  template: transferPreapproval,
  find: (_context, contracts, party) => ({
    preapprovals: contracts
      .filter(({ fields }) => fields.receiver === party)
      .map((contract) => ({
        contract,
        registrar: contract.fields.instrumentAdmin,
        instruments: contract.fields.instrumentAllowances,
      })),
  }),
};
