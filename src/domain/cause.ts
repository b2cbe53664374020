/** A claim that a credential makes on its subject. */
interface Claim {
  readonly property: string;
  readonly value: string;
}

/** What a cause is about. A field is absent if the cause has no such thing. */
export interface CauseFields {
  readonly registrar?: string | undefined;
  /** An id of the instrument. */
  readonly instrument?: string | undefined;
  /** The party that lacks credentials, or whose preapproval is meant. */
  readonly party?: string | undefined;
  /** The party that issues the missing credentials. */
  readonly issuer?: string | undefined;
  /** The claims that no credential makes. */
  readonly claims?: readonly Claim[] | undefined;
  /** The contract that is in the wrong place, or that the request names and that is not there. */
  readonly contractId?: string | undefined;
  /** The qualified name of the template of the contract that is missing or in the wrong place. */
  readonly template?: string | undefined;
  /** Where the contracts are needed, then where this one is. One alone: the contract is in reassignment. */
  readonly synchronizers?: readonly string[] | undefined;
  /** The wrong field of the request, as a path. */
  readonly field?: string | undefined;
  /** The limit that is exceeded: its name, and the largest number allowed. */
  readonly limit?: string | undefined;
  readonly maximum?: number | undefined;
}

/** One cause of an error, for programs: the log, the metrics, the details of RPC errors. */
export interface Cause extends CauseFields {
  /** A fixed name, in lower case with hyphens. docs/errors.md lists those of the Registry Utility. */
  readonly code: string;
  /** What is wrong, for people, without a full stop. */
  readonly message: string;
}
