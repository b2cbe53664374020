import type { StreamPosition } from "./position.js";
import type { WatchEvent } from "./watch-event.js";

/** Heartbeats of one position that are due within `mergeMs` are one object, which is encoded once. */
export class Heartbeats {
  readonly #clock: () => number;
  readonly #mergeMs: number;
  readonly #age: () => number | undefined;
  #last: { readonly event: WatchEvent; readonly at: number } | undefined;

  /** `age` as in ChangeStreamsOptions. */
  constructor(clock: () => number, mergeMs: number, age: () => number | undefined) {
    this.#clock = clock;
    this.#mergeMs = mergeMs;
    this.#age = age;
  }

  at(position: StreamPosition & Pick<WatchEvent, "asOf">): WatchEvent {
    const [last, now] = [this.#last, this.#clock()];
    const { generation, offset } = position;
    if (last !== undefined && now - last.at < this.#mergeMs)
      if (last.event.offset === offset && last.event.generation === generation) return last.event;
    const event: WatchEvent = { type: "heartbeat", age: this.#age(), ...position };
    this.#last = { event, at: now };
    return event;
  }
}
