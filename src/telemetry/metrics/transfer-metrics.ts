/** Counts transfer factories in plain numbers. Samples are created on scrape. */
import type { Sample } from "./collected-metrics.js";

const kinds = ["self", "direct", "offer"] as const;
type Kind = (typeof kinds)[number];

type Counts = Record<Kind, number>;

/** Bounds memory, also that of Prometheus. */
export const MAX_SERIES = 1_000;
const MAX_LABEL_LENGTH = 300;

const OTHER = "other";
/** Of a registry that does not say which instrument a transfer is of. */
const UNKNOWN = "unknown";

export class TransferMetrics {
  readonly #byRegistrar = new Map<string, Map<string, Counts>>();
  /** Everything past MAX_SERIES, of which it has a part of its own. */
  readonly #others = this.#countsOf(OTHER, OTHER);
  #series: number = kinds.length;

  /** Counts an answer that was given. Never throws. */
  count(registrar: string, instrumentId: string | undefined, kind: Kind): void {
    // A registry module may be plain JavaScript.
    if (!kinds.includes(kind)) return;
    const [party, instrument] = [labelOf(registrar), labelOf(instrumentId)];
    const known = this.#byRegistrar.get(party)?.get(instrument);
    if (known !== undefined && known[kind] > 0) known[kind]++;
    else if (this.#series >= MAX_SERIES) this.#others[kind]++;
    else {
      this.#series++;
      this.#countsOf(party, instrument)[kind]++;
    }
  }

  samples(): Sample[] {
    return [...this.#byRegistrar].flatMap(([registrar, byInstrument]) =>
      [...byInstrument].flatMap(([instrument, counts]) =>
        kinds
          .filter((kind) => counts[kind] > 0)
          .map((kind) => ({ labels: { registrar, instrument, transfer_kind: kind }, value: counts[kind] })),
      ),
    );
  }

  #countsOf(registrar: string, instrument: string): Counts {
    const byInstrument = this.#byRegistrar.get(registrar) ?? new Map<string, Counts>();
    const counts = byInstrument.get(instrument) ?? { self: 0, direct: 0, offer: 0 };
    this.#byRegistrar.set(registrar, byInstrument.set(instrument, counts));
    return counts;
  }
}

function labelOf(value: unknown): string {
  if (typeof value !== "string") return UNKNOWN;
  return value.length > MAX_LABEL_LENGTH ? OTHER : value;
}
