import { memoizeByContract } from "../domain/contract-slots.js";
import { idHash, indexKeyHash, tagNumberOf } from "../store/lookup-hash.js";
import { boundedMemoize } from "../util/bounded-memoize.js";

/** A hash costs a microsecond, and every answer has the tags of a dozen lookups. */
export const tagOfContract = memoizeByContract(({ contractId }) => tagNumberOf(idHash(contractId)));
export const tagOfKey = boundedMemoize((key) => tagNumberOf(indexKeyHash(key)));
